#!/usr/bin/env python3
"""`trine report`: every figure of the JSON is in the CSV and in Markdown's tables; what isn't verified is named and
is no figure anywhere; pictures compare what can be compared; bad input is refused and nothing written.

usage: report_test.py [unittest options] TRINE FIXTURE CHART   CHART: the Chart.js built in, or nothing"""
import copy
import csv
import io
import json
import pathlib
import random
import subprocess
import unittest

import jsonschema

from report_harness import CHART, DOCUMENT, FIXTURE, LIAR, TRINE, Folder, main


def table(markdown, caption):
    """The rows below a caption, by the names of their columns."""
    lines = markdown.split(f"**{caption}**\n\n")[1].split("\n\n")[0].strip().splitlines()
    head, _, *rows = [[cell.strip().replace("\\", "") for cell in line.strip("|").split(" | ")] for line in lines]
    return [dict(zip(head, row)) for row in rows]


def broken(chance):
    """The fixture's text with a stretch of it gone, doubled or turned into other bytes; or the fixture with some of
    its values replaced."""
    text = json.dumps(DOCUMENT)
    at, length = chance.randrange(len(text)), chance.choice((1, 1, 2, 10, 1000, len(text)))
    kind = chance.randrange(6)
    if kind < 3:
        noise = "".join(chance.choice('[]{}",:-+.e019nt\\ \x00é') for _ in range(min(length, 10)))
        return text[:at] + ("", 2 * text[at:at + length], noise)[kind] + text[at + length:]
    document = json.loads(text)
    for _ in range(chance.choice((1, 3, 30))):
        value = chance.choice((None, True, -1, 0, 1e308, 2**63, 2**64, 1e-320, "", "x", "é" * 300, [], {}, [[]], [None]))
        replace_one(chance, document, value)
    return json.dumps(document)


def replace_one(chance, node, value):
    """Replaces, or takes away, something below `node`."""
    while True:
        key = chance.choice(list(node)) if isinstance(node, dict) else chance.randrange(len(node))
        if not isinstance(node[key], (dict, list)) or not node[key] or chance.random() < 0.1:
            break
        node = node[key]
    if chance.random() < 0.2:
        del node[key]
    else:
        node[key] = value


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

    def test_rungs_stand_up_the_ladder_whatever_was_measured_first(self):
        rows = table(self.good(self.save("indexed.json", with_rung_indices()), "--markdown", "-"),
                     "reduce sum f32 on cuda:0, every rung")
        rungs = list(dict.fromkeys(row["rung"].split(":")[0] for row in rows if row["size"] == "2¹⁶"))
        self.assertEqual(rungs, LADDER)

    def test_accurate_products_stand_apart(self):
        document = copy.deepcopy(DOCUMENT)
        plain = next(r for r in document["results"] if r["operation"] == "gemm" and r["verified"])
        document["results"] = [plain, {**plain, "asked": "accurate"}]
        page = self.good(self.save("accurate.json", document), "--markdown", "-")
        for title in ("gemm f64, in detail", "gemm f64, accurate"):
            self.assertIn(f"### {title}\n", page)

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
        self.assertIn("| size | A cpu | A cuda:0 | B cpu | B cuda:0 | by |", text)
        self.assertIn("556 verified", text)
        # The same case twice: a before and an after.
        self.assertIn("| host | A | B |", self.good(FIXTURE, FIXTURE, "--apart", "--markdown", "-"))
        self.assertIn("| host | measured on |", self.good(FIXTURE, FIXTURE, "--markdown", "-"))

    def test_of_a_case_in_several_files_the_latest_counts(self):
        def again(name, date, factor, **changes):
            document = copy.deepcopy(DOCUMENT)
            document["date"] = date
            document["host"].update(changes)
            for result in document["results"]:
                if result["seconds"]["kernel"]:
                    result["seconds"]["kernel"] *= factor
            document["crossings"][0]["size"] *= factor
            return self.save(name, document)
        late, early = again("late.json", "2026-11-22T09:00:00Z", 2, gpus=[]), again("early.json", "2026-11-21T23:00:00Z", 4)

        def kernels(*files):
            return [row["kernel"] for row in table(self.good(*files, "--markdown", "-"), "gemm f64 on cpu, every rung")]
        self.assertEqual(kernels(late, early), kernels(late))
        self.assertEqual(kernels(early, late), kernels(late))
        text = self.good(late, early, "--markdown", "-")
        self.assertIn("cuda:0 from 14700 elements. ", text)
        self.assertEqual(len(table(text, "Break-even")), len(DOCUMENT["crossings"]))
        self.assertEqual(len(table(text, "Roofs")), len(DOCUMENT["roofs"]))
        # A machine of the same kind with other devices is another one.
        other = copy.deepcopy(DOCUMENT)
        other["devices"][1]["devices"][0]["uuid"] = "00ff"
        self.assertIn("| host | A | B |", self.good(FIXTURE, self.save("o.json", other), "--markdown", "-"))

    def test_without_a_calibration_the_answer_is_compares(self):
        document = copy.deepcopy(DOCUMENT)
        del document["crossings"]
        text = self.good(self.save("c.json", document), "--markdown", "-")
        self.assertIn("On cuda:0, it pays for data that stays on the device from 2²⁶, and at 2²⁶ it doesn't pay for one "
                      "call on host data. At 2²⁶ the fastest is exact on cuda:0: 3.92 TB/s, 92 % of the roof, "
                      "1.05× as fast as cub.", text)

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

    def test_rates_side_by_side_are_by_one_method(self):
        rows = table(self.good(FIXTURE, "--markdown", "-"), "reduce sum f32, the fastest rung of each device")
        self.assertEqual({row["by"] for row in rows}, {"single launches"})
        rows = table(self.good(self.save("s.json", sustained()), "--markdown", "-"),
                     "reduce sum f32, the fastest rung of each device")
        self.assertEqual({row["by"] for row in rows}, {"launches back to back"})

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
        flat = [{**DOCUMENT["timelines"][0], "shape": [1]}]
        self.refused(self.save("j.json", {**DOCUMENT, "timelines": flat}), *out, word="shape")
        self.refused(FIXTURE, "--csv", str(self.folder / "no/such.csv"), word="no/such.csv")

    def test_deep_files_are_refused(self):
        out = ("--csv", str(self.folder / "out.csv"))
        for deep in ("[" * 65 + "]" * 65, "[" * 300000 + "]" * 300000, "[" * 300000,
                     '{"a":' * 300000, '{"results": [], "schema": ' + "[" * 300000 + "]" * 300000 + "}"):
            self.refused(self.save("deep.json", deep), *out, word="deep.json: nested deeper than 64")
        fits = dict(DOCUMENT, extra=json.loads("[" * 63 + "]" * 63))
        self.assertIn("WRONG", self.good(self.save("fits.json", fits), "--markdown", "-"))

    def test_broken_files_never_end_by_a_signal(self):
        """Documents changed by chance: read, or refused in one sentence."""
        chance = random.Random(8)
        for i in range(300):
            name = self.save("broken.json", broken(chance))
            done = subprocess.run([TRINE, "report", name, "--markdown", "-"], capture_output=True, timeout=60)
            self.assertIn(done.returncode, (0, 1, 2), f"{i}: {done.stderr}")
            self.assertEqual(len(done.stderr.strip().splitlines()), done.returncode == 2, f"{i}: {done.stderr}")

    @unittest.skipIf(not CHART, "built without Chart.js: there is no page")
    def test_a_roofline_of_i32_has_no_peak_of_f32(self):
        document = copy.deepcopy(DOCUMENT)
        for result in document["results"]:
            if result["operation"] == "gemm":
                result["dtype"] = result["result_dtype"] = "i32"
        page = self.folder / "r.html"
        for roofs, peak in ((DOCUMENT["roofs"], False), ([], False), ([{
                "device": "cuda:0", "what": "fma", "dtype": "i32", "memory": None, "value": 3e13, "unit": "flop/s",
                "nominal": 3.3e13}], True)):
            self.good(self.save("i.json", {**document, "roofs": roofs}), "--html", str(page))
            data = json.loads(page.read_text().split('id="data"')[1].split(">", 1)[1].split("</script>")[0])
            figures = {f["title"]: f for section in data["sections"] for f in section["figures"]}
            series = {s["label"]: s["data"] for s in figures["Roofline, i32"]["series"]}
            x, y = series["cuda:0, nominal"][-1][:2]
            self.assertEqual(y, 3.3e13 if peak else x * 4.8e12)  # the memory's alone, else the data sheet's
            self.assertGreater(x * 4.8e12, 67e12)

    @unittest.skipIf(CHART, "built with Chart.js")
    def test_without_chart_js_the_page_is_refused(self):
        self.refused(FIXTURE, "--html", str(self.folder / "r.html"), word="libjs-chart.js")


def sustained():
    """The document with a figure of launches back to back, twice as fast, for each of single ones."""
    document = copy.deepcopy(DOCUMENT)
    document["results"] = [r for r in document["results"] if r["method"] == "single"]
    for result in list(document["results"]):
        if result["memory"] == "resident":
            other = copy.deepcopy(result)
            other["method"] = "sustained"
            other["rate"]["value"] *= 2
            if other["seconds"]["kernel"]:
                other["seconds"]["kernel"] /= 2
            document["results"].append(other)
    return document


def sums(device, rung, **parameters):
    """The single launches' rate of a rung, or of all, by the size."""
    rates = {}
    for r in DOCUMENT["results"]:
        if (r["operation"] == "reduce" and r["device"] == device and rung in (None, r["rung"]) and r["verified"]
                and r["method"] == "single" and r["memory"] == "resident" and not r.get("vendor")
                and parameters.items() <= r["parameters"].items()):
            rates[r["shape"][0]] = max(rates.get(r["shape"][0], 0), r["rate"]["value"])
    return rates


LADDER = ["interleaved_divergent", "sequential", "first_add", "unroll_last_warp", "cascade", "exact", "cub"]


def with_rung_indices():
    """The fixture has cascade before first_add, and these at some sizes only."""
    document = copy.deepcopy(DOCUMENT)
    for result in document["results"]:
        if (result["operation"], result["device"]) == ("reduce", "cuda:0"):
            result["rung_index"] = LADDER.index(result["rung"])
    return document


@unittest.skipIf(not CHART, "built without Chart.js: there is no page")
class Pictures(Folder):
    def figures(self, document):
        """The page's pictures by their titles, as they lie in it."""
        path = self.folder / "r.html"
        self.good(self.save("d.json", document), "--html", str(path))
        data = path.read_text().split('id="data"')[1].split(">", 1)[1].split("</script>")[0]
        return {figure["title"]: figure for section in json.loads(data)["sections"] for figure in section["figures"]}

    def test_rungs_stand_up_the_ladder(self):
        figure = self.figures(with_rung_indices())["reduce sum f32, the ladder on cuda:0"]
        self.assertEqual([series["label"] for series in figure["series"]], LADDER)

    def test_a_curve_is_by_one_method(self):
        title = "reduce sum f32, the devices"
        figure = self.figures(DOCUMENT)[title]
        curves = {series["label"]: series["data"] for series in figure["series"]}
        self.assertEqual(figure["y"]["title"], "effective bandwidth, single launches")
        for device in ("cpu", "cuda:0"):
            self.assertEqual({x: y for x, y, *_ in curves[device]}, sums(device, "exact"))
        figure = self.figures(sustained())[title]
        curves = {series["label"]: series["data"] for series in figure["series"]}
        self.assertEqual(figure["y"]["title"], "effective bandwidth, launches back to back")
        self.assertEqual({x: y for x, y, *_ in curves["cpu"]}, {x: 2 * y for x, y in sums("cpu", "exact").items()})

    def test_the_devices_are_shown_by_what_a_program_gets(self):
        document = copy.deepcopy(DOCUMENT)
        for result in document["results"]:
            if result["rung"] == "exact":
                result["numerics"] = "study"  # no rung is reproducible then: the fastest of all
        figure = self.figures(document)["reduce sum f32, the devices"]
        curves = {series["label"]: series["data"] for series in figure["series"]}
        self.assertEqual({x: y for x, y, *_ in curves["cpu"]}, sums("cpu", None))

    def test_a_speed_up_is_by_one_method(self):
        figure = self.figures(DOCUMENT)["reduce sum f32, speed-up over the peers"]
        self.assertEqual(figure["y"]["title"], "speed-up, single launches")
        seconds = {(r["rung"], r["shape"][0]): r["seconds"]["kernel"] for r in DOCUMENT["results"]
                   if r["operation"] == "reduce" and r["device"] == "cuda:0" and r["method"] == "single"
                   and r["memory"] == "resident"}
        for x, y, rung in figure["series"][0]["data"]:
            if rung == "exact":
                self.assertAlmostEqual(y, seconds["cub", x] / seconds["exact", x])

    def test_break_even_is_that_of_single_launches(self):
        cpu, threads = sums("cpu", "sequential"), ("64", "128", "256", "512", "1024")
        document = copy.deepcopy(DOCUMENT)
        for result in document["results"]:  # behind up to 2^14, by single launches
            if result["rung"] == "interleaved_divergent" and result["shape"][0] <= 2 ** 14:
                result["rate"]["value"] = cpu[result["shape"][0]] / 2
        faster = copy.deepcopy([r for r in document["results"] if r["rung"] == "interleaved_divergent"])
        for result in faster:
            result["method"] = "sustained"
            result["rate"]["value"] *= 8
        document["results"] += faster
        figure = self.figures(document)["reduce sum f32, interleaved_divergent on cuda:0, by threads a group"]
        self.assertEqual(figure["note"], f"Break-even with cpu sequential: between 2¹⁴ and 2¹⁶ with {', '.join(threads)} "
                         "threads.")
        self.assertEqual(len(figure["marks"]), len(threads))
        for mark in figure["marks"]:
            self.assertTrue(2 ** 14 < mark["at"] < 2 ** 16, mark)

    def test_break_even_is_of_devices_in_the_picture(self):
        def marks(document, group="reduce sum f32"):
            figure = self.figures(document)[f"{group}, the devices"]
            self.assertEqual("is faster than" in figure["note"], bool(figure["marks"]), figure["note"])
            return len(figure["marks"])
        self.assertEqual(marks(DOCUMENT), 1)
        without = dict(DOCUMENT, results=[r for r in DOCUMENT["results"] if r["device"] != "cpu"])
        self.assertEqual(marks(without), 0)
        # Patterns of access aren't what a break-even is of, whatever the devices.
        patterns = copy.deepcopy(DOCUMENT)
        access = [r for r in patterns["results"] if r["device"] == "opencl:0"]
        for device in ("cpu", "cuda:0"):
            for size in (2 ** 20, 2 ** 21):
                patterns["results"] += copy.deepcopy([dict(r, device=device, shape=[size, 1]) for r in access])
        self.assertEqual(marks(patterns, "reduce sum f32, access patterns"), 0)

    def test_other_parameters_are_held_and_named(self):
        def held(document, key):
            figure = self.figures(document)[f"gemm f64, ilp16 on cuda:0, by {key}"]
            others = figure["note"].removeprefix("With ").split(".")[0]
            self.assertIn("=", others)
            for series in figure["series"]:
                for *_, variant in series["data"]:
                    self.assertIn(others, variant)
            return others
        full = {key: held(DOCUMENT, key) for key in ("tw", "threads")}
        fastest = max((r for r in DOCUMENT["results"] if r["rung"] == "ilp16"), key=lambda r: r["rate"]["value"])
        self.assertEqual(full, {"tw": f"threads={fastest['parameters']['threads']}",
                                "threads": f"tw={fastest['parameters']['tw']}"})
        # As document 002 has it: the widths with one shape, the shapes with one width.
        cross = dict(DOCUMENT, results=[r for r in DOCUMENT["results"] if r["rung"] != "ilp16"
                                        or r["parameters"]["tw"] == "8" or r["parameters"]["threads"] == "8x4"])
        self.assertEqual({key: held(cross, key) for key in ("tw", "threads")}, {"tw": "threads=8x4", "threads": "tw=8"})

    def test_a_parameter_is_drawn_where_a_size_has_two_of_its_values(self):
        apart = dict(DOCUMENT, results=[r for r in DOCUMENT["results"] if r["rung"] != "shared" or r["operation"] != "gemm"
                                        or (r["parameters"]["tile"] == "16") == (r["shape"][0] < 1024)])
        self.assertIn("gemm f64, shared on cuda:0, by tile", self.figures(DOCUMENT))
        self.assertNotIn("gemm f64, shared on cuda:0, by tile", self.figures(apart))

    def test_phases_that_overlap_are_not_stacked(self):
        document = copy.deepcopy(DOCUMENT)
        pipelined = next(r for r in document["results"] if r["memory"] == "pipelined")
        pipelined["seconds"].update(h2d=4e-3, kernel=3e-3, d2h=2e-3)
        title = next(title for title in self.figures(document) if title.startswith("reduce sum f32, end to end"))
        figure = self.figures(document)[title]
        bar = figure["x"]["names"].index("cuda:0 pipelined")
        self.assertEqual([(series["label"], point[1]) for series in figure["series"] for point in series["data"]
                          if point[0] == bar], [("total", pipelined["seconds"]["total"])])

    def test_overlap_is_said_as_it_is(self):
        title = "reduce f32 2²⁶ on cuda:0, pipelined"
        self.assertEqual(self.figures(DOCUMENT)[title]["note"],
                         "5.01 ms; the slower of link and kernel takes 93 % of that alone.")
        document = copy.deepcopy(DOCUMENT)
        timeline = document["timelines"][0]
        timeline.update(device="cuda:0+cpu", share=1.78)
        title = title.replace("cuda:0", "cuda:0+cpu")
        self.assertNotIn("%", self.figures(document)[title]["note"])
        row, = table(self.good(self.save("t.json", document), "--markdown", "-"), "Overlap")
        self.assertNotIn("%", " ".join(row.values()))
        del timeline["share"]
        timeline.update(gain=1.9, cpu_rows=0.45)
        self.assertEqual(self.figures(document)[title]["note"],
                         "5.01 ms; with the cpu on 45 % of the rows it is 1.90× as fast as without.")


if __name__ == "__main__":
    main()
