"""`python -m trine.blas`: NumPy, SciPy and scikit-learn, as they come from PyPI, compute by the
wheel's BLAS, in a program that knows nothing of it."""

import hashlib
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import trine

DEVICES = [d["id"] for d in trine.devices() if d["id"] in ("cpu", "opencl:0")]
PRODUCT = """
import numpy as np, sys
g = np.random.default_rng(40)
a, b = g.standard_normal((150, 170)), g.standard_normal((170, 190))
out = [a @ b, a @ b[:, 0], np.dot(a[0], b[:, 1]), (a.astype("f") @ b.astype("f"))]
"""
SCIPY = """
import numpy as np, sys
from scipy.linalg import blas
g = np.random.default_rng(40)
a, x = g.standard_normal((150, 150)), g.standard_normal(9000)
out = [blas.dgemm(0.5, a, a, trans_b=1), blas.dgemv(2.0, a, x[:150])]
out += [blas.ddot(x, x[::-1]), blas.dnrm2(x)]
"""
LEARNING = """
import numpy as np, sys
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
g = np.random.default_rng(40)
x, y = g.standard_normal((300, 40)), g.standard_normal((300, 3))
pca = PCA(12, svd_solver="full").fit(x)
line = LinearRegression().fit(x, y)
out = [pca.components_, pca.transform(x), pca.inverse_transform(pca.transform(x))]
out += [line.coef_, line.predict(x)]
"""
PRINT = "sys.stdout.buffer.write(b''.join(np.ascontiguousarray(o).tobytes() for o in out))"


def run(*words, cwd=None, options=(), **environment):
    """Python's `-m trine.blas WORDS`."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment}
    words = [sys.executable, *options, "-m", "trine.blas", *map(str, words)]
    return subprocess.run(words, capture_output=True, cwd=cwd, env=environment)


def needs(package):
    return unittest.skipUnless(importlib.util.find_spec(package), f"not run: {package} isn't there")


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"


class Computes(Folder):
    def digest(self, code, routines, device, **environment):
        """Of what the program computes; all of the routines are the device's."""
        self.log.unlink(missing_ok=True)
        ran = run("--device", device, "--log", self.log, "-c", code + PRINT, **environment)
        said = ran.stderr.decode()
        self.assertEqual((ran.returncode, said.count("\n")), (0, 1), said)
        self.assertIn(f"device {device}", said)
        calls = [json.loads(line) for line in self.log.read_text().splitlines()]
        computed = {c["routine"] for c in calls if c.get("device") == device and "routine" in c}
        self.assertLessEqual(routines, computed)
        self.assertGreater(len(ran.stdout), 1000)
        return hashlib.sha256(ran.stdout).hexdigest()

    def same_bits(self, code, *routines):
        digests = {
            (device, threads): self.digest(code, set(routines), device, OMP_NUM_THREADS=threads)
            for device in DEVICES
            for threads in "12"
        }
        self.assertEqual(len(set(digests.values())), 1, digests)

    def test_numpy(self):
        self.same_bits(PRODUCT, "dgemm", "dgemv", "ddot", "sgemm")

    @needs("scipy")
    def test_scipy(self):
        self.same_bits(SCIPY, "dgemm", "dgemv", "ddot", "dnrm2")

    @needs("sklearn")
    def test_scikit_learn(self):
        self.same_bits(LEARNING, "dgemm")


class Starts(Folder):
    def test_program_module_and_code(self):
        told = "import sys; print(*sys.argv[1:], sys.flags.optimize); sys.exit(3)"
        (self.folder / "told.py").write_text(told)
        words = ["--log", "x", "-m", "y"]  # the program's own
        for way in (["told.py"], ["-m", "told"], ["-c", told]):
            for options in ([], ["-O", "-X", "utf8"]):
                ran = run(*way, *words, cwd=self.folder, options=options)
                self.assertEqual(ran.returncode, 3, ran.stderr)
                expected = [*words, str(len(options) // 2)]
                self.assertEqual(ran.stdout.decode().split(), expected, way)
        self.assertFalse((self.folder / "x").exists())

    def test_it_says_once_who_is_reached(self):
        ran = run("-c", "import subprocess, sys; subprocess.run([sys.executable, '-c', ''])")
        said = ran.stderr.decode()
        self.assertEqual(said.count("\n"), 1, said)
        self.assertRegex(said, "^trine.blas: Trine .* computes for NumPy .*, device auto; not ")
        self.assertIn("LAPACK", said)
        self.assertEqual(" and SciPy, device" in said, bool(importlib.util.find_spec("scipy")))

    def refused(self, ran, *words):
        """By one sentence."""
        said = ran.stderr.decode()
        self.assertEqual((ran.returncode, ran.stdout), (1, b""), said)
        self.assertTrue(said.startswith("trine.blas: ") and said.endswith(".\n"), said)
        self.assertNotIn("Traceback", said)
        for word in words:
            self.assertIn(word, said)

    def test_no_program(self):
        self.refused(run(), "no program", "-m MODULE")
        self.refused(run("nowhere.py"), "nowhere.py", "doesn't exist")

    def test_exact_products(self):
        # Two halves of an ulp: lost one by one, an ulp together.
        row = "np.array([[1, 2**-12, 2**-12]] * 3, 'f')"
        code = f"import numpy as np; print(({row} @ {row}.T.copy())[0, 0] > 1)"
        for words, is_more in ((), b"False"), (("--numerics", "exact"), b"True"):
            ran = run(*words, "-c", code)
            self.assertEqual((ran.returncode, ran.stdout.strip()), (0, is_more), ran.stderr)
            self.assertEqual(b", exact products;" in ran.stderr, bool(words))
        self.assertEqual(run("--numerics", "bogus", "-c", code).returncode, 2)

    def test_an_unknown_device(self):
        self.refused(run("--device", "bogus:3", "-c", "print(1)"), "bogus:3")
        self.refused(run("-c", "print(1)", TRINE_BLAS_DEVICE="bogus:3"), "bogus:3")

    def test_a_log_without_a_folder(self):
        self.refused(run("--log", self.folder / "none" / "log", "-c", "print(1)"), "no folder", "none")

    def test_a_numpy_that_cannot_be_reached(self):
        """Its module, here one of another kind, takes no BLAS routine from a library."""
        core = self.folder / "_core"
        core.mkdir()
        (core / "_multiarray_umath.so").symlink_to(trine._trine.__file__)
        elsewhere = str(self.folder / "__init__.py")
        first = self.folder / "sitecustomize.py"
        first.write_text(f"import numpy; numpy.__file__ = {elsewhere!r}")
        ran = run("-c", "print(1)", PYTHONPATH=str(self.folder))
        self.refused(ran, "NumPy", "can't be reached")


if __name__ == "__main__":
    unittest.main(verbosity=1)
