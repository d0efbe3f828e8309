"""What the program's tests share: running trine, its JSON, its refusals. A test file imports all of it,
defines cases of Program and ends with main().

usage: ANY_test.py [unittest options] TRINE SCHEMA"""
import contextlib
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import threading
import unittest

import jsonschema
import numpy as np

TRINE, SCHEMA = sys.argv[-2:]
DEVICES = []
# Options whose lines have any length: programs read them, or the user asked for all columns.
ANY_WIDTH = {"--wide", "--source", "--bash", "--man", "--csv", "--benchmark_format=json", "--benchmark_list_tests=true"}


def environment(more=None):
    return {**os.environ, "TRINE_DATA_DIR": "", "TRINE_TUNING": "", **(more or {})}


def trine(*words, env=None, cwd=None):
    return subprocess.run([TRINE, *words], capture_output=True, text=True, timeout=300, env=environment(env), cwd=cwd)


def too_wide(text):
    """The lines of more than 100 columns; colours take none."""
    return [line for line in re.sub("\033\\[[0-9;]*m", "", text).splitlines() if len(line) > 100]


def on_terminal(*words, env=None, told=lambda run, text: None):
    """Exit code and text of a run that prints to a terminal, so progress is part of it. told(run, text) is called
    whenever there is more."""
    terminal, its = pty.openpty()
    run = subprocess.Popen([TRINE, *words], stdout=its, stderr=its, env=environment(env))
    os.close(its)
    deadline = threading.Timer(300, run.kill)
    deadline.start()
    text = ""
    with contextlib.suppress(OSError):  # EIO: nobody writes there any more
        while more := os.read(terminal, 4096):
            text += more.decode(errors="replace")
            told(run, text)
    os.close(terminal)
    code = run.wait()
    deadline.cancel()
    return code, text


def signalled(which, sign, *words, env=None):
    """Exit code and text of a run that gets the signal `which` once the pattern `sign` shows in what it prints:
    however slow the machine, the run is as far as the sign says."""
    seen = []

    def told(run, text):
        if not seen and re.search(sign, text):
            seen.append(sign)
            run.send_signal(which)
    code, text = on_terminal(*words, env=env, told=told)
    if not seen:
        raise AssertionError(f"'{sign}' never showed: {text}")
    return code, text


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def save(self, name, array):
        np.save(self.path(name), array)
        return self.path(name)

    def run_good(self, *words, env=None):
        """What a run prints that succeeds; it fits a screen."""
        done = trine(*words, env=env)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        if not ANY_WIDTH & set(words):
            self.assertEqual(too_wide(done.stdout), [], words)
        return done.stdout

    def refused(self, *words, word=None):
        """Exit 2, one line on stderr that contains `word`, and no file more than before, not even one in the current
        folder that is named like an option."""
        before = sorted(os.listdir(self.folder.name))
        done = trine(*words, cwd=self.folder.name)
        self.assertEqual(done.returncode, 2, f"{words}: {done.stdout}{done.stderr}")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        if word:
            self.assertIn(word, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)

    def load(self, name):
        """A JSON file that the program wrote, held to the schema."""
        with open(self.path(name)) as file:
            document = json.load(file)
        with open(SCHEMA) as file:
            jsonschema.validate(document, json.load(file))
        return document

    def load_partial(self, name):
        """The same of a run that ended early, with results."""
        document = self.load(name)
        self.assertTrue(document["partial"])
        self.assertGreater(len(document["results"]), 0)
        return document


def devices():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "info.json")
        trine("info", "--json", path)
        with open(path) as file:
            return [device["id"] for backend in json.load(file)["devices"] for device in backend["devices"]]


def main():
    DEVICES[:] = devices()
    required = set(os.environ.get("TRINE_REQUIRE", "").split(",")) - {"", "browser", "compare.py"}
    missing = [word for word in sorted(required) if not any(device.startswith(word) for device in DEVICES)]
    if missing:
        sys.exit(f"TRINE_REQUIRE: no device of {missing} among {DEVICES}")
    print(f"devices: {DEVICES}", file=sys.stderr)
    unittest.main(argv=sys.argv[:-2])
