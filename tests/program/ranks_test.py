#!/usr/bin/env python3
"""`trine ranks`: every result on every number of ranks has the bits of one device, a lie of MPI's is found, and the
model's figures are there. TRINE_RANKS_RUN: what starts ranks (tests/mpi/run.sh), TRINE_RANKS_LIAR: the lie; without
them trine-ranks isn't built, and only what `trine` itself says is tested.

usage: ranks_test.py [unittest options] TRINE SCHEMA"""
import os
import shutil
import subprocess
import unittest

from harness import TRINE, Program, environment, main

RUN, LIAR = os.environ.get("TRINE_RANKS_RUN", ""), os.environ.get("TRINE_RANKS_LIAR", "")
HAS_RANKS = bool(RUN) and shutil.which("mpirun") is not None


def quick(*words):
    """The words, and those that make it short; a sum has no blocks."""
    return (*words, "--rounds", "2", "--min-time", "0.001", *(() if "reduce" in words else ("--block", "16")))


class Ranks(Program):
    def over(self, ranks, *words, env=None):
        return subprocess.run([RUN, str(ranks), TRINE, "ranks", *words], capture_output=True, text=True, timeout=300,
                              env=environment(env))

    def measured(self, ranks, *words):
        done = self.over(ranks, *quick(*words), "--json", self.path("r.json"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout, self.load("r.json")

    @unittest.skipUnless(HAS_RANKS, "no MPI")
    def test_each_operation_has_the_same_bits_on_1_to_4_ranks(self):
        for words in (("reduce", "--size", "1000", "--axis", "all"), ("transpose", "--size", "70x50"),
                      ("gemm", "--size", "50x70x90", "--dtype", "f32,f64"),
                      ("gemm", "--size", "50x70x90", "--dtype", "f32,f64", "--numerics", "exact")):
            for ranks in (1, 4):
                text, document = self.measured(ranks, *words)
                rows = document["ranks"]
                for dtype in {row["dtype"] for row in rows}:
                    own = [row for row in rows if row["dtype"] == dtype]
                    self.assertEqual([row["ranks"] for row in own], list(range(1, ranks + 1)), text)
                    self.assertEqual(len({row["digest"] for row in own}), 1, text)
                self.assertTrue(all(row["verified"] for row in rows), text)
                self.assertIn("same bits", text)
                self.assertNotIn("\x1b", text)  # a colour, in what goes into a file
                self.assertEqual(document["command"], "ranks")

    @unittest.skipUnless(HAS_RANKS, "no MPI")
    def test_a_vector_a_rank_stands_beside_mpi(self):
        text, document = self.measured(3, "reduce", "--axis", "each_column", "--size", "100", "--device",
                                       "cpu:threads=1,cpu")
        self.assertEqual([row["shape"] for row in document["ranks"]], [[1, 100], [2, 100], [3, 100]])
        self.assertEqual({row["peer"]["name"] for row in document["ranks"]}, {"MPI_Allreduce"})
        self.assertIn("of link", text)

    @unittest.skipUnless(HAS_RANKS, "no MPI")
    def test_says_that_ranks_share_cores(self):
        ranks = len(os.sched_getaffinity(0)) + 1
        if ranks > 16:
            self.skipTest("too many cores")
        text, _ = self.measured(ranks, "reduce", "--axis", "all", "--size", "100")
        self.assertIn("Oversubscribed", text)

    @unittest.skipUnless(HAS_RANKS, "no MPI")
    def test_the_model_is_checked_and_predicts_10000_ranks(self):
        text, document = self.measured(2, "--size", "64", "--model")
        model = document["model"]
        self.assertEqual({c["operation"] for c in model["checks"]}, {"reduce", "transpose", "gemm"})
        self.assertEqual(max(p["ranks"] for p in model["predictions"]), 10000)
        for words in ("predicted / measured", "fat tree"):
            self.assertIn(words, text)

    @unittest.skipUnless(HAS_RANKS and LIAR, "no MPI")
    def test_a_wrong_result_of_any_operation_fails_the_run(self):
        for words in (("reduce", "--axis", "all"), ("reduce", "--axis", "each_column"), ("transpose",), ("gemm",)):
            done = self.over(2, *quick(*words, "--size", "64"), "--json", self.path("w.json"),
                             env={"LD_PRELOAD": LIAR})
            self.assertEqual(done.returncode, 1, f"{words}: {done.stdout}{done.stderr}")
            self.assertIn("WRONG", done.stdout)
            self.assertFalse(all(row["verified"] for row in self.load("w.json")["ranks"]), words)

    def test_refuses_before_anything_starts(self):
        self.refused("ranks", "nothing")
        self.refused("ranks", "--dtype", "i32", word="f32 and f64")
        self.refused("ranks", "reduce", "--axis", "each_row", word="each_column")
        for words in (("reduce", "--axis", "each_column", "--size", "2^31"), ("transpose", "--size", "2^17")):
            self.refused("ranks", *words, word="more than MPI counts")

    def test_says_where_trine_ranks_is_missing(self):
        alone = shutil.copy(TRINE, self.path("trine"))
        done = subprocess.run([alone, "ranks"], capture_output=True, text=True, timeout=60,
                              env=environment({"LD_LIBRARY_PATH": os.path.join(os.path.dirname(TRINE), "..", "lib")}))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("trine-ranks isn't beside this program", done.stderr)


if __name__ == "__main__":
    main()
