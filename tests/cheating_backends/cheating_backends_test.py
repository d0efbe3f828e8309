#!/usr/bin/env python3
"""Deliberate cheating_backends, each of which `trine compare` must name, with exit code 1, knowing of it only what any
rung pack or backend gives; beside each kind an honest one that must pass; and some of them through every other
command that prints figures of rungs.

usage: cheating_backends_test.py [unittest options] TRINE PACKS CLOCKS"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

TRINE, PACKS, CLOCKS = sys.argv[-3:]
OUTPUTS = ("null", "half", "first_time", "stale")  # lies that the outputs tell


def compare(device, rung, path=PACKS, size="512", dtype="f32", operation="transpose", values="uniform",
            min_time="0.01"):
    """Exit code, output, and the results on resident data."""
    with tempfile.TemporaryDirectory() as folder:
        file_name = os.path.join(folder, "r.json")
        command = [TRINE, "compare", operation, "--size", size, "--dtype", dtype, "--device", device,
                   "--values", values, "--min-time", min_time, "--wide", "--json", file_name]
        done = subprocess.run(command + (["--rung", rung] if rung else []), capture_output=True, text=True,
                              timeout=280, env={**os.environ, "TRINE_BACKEND_PATH": path})
        results = []
        if os.path.exists(file_name):
            with open(file_name) as file:
                results = json.load(file)["results"]
    return done.returncode, done.stdout + done.stderr, results


class CheatingBackends(unittest.TestCase):
    def named(self, words, device, rung, **how):
        """The cheat fails the run; its line says WRONG, and why in one of these words."""
        code, text, results = compare(device, rung, **how)
        self.assertEqual(code, 1, text)
        self.assertIn("WRONG", text)
        failures = [r["failure"] for r in results if not r["verified"]]
        self.assertTrue(failures, text)
        self.assertTrue(any(word in failure for word in words for failure in failures), failures)
        return failures

    def passes(self, device, rung, **how):
        code, text, results = compare(device, rung, **how)
        self.assertEqual(code, 0, text)
        self.assertTrue(results and all(r["verified"] for r in results), text)

    # --- trine bench: Google Benchmark's reports

    def bench(self, rung, *more, operation="transpose", size="512"):
        """Exit code, words on stderr, and the first case in the JSON."""
        command = [TRINE, "bench", operation, "--size", size, "--dtype", "f32", "--device", "cpu", "--rung", rung,
                   "--benchmark_min_time=0.01", "--benchmark_format=json", "--wide", *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=280,
                              env={**os.environ, "TRINE_BACKEND_PATH": PACKS})
        cases = json.loads(done.stdout)["benchmarks"]
        self.assertTrue(cases, done.stderr)
        return done.returncode, done.stderr, cases[0]

    def test_bench_fails_of_cheats(self):
        code, _, case = self.bench("honest")
        self.assertEqual(code, 0)
        self.assertNotIn("error_occurred", case)
        for rung in ("null", "stale", "half"):
            code, words, case = self.bench(rung)
            self.assertEqual(code, 1, words)
            self.assertIn(f"FAILED: transpose/f32/512x512/cpu/{rung}: ", words)
            self.assertTrue(case["error_occurred"])
            self.assertIn("differ", case["error_message"])

    def test_a_cheat_fails_a_bench_that_ended_early(self):
        code, words, case = self.bench("null", "--benchmark_min_time=600", "--time-limit", "3")
        self.assertEqual(code, 1, words)
        self.assertIn("Ended early", words)
        self.assertIn("differ", case["error_message"])

    def test_a_rung_that_fails_after_some_repetitions_fails_a_bench(self):
        # A launch that isn't timed, then one in each repetition.
        code, words, case = self.bench("tired", "--benchmark_min_time=1e-9", "--benchmark_repetitions=9",
                                       operation="gemm", size="128")
        self.assertEqual(code, 1, words)
        self.assertIn("FAILED: gemm/f32/128x128x128/cpu/tired: ", words)
        self.assertIn("it gave up", case["error_message"])

    # --- the other commands

    def command(self, *words, path=PACKS, data=""):
        """Exit code and output of `trine` with its measurements saved in `data`."""
        done = subprocess.run([TRINE, *words, "--wide"], capture_output=True, text=True, timeout=280,
                              env={**os.environ, "TRINE_BACKEND_PATH": path, "TRINE_DATA_DIR": data})
        return done.returncode, done.stdout + done.stderr

    def named_by(self, *words, cheating_backends=OUTPUTS, honest=(), **how):
        """The command fails, and says of each of these rungs, in its line of the table and under it, what it is."""
        code, text = self.command(*words, "--min-time", "0.005", **how)
        self.assertEqual(code, 1, text)
        for rung in cheating_backends:
            self.assertRegex(text, fr"(?m)^.*\b{rung} .* WRONG$")
            self.assertRegex(text, fr"(?m)^WRONG: {rung}\b.*: .* differ")
        for rung in honest:
            self.assertRegex(text, fr"(?m)^.*\b{rung} .* same bits")
            self.assertNotIn(f"WRONG: {rung}", text)
        return text

    def data(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def saved(self, data):
        """The path of the one file in there, and its head and rows."""
        path, = (os.path.join(data, name) for name in os.listdir(data))
        with open(path) as file:
            return path, *file.read().split("\n\n")

    def nothing_wrong_saved(self, data):
        """By chance an honest rung may have won on a busy machine: whether it did is another test's matter."""
        if os.listdir(data):
            for rung in OUTPUTS:
                self.assertNotIn(f" {rung} ", self.saved(data)[2])

    def tuned(self, *rungs):
        """For each of these rungs in turn a folder with a tuning table by which the cpu transposes 512x512."""
        data = self.data()
        # One rung of these sums may be chosen: nothing is left to chance, and there is a table to put a row in.
        self.command("sweep", "reduce", "--size", "70", "--dtype", "f32", "--device", "cpu", "--best", "--min-time",
                     "0.001", path="", data=data)
        path, head, _ = self.saved(data)
        for rung in rungs:
            table = f"{head}\n\ntranspose b32 rr reproducible 512x512x1 {rung} 1e-06 2e-06 2026-11-21\n"
            checksum = 0xcbf29ce484222325
            for byte in table.encode():
                checksum = (checksum ^ byte) * 0x100000001b3 % 2 ** 64
            with open(path, "w") as file:
                file.write(f"{table}checksum {checksum:016x}\n")
            yield data

    def test_ladder(self):
        self.named_by("ladder", "transpose", "--size", "128", "--device", "cpu", "--rung", ",".join(OUTPUTS), "honest",
                      honest=["honest"])

    def test_sweep(self):
        data = self.data()
        self.named_by("sweep", "transpose", "--size", "512", "--device", "cpu", "--rung", ",".join(OUTPUTS), "honest",
                      "--best", honest=["honest"], data=data)
        self.nothing_wrong_saved(data)

    def test_sweep_replaces_a_cheat_that_was_saved(self):
        data = next(self.tuned("null"))
        self.named_by("sweep", "transpose", "--size", "512", "--device", "cpu", "--best", data=data)
        self.nothing_wrong_saved(data)

    def test_sweep_drops_a_cheat_that_was_saved(self):
        data = next(self.tuned("null"))
        # Few rungs don't decide what is the best, but that the saved one is wrong.
        self.named_by("sweep", "transpose", "--size", "512", "--device", "cpu", "--rung", "naive", "--best",
                      cheating_backends=["null"], data=data)
        self.nothing_wrong_saved(data)

    def test_sweep_names_a_rung_that_turns_wrong_in_a_later_round(self):
        data = self.data()
        code, text = self.command("sweep", "transpose", "--size", "64", "--device", "clock_slow:0", "--best",
                                  "--min-time", "0.001", "--json", os.path.join(data, "r.json"), path=CLOCKS, data=data)
        self.assertEqual(code, 1, text)
        self.assertRegex(text, r"(?m)^64x64 +turncoat .* WRONG$")
        self.assertRegex(text, r"(?m)^WRONG: turncoat at 64x64: .* differ")
        self.assertIn("64x64: turncoat is WRONG when it is measured again.", text)
        with open(os.path.join(data, "r.json")) as file:
            document = json.load(file)
        wrong, = (r for r in document["results"] if not r["verified"])
        self.assertEqual((wrong["rung"], len(wrong["rounds"]), document.get("sweeps", [])),
                         ("turncoat", 2, []))
        self.assertEqual(os.listdir(data), ["r.json"])

    def test_roof(self):
        self.named_by("roof", "transpose", "--size", "128", "--dtype", "f32", "--device", "cpu", honest=["honest"])

    def test_roof_of_a_clock_that_stands_still(self):
        code, text = self.command("roof", "transpose", "--size", "128", "--dtype", "f32", "--device", "clock_zero:0",
                                  path=CLOCKS)
        self.assertEqual(code, 1, text)
        self.assertRegex(text, r"(?m)^naive +single +WRONG$")
        self.assertIn("WRONG: naive on clock_zero:0: its clock stands still", text)

    def transfers(self, device, *more, **how):
        return self.command("transfers", "transpose", "--size", "512", "--device", device, "--no-rates", "--min-time",
                            "0.01", *more, **how)

    def test_transfers(self):
        rungs = ("honest", *OUTPUTS, "memo")
        for rung, data in zip(rungs, self.tuned(*rungs)):
            code, text = self.transfers("cpu", data=data)
            self.assertEqual(code, 0 if rung == "honest" else 1, text)
            self.assertRegex(text, fr"(?m)^cpu +in place +{rung} .* {'same bits' if rung == 'honest' else 'WRONG'}$")
            if rung != "honest":
                self.assertRegex(text, "(?m)^WRONG: in place on cpu: .* differ")

    def test_transfers_by_a_wrong_clock(self):
        code, text = self.transfers("clock_right:0", path=CLOCKS)
        self.assertEqual(code, 0, text)
        code, text = self.transfers("clock_half:0", path=CLOCKS)
        self.assertEqual(code, 1, text)
        for way in ("pageable", "pinned", "pipelined", "in place"):
            self.assertRegex(text, fr"(?m)^clock_half:0 +{way} .* WRONG$")
            self.assertIn(f"WRONG: {way} on clock_half:0: its clock is wrong: ", text)

    def test_transfers_with_the_help_of_a_cheats(self):
        # It remembers answers by address, which is right for as long as the same data is moved.
        code, text = self.transfers("clock_right:0", "--overlap-cpu", path=f"{PACKS}:{CLOCKS}",
                                    data=next(self.tuned("memo")))
        self.assertEqual(code, 1, text)
        self.assertRegex(text, "(?m)^WRONG: in place on cpu: .* differ")
        self.assertNotIn("clock_right:0+cpu", text)

    def test_transfers_say_whose_outputs_alone_are_checked(self):
        code, text = self.transfers("clock_small:0", path=CLOCKS)
        self.assertEqual(code, 0, text)
        self.assertRegex(text, "(?m)^clock_small:0: only the outputs of .* are checked, .* larger than this device's")
        self.assertRegex(text, "(?m)^clock_small:0 +in place .* same bits$")

    def test_calibrate(self):
        rungs = ("null", "memo")
        for rung, data in zip(rungs, self.tuned(*rungs)):
            before = self.saved(data)
            report = os.path.join(self.data(), "c.json")
            code, text = self.command("calibrate", "--device", "cpu", "--rounds", "1", "--json", report, data=data)
            self.assertEqual(code, 1, text)
            self.assertRegex(text, fr"(?m)^WRONG: cpu by {rung}, transpose b32 512x512 \(tuned: .*\): .* differ")
            self.assertIn("nothing was measured or saved", text)
            self.assertEqual(self.saved(data), before)
            with open(report) as file:
                document = json.load(file)
            self.assertEqual([r["rung"] for r in document["results"] if not r["verified"]], [rung])
            self.assertNotIn("crossings", document)

    def test_calibrate_by_an_honest_row(self):
        # Long enough for all that is asked before a calibration, not for one.
        code, text = self.command("calibrate", "--device", "cpu", "--time-limit", "8", data=next(self.tuned("honest")))
        self.assertIn("Ended early", text)
        self.assertNotIn("WRONG", text)

    # --- on the cpu: outputs

    def test_the_honest_one_passes(self):
        self.passes("cpu", "honest")

    def test_one_that_is_late_after_a_pause_passes(self):
        self.passes("cpu", "sleeper")

    def test_null_kernel(self):
        self.named(["differ"], "cpu", "null")

    def test_stale_output(self):
        self.named(["differ"], "cpu", "stale")

    def test_half_the_data(self):
        self.named(["differ"], "cpu", "half")

    def test_all_nan(self):
        self.named(["differ"], "cpu", "nan")

    def test_one_wrong_element_in_ten_million(self):
        self.named(["1 of 10240000 differ"], "cpu", "one_wrong", size="3200", dtype="b8")

    def test_right_only_the_first_time(self):
        self.named(["differ"], "cpu", "first_time")

    def test_right_only_for_a_while(self):
        self.named(["differ"], "cpu", "forty_times", size="64")

    def test_bits_that_are_not_those_of_the_exact_sum(self):
        self.named(["1 of 1 differ"], "cpu", "rounds", operation="reduce", size="2^16")

    def test_part_of_the_inner_dimension(self):
        self.named(["16384 of 16384 differ"], "cpu", "shallow", operation="gemm", size="128")

    def test_a_cheat_fails_a_run_that_ended_early(self):
        command = [TRINE, "compare", "transpose", "--size", "512", "--device", "cpu", "--rung", "null",
                   "--min-time", "0.01", "--rounds", "500", "--time-limit", "3"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=280,
                              env={**os.environ, "TRINE_BACKEND_PATH": PACKS})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("WRONG", done.stdout)

    # --- on the cpu: work at the wrong time

    def test_work_handed_to_a_thread_behind_the_queue(self):
        self.named(["outside of the queue", "differ"], "cpu", "background", size="2048")

    def test_answers_kept_by_address(self):
        self.named(["changed in place"], "cpu", "memo")

    def test_answers_kept_by_address_for_data_of_one_window(self):
        self.named(["changed in place"], "cpu", "stale", size="300", values="cancel")

    def test_answers_kept_by_contents(self):
        self.passes("cpu", "honest", operation="gemm", size="128")
        # Large enough that a product takes more than ten times as long as its cheat, on a busy machine too.
        self.named(["remembers answers"], "cpu", "hash", operation="gemm", size="384")

    def test_answers_kept_by_a_few_elements(self):
        # One whose sum takes less than a millisecond, and one whose sum takes longer.
        for size in ("2^16", "2^22"):
            self.passes("cpu", "honest", operation="reduce", size=size)
            self.named(["on data that was changed in place: 1 of 1 differ"], "cpu", "glance", operation="reduce", size=size)

    def test_work_done_ahead(self):
        # A run of this length misses it now and then, by when its batches happen to end; so may longer ones.
        runs = (compare("cpu", "ahead", size="128", min_time="0.05") for _ in range(5))
        self.assertTrue(any(code == 1 and " differ" in text for code, text, _ in runs))

    # --- on opencl, over the native queue

    def test_opencl(self):
        code, text, _ = compare("opencl:0", "honest")
        if code == 2:
            if "opencl" in os.environ.get("TRINE_REQUIRE", ""):
                self.fail("TRINE_REQUIRE: there is no opencl device")
            self.skipTest("no opencl device")
        self.assertEqual(code, 0, text)
        self.named(["differ"], "opencl:0", "first_time")
        self.named(["outside of the queue", "differ"], "opencl:0", "background")

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

    def test_faster_than_the_roof(self):
        # Its clock takes 20 ms off each time: nothing beside the batches that the clocks are compared over,
        # and all that a launch takes. Outputs and clocks are right, only the rate can't be.
        failures = self.named(["is above the measured roof of"], "clock_rebate:0", "", path=CLOCKS, size="32")
        for failure in failures:
            self.assertRegex(failure, r"^[\d.]+ [TG]B/s is above the measured roof of .* \(nearest cache\): the measurement is "
                                      r"wrong$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:-3])
