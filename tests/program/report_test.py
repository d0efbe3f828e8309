#!/usr/bin/env python3
"""`trine report`: the CSV has every figure of the JSON but those that aren't verified; files of one machine are told
from those of another; bad input is refused and nothing written.

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
    def rows(self, *files):
        return list(csv.DictReader(io.StringIO(self.good(*files, "--csv", "-"), newline="")))

    def test_the_fixture_is_a_document(self):
        schema = json.loads((pathlib.Path(__file__).parents[2] / "docs/results.schema.json").read_text())
        jsonschema.validate(DOCUMENT, schema)

    def test_csv_has_a_row_for_each_result(self):
        rows = self.rows(FIXTURE)
        self.assertEqual(len(rows), len(DOCUMENT["results"]))
        for row, result in zip(rows, DOCUMENT["results"]):
            self.assertEqual(int(row["shape.0"]), result["shape"][0])
            self.assertEqual(row["rung"], result["rung"])
            for phase, seconds in result["seconds"].items():
                want = seconds if result["verified"] else None
                self.assertEqual(float(row["seconds." + phase]) if row["seconds." + phase] else None, want)
            if result["verified"]:
                self.assertEqual(float(row["rate.value"]), result["rate"]["value"])
            for key, value in result["parameters"].items():
                self.assertEqual(row["parameters." + key], value)
        self.assertEqual([row["failure"] for row in rows if row["verified"] == row["skipped"] == "false"], [LIAR])
        self.assertEqual({row["rate.value"] for row in rows if row["verified"] != "true"}, {""})

    def test_csv_quotes(self):
        document = copy.deepcopy(DOCUMENT)
        document["results"][0]["rung"] = 'a "b", c\nd'
        self.assertEqual(self.rows(self.save("q.json", document))[0]["rung"], 'a "b", c\nd')

    def test_files_of_one_machine_are_of_one_host(self):
        def hosts(*files, how=()):
            return sorted({row["host"] for row in self.rows(*files, *how)})
        other = copy.deepcopy(DOCUMENT)
        other["date"] = "2026-11-22T09:00:00Z"
        again = self.save("again.json", other)
        self.assertEqual(hosts(FIXTURE, again), ["0"])
        self.assertEqual(hosts(FIXTURE, again, how=("--apart",)), ["0", "1"])
        for change in (lambda d: d["host"].update(cpu="Another CPU"), lambda d: d.update(version="0.2.0"),
                       lambda d: d["devices"][1]["devices"][0].update(uuid="00ff")):
            document = copy.deepcopy(other)
            change(document)
            self.assertEqual(hosts(FIXTURE, self.save("o.json", document)), ["0", "1"])

    def test_bad_input_is_refused(self):
        out = ("--csv", str(self.folder / "out.csv"))
        self.refused(FIXTURE, word="--html")
        self.refused(*out, word="FILE")
        self.refused(str(self.folder / "absent.json"), *out, word="absent.json")
        self.refused(self.save("a.json", "{"), *out, word="no JSON")
        for name, document in (("b.json", "[1]"), ("c.json", {"context": {}, "benchmarks": []}),
                               ("d.json", {"schema": 1, "verify": {}}), ("e.json", {**DOCUMENT, "schema": 2})):
            self.refused(self.save(name, document), *out, word=f"{name}: no results of `trine compare --json`")
        self.refused(self.save("f.json", {**DOCUMENT, "host": None}), *out, word="host")
        broken = copy.deepcopy(DOCUMENT)
        broken["results"][2]["seconds"]["kernel"] = "fast"
        self.refused(self.save("g.json", broken), *out, word="result 3")
        del broken["results"][2]["seconds"]
        self.refused(self.save("h.json", broken), *out, word="seconds")
        self.refused(self.save("i.json", {**DOCUMENT, "roofs": [1]}), *out, word="roofs")
        self.refused(FIXTURE, "--csv", str(self.folder / "no/such.csv"), word="no/such.csv")

    def test_deep_files_are_refused(self):
        out = ("--csv", str(self.folder / "out.csv"))
        for deep in ("[" * 65 + "]" * 65, "[" * 300000 + "]" * 300000, "[" * 300000,
                     '{"a":' * 300000, '{"results": [], "schema": ' + "[" * 300000 + "]" * 300000 + "}"):
            self.refused(self.save("deep.json", deep), *out, word="deep.json: nested deeper than 64")
        self.good(self.save("fits.json", dict(DOCUMENT, extra=json.loads("[" * 63 + "]" * 63))), "--csv", "-")

    def test_broken_files_never_end_by_a_signal(self):
        """Documents changed by chance: read, or refused in one sentence."""
        chance = random.Random(8)
        for i in range(200):
            name = self.save("broken.json", broken(chance))
            done = subprocess.run([TRINE, "report", name, "--csv", "-"], capture_output=True, timeout=60)
            self.assertIn(done.returncode, (0, 2), f"{i}: {done.stderr}")
            self.assertEqual(len(done.stderr.strip().splitlines()), done.returncode == 2, f"{i}: {done.stderr}")

    @unittest.skipIf(CHART, "built with Chart.js")
    def test_without_chart_js_the_page_is_refused(self):
        self.refused(FIXTURE, "--html", str(self.folder / "r.html"), word="libjs-chart.js")


if __name__ == "__main__":
    main()
