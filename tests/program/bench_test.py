#!/usr/bin/env python3
"""`trine bench`: what Google Benchmark's users and tools find in it. That unverified figures are errors there is
shown by tests/cheating_backends. Its compare.py is run where there is one (TRINE_REQUIRE=compare.py: there must be).

usage: bench_test.py [unittest options] TRINE SCHEMA"""
import importlib.util
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys

from harness import DEVICES, Program, main, signalled, trine

QUICK = ("--benchmark_min_time=0.001",)


def find_compare():
    """Google Benchmark's compare.py, on the PATH or where Debian and its own installation have it; or None, also where
    it lacks scipy."""
    if importlib.util.find_spec("scipy") is None:
        return None
    for path in (shutil.which("compare.py"), "/usr/share/benchmark/compare.py",
                 "/usr/share/googlebenchmark/tools/compare.py"):
        if path and os.path.exists(path):
            return path
    return None


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

    def test_operations_of_integers_are_no_flops(self):
        one, = self.cases("gemm", "--size", "16", "--dtype", "i32", "--device", "cpu")
        self.assertGreater(one["OP/s"], 0)
        self.assertNotIn("FLOP/s", one)

    def test_exact_products_have_names_of_their_own(self):
        both = self.cases("gemm", "--size", "16", "--dtype", "f32", "--device", "cpu", "--numerics", "reproducible,exact")
        self.assertEqual([one["name"].split("/cpu/")[0] for one in both], ["gemm/f32/16x16x16", "gemm/f32/16x16x16/exact"])

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

    def compare(self, before, after):
        """The lines of compare.py, by their first word."""
        program = find_compare()
        if program is None:
            if "compare.py" in os.environ.get("TRINE_REQUIRE", "").split(","):
                self.fail("TRINE_REQUIRE=compare.py: it or scipy isn't there")
            self.skipTest("there is no compare.py, or no scipy")
        done = subprocess.run([sys.executable, "-B", program, "--no-color", "benchmarks", before, after],
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.strip()}

    def test_compare_py_reads_it(self):
        files = [self.path("a.json"), self.path("b.json")]
        for path in files:
            self.run_good("bench", "--size", "64,96", "--dtype", "f32", "--device", "cpu", *QUICK,
                          "--benchmark_repetitions=2", "--benchmark_out=" + path, "--benchmark_out_format=json")
        times = []
        for path in files:  # of each name the last repetition's, as in the lines; a deviation may be 0
            with open(path) as file:
                times.append({case["name"]: case["real_time"] for case in json.load(file)["benchmarks"]
                              if case.get("aggregate_name", "median") == "median"})
        self.assertGreaterEqual(len({name.split("_")[0] for name in times[0]}), 3)
        self.assertEqual(times[0].keys(), times[1].keys())
        lines = self.compare(*files)
        for name, before in times[0].items():
            change, _, *printed = map(float, lines[name][:4])
            self.assertAlmostEqual(change, times[1][name] / before - 1, delta=1e-4)
            self.assertAlmostEqual(printed[0], before, delta=0.6)  # whole ns
            self.assertAlmostEqual(printed[1], times[1][name], delta=0.6)
        self.assertIn("OVERALL_GEOMEAN", lines)

    def test_compare_py_finds_a_planted_slowdown(self):
        name, files = "transpose/f32/128x128/cpu/steady/manual_time", [self.path("before.json"), self.path("after.json")]
        for _ in range(3):  # other programs may have the cores for a while
            for path, slower in zip(files, ("0", "400")):
                self.run_good("bench", "transpose", "--size", "128", "--dtype", "f32", "--device", "cpu", "--rung", "steady",
                              "--benchmark_min_time=0.01", "--benchmark_repetitions=15", "--benchmark_out=" + path,
                              env={"TRINE_BACKEND_PATH": os.environ["TRINE_TEST_STEADY"], "SLOWER": slower})
            lines = self.compare(*files)
            chance, change = float(lines[name + "_pvalue"][0]), float(lines[name + "_median"][0])
            if chance < 0.05 and change > 1:
                return
        self.fail(f"p = {chance}, a change of {change}")

    def test_compare_py_reads_what_ended_early(self):
        many = self.path("many.json")
        self.run_good("bench", "reduce", "--size", "64,96", "--dtype", "f32", "--device", "cpu", *QUICK,
                      "--benchmark_out=" + many)
        done = trine("bench", "reduce", "--size", "64,96", "--dtype", "f32", "--device", "cpu",
                     "--benchmark_min_time=600", "--time-limit", "1", "--benchmark_out=" + self.path("none.json"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotIn("reduce/sum/f32/64/cpu/exact/manual_time", self.compare(many, self.path("none.json")))

    def test_list(self):
        text = self.run_good("bench", "reduce", "--size", "8", "--dtype", "f32,f64", "--device", "cpu",
                             "--benchmark_list_tests=true")
        self.assertEqual(text.split(), [f"reduce/sum/{t}/8/cpu/exact/manual_time" for t in ("f32", "f64")])

    MANY = ("bench", "reduce", "--size", ",".join(map(str, range(64, 464))), "--dtype", "f32", "--device", "cpu",
            "--benchmark_min_time=0.05")
    SECOND = "reduce/sum/f32/65/"  # shows when its turn comes: the first is whole

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
        done = trine(*self.MANY, "--time-limit", "4", "--benchmark_format=json", "--benchmark_out=" + self.path("r.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Ended early, the time limit of 4 s is up", done.stderr)
        self.partial(done.stdout, "time limit")
        with open(self.path("r.json")) as file:
            self.partial(file.read(), "time limit")

    def test_a_time_limit_leaves_the_repetitions_that_were_whole(self):
        text = self.run_good("bench", "reduce", "--size", "2^16", "--dtype", "f32", "--device", "cpu", "--time-limit", "2",
                             "--benchmark_min_time=0.1", "--benchmark_repetitions=999", "--benchmark_format=json")
        runs = json.loads(text)["benchmarks"]
        whole = [run["real_time"] for run in runs if run["run_type"] == "iteration"]
        self.assertGreater(len(whole), 1)
        self.assertLess(len(whole), 999)
        median, = (run["real_time"] for run in runs if run.get("aggregate_name") == "median")
        self.assertAlmostEqual(median / statistics.median(whole), 1, places=6)
        self.assertFalse([run for run in runs if "error_occurred" in run])

    def test_a_bench_that_is_killed_leaves_the_file_that_was_there(self):
        with open(self.path("r.json"), "w") as file:
            file.write("yesterday's")
        signalled(signal.SIGKILL, self.SECOND, *self.MANY, "--benchmark_out=" + self.path("r.json"))
        self.assertEqual(os.listdir(self.folder.name), ["r.json"])
        with open(self.path("r.json")) as file:
            self.assertEqual(file.read(), "yesterday's")

    def test_an_interrupt_leaves_what_there_is(self):
        code, text = signalled(signal.SIGINT, self.SECOND, *self.MANY, "--benchmark_out=" + self.path("r.json"))
        self.assertEqual(code, 130, text)
        self.assertIn("interrupted", text)
        with open(self.path("r.json")) as file:
            self.partial(file.read(), "interrupted")

    def test_what_ended_before_its_first_launch_is_whole_json(self):
        for limit in ("0.000001", "0.02"):  # before it had its data, and soon after
            done = trine("bench", "reduce", "--size", "2^24", "--dtype", "f32", "--device", "cpu", "--time-limit", limit,
                         "--benchmark_format=json")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("there is no result", done.stderr)
            self.assertEqual(json.loads(done.stdout)["benchmarks"], [])

    def test_refusals(self):
        def refused(*words, word):
            done = trine("bench", "reduce", "--size", "8", "--dtype", "f32", "--device", "cpu", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(word, done.stderr.strip().splitlines()[-1])
            self.assertEqual(os.listdir(self.folder.name), [])

        refused("--benchmark_bogus=1", word="--benchmark_bogus=1")
        refused("--bogus", word="--bogus")
        refused("--benchmark_format=xml", word="value")
        refused("--benchmark_format=csv", word="JSON, not csv")
        refused("--benchmark_repetitions=many", word="--benchmark_repetitions=many")
        refused("--benchmark_filter=nothing", "--benchmark_out=" + self.path("r.json"), word="nothing")
        refused("--benchmark_out=" + self.path("no/r.json"), word="no/r.json")
        refused("--rung", "bogus", word="bogus")


if __name__ == "__main__":
    main()
