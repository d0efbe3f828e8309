#!/usr/bin/env python3
"""`trine bench`: what Google Benchmark's users and tools find in it. That unverified figures are errors there is
shown by tests/liars.

usage: bench_test.py [unittest options] TRINE SCHEMA"""
import csv
import json
import os
import signal
import subprocess

from harness import DEVICES, TRINE, Program, main, trine

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

    MANY = ("bench", "reduce", "--size", ",".join(map(str, range(64, 464))), "--dtype", "f32", "--device", "cpu",
            "--benchmark_min_time=0.05")

    def partial(self, text, why):
        """Whole JSON of some of the cases, as Google Benchmark's tools expect it."""
        document = json.loads(text)
        self.assertIn(why, document["context"]["partial"])
        self.assertGreater(len(document["benchmarks"]), 0)
        self.assertLess(len(document["benchmarks"]), 400)
        for case in document["benchmarks"]:
            self.assertNotIn("error_occurred", case)
            self.assertGreater(case["real_time"], 0)

    def test_a_time_limit_leaves_what_there_is(self):
        done = trine(*self.MANY, "--time-limit", "3", "--benchmark_format=json", "--benchmark_out=" + self.path("r.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Ended early, the time limit of 3 s is up", done.stderr)
        self.partial(done.stdout, "time limit")
        with open(self.path("r.json")) as file:
            self.partial(file.read(), "time limit")

    def test_an_interrupt_leaves_what_there_is(self):
        run = subprocess.Popen([TRINE, *self.MANY, "--benchmark_out=" + self.path("r.json")], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        while not run.stdout.readline().startswith("reduce/"):
            self.assertIsNone(run.poll())
        run.send_signal(signal.SIGINT)
        words = run.communicate(timeout=120)[1]
        self.assertEqual(run.returncode, 130, words)
        self.assertIn("interrupted", words)
        with open(self.path("r.json")) as file:
            self.partial(file.read(), "interrupted")

    def test_what_ended_before_its_first_case_is_whole_json(self):
        text = self.run_good("bench", "reduce", "--size", "64", "--dtype", "f32", "--device", "cpu", "--time-limit",
                             "0.000001", "--benchmark_format=json")
        self.assertEqual(json.loads(text)["benchmarks"], [])

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
