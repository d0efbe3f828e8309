#!/usr/bin/env python3
"""What the program prints fits 100 columns, as run_good() asserts in every test, unless --wide asks for all; colours
are for terminals.

usage: screen_test.py [unittest options] TRINE SCHEMA"""
from harness import Program, main, on_terminal, too_wide

QUICK = ("--min-time", "0.001")
COMPARE = ("compare", "transpose", "--size", "32", *QUICK)


class TestScreen(Program):
    def test_what_is_run_in_no_other_test_fits(self):
        for words in (("info",), ("compare", "--size", "64", *QUICK),
                      ("verify", "--device", "cpu", "--filter", "transpose", "--quick"),
                      ("sweep", "reduce", "--dtype", "f32", "--size", "64", "--device", "cpu", *QUICK),
                      ("why", "gemm", "--size", "512"), ("why", "reduce", "--size", "2^20", "--where", "device"),
                      ("why", "reduce", "--size", "100")):
            self.assertNotEqual(self.run_good(*words), "", words)

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
