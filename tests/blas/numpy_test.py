"""Debian's NumPy over the shim: the same bits on each device and number of threads, forks, LAPACK
over the forwarded routines, an example; and the outcomes of some of NumPy's own tests
(numpy_suite.py runs them all)."""
from harness import *

HERE = pathlib.Path(__file__).parent

BITS = """
import hashlib, numpy as np
g = np.random.default_rng(20261124)
h = hashlib.sha256()
for t in (np.float32, np.float64):
    for m, n, k in ((3, 5, 7), (64, 64, 64), (150, 120, 170), (300, 1, 300), (1, 1, 30000)):
        a, b = g.standard_normal((m, k)).astype(t), g.standard_normal((k, n)).astype(t)
        for c in (a @ b, a.T.copy().T @ b, np.dot(b.T, a.T)):
            h.update(np.ascontiguousarray(c).tobytes())
    x = g.standard_normal(30000).astype(t)
    h.update(np.dot(x, x[::-1]).tobytes())
print(h.hexdigest())
"""
WARNINGS = """
import numpy as np
for t in (np.float32, np.float64):
    for n in (3, 40, 100, 300):
        ones = np.ones((n, n), t); infinity = ones.copy(); zeros = ones.copy(); infinity[0, 0] = np.inf; zeros[0] = 0
        for name, a, b in (("nothing", ones, ones), ("zero", infinity, zeros), ("infinity", infinity, ones), ("overflow", ones * np.finfo(t).max, ones)):
            for c in (b, b[:, 0].copy()):
                try:
                    with np.errstate(invalid="raise", over="raise"):
                        a @ c
                except FloatingPointError as error:
                    print(t.__name__, n, c.ndim, name, str(error).split()[0])
"""
FORK = """
import multiprocessing, numpy as np
a = np.random.default_rng(1).standard_normal((300, 300))
b = a[::-1].copy()
expected = a @ b
def same(_): return bool((a @ b == expected).all())
print(all(multiprocessing.get_context("fork").Pool(2).map(same, range(4))))
"""
LAPACK = """
import numpy as np
a = np.random.default_rng(1).standard_normal((120, 120)); s = a @ a.T + 120 * np.eye(120)
l = np.linalg.cholesky(s)
assert abs(l @ l.T - s).max() < 1e-10
assert abs(s @ np.linalg.solve(s, a) - a).max() < 1e-10
u, d, v = np.linalg.svd(a); assert abs((u * d) @ v - a).max() < 1e-10
print("good")
"""


class OverTheShim(unittest.TestCase):
    def said(self, code, env):
        ran = python(code, env)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout.strip()

    def test_same_bits_everywhere(self):
        digests = {}
        for device in devices():
            for threads in "12":
                digests[device, threads] = self.said(BITS, over_shim(device, OMP_NUM_THREADS=threads))
        self.assertEqual(len(set(digests.values())), 1, digests)

    def test_it_computes_with_the_shim(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            self.said(BITS, over_shim(TRINE_BLAS_LOG=log))
            routines = {line.get("routine") for line in lines_of(log)}
            self.assertLessEqual({"sgemm", "dgemm", "sdot", "ddot"}, routines)

    def test_warnings_come_at_each_size_and_on_each_device(self):
        expected = [f"{t} {n} {rank} {name}" for t in ("float32", "float64") for n in (3, 40, 100, 300)
                    for name in ("zero invalid", "overflow overflow") for rank in (2, 1)]
        for device in devices():
            for numerics in ("reproducible", "exact"):
                self.assertEqual(self.said(WARNINGS, over_shim(device, TRINE_BLAS_NUMERICS=numerics)).split("\n"), expected,
                                 f"{device} {numerics}")

    def test_a_forked_child(self):
        self.assertEqual(self.said(FORK, over_shim("auto")), "True")

    def test_lapack_over_forwarded_routines(self):
        for device in devices():
            self.assertEqual(self.said(LAPACK, over_shim(device)), "good")


class Programs(unittest.TestCase):
    def test_the_example(self):
        ran = run(sys.executable, HERE.parents[1] / "examples/numpy_unchanged.py", FOLDER, *devices(),
                  env={**os.environ, "TRINE_DATA_DIR": "", "TRINE_TUNING": ""})
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("the same bits each time", ran.stdout)
        ran = run(sys.executable, HERE.parents[1] / "examples/numpy_unchanged.py", HERE)
        self.assertEqual(ran.returncode, 1)
        self.assertIn(f"{HERE}: there is no libblas.so.3", ran.stderr)

    def test_numpys_own_tests(self):
        if run(sys.executable, "-c", "import pytest, hypothesis").returncode != 0:
            self.skipTest("python3-pytest and python3-hypothesis aren't there")
        with tempfile.TemporaryDirectory() as folder:
            linalg = "numpy/linalg/tests/test_linalg.py"
            ran = run(sys.executable, HERE / "numpy_suite.py", SHIM, folder, f"{linalg}::TestSolve",
                      f"{linalg}::TestCholesky", "numpy/core/tests/test_multiarray.py::TestMatmul")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)


if __name__ == "__main__":
    main()
