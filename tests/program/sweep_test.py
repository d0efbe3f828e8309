#!/usr/bin/env python3
"""`trine sweep`: every configuration of every rung, verified; --best saves what wins and selection follows
it, a table that is damaged or of another device is refused by name, and work that ends early.

usage: sweep_test.py [unittest options] TRINE SCHEMA"""
import os

import numpy as np

from harness import DEVICES, Program, main, trine

QUICK = ("--min-time", "0.001")
# One thread: other programs on the cores decide nothing then.
ONE = {"OMP_NUM_THREADS": "1"}
GEMM = ("gemm", "--dtype", "f32", "--device", "cpu", *QUICK)


class TestSweep(Program):
    def setUp(self):
        super().setUp()
        self.data = self.path("data")
        os.mkdir(self.data)

    def trine(self, *words, code=0):
        done = trine(*words, "--wide", env={"TRINE_DATA_DIR": self.data, **ONE})
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done.stdout

    def table(self):
        files = os.listdir(self.data)
        self.assertEqual(len(files), 1, files)
        return os.path.join(self.data, files[0])

    def tune(self):
        """A table in which something has won: the rung that a size of 65x64x63 gets."""
        # The built-in choice seldom loses; on a busy machine chance may still have it lose, or win.
        # So the row is put in by hand, as `sweep --best` would, and the file finished as it does.
        # One of these sums' rungs may be chosen: it has a row whatever chance does.
        self.trine("sweep", "reduce", "--dtype", "f32", "--size", "70", "--device", "cpu", *QUICK, "--best")
        with open(self.table()) as file:
            head = file.read().split("\n\n", 1)[0]
        self.finish(f"{head}\n\ngemm f32 rrr reproducible 64x64x64x1 naive 1e-06 2e-06 2026-11-21\n")

    def finish(self, text):
        checksum = 0xcbf29ce484222325
        for byte in text.encode():
            checksum = (checksum ^ byte) * 0x100000001b3 % 2 ** 64
        with open(self.table(), "w") as file:
            file.write(f"{text}checksum {checksum:016x}\n")

    def test_tries_every_configuration_of_every_rung(self):
        for device in DEVICES:
            text = self.trine("sweep", "transpose", "--size", "65x33", "--device", device, *QUICK, "--json",
                              self.path("sweep.json"))
            document = self.load("sweep.json")
            self.assertEqual(document["command"], "sweep")
            tried = {(r["rung"], tuple(r["parameters"].items())) for r in document["results"]}
            self.assertGreater(len(tried), len({rung for rung, _ in tried}), "no parameter varied")
            for result in document["results"]:
                self.assertTrue(result["verified"] or result["skipped"], result)
            self.assertEqual(len(document["sweeps"]), 1)
            self.assertIn("best", text)
            self.assertIn("built-in choice", text)
            self.assertFalse(document["sweeps"][0]["saved"])
        self.assertEqual(os.listdir(self.data), [], "saved without --best")

    def test_sizes_rise_and_study_rungs_are_never_best(self):
        text = self.trine("sweep", "reduce", "--dtype", "f32", "--size", "5000,70", "--device", "cpu", *QUICK, "--json",
                          self.path("sweep.json"))
        self.assertLess(text.index("\n70 "), text.index("\n5000 "))
        sweeps = self.load("sweep.json")["sweeps"]
        self.assertEqual([s["call"].split()[-1] for s in sweeps], ["70x1", "5000x1"])
        self.assertEqual({s["best"] for s in sweeps}, {"exact"})
        self.assertIn("within bound", text)

    def test_best_writes_a_table_that_keeps_other_rows(self):
        text = self.trine("sweep", *GEMM, "--size", "64", "--best", "--json", self.path("sweep.json"))
        self.assertIn(self.table(), text)
        self.assertTrue(self.load("sweep.json")["sweeps"][0]["saved"])
        self.trine("sweep", "transpose", "--size", "64", "--device", "cpu", *QUICK, "--best")
        with open(self.table()) as file:
            text = file.read()
        self.assertIn("\ngemm f32 rrr reproducible 64x64x64x1 ", text)
        self.assertIn("\ntranspose b32 rr reproducible 64x64x1 ", text)
        self.assertRegex(self.trine("info"), r"tuning +2 sizes measured")

    def test_what_was_saved_is_chosen_and_said(self):
        self.tune()
        compared = self.trine("compare", *GEMM, "--size", "65x64x63,512", "--json", self.path("r.json"))
        self.assertRegex(compared, r"cpu: .*tuned")
        results = self.load("r.json")["results"]
        rungs = {tuple(r["shape"]): (r["rung"], r["why"]) for r in results}
        self.assertEqual(rungs[65, 64, 63],
                         ("naive", "tuned: 1 µs against 2 µs of the default at 64x64x64 (trine sweep, 2026-11-21)"))
        self.assertEqual(rungs[512, 512, 512][0], "micro_kernel")
        a = self.save("a.npy", np.ones((64, 64), np.float32))
        ran = self.trine("run", "gemm", "--input", a, a, "--output", self.path("c.npy"), "--device", "cpu")
        self.assertIn("by naive (reproducible): tuned: 1 µs", ran)
        np.testing.assert_array_equal(np.load(self.path("c.npy")), np.full((64, 64), 64, np.float32))
        off = trine("run", "gemm", "--input", a, a, "--output", self.path("c.npy"), "--device", "cpu",
                    env={"TRINE_DATA_DIR": self.data, "TRINE_TUNING": "off", **ONE})
        self.assertIn("by micro_kernel", off.stdout)

    def test_a_sweep_measures_the_saved_rung_against_the_built_in_one(self):
        self.tune()
        text = self.trine("sweep", *GEMM, "--size", "64", "--rung", "ikj", "--best")
        self.assertRegex(text, r"64x64x64 +naive ")
        self.assertRegex(text, r"64x64x64 +micro_kernel\S* .*built-in")

    def test_what_was_saved_leaves_the_table_where_it_is_no_gain(self):
        for rungs in ("--rung", "naive"), ():
            self.tune()
            text = self.trine("sweep", *GEMM, "--size", "64", *rungs, "--best")
            with open(self.table()) as file:
                self.assertNotIn(" naive ", file.read())
            if rungs:
                self.assertIn("64x64x64: no gain: the built-in choice micro_kernel", text)
                self.assertIn("; the saved naive is no gain and no longer in the table.", text)

    def test_a_ladder_ends_with_the_built_in_choice_whatever_is_saved(self):
        self.tune()
        text = self.trine("ladder", *GEMM, "--size", "65x64x63", "--json", self.path("ladder.json"))
        self.assertRegex(text, r"\nmicro_kernel\S* .*same bits, built-in\n"
                               r"refused: cpu: rung residues .* exact products of f32 alone\.\n$")
        built_in = {r["rung"] for r in self.load("ladder.json")["results"] if r.get("built_in")}
        self.assertEqual(built_in, {"micro_kernel"})

    def refused_table(self, words):
        info = self.trine("info")
        self.assertRegex(info, f"tuning +refused: .*{words}")
        a = self.save("a.npy", np.ones((64, 64), np.float32))
        ran = self.trine("run", "gemm", "--input", a, a, "--output", self.path("c.npy"), "--device", "cpu")
        self.assertIn("by micro_kernel", ran)
        self.assertRegex(ran, f"the saved tuning table for this device was refused: .*{words}.*; the built-in choice")
        np.testing.assert_array_equal(np.load(self.path("c.npy")), np.full((64, 64), 64, np.float32))
        self.assertRegex(self.trine("compare", *GEMM, "--size", "64"), f"refused: .*{words}")

    def test_a_damaged_table_is_refused_and_replaced(self):
        self.tune()
        with open(self.table(), "r+b") as file:
            file.seek(-40, os.SEEK_END)
            file.write(b"#")
        self.refused_table("damaged")
        self.trine("sweep", *GEMM, "--size", "64", "--best")
        self.assertRegex(self.trine("info"), r"tuning +1 sizes measured")

    def test_a_foreign_table_is_refused(self):
        self.tune()
        with open(self.table()) as file:
            text = file.read()
        text = text[:text.rindex("checksum")]
        driver = next(line for line in text.splitlines() if line.startswith("driver "))
        self.finish(text.replace(driver, "driver of last year"))
        self.refused_table("its driver is 'of last year'")

    def test_forget_removes_the_tables(self):
        self.trine("sweep", *GEMM, "--size", "64", "--best")
        path = self.table()
        self.assertIn(path, self.trine("sweep", "--forget"))
        self.assertEqual(os.listdir(self.data), [])
        self.assertIn("no tuning table", self.trine("sweep", "--forget"))

    def test_refuses_before_it_measures(self):
        self.refused("sweep", "gemm", "--size", "8", "--rung", "bogus", word="bogus")
        self.refused("sweep", "gemm", "--size", "8", "--device", "cpu", "--rung", "blocked:tile=3", word="tile=3")
        self.refused("sweep", "gemm", "--size", "8", "--best", word="TRINE_DATA_DIR")
        self.refused("sweep", "--forget", "--best")
        self.refused("sweep", "gemm", "--size", "8", "--json", self.path("no/r.json"))

    def test_a_table_that_cannot_be_written_fails_the_run_but_leaves_the_results(self):
        done = trine("sweep", *GEMM, "--size", "8", "--best", "--json", self.path("r.json"),
                     env={"TRINE_DATA_DIR": "/proc/self/nowhere", **ONE})
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("not saved", done.stderr)
        self.assertFalse(self.load("r.json")["sweeps"][0]["saved"])

    def test_a_time_limit_leaves_what_there_is_and_saves_no_half_size(self):
        text = self.trine("sweep", "gemm", "--dtype", "f32", "--device", "cpu", "--min-time", "1", "--size", "64",
                          "--best", "--time-limit", "4", "--json", self.path("part.json"))
        self.load_partial("part.json")
        self.assertIn("time limit", text)
        self.assertEqual(os.listdir(self.data), [])


if __name__ == "__main__":
    main()
