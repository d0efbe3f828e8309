"""The shim's switches: preloading, the next BLAS, the device, the log, and `trine why --trace`."""
import shutil

from harness import *

CALLS = """
import ctypes, os, threading
b = ctypes.CDLL("libblas.so.3")
def ddot(n):
    x = (ctypes.c_double * n)(*[1.5] * n); c = ctypes.byref
    b.ddot_.restype = ctypes.c_double
    return b.ddot_(c(ctypes.c_int(n)), x, c(ctypes.c_int(1)), x, c(ctypes.c_int(1)))
def dscal(n):
    x = (ctypes.c_double * n)(*[1.5] * n); c = ctypes.byref
    b.dscal_(c(ctypes.c_int(n)), c(ctypes.c_double(2)), x, c(ctypes.c_int(1)))
    return x[n - 1]
"""
# A program's own error handlers, and what calls them: a routine that is computed, one that is
# forwarded.
HANDLERS = """
#include <stdio.h>
void xerbla_(const char *name, const int *info, unsigned long length) { printf("xerbla_ %.5s %d\\n", name, *info); fflush(stdout); }
void cblas_xerbla(int info, const char *name, const char *form, ...) { printf("cblas_xerbla %s %d\\n", name, info); fflush(stdout); }
"""
MISTAKES = """
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *, const int *, const double *, const int *, const double *, double *, const int *);
void dtrsm_(const char *, const char *, const char *, const char *, const int *, const int *, const double *, const double *, const int *, double *, const int *);
void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
int main(void) {
  const int n = 1; const double x = 1; double c = 7;
  dtrsm_("X", "L", "N", "N", &n, &n, &x, &x, &n, &c, &n);
  cblas_dgemm(102, 7, 111, n, n, n, x, &x, n, &x, n, x, &c, n);
  dgemm_("N", "X", &n, &n, &n, &x, &x, &n, &x, &n, &x, &c, &n);
  return c != 7;
}
"""
# As a wheel bundles a BLAS: the module's own dependency, loaded with RTLD_LOCAL.
BUNDLED = "void dscal_(const int *n, const double *a, double *x, const int *inc) { x[0] = 42; }"
MODULE = """
void dscal_(const int *, const double *, double *, const int *);
double scaled(void) { const int one = 1; double x = 3; dscal_(&one, &x, &x, &one); return x; }
"""
THREADS = CALLS + """
ts = [threading.Thread(target=lambda: [ddot(10 + i % 5) for i in range(500)]) for _ in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]
if os.fork() == 0:
    ddot(3); dscal(4); os._exit(0)
os.wait(); dscal(4); dscal(5)
"""


class Shim(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.log = os.path.join(self.folder, "log")

    def built(self, name, source, *options):
        path = os.path.join(self.folder, name)
        with open(path + ".c", "w") as file:
            file.write(source)
        made = run("gcc", "-o", path, path + ".c", *options)
        self.assertEqual(made.returncode, 0, made.stderr)
        return path

    def test_preloaded(self):
        env = {**os.environ, "LD_PRELOAD": SHIM, "TRINE_BLAS_LOG": self.log, "TRINE_DATA_DIR": ""}
        ran = python("import numpy as np; a = np.ones((40, 40)); print((a @ a).sum(), np.linalg.solve(a + np.eye(40), a)[0, 0] > 0)", env)
        self.assertEqual((ran.returncode, ran.stdout.split()), (0, ["64000.0", "True"]), ran.stderr)
        self.assertIn("dgemm", [line.get("routine") for line in lines_of(self.log)])

    def test_a_programs_own_error_handlers_are_reached(self):
        """Wherever they stand. Without any, the next BLAS's: the reference's says what is wrong, and
        ends the program."""
        blas = [LIBRARIES / "blas/libblas.so.3"]  # calls both, so the linker shows an executable's
        library = self.built("libhandlers.so", HANDLERS, "-shared", "-fPIC")
        for place, program in (("a library", self.built("linked", MISTAKES, "-Wl,--no-as-needed", library, *blas)),
                               ("the executable", self.built("own", HANDLERS + MISTAKES, *blas)),
                               ("nowhere", self.built("none", MISTAKES, *blas))):
            for way in ({"LD_PRELOAD": SHIM}, {"LD_LIBRARY_PATH": FOLDER}):
                with self.subTest(place=place, way=way):
                    ran = run(program, env={**os.environ, "TRINE_BLAS_DEVICE": "cpu", **way,
                                            "TRINE_BLAS_NEXT": str(LIBRARIES / "blas/libblas.so.3")})
                    if place == "nowhere":
                        self.assertIn("DTRSM", ran.stdout + ran.stderr)
                    else:
                        self.assertEqual((ran.returncode, ran.stdout.split("\n")[:-1]),
                                         (0, ["xerbla_ DTRSM 1", "cblas_xerbla cblas_dgemm 2", "xerbla_ DGEMM 2"]), ran.stderr)

    def test_the_log_is_whole_under_threads_and_forks(self):
        ran = python(THREADS, over_shim(TRINE_BLAS_LOG=self.log))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        lines = lines_of(self.log)
        self.assertEqual(lines[0]["trine_blas"], 1)
        dots = [line for line in lines if line.get("routine") == "ddot"]
        self.assertEqual(sum(line["calls"] for line in dots), 8 * 500 + 1)
        self.assertTrue(all(line["seconds"] >= 0 and line["device"] == "cpu" and line["data"] == "host" for line in dots))
        self.assertEqual([line["calls"] for line in lines if line.get("forwarded") == "dscal_"], [2])

    def test_a_forked_child_computes_where_a_device_was_named_and_open(self):
        """Also what can't be repeated: C is read."""
        script = CALLS + """
n, size = 300, ctypes.c_int(300)
r, two, t = ctypes.byref, ctypes.c_double(2), ctypes.c_char_p(b"N")
def dgemm():
    a = (ctypes.c_double * (n * n))(*[1] * (n * n)); out = (ctypes.c_double * (n * n))(*[1] * (n * n))
    b.dgemm_(t, t, r(size), r(size), r(size), r(two), a, r(size), a, r(size), r(two), out, r(size))
    return set(out)
dgemm()
child = os.fork()
if child == 0: os._exit(0 if dgemm() == {602.0} else 1)
print(os.waitpid(child, 0)[1])
"""
        for device in ("auto", "cpu", "opencl:0"):
            ran = python(script, over_shim(device))
            self.assertEqual(ran.stdout.split(), ["0"], device + ran.stderr)

    def test_more_threads_than_there_are_places_for(self):
        ran = python(CALLS + "print(ddot(100000))", {**over_shim("cpu"), "OMP_NUM_THREADS": "600"})
        self.assertEqual(ran.stdout.split(), ["225000.0"], ran.stderr)

    def test_another_next_blas(self):
        for name in ("blas/libblas.so.3", "openblas-pthread/libblas.so.3"):
            if not (LIBRARIES / name).exists():
                continue
            ran = python(CALLS + "print(dscal(7), open('/proc/self/maps').read())", over_shim(TRINE_BLAS_NEXT=str(LIBRARIES / name)))
            self.assertEqual(ran.stdout.split()[0], "3.0", ran.stderr)
            self.assertIn(name.split("/")[0] + "/libblas", ran.stdout)

    def test_the_callers_own_blas_comes_before_an_installed_one(self):
        bundled = self.built("libbundled.so", BUNDLED, "-shared", "-fPIC")
        module = self.built("module.so", MODULE, "-shared", "-fPIC", bundled)
        call = f"import ctypes; f = ctypes.CDLL({module!r}).scaled; f.restype = ctypes.c_double; print(f())"
        ran = python(call, {**os.environ, "LD_PRELOAD": SHIM})
        self.assertEqual((ran.returncode, ran.stdout), (0, "42.0\n"), ran.stderr)

    def test_no_next_blas_is_said(self):
        for given, word in (("/nowhere/libblas.so", "/nowhere/libblas.so"), (SHIM, "itself")):
            ran = python(CALLS + "ddot(2); dscal(3)", over_shim(TRINE_BLAS_NEXT=given))
            self.assertEqual(ran.returncode, 127, ran.stderr)
            self.assertIn("dscal_", ran.stderr)
            self.assertIn(word, ran.stderr)

    def test_a_device_that_is_not_there_is_said(self):
        ran = python(CALLS + "print(ddot(4), ddot(4))", over_shim("bogus:3"))
        self.assertEqual(ran.stdout.split(), ["9.0", "9.0"])
        self.assertEqual(ran.stderr.count("bogus:3"), 1, ran.stderr)

    def test_matrices_that_are_not_read_may_be_null(self):
        """With alpha = 0; and an empty device is none."""
        script = CALLS + """
n, c = ctypes.c_int(300), (ctypes.c_double * 90000)(*[2] * 90000)
zero, half, two = ctypes.c_double(0), ctypes.c_double(0.5), ctypes.c_int(2)
r = ctypes.byref
b.dgemm_(b"N", b"N", r(n), r(n), r(n), r(zero), None, r(n), None, r(n), r(half), c, r(n))
b.dgemv_(b"N", r(n), r(n), r(zero), None, r(n), None, r(two), r(half), c, r(two))
print(set(c[:600:2]), set(c[1::2]), set(c[600:]))
"""
        for device in ("", "opencl:0", "bogus:3"):
            ran = python(script, over_shim(device, TRINE_BLAS_LOG=self.log))
            self.assertEqual((ran.stdout.strip(), ran.stderr), ("{0.5} {1.0} {1.0}", ""))
        head, call = lines_of(self.log)[:2]
        self.assertEqual((head["device"], call["device"], call.get("why")), ("auto", "cpu", None))

    def traced(self):
        ran = python("import numpy as np; a = np.ones((200, 200)); x = a[0]\nfor i in range(5): a @ a; np.dot(x, x)",
                     over_shim(TRINE_BLAS_LOG=self.log))
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def why(self, *words, code=0, **more):
        ran = run(TRINE, "why", *words, env={**os.environ, "TRINE_DATA_DIR": "", "TRINE_TUNING": "", **more})
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran.stdout + ran.stderr

    def test_why_trace(self):
        self.traced()
        document = os.path.join(self.folder, "json")
        text = self.why("--trace", self.log, "--device", "cpu", "--json", document)
        for word in ("moved at each call", "stayed there", "dgemm 200x200x200", "ddot 200"):
            self.assertIn(word, " ".join(text.split()))
        with open(document) as file:
            told = json.load(file)
        self.assertEqual([(c["calls"], c["count"]) for c in told["by_shape"] if "gemm" in c["calls"]], [("dgemm 200x200x200", 5)])
        cpu = told["devices"][0]
        self.assertLessEqual(cpu["moved"]["low"], cpu["moved"]["seconds"])
        self.assertGreaterEqual(cpu["moved"]["high"], cpu["moved"]["seconds"])

    def test_why_refuses(self):
        self.assertIn("why needs", self.why(code=2))
        with open(self.log, "w") as file:
            file.write('{"trine_blas":1,"program":"x"}\nnonsense\n')
        self.assertIn(f"{self.log}:2", self.why("--trace", self.log, code=2))
        good = self.log + "2"
        with open(good, "w") as file:
            file.write('{"trine_blas":1,"program":"x"}\n{"routine":"ddot","n":4,"seconds":1e-6}\n')
        self.assertIn("damaged", self.why("--trace", good, "--calibration", self.log, code=2))


if __name__ == "__main__":
    main()
