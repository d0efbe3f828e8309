"""The trine program in the package, and compare()."""

import pathlib
import subprocess
import sys
import unittest

import trine

FAST = {"size": "4096", "dtype": "f32", "device": "cpu", "min_time": 0.001}


class Program(unittest.TestCase):
    def test_the_command(self):
        command = pathlib.Path(sys.executable).parent / "trine"
        done = subprocess.run([command, "info"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"trine {trine.__version__}", done.stdout)
        package = str(pathlib.Path(trine.__file__).parent)
        self.assertTrue(all(folder.startswith(package) for folder in trine._trine.search_path()))

    def test_compare_gives_rows(self):
        rows = trine.compare("reduce", function=["sum", "max"], **FAST)
        self.assertGreaterEqual(len(rows), 2)
        self.assertTrue(all(row["verified"] for row in rows))
        self.assertEqual({row["function"] for row in rows}, {"sum", "max"})
        self.assertGreater(rows[0]["seconds.kernel"], 0)
        page = rows._repr_html_()
        self.assertEqual(page.count("<tr>"), len(rows) + 1)
        self.assertIn("<th>seconds.kernel</th>", page)
        self.assertEqual(len(repr(rows).splitlines()), len(rows) + 1)

    def test_what_is_false_is_left_out(self):
        for numerics in (None, "exact"):
            rows = trine.compare("gemm", numerics=numerics, peers=False, batch=None, **{**FAST, "size": "16"})
            self.assertEqual({row["asked"] for row in rows}, {numerics or "reproducible"})

    def test_compare_says_what_is_wrong(self):
        with self.assertRaisesRegex(ValueError, "nonsense"):
            trine.compare("reduce", size="nonsense")

    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("not run: pandas isn't installed")
        frame = trine.compare("transpose", **FAST).to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertIn("rung", frame.columns)


if __name__ == "__main__":
    unittest.main(verbosity=1)
