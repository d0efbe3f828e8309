#!/usr/bin/env python3
"""`trine report`'s page, opened in headless Chromium where there is one (TRINE_REQUIRE=browser: there must be):
every figure of the JSON is on it, each picture is drawn, strings stay text, and it asks the network for nothing.

usage: page_test.py [unittest options] TRINE FIXTURE CHART   CHART: the Chart.js built in, or nothing"""
import copy
import html.parser
import json
import os
import unittest

import browser
from report_harness import CHART, DOCUMENT, FIXTURE, LIAR, Folder, main


class Elements(html.parser.HTMLParser):
    """The page's values, its cells' texts, its tags."""

    def __init__(self, text):
        super().__init__()
        self.values, self.texts, self.tags, self.wrong = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        if tag == "data":
            self.values.append(float(attrs["value"]))
        self.alarmed = tag == "td" and "wrong" in attrs.get("class", "")

    def handle_data(self, data):
        self.texts.append(data)
        if getattr(self, "alarmed", False):
            self.wrong.append(data)


@unittest.skipIf(not CHART, "built without Chart.js: there is no page")
class Page(Folder):
    @classmethod
    def setUpClass(cls):
        program = browser.find()
        if program is None:
            if "browser" in os.environ.get("TRINE_REQUIRE", "").split(","):
                raise RuntimeError("TRINE_REQUIRE=browser: there is no Chromium")
            raise unittest.SkipTest("there is no Chromium")
        cls.browser = browser.Browser(program)
        cls.addClassCleanup(cls.browser.close)

    def page(self, *files, **how):
        path = self.folder / "r.html"
        self.good(*files, "--html", str(path))
        self.assertLess(path.stat().st_size, 2e6)
        self.browser.open(path, **how)
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [])
        return Elements(self.browser.html())

    def becomes(self, condition):
        """Whether it holds within half a minute."""
        return self.browser.value(
            f"new Promise((done) => {{ const look = (left) => ({condition}) || left === 0 ? done({condition}) "
            ": setTimeout(look, 50, left - 1); look(600) })", wait=True)

    def test_every_figure_is_on_the_page(self):
        page = self.page(FIXTURE)
        values = set(page.values)
        for result in DOCUMENT["results"]:
            figures = [*result["seconds"].values()] if result["verified"] else []
            for value in filter(None, figures):
                self.assertTrue(value in values, f"{value} of {result}")
        for roof in DOCUMENT["roofs"]:
            self.assertTrue(roof["value"] in values, roof)
        for row in DOCUMENT["published"][0]["rows"]:
            for value in row["published"] + row["today"]:
                self.assertTrue(value is None or value in values, value)
        for sweep in DOCUMENT["sweeps"]:
            self.assertTrue({sweep["default_seconds"], sweep["seconds"]} <= values, sweep)
        for crossing in DOCUMENT["crossings"]:
            self.assertIn(crossing["sentence"], page.texts)
        self.assertLessEqual({span["end"] for span in DOCUMENT["timelines"][0]["spans"]}, values)

    def test_what_is_wrong_is_red_and_drawn_nowhere(self):
        page = self.page(FIXTURE)
        self.assertIn(LIAR, page.wrong)
        wrong = next(result for result in DOCUMENT["results"] if not result["verified"] and not result["skipped"])
        self.assertFalse(wrong["rate"]["value"] in page.values)
        self.assertFalse(wrong["seconds"]["kernel"] in page.values)
        red = self.browser.value("getComputedStyle(document.querySelector('td.wrong')).color")
        self.assertEqual(red, "rgb(179, 0, 27)")

    def test_strings_stay_text(self):
        page = self.page(FIXTURE)
        self.assertIn(DOCUMENT["devices"][1]["devices"][0]["name"], page.texts)
        self.assertNotIn("b", page.tags)
        self.assertEqual(self.browser.value("document.scripts.length"), 3)

    def test_each_picture_has_its_words_and_numbers(self):
        self.page(FIXTURE)
        self.assertGreaterEqual(int(self.browser.value("document.documentElement.dataset.drawn")), 3)
        self.assertTrue(self.browser.value(
            "[...document.querySelectorAll('canvas')].every((canvas) => canvas.getAttribute('role') === 'img' "
            "&& canvas.getAttribute('aria-label').length > 20 "
            "&& canvas.closest('figure').querySelector('details table tbody tr'))"))

    def test_it_opens_with_an_answer_and_a_picture_for_each_operation(self):
        self.page(FIXTURE)
        open_now = ("[...document.querySelectorAll('main > section')].filter((section) => section.querySelector('canvas'))"
                    ".map((section) => [section.querySelector('h2').textContent, section.querySelector('p').textContent,"
                    " [...section.querySelectorAll('canvas')].filter((canvas) => canvas.checkVisibility()).length])")
        shown = {title: (answer, pictures) for title, answer, pictures in self.browser.value(open_now)}
        self.assertEqual(set(shown), {"reduce sum f32", "gemm f64", "transpose f32"})
        self.assertEqual({pictures for _, pictures in shown.values()}, {1})
        self.assertIn("cuda:0 from 7350 elements. Data in host memory, copies included: cpu at every size. ",
                      shown["reduce sum f32"][0])

    def test_paper_has_what_is_open(self):
        self.page(FIXTURE)
        pages = self.browser.pages()
        self.assertLessEqual(pages, 15)
        self.browser.value("document.getElementById('all').click()")
        self.assertGreater(self.browser.pages(), pages)

    def test_a_click_saves_a_picture(self):
        self.page(FIXTURE)
        with open(self.browser.save("button.save", self.folder), "rb") as file:
            self.assertTrue(file.read().startswith(b"\x89PNG\r\n"))
        self.assertEqual(self.browser.complaints(), [])

    def test_folded_pictures_are_drawn_when_opened(self):
        self.page(FIXTURE)
        self.assertGreater(self.browser.value("document.querySelectorAll('main > section > details').length"), 0)
        self.browser.value("for (const one of document.querySelectorAll('details')) one.open = true")
        self.assertTrue(self.becomes(
            "Object.values(Chart.instances).length === document.querySelectorAll('canvas').length"))
        self.assertEqual(self.browser.complaints(), [])

    def test_it_fits_a_phone_and_paper(self):
        for how in ({"width": 360, "height": 740}, {"width": 688, "paper": True}, {"dark": True}, {}):
            self.page(FIXTURE, **how)
            self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), how.get("width", 1280))

    def test_light_and_dark_reach_the_pictures(self):
        ink = "Object.values(Chart.instances)[0].options.scales.x.ticks.color"
        self.page(FIXTURE)
        light = self.browser.value(ink)
        self.page(FIXTURE, dark=True)
        self.assertNotEqual(self.browser.value(ink), light)
        self.browser.media(dark=True, paper=True)
        self.assertTrue(self.becomes(f"{ink} === {json.dumps(light)}"))
        self.assertEqual(self.browser.complaints(), [])

    def tables(self):
        """The rows of each table by its caption, as texts."""
        return self.browser.value("Object.fromEntries([...document.querySelectorAll('table')].map((table) => [table.caption.textContent,"
                                  " [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent))]))")

    def test_steps_are_against_the_fastest_of_the_rung_before(self):
        self.page(FIXTURE)
        head, *rows = self.tables()["transpose f32 on cuda:0, every rung"]
        of = [head.index(name) for name in ("rung", "rate", "step", "cumulative")]
        self.assertEqual([tuple(row[i] for i in of) for row in rows], [
            ("naive", "1.10 TB/s", "-", "-"), ("shared", "2.20 TB/s", "2.00×", "2.00×"),
            ("shared_padded", "1.70 TB/s", "0.773×", "1.55×"), ("shared_padded", "2.90 TB/s", "1.32×", "2.64×"),
            ("shared_padded", "3.10 TB/s", "1.41×", "2.82×"), ("vector", "3.70 TB/s", "1.19×", "3.36×")])

    def test_a_curve_is_by_one_method(self):
        def curve(document):
            self.page(self.save("d.json", document))
            return self.browser.value("((chart) => [chart.options.plugins.subtitle.text, chart.data.datasets[0].data])(Object.values(Chart.instances)[0])")
        title, rates = curve(DOCUMENT)
        self.assertIn("single launches", title)
        again = copy.deepcopy(DOCUMENT)
        again["results"] = [r for r in again["results"] if r["method"] == "single"]
        for result in [r for r in again["results"] if r["memory"] == "resident"]:
            other = copy.deepcopy(result)
            other["method"] = "sustained"
            other["rate"]["value"] *= 2
            again["results"].append(other)
        title, doubled = curve(again)
        self.assertIn("launches back to back", title)
        self.assertEqual(doubled, [2 * rate for rate in rates])

    def test_of_a_case_in_several_files_the_latest_counts(self):
        def again(name, date, factor):
            document = copy.deepcopy(DOCUMENT)
            document["date"] = date
            for result in document["results"]:
                if result["seconds"]["kernel"]:
                    result["seconds"]["kernel"] *= factor
            document["crossings"][0]["size"] *= factor
            return self.save(name, document)
        late, early = again("late.json", "2026-11-22T09:00:00Z", 2), again("early.json", "2026-11-21T23:00:00Z", 4)
        page = self.page(late, early)
        self.assertTrue(any("cuda:0 from 14700 elements. " in text for text in page.texts))
        both = self.tables()
        self.page(late)
        for caption in ("gemm f64 on cpu, every rung", "Break-even", "Roofs"):
            self.assertEqual(both[caption], self.tables()[caption])

    def test_without_a_calibration_the_answer_is_compares(self):
        document = copy.deepcopy(DOCUMENT)
        del document["crossings"]
        page = self.page(self.save("c.json", document))
        self.assertIn("On cuda:0, it pays for data that stays on the device from 2²⁶, and at 2²⁶ it doesn't pay for one "
                      "call on host data. At 2²⁶ the fastest is exact on cuda:0: 3.92 TB/s, 92 % of the roof, "
                      "1.05× as fast as cub.", [text.replace("\u00a0", " ") for text in page.texts])

    def test_several_hosts_and_nothing_at_all(self):
        second = copy.deepcopy(DOCUMENT)
        second["host"]["cpu"] = "Another CPU"
        second["partial"] = True
        page = self.page(FIXTURE, self.save("b.json", second))
        self.assertIn("B cuda:0", page.texts)
        self.assertIn("results are partial", self.browser.value("document.getElementById('summary').textContent"))
        empty = {key: DOCUMENT[key] for key in ("schema", "version", "host", "devices")}
        self.page(self.save("n.json", {**empty, "results": []}))


if __name__ == "__main__":
    main()
