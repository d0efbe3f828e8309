#!/usr/bin/env python3
"""Deliberate liars, each of which `trine compare` must name, with exit code 1, knowing of it only what any
rung pack or backend gives; and beside each kind an honest one that must pass.

usage: liars_test.py [unittest options] TRINE PACKS CLOCKS"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

TRINE, PACKS, CLOCKS = sys.argv[-3:]


def compare(device, rung, path=PACKS, size="512", dtype="f32", operation="transpose", values="uniform",
            min_time="0.01"):
    """Exit code, output, and the results on resident data."""
    with tempfile.TemporaryDirectory() as folder:
        file_name = os.path.join(folder, "r.json")
        command = [TRINE, "compare", operation, "--size", size, "--dtype", dtype, "--device", device,
                   "--values", values, "--min-time", min_time, "--json", file_name]
        done = subprocess.run(command + (["--rung", rung] if rung else []), capture_output=True, text=True,
                              timeout=280, env={**os.environ, "TRINE_BACKEND_PATH": path})
        results = []
        if os.path.exists(file_name):
            with open(file_name) as file:
                results = json.load(file)["results"]
    return done.returncode, done.stdout + done.stderr, results


class Liars(unittest.TestCase):
    def named(self, words, device, rung, **how):
        """The liar fails the run; its line says WRONG, and why in one of these words."""
        code, text, results = compare(device, rung, **how)
        self.assertEqual(code, 1, text)
        self.assertIn("WRONG", text)
        failures = [r["failure"] for r in results if not r["verified"]]
        self.assertTrue(failures, text)
        self.assertTrue(any(word in failure for word in words for failure in failures), failures)

    def passes(self, device, rung, **how):
        code, text, results = compare(device, rung, **how)
        self.assertEqual(code, 0, text)
        self.assertTrue(results and all(r["verified"] for r in results), text)

    # --- trine bench: Google Benchmark's reports

    def bench(self, rung, *more):
        """Exit code, words on stderr, and the case in the JSON."""
        command = [TRINE, "bench", "transpose", "--size", "512", "--dtype", "f32", "--device", "cpu", "--rung", rung,
                   "--benchmark_min_time=0.01", "--benchmark_format=json", *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=280,
                              env={**os.environ, "TRINE_BACKEND_PATH": PACKS})
        return done.returncode, done.stderr, json.loads(done.stdout)["benchmarks"][0]

    def test_bench_fails_of_liars(self):
        code, _, case = self.bench("honest")
        self.assertEqual(code, 0)
        self.assertNotIn("error_occurred", case)
        for rung in ("null", "stale", "half"):
            code, words, case = self.bench(rung)
            self.assertEqual(code, 1, words)
            self.assertIn(f"FAILED: transpose/f32/512x512/cpu/{rung}: ", words)
            self.assertTrue(case["error_occurred"])
            self.assertIn("differ", case["error_message"])

    def test_a_liar_fails_a_bench_that_ended_early(self):
        code, words, case = self.bench("null", "--benchmark_min_time=60", "--time-limit", "0.5")
        self.assertEqual(code, 1, words)
        self.assertIn("Ended early", words)
        self.assertIn("differ", case["error_message"])

    # --- on the cpu: outputs

    def test_the_honest_one_passes(self):
        self.passes("cpu", "honest")

    def test_null_kernel(self):
        self.named(["differ"], "cpu", "null")

    def test_stale_output(self):
        self.named(["differ"], "cpu", "stale")

    def test_half_the_data(self):
        self.named(["differ"], "cpu", "half")

    def test_all_nan(self):
        self.named(["differ"], "cpu", "nan")

    def test_one_wrong_element_in_a_hundred_million(self):
        self.named(["1 of 100000000 differ"], "cpu", "one_wrong", size="10000", dtype="b8")

    def test_right_only_the_first_time(self):
        self.named(["differ"], "cpu", "first_time")

    def test_right_only_for_a_while(self):
        self.named(["differ"], "cpu", "forty_times", size="64")

    def test_a_liar_fails_a_run_that_ended_early(self):
        command = [TRINE, "compare", "transpose", "--size", "512", "--device", "cpu", "--rung", "null",
                   "--min-time", "0.01", "--rounds", "50", "--time-limit", "0.5"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=280,
                              env={**os.environ, "TRINE_BACKEND_PATH": PACKS})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("WRONG", done.stdout)

    # --- on the cpu: work at the wrong time

    def test_work_handed_to_a_thread_behind_the_queue(self):
        self.named(["behind the queue's back", "differ"], "cpu", "background", size="2048")

    def test_answers_kept_by_address(self):
        self.named(["changed in place"], "cpu", "memo")

    def test_answers_kept_by_address_for_data_of_one_window(self):
        self.named(["changed in place"], "cpu", "stale", size="300", values="cancel")

    def test_answers_kept_by_contents(self):
        self.passes("cpu", "honest", operation="gemm", size="128")
        self.named(["keeps answers"], "cpu", "hash", operation="gemm", size="256")

    def test_work_done_ahead(self):
        self.named(["differ"], "cpu", "ahead", size="128", min_time="0.2")

    # --- on opencl, over the native queue

    def test_opencl(self):
        if compare("opencl:0", "")[0] == 2:
            if "opencl" in os.environ.get("TRINE_REQUIRE", ""):
                self.fail("TRINE_REQUIRE: there is no opencl device")
            self.skipTest("no opencl device")
        self.passes("opencl:0", "honest")
        self.named(["differ"], "opencl:0", "null")
        self.named(["differ"], "opencl:0", "first_time")
        self.named(["behind the queue's back", "differ"], "opencl:0", "background")

    # --- clocks

    def test_a_right_clock(self):
        self.passes("clock_right:0", "", path=CLOCKS, size="128")

    def test_a_clock_that_stands_still(self):
        self.named(["stands still"], "clock_zero:0", "", path=CLOCKS, size="128")

    def test_clocks_of_a_wrong_pace(self):
        # Below and above the length at which a launch alone tells.
        for size in ("64", "1024"):
            self.named(["clock is wrong"], "clock_half:0", "", path=CLOCKS, size=size)
            self.named(["clock is wrong"], "clock_double:0", "", path=CLOCKS, size=size)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:-3])
