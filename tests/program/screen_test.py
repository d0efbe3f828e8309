#!/usr/bin/env python3
"""What the program prints fits 100 columns, unless --wide asks for all; colours are for terminals.

usage: screen_test.py [unittest options] TRINE SCHEMA"""
import numpy as np

from harness import Program, main, on_terminal, too_wide, trine

QUICK = ("--min-time", "0.001")
COMPARE = ("compare", "transpose", "--size", "32", *QUICK)


class TestScreen(Program):
    def commands(self):
        """Each subcommand, so that it prints what it usually does. placement_test.py has calibrate."""
        array = self.save("a.npy", np.ones((8, 8), np.float32))
        yield ("compare", "reduce", "--size", "64", "--rounds", "2", *QUICK)
        yield ("info",)
        yield ("compare", "--size", "64", *QUICK)
        yield ("ladder", "--size", "64", *QUICK)
        yield ("ladder", "access", "--device", "cpu", *QUICK)
        yield ("ladder", "reduce", "--like", "001", "--device", "cpu", *QUICK)
        yield ("sweep", "reduce", "--dtype", "f32", "--size", "64", *QUICK)
        yield ("transfers", "--size", "256", *QUICK)
        yield ("roof", "reduce", "--size", "64", *QUICK)
        yield ("bench", "--size", "64", "--benchmark_min_time=0.001")
        yield ("run", "reduce", "--input", array, "--output", self.path("r.npy"))
        yield ("verify", "--device", "cpu", "--filter", "transpose", "--quick")
        yield ("why", "gemm", "--size", "512")
        yield ("why", "reduce", "--size", "2^20", "--where", "device")
        yield ("why", "reduce", "--size", "100")

    def test_what_every_command_prints_fits(self):
        for words in self.commands():
            done = trine(*words)
            self.assertNotEqual(done.stdout, "", words)
            self.assertEqual(too_wide(done.stdout + done.stderr), [], words)

    def test_wide_prints_every_column(self):
        self.assertNotIn("host→dev", self.run_good(*COMPARE))
        text = self.run_good(*COMPARE, "--wide")
        for head in ("±", "pinned", "kernel vs cpu"):
            self.assertIn(head, text)
        self.assertNotEqual(too_wide(text), [])

    def test_colours_are_for_terminals(self):
        green = "\033[32msame bits\033[0m"
        self.assertIn(green, on_terminal(*COMPARE)[1])
        self.assertNotIn("\033[3", on_terminal(*COMPARE, env={"NO_COLOR": "1"})[1])
        self.assertNotIn("\033[3", on_terminal(*COMPARE, "--color", "never")[1])
        self.assertNotIn("\033[", self.run_good(*COMPARE))
        self.assertIn(green, self.run_good(*COMPARE, "--color", "always", env={"NO_COLOR": "1"}))
        self.refused(*COMPARE, "--color", "sometimes", word="--color")


if __name__ == "__main__":
    main()
