"""TRINE_BLAS_NUMERICS=exact: products of real numbers, rounded once, by the fractions of Python; and its word."""
import math
from fractions import Fraction

from harness import *

# The calls, made alike here and in the program over the shim: routine, m, n, k, the operands as lists of floats.
CALLS = """
import random
SIZES = [(2, 3, 0), (1, 1, 1), (2, 3, 5), (7, 5, 31), (1, 4, 300), (13, 9, 64), (40, 1, 33), (40, 30, 50)]
def near(values, letter):
    import array
    return list(array.array(letter, values))
def numbers(dice, kind, count, letter):
    least, most = {"f": (-149, 127), "d": (-1074, 1023)}[letter]
    if kind == "few bits": values = [dice.randint(-8, 8) for _ in range(count)]
    elif kind == "any size": values = [dice.choice((1, -1)) * dice.uniform(1, 2) * 2.0 ** dice.randint(least // 2, most // 2) for _ in range(count)]
    elif kind == "small": values = [dice.uniform(-4, 4) * 2.0 ** (least // 2) for _ in range(count)]
    elif kind == "large": values = [dice.choice((1, -1)) * 2.0 ** (most // 2 + dice.randint(0, 1)) for _ in range(count)]
    elif kind == "special": values = [dice.choice((0, 1, -1, float("inf"), float("-inf"), float("nan")) if dice.random() < .1 else (2, -3)) for _ in range(count)]
    else: values = [dice.uniform(-1, 1) for _ in range(count)]
    return near(values, letter)
def calls():
    dice = random.Random(41)
    for letter in "fd":
        for kind in ("few bits", "any size", "small", "large", "special", "uniform"):
            for m, n, k in SIZES:
                ta, tb = dice.choice("NT"), dice.choice("NT")
                lda, ldb, ldc = (max(1, rows) + dice.randint(0, 2) for rows in (m if ta == "N" else k, k if tb == "N" else n, m))
                a = numbers(dice, kind, lda * (k if ta == "N" else m), letter)
                b = numbers(dice, kind, ldb * (n if tb == "N" else k), letter)
                c = numbers(dice, kind, ldc * n, letter)
                alpha, beta = near([dice.choice((1, 1, -0.7, 3, 2**-30)), dice.choice((0, 0, 1, -0.3))], letter)
                if kind == "special": alpha = dice.choice((1, -0.5, 0, float("inf")))
                if kind == "any size" and k > 1 and m > 1:  # rows whose sums cancel, but for what c adds
                    for i in range(m):
                        for l in range(k - k % 2):
                            at = i + l * lda if ta == "N" else l + i * lda
                            other = i + (l ^ 1) * lda if ta == "N" else (l ^ 1) + i * lda
                            if l % 2: a[at] = -a[other]
                    for j in range(n):
                        for l in range(1, k, 2):
                            at, other = ((l + j * ldb, l - 1 + j * ldb) if tb == "N" else (j + l * ldb, j + (l - 1) * ldb))
                            b[at] = b[other]
                yield letter, m, n, k, ta, tb, alpha, a, lda, b, ldb, beta, c, ldc
"""
PROGRAM = CALLS + """
import ctypes, json, os, sys
blas = ctypes.CDLL("libblas.so.3")
def run():
    results = []
    for letter, m, n, k, ta, tb, alpha, a, lda, b, ldb, beta, c, ldc in calls():
        T = ctypes.c_float if letter == "f" else ctypes.c_double
        name, r, i = {"f": "s", "d": "d"}[letter], ctypes.byref, ctypes.c_int
        A, B, C = (T * len(a))(*a), (T * len(b))(*b), (T * len(c))(*c)
        if n == 1:  # of y in steps of -1
            y = (T * m)(*c[:m][::-1])
            rows, cols = (m, k) if ta == "N" else (k, m)
            step = 1 if tb == "N" else ldb
            getattr(blas, name + "gemv_")(ta.encode(), r(i(rows)), r(i(cols)), r(T(alpha)), A, r(i(lda)), B, r(i(step)), r(T(beta)), y, r(i(-1)))
            C[:m] = y[::-1]
        else:
            getattr(blas, name + "gemm_")(ta.encode(), tb.encode(), r(i(m)), r(i(n)), r(i(k)), r(T(alpha)), A, r(i(lda)), B, r(i(ldb)), r(T(beta)), C, r(i(ldc)))
        results.append([x.hex() for x in C])  # a NaN has no sign here
    return results
here = run()
if "fork" in sys.argv and os.fork() == 0:
    os._exit(run() != here)
elif "fork" in sys.argv:
    assert os.wait()[1] == 0
print(json.dumps(here))
"""
FORMATS = {"f": (24, -149, 128), "d": (53, -1074, 1024)}


def rounded(x, letter):
    """A fraction to the nearest number of the format, ties to even."""
    if x == 0:
        return 0.0
    digits, least, most = FORMATS[letter]
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    exponent -= abs(x) < Fraction(2) ** exponent
    unit = Fraction(2) ** max(exponent - digits + 1, least)
    whole = round(abs(x) / unit) * unit
    return math.copysign(math.inf if whole >= Fraction(2) ** most else float(whole), 1 if x > 0 else -1)


def product(x, y):
    """Of fractions, or of floats that aren't finite."""
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x * y
    signs = [math.copysign(1, z) * (z != 0) for z in (x, y)]
    return math.nan if any(z != z for z in (x, y)) or 0 in signs else math.inf * signs[0] * signs[1]


def total(terms):
    special = [x for x in terms if isinstance(x, float)]
    return sum(special) if special else sum(terms, Fraction(0))


def exact(x):
    return Fraction(x) if math.isfinite(x) else x


def expected(letter, m, n, k, ta, tb, alpha, a, lda, b, ldb, beta, c, ldc):
    results = list(c)
    for i in range(m):
        for j in range(n):
            terms = []
            for l in range(k):
                x = a[i + l * lda if ta == "N" else l + i * lda]
                y = b[l + j * ldb if tb == "N" else j + l * ldb]
                terms.append(product(exact(x), exact(y)))
            parts = [product(exact(alpha), total(terms))] if alpha != 0 and k > 0 else []
            if beta != 0:
                parts.append(product(exact(beta), exact(c[i + j * ldc])))
            value = total(parts)
            results[i + j * ldc] = value if isinstance(value, float) else rounded(value, letter)
    return results


class Exact(unittest.TestCase):
    def results(self, *words, **env):
        ran = run(sys.executable, "-c", PROGRAM, *words, env=over_shim(**{"TRINE_BLAS_NUMERICS": "exact", **env}))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return json.loads(ran.stdout), ran.stderr

    def test_products_are_the_real_numbers_rounded_once(self):
        scope = {}
        exec(CALLS, scope)
        calls = list(scope["calls"]())
        self.assertEqual(len(calls), 96)
        wanted = [expected(*call) for call in calls]
        for device in devices():
            for threads in ("1", "3") if device == "cpu" else ("1",):
                results, _ = self.results("fork", device=device, OMP_NUM_THREADS=threads)
                for call, result, want in zip(calls, results, wanted):
                    with self.subTest(device=device, threads=threads, call=call[:7]):
                        self.assertEqual(result, [x.hex() for x in want])

    def test_by_default_every_step_is_rounded(self):
        self.assertNotEqual(self.results()[0], self.results(TRINE_BLAS_NUMERICS="")[0])
        self.assertEqual(self.results(TRINE_BLAS_NUMERICS="reproducible"), self.results(TRINE_BLAS_NUMERICS=""))

    def test_a_wrong_word_is_told(self):
        results, said = self.results(TRINE_BLAS_NUMERICS="precise")
        self.assertEqual(said, "libtrine_blas: TRINE_BLAS_NUMERICS=precise: neither reproducible nor exact; products are "
                               "reproducible.\n")
        self.assertEqual(results, self.results(TRINE_BLAS_NUMERICS="")[0])

    def test_the_log_tells_them_and_why_reads_it(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            self.results(TRINE_BLAS_LOG=log)
            lines = lines_of(log)[1:]
            self.assertEqual({line["exact"] for line in lines}, {1})
            text = run(TRINE, "why", "--trace", log, "--device", "cpu").stdout
            self.assertIn("dgemm 40x30x50 exact", text)


if __name__ == "__main__":
    main()
