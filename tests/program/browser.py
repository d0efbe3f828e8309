"""Headless Chromium over the two pipes of its DevTools protocol, with nothing but the standard library:
opens a page as a screen, a phone or paper would, and keeps what it complains about and asks the network
for.

    browser.py PAGE PICTURE [SELECTOR]   a picture of the whole page, or from there on, opened, 1100 pixels high
"""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time


def find():
    """The program's path, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()
        # It reads commands from descriptor 3 and answers on 4.
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', program, "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--disable-background-networking",
             "--font-render-hinting=none",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        for pipe in (self.into, self.out):
            os.close(pipe)
        self.profile.cleanup()

    def message(self):
        while b"\0" not in self.rest:
            data = os.read(self.into, 1 << 20)
            if not data:
                raise RuntimeError("the browser has gone")
            self.rest += data
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.out, json.dumps(command).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def value(self, expression, wait=False):
        """What the expression is in the page; of a promise, with `wait`, what it brings."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=wait)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def media(self, dark=False, paper=False):
        self.call("Emulation.setEmulatedMedia", media="print" if paper else "screen",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path, width=1280, height=900, scale=1, dark=False, paper=False):
        self.events = []
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=width < 600)
        self.media(dark, paper)
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        deadline = time.monotonic() + 60
        while self.value("document.readyState") != "complete":
            if time.monotonic() > deadline:
                raise RuntimeError("the page isn't ready after a minute")
            time.sleep(0.05)

    def complaints(self):
        """Uncaught exceptions, and whatever was written to the console or logged."""
        self.value("0")  # events before this answer have arrived
        found = []
        for event in self.events:
            if event.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
                found.append(json.dumps(event["params"])[:500])
        return found

    def requests(self):
        """What it asked for, the page itself and data in it apart."""
        urls = [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls[1:] if not url.startswith("data:")]

    def save(self, selector, folder, timeout=60):
        """The path of the file that a click there saves."""
        self.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        before = set(os.listdir(folder))
        self.value(f"document.querySelector({json.dumps(selector)}).click()")
        deadline = time.monotonic() + timeout
        while not (new := {name for name in os.listdir(folder) if not name.endswith((".crdownload", ".tmp"))} - before):
            if time.monotonic() > deadline:
                raise RuntimeError(f"a click on {selector} saves nothing")
            self.value("new Promise((done) => setTimeout(done, 50))", wait=True)
        return os.path.join(folder, new.pop())

    def pages(self):
        """How many sheets of A4 the page takes."""
        pdf = base64.b64decode(self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"])
        return len(re.findall(rb"/Type\s*/Page\b", pdf))

    def html(self):
        return self.value("document.documentElement.outerHTML")

    def screenshot(self, path, selector=None):
        if selector:
            self.value(f"for (let at = document.querySelector({json.dumps(selector)}); at; at = at.parentElement)"
                       " if (at.open === false) at.open = true")
            self.value("new Promise((done) => setTimeout(done, 200))", wait=True)  # drawn
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        if selector:
            top = self.value(f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().top")
            clip.update(y=top, height=1100)
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))



if __name__ == "__main__":
    pictured = Browser(find())
    pictured.open(sys.argv[1])
    pictured.screenshot(*sys.argv[2:4])
    pictured.close()
