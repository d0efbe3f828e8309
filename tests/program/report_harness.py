"""What the tests of `trine report` share: running it on the fixture, in a folder of their own, and its refusals.

usage: ANY_test.py [unittest options] TRINE FIXTURE CHART   CHART: the Chart.js built in, or nothing"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TRINE, FIXTURE, CHART = sys.argv[-3:]
with open(FIXTURE) as fixture:
    DOCUMENT = json.load(fixture)
LIAR = "slot 3 of 16 is 0, not 1.25e+03: it wrote nothing"


def trine(*words):
    return subprocess.run([TRINE, "report", *words], capture_output=True, text=True, timeout=120)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def save(self, name, document):
        path = self.folder / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return str(path)

    def good(self, *words):
        done = trine(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, *words, word):
        before = sorted(self.folder.iterdir())
        done = trine(*words)
        self.assertEqual(done.returncode, 2, f"{words}: {done.stdout}{done.stderr}")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertIn(word, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(sorted(self.folder.iterdir()), before)


def main():
    unittest.main(argv=sys.argv[:-3])
