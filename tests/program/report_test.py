#!/usr/bin/env python3
"""`trine report`: every figure of the JSON is in the CSV, in Markdown's tables and on the page; what isn't
verified is named and is no figure anywhere; strings stay text; bad input is refused and nothing written.
The page is opened in headless Chromium where there is one (TRINE_REQUIRE=browser: there must be).

usage: report_test.py [unittest options] TRINE FIXTURE CHART   CHART: the Chart.js built in, or nothing"""
import copy
import csv
import html.parser
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

import browser

TRINE, FIXTURE, CHART = sys.argv[-3:]
with open(FIXTURE) as fixture:
    DOCUMENT = json.load(fixture)
LIAR = "slot 3 of 16 is 0, not 1.25e+03: it wrote nothing"


def trine(*words):
    return subprocess.run([TRINE, "report", *words], capture_output=True, text=True, timeout=120)


def table(markdown, caption):
    """The rows below a caption, by the names of their columns."""
    lines = markdown.split(f"**{caption}**\n\n")[1].split("\n\n")[0].strip().splitlines()
    head, _, *rows = [[cell.strip().replace("\\", "") for cell in line.strip("|").split(" | ")] for line in lines]
    return [dict(zip(head, row)) for row in rows]


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


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def save(self, name, document):
        path = self.folder / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return str(path)

    def good(self, *words):
        done = trine(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, *words, word):
        before = sorted(self.folder.iterdir())
        done = trine(*words)
        self.assertEqual(done.returncode, 2, f"{words}: {done.stdout}{done.stderr}")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertIn(word, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(sorted(self.folder.iterdir()), before)


class Words(Folder):
    def test_the_fixture_is_a_document(self):
        schema = json.loads((pathlib.Path(__file__).parents[2] / "docs/results.schema.json").read_text())
        jsonschema.validate(DOCUMENT, schema)

    def test_csv_has_a_row_for_each_result(self):
        rows = list(csv.DictReader(io.StringIO(self.good(FIXTURE, "--csv", "-"))))
        self.assertEqual(len(rows), len(DOCUMENT["results"]))
        for row, result in zip(rows, DOCUMENT["results"]):
            self.assertEqual(row["shape"], "x".join(map(str, result["shape"])))
            self.assertEqual(row["rung"], result["rung"])
            for phase, seconds in result["seconds"].items():
                want = seconds if result["verified"] else None
                self.assertEqual(float(row[phase]) if row[phase] else None, want)
            if result["verified"]:
                self.assertEqual(float(row["rate"]), result["rate"]["value"])
        self.assertEqual([row["failure"] for row in rows if row["status"] == "wrong"], [LIAR])
        self.assertEqual({row["rate"] for row in rows if row["status"] != "verified"}, {""})

    def test_rungs_stand_up_the_ladder_though_a_size_lacks_some(self):
        def lacks(result):
            return result["shape"][0] == 1024 and result["rung"] in ("interleaved_divergent", "cascade")
        document = dict(DOCUMENT, results=[r for r in DOCUMENT["results"] if not lacks(r)])
        rows = table(self.good(self.save("some.json", document), "--markdown", "-"),
                     "reduce sum f32 on cuda:0, every rung")
        rungs = list(dict.fromkeys(row["rung"].split(":")[0] for row in rows if row["size"] == "2¹⁶"))
        self.assertEqual(rungs, ["interleaved_divergent", "sequential", "cascade", "first_add", "unroll_last_warp",
                                 "exact", "cub"])

    def test_csv_columns_are_those_of_the_document(self):
        head = self.good(FIXTURE, "--csv", "-").splitlines()[0].split(",")
        page = (pathlib.Path(__file__).parents[2] / "docs/report.md").read_text()
        told = [line.split(" | ")[0].split("`")[1::2] for line in page.splitlines() if line.startswith("| `")]
        self.assertEqual(head, [name for names in told for name in names])

    def test_csv_quotes(self):
        document = copy.deepcopy(DOCUMENT)
        document["host"]["cpu"] = 'a "b", c\nd'
        rows = list(csv.DictReader(io.StringIO(self.good(self.save("q.json", document), "--csv", "-"), newline="")))
        self.assertEqual({row["cpu"] for row in rows}, {document["host"]["cpu"]})

    def test_markdown_has_steps_and_names_the_liar(self):
        text = self.good(FIXTURE, "--markdown", "-")
        self.assertIn("278 verified, 1 WRONG, 1 refused", text)
        self.assertIn(f"**{LIAR}**", text)
        rows = table(text, "transpose f32 on cuda:0, every rung")
        # Each against the fastest of the rung before it.
        self.assertEqual([(row["rung"], row["rate"], row["step"], row["cumulative"]) for row in rows], [
            ("naive", "1.10 TB/s", "-", "-"), ("shared", "2.20 TB/s", "2.00×", "2.00×"),
            ("shared_padded", "1.70 TB/s", "0.77×", "1.55×"), ("shared_padded", "2.90 TB/s", "1.32×", "2.64×"),
            ("shared_padded", "3.10 TB/s", "1.41×", "2.82×"), ("vector", "3.70 TB/s", "1.19×", "3.36×")])
        self.assertNotIn("<b>", text)

    def test_files_of_one_host_are_one_and_of_two_stand_side_by_side(self):
        half = copy.deepcopy(DOCUMENT), copy.deepcopy(DOCUMENT)
        for part, other in zip(half, (0, 1)):
            part["results"] = part["results"][other::2]
        one = [self.save(f"{i}.json", part) for i, part in enumerate(half)]
        self.assertIn("| host | measured on |", self.good(*one, "--markdown", "-"))
        second = copy.deepcopy(DOCUMENT)
        second["host"]["cpu"] = "Another CPU"
        text = self.good(FIXTURE, self.save("b.json", second), "--markdown", "-")
        self.assertIn("| host | A | B |", text)
        self.assertIn("| cpu | Fixture CPU | Another CPU |", text)
        self.assertIn("| size | A cpu | A cuda:0 | B cpu | B cuda:0 |", text)
        self.assertIn("556 verified", text)
        # The same case twice: a before and an after.
        self.assertIn("| host | A | B |", self.good(FIXTURE, FIXTURE, "--markdown", "-"))

    def test_published_figures_stand_beside_todays(self):
        rows = table(self.good(FIXTURE, "--markdown", "-"),
                     "Document 000, reduction: Reduction, 2^26 f32, V100, and today on cuda:0")
        self.assertEqual([(row["ms, published"], row["ms, today"], row["verified"]) for row in rows],
                         [("2.696", "0.6754", "within bound"), ("1.248", "0.1453", "within bound"),
                          ("0.355", "-", "**WRONG**")])

    def test_strides_are_a_series_with_its_dense_case(self):
        rows = table(self.good(FIXTURE, "--markdown", "-"), "reduce sum f32, access patterns on opencl:0, every rung")
        self.assertEqual([row["parameters"] for row in rows],
                         [f"stride={s},offset={o}" for s, o in ((1, 0), (2, 0), (8, 0), (32, 0), (1, 1), (1, 8))])

    def test_partial_runs_say_so(self):
        document = copy.deepcopy(DOCUMENT)
        document["partial"] = True
        self.assertIn("results are partial", self.good(self.save("p.json", document), "--markdown", "-"))

    def test_only_what_is_there(self):
        document = {key: DOCUMENT[key] for key in ("schema", "version", "host", "devices")}
        text = self.good(self.save("n.json", {**document, "results": []}), "--markdown", "-")
        self.assertNotIn("Roof", text)
        self.assertNotIn("Published", text)

    def test_bad_input_is_refused(self):
        out = ("--csv", str(self.folder / "out.csv"))
        self.refused(FIXTURE, word="--html")
        self.refused(FIXTURE, "--csv", "-", "--markdown", "-", word="mix")
        self.refused(*out, word="files")
        self.refused(str(self.folder / "absent.json"), *out, word="absent.json")
        self.refused(self.save("a.json", "{"), *out, word="no JSON")
        self.refused(self.save("b.json", "[1]"), *out, word="no object")
        self.refused(self.save("c.json", {"context": {}, "benchmarks": []}), *out, word="Google Benchmark")
        self.refused(self.save("d.json", {"schema": 1, "verify": {}}), *out, word="trine verify")
        self.refused(self.save("e.json", {**DOCUMENT, "schema": 2}), *out, word="schema 2")
        self.refused(self.save("f.json", {**DOCUMENT, "host": None}), *out, word="host")
        broken = copy.deepcopy(DOCUMENT)
        broken["results"][2]["seconds"]["kernel"] = "fast"
        self.refused(self.save("g.json", broken), *out, word="result 3")
        del broken["results"][2]["seconds"]
        self.refused(self.save("h.json", broken), *out, word="seconds")
        self.refused(self.save("i.json", {**DOCUMENT, "roofs": [1]}), *out, word="roofs")
        self.refused(FIXTURE, "--csv", str(self.folder / "no/such.csv"), word="no/such.csv")

    @unittest.skipIf(CHART, "built with Chart.js")
    def test_without_chart_js_the_page_is_refused(self):
        self.refused(FIXTURE, "--html", str(self.folder / "r.html"), word="libjs-chart.js")


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
        self.assertGreaterEqual(int(self.browser.value("document.documentElement.dataset.drawn")), 15)
        self.assertTrue(self.browser.value(
            "[...document.querySelectorAll('canvas')].every((canvas) => canvas.getAttribute('role') === 'img' "
            "&& canvas.getAttribute('aria-label').length > 20 "
            "&& canvas.closest('figure').querySelector('details table tbody tr'))"))

    def test_folded_pictures_are_drawn_when_opened(self):
        self.page(FIXTURE)
        self.assertGreater(self.browser.value("document.querySelectorAll('details.figure').length"), 0)
        self.browser.value("for (const one of document.querySelectorAll('details')) one.open = true")
        self.assertTrue(self.browser.value(
            "new Promise((done) => setTimeout(() => done(Object.values(Chart.instances).length"
            " === document.querySelectorAll('canvas').length), 500))", wait=True))
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
        printed = f"new Promise((done) => setTimeout(() => done({ink}), 500))"
        self.assertEqual(self.browser.value(printed, wait=True), light)
        self.assertEqual(self.browser.complaints(), [])

    def test_several_hosts_and_nothing_at_all(self):
        second = copy.deepcopy(DOCUMENT)
        second["host"]["cpu"] = "Another CPU"
        page = self.page(FIXTURE, self.save("b.json", second))
        self.assertIn("B cuda:0", page.texts)
        empty = {key: DOCUMENT[key] for key in ("schema", "version", "host", "devices")}
        self.page(self.save("n.json", {**empty, "results": []}))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:-3])
