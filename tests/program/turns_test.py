#!/usr/bin/env python3
"""`trine-turns`, which lies beside trine: its ways of each operation, another build, and outputs that are wrong.

usage: turns_test.py [unittest options] TRINE SCHEMA"""
import os
import subprocess
import unittest

from harness import DEVICES, TRINE, environment, main

FOLDER = os.path.dirname(TRINE)
READS = ["reads", "reads, threads meet", "reads, threads meet twice"]
CHEATS = os.path.join(FOLDER, "../tests/cheating_backends/packs")


def turns(*words, env=None):
    return subprocess.run([TRINE + "-turns", *words, "--turns", "3", "--footprint", "1"], capture_output=True, text=True,
                          timeout=300, env=environment(env))


class TestTurns(unittest.TestCase):
    def ways(self, *words):
        """Their figures: rates at best, at the best quarter and in the median, time, the first one's rates over these."""
        done = turns(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = [line for line in done.stdout.splitlines() if line[:41].strip() and "turns" not in line]
        return {line[:41].strip(): [float(word) for word in line[41:].split()] for line in lines}

    def check(self, expected, *words):
        ways = self.ways(*words)
        self.assertEqual(list(ways), expected)
        first = ways[expected[0]]
        for name in expected[1:]:
            best, *_, ratio, _, _ = ways[name]
            self.assertAlmostEqual(first[0] / best, ratio, delta=0.01 + 0.06 * ratio * (1 / first[0] + 1 / best))

    def test_sums_and_reads(self):
        self.check(["cpu exact", "cpu sequential", *READS], "reduce", "--dtype", "f32", "--size", "256x4096", "--rung", "default,sequential")
        self.check(["cpu exact", *READS, "reads by strips of 4 KiB"], "reduce", "--dtype", "f32", "--size", "256x4096",
                   "--axis", "each_column")

    def test_rungs_share_operands(self):
        done = turns("reduce", "--dtype", "f32", "--size", "4096", "--rung", "default,simd,default", "--shared")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("shared sets of operands", done.stdout)
        self.assertEqual(done.stdout.count("cpu exact"), 2)

    def test_transposes_and_copies(self):
        self.check(["cpu:threads=1 simd_streaming", "copy past the caches", "copy"], "transpose", "--size", "1023x1025",
                   "--threads", "1", "--calls", "3")

    def test_products(self):
        for layout in ("rrr", "crc"):
            ways = self.ways("gemm", "--dtype", "f64", "--size", "64x48x32", "--batch", "2", "--layout", layout)
            self.assertEqual(list(ways)[1:4], ["multiply-adds", "a tile's, from L1", "reads of A and B, writes of C"])
            self.assertIn(len(ways), (4, 5))  # OpenBLAS may be absent
            self.assertGreater(ways["multiply-adds"][0], 0)

    def test_ladder(self):
        ladder = ["cpu simd_streaming", "cpu blocked:tile=32", "cpu naive"]
        done = turns("transpose", "--dtype", "f32", "--size", "1024", "--ladder")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        _, head, columns, *ways = done.stdout.splitlines()
        self.assertTrue(head.startswith("transpose f32 1024x1024: 3 turns"), head)
        self.assertTrue(ways[0].startswith(ladder[0]), ways)
        for rung in ladder[1:]:  # in turn, or much slower
            self.assertIn(rung, done.stdout)
        self.assertNotIn("copy", done.stdout)
        done = turns("reduce", "--dtype", "f32", "--map", "product", "--size", "64", "--ladder")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("simd", done.stdout)  # refuses it
        done = turns("transpose", "--size", "256", "--ladder", env={"TRINE_BACKEND_PATH": CHEATS})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("WRONG: cpu half: ", done.stdout)

    def test_opencl_on_a_cpu_has_kernels(self):
        if "opencl:0" not in DEVICES:
            self.skipTest("no opencl:0")
        ways = self.ways("reduce", "--dtype", "f32", "--size", "2^16", "--device", "opencl:0")
        if "opencl:0 kernel: read" in ways:  # it is no GPU
            self.assertGreater(ways["opencl:0 kernel: read"][0], 0)
            self.assertEqual(len(ways["opencl:0 kernel: empty"]), 1)  # a time alone

    def test_another_build(self):
        library = os.path.join(FOLDER, "../lib/libtrine.so")
        ways = self.ways("gemm", "transpose", "--dtype", "f32", "--size", "64", "--against", library)
        self.assertIn("the other build", ways)
        done = turns("reduce", "--size", "64", "--against", "/nowhere.so")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("/nowhere.so", done.stderr)

    def test_a_wrong_output_is_named(self):
        done = turns("transpose", "--size", "256", "--rung", "default,half", env={"TRINE_BACKEND_PATH": CHEATS})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("WRONG: cpu half: ", done.stdout)


if __name__ == "__main__":
    main()
