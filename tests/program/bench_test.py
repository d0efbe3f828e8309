#!/usr/bin/env python3
"""`trine bench`: what Google Benchmark's users and tools find in it. That unverified figures are errors there is
shown by tests/liars.

usage: bench_test.py [unittest options] TRINE SCHEMA"""
import csv
import json
import os

from harness import DEVICES, Program, main, trine

QUICK = ("--benchmark_min_time=0.001",)


class TestBench(Program):
    def cases(self, *words):
        text = self.run_good("bench", *words, *QUICK, "--benchmark_format=json")
        document = json.loads(text)  # and nothing else on stdout
        self.assertIn("executable", document["context"])
        return document["benchmarks"]

    def test_names_times_and_rates(self):
        one, = self.cases("reduce", "--size", "2^12", "--dtype", "f32", "--device", "cpu", "--rung", "exact")
        self.assertEqual(one["name"], "reduce/sum/f32/2^12/cpu/exact/manual_time")
        self.assertGreater(one["real_time"], 0)
        self.assertGreater(one["iterations"], 0)
        seconds = one["real_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[one["time_unit"]]
        self.assertAlmostEqual(one["bytes_per_second"] * seconds / (4 * 2 ** 12 + 4), 1, places=6)
        self.assertIn("same bits", one["label"])
        one, = self.cases("gemm", "--size", "16x24x32", "--dtype", "f64", "--device", "cpu", "--layout", "rcr")
        self.assertEqual(one["name"], "gemm/f64/16x24x32/rcr/cpu/micro_kernel/manual_time")
        self.assertAlmostEqual(one["FLOP/s"] * one["real_time"] * 1e-9 / (2 * 16 * 24 * 32), 1, places=6)

    def test_every_device_has_its_case(self):
        cases = self.cases("transpose", "--size", "64")
        self.assertEqual({case["name"].split("/")[3] for case in cases}, set(DEVICES))

    def test_repetitions_filter_and_files(self):
        self.run_good("bench", "reduce", "--size", "64,128", "--dtype", "f32", "--device", "cpu", *QUICK,
                      "--benchmark_filter=/128/", "--benchmark_repetitions=3", "--benchmark_out=" + self.path("r.json"))
        with open(self.path("r.json")) as file:
            runs = json.load(file)["benchmarks"]
        self.assertTrue(all("/128/" in run["name"] for run in runs))
        self.assertEqual(sum(run["run_type"] == "iteration" for run in runs), 3)
        self.assertIn("median", {run.get("aggregate_name") for run in runs})
        self.run_good("bench", "reduce", "--size", "64", "--dtype", "f32", "--device", "cpu", *QUICK,
                      "--benchmark_out_format=csv", "--benchmark_out=" + self.path("r.csv"))
        with open(self.path("r.csv")) as file:
            lines = list(csv.reader(file))
        self.assertIn("reduce/sum/f32/64/cpu/exact/manual_time", {line[0] for line in lines if line})

    def test_list(self):
        text = self.run_good("bench", "reduce", "--size", "8", "--dtype", "f32,f64", "--device", "cpu",
                             "--benchmark_list_tests=true")
        self.assertEqual(text.split(), [f"reduce/sum/{t}/8/cpu/exact/manual_time" for t in ("f32", "f64")])

    def test_refusals(self):
        def refused(*words, word):
            done = trine("bench", "reduce", "--size", "8", "--dtype", "f32", "--device", "cpu", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(word, done.stderr.strip().splitlines()[-1])
            self.assertEqual(os.listdir(self.folder.name), [])

        refused("--benchmark_bogus=1", word="--benchmark_bogus=1")
        refused("--bogus", word="--bogus")
        refused("--benchmark_format=xml", word="value")
        refused("--benchmark_repetitions=many", word="--benchmark_repetitions=many")
        refused("--benchmark_filter=nothing", "--benchmark_out=" + self.path("r.json"), word="nothing")
        refused("--benchmark_out=" + self.path("no/r.json"), word="no/r.json")
        refused("--rung", "bogus", word="bogus")


if __name__ == "__main__":
    main()
