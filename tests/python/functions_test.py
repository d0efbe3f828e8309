"""The functions: NumPy's results, dtypes and shapes for every axis and stride."""

import array as python_array
import itertools
import math
import unittest
from fractions import Fraction

import numpy

import trine

REDUCTIONS = ("sum", "prod", "min", "max", "argmin", "argmax")
DTYPES = ("float32", "float64", "int32", "int64", "uint32", "uint64")


def integers(shape, dtype="float64", seed=1):
    """Small integers: every order of sums and products is exact."""
    return numpy.random.default_rng(seed).integers(1, 4, shape).astype(dtype)


class AsNumpy(unittest.TestCase):
    def same(self, function, *arguments, **keywords):
        """NumPy's result, dtype and shape; or both refuse."""
        ours, theirs = getattr(trine, function), getattr(numpy, function)
        try:
            right = theirs(*arguments, **keywords)
        except (TypeError, ValueError, IndexError) as refusal:
            with self.assertRaises((TypeError, ValueError), msg=str(refusal)):
                ours(*arguments, **keywords)
            return
        got = ours(*arguments, **keywords)
        self.assertEqual((got.shape, got.dtype), (right.shape, right.dtype), (function, keywords))
        numpy.testing.assert_array_equal(got, right)


SHAPES = ((), (1,), (5,), (0,), (2, 3), (3, 0), (0, 3), (4, 1, 3), (2, 3, 4, 2))


class Reductions(AsNumpy):
    def test_every_dtype_shape_and_axis(self):
        for function, dtype, shape in itertools.product(REDUCTIONS, DTYPES, SHAPES):
            x = integers(shape, dtype)
            for axis in (None, *range(-len(shape) - 1, len(shape) + 1)):
                for keepdims in (False, True):
                    with self.subTest(function=function, dtype=dtype, shape=shape, axis=axis):
                        self.same(function, x, axis=axis, keepdims=keepdims)

    def test_several_axes(self):
        several = ((0, 1), (2, 3), (0, 3), (1, 2), (0, 1, 2, 3), (0, 0), (0, 4))
        for function, axis in itertools.product(REDUCTIONS[:4], several):
            for keepdims in (False, True):
                with self.subTest(function=function, axis=axis, keepdims=keepdims):
                    self.same(function, integers((2, 3, 4, 2)), axis=axis, keepdims=keepdims)

    def test_strides(self):
        x = integers((8, 9, 10))
        views = [
            x[::2],
            x[:, 1::3],
            x[..., ::4],
            x[1:5, 2:7, 3:9],
            x.transpose(2, 0, 1),
            x.swapaxes(0, 1),
            numpy.asfortranarray(x),
            numpy.broadcast_to(x[:1], x.shape),
            numpy.broadcast_to(x[:, :1, :1], x.shape),
        ]
        for number, view in enumerate(views):
            for function, axis in itertools.product(REDUCTIONS, (0, 1, 2)):
                with self.subTest(view=number, function=function, axis=axis):
                    self.same(function, view, axis=axis)
        self.same("sum", numpy.asfortranarray(x))
        self.same("max", x[:, 1::3].transpose(1, 2, 0)[:, :, 0])

    def test_extrema_of_no_elements(self):
        for function in REDUCTIONS[2:]:
            with self.assertRaisesRegex(ValueError, "of no elements"):
                getattr(trine, function)(numpy.zeros((0, 3)), 0)

    def test_out(self):
        x, out = integers((4, 6)), numpy.full((4, 2), -1.0)
        self.assertIs(trine.sum(x, 1, out=out[:, 0]).base, out)
        numpy.testing.assert_array_equal(out, numpy.stack([x.sum(1), numpy.full(4, -1.0)], 1))

    def test_maps_and_wider_results(self):
        x = numpy.array([-3, 1e8, 2.5], "float32")
        self.assertEqual(trine.sum(x, map="abs"), numpy.float32(1e8 + 5.5))
        self.assertEqual(trine.sum(x, map="abs", dtype="float64"), 1e8 + 5.5)
        self.assertEqual(trine.sum(x, map="square", dtype=numpy.float64), 1e16 + 15.25)
        self.assertEqual(trine.argmax(numpy.array([1, -5, 3]), map="abs"), 1)


class Products(AsNumpy):
    def test_dot_of_matrices_names_an_axis(self):
        x = integers((3, 4))
        with self.assertRaisesRegex(ValueError, "matmul"):
            trine.dot(x, x)
        self.assertEqual(trine.dot(x, x, axis=None), (x * x).sum())
        for x, axis in ((integers((2, 3, 4)), axis) for axis in range(-3, 3)):
            numpy.testing.assert_array_equal(trine.vecdot(x, x, axis=axis), (x * x).sum(axis))

    def test_matmul_follows_numpys_rules(self):
        shapes = [(3,), (2, 3), (3, 2), (3, 3), (5, 2, 3), (1, 3, 2), (5, 3, 2), (4, 1, 2, 3)]
        shapes += [(0, 3), (3, 0), (0, 2, 3), ()]
        for a, b, dtype in itertools.product(shapes, shapes, ("float32", "float64", "int32")):
            with self.subTest(a=a, b=b, dtype=dtype):
                self.same("matmul", integers(a, dtype), integers(b, dtype, 2))

    def test_matmul_of_views(self):
        x, y = integers((4, 6)), integers((6, 4), seed=2)
        numpy.testing.assert_array_equal(trine.matmul(x.T, x), x.T @ x)
        numpy.testing.assert_array_equal(trine.matmul(x[:, 1:4], y[1:4]), x[:, 1:4] @ y[1:4])
        numpy.testing.assert_array_equal(trine.matmul(x, y[:, 1]), x @ y[:, 1])
        numpy.testing.assert_array_equal(trine.matmul(x[1:3, ::1].T, y.T[1:3]), x[1:3].T @ y.T[1:3])
        # Backwards, but of one element.
        row, column = x[::-1][:1], y[:, ::-1][:, :1]
        out = numpy.zeros((3, 3))[::-1, ::-1][:1, :1]
        numpy.testing.assert_array_equal(trine.matmul(row, y), row @ y)
        numpy.testing.assert_array_equal(trine.matmul(row, column, out=out), row @ column)
        numpy.testing.assert_array_equal(trine.matmul(row[0][::-1][:1], row[:, :1]), row[0][-1:] @ row[:, :1])

    def test_matmul_alpha_beta_out_order(self):
        x, c = integers((3, 3)), integers((3, 3), seed=4)
        right = 2 * (x @ x) - 3 * c
        self.assertIs(trine.matmul(x, x, alpha=2, beta=-3, out=c), c)
        numpy.testing.assert_array_equal(c, right)
        for order, flag in (("C", "C_CONTIGUOUS"), ("F", "F_CONTIGUOUS"), ("K", "C_CONTIGUOUS")):
            self.assertTrue(trine.matmul(x, x, order=order).flags[flag])
        self.assertTrue(trine.matmul(x.T, x.T, order="K").flags.f_contiguous)
        with self.assertRaisesRegex(ValueError, "out="):
            trine.matmul(x, x, beta=1)

    def test_the_order_of_stacks(self):
        shapes = [
            ((5, 2, 3), (3, 4)),
            ((2, 3), (5, 3, 4)),
            ((6, 1, 2, 3), (5, 3, 4)),
            ((5, 2, 3), (3,)),
            ((0, 2, 3), (3, 4)),
            ((5, 1, 3), (3, 1)),
        ]
        for a, b in shapes:
            for order, dtype in itertools.product("CFAK", ("float32", "int32")):
                x, y = integers(a, dtype), integers(b, dtype, 2)
                got, right = trine.matmul(x, y, order=order, alpha=2), 2 * numpy.matmul(x, y, order=order)
                with self.subTest(a=a, b=b, order=order):
                    self.assertEqual((got.shape, got.dtype), (right.shape, right.dtype))
                    self.assertTrue(got.flags.f_contiguous if order == "F" else got.flags.c_contiguous)
                    numpy.testing.assert_array_equal(got, right)
        self.assertEqual(trine.place(trine.matmul, x, y, order="F", device="cpu").device, "cpu")

    def test_factors_are_rounded_to_the_dtype(self):
        bits = numpy.random.default_rng(8).integers(0, 2**64, 3000, "uint64").view("float64")
        binades, fractions = (-150, -149, -127, -126, -125, 0, 127), (1, 1 + 2**-24, 1 + 3 * 2**-25, 1.5, 1.75)
        edges = [2.0**e * m for e, m in itertools.product(binades, fractions)]
        near = numpy.ldexp(numpy.random.default_rng(9).random(2800) + 1, numpy.tile(range(-153, 127), 10))
        one, half = numpy.ones((1, 1), "float32"), numpy.full((1, 1), 0.5, "float32")
        for factor in [0.1, -0.3, 1e-60, -1e-60, math.inf, -0.0, *edges, *near, *bits]:
            with numpy.errstate(all="ignore"):
                right = numpy.float32(factor)
            if math.isinf(right) and math.isfinite(factor):
                with self.assertRaisesRegex(ValueError, "alpha = .* f32"):
                    trine.matmul(one, one, alpha=factor)
                continue
            numpy.testing.assert_array_equal(trine.matmul(one, one, alpha=factor)[0, 0], right + 0)
            out = half.copy()
            trine.matmul(one, one, alpha=0, beta=factor, out=out)
            numpy.testing.assert_array_equal(out[0, 0], right * half[0, 0] if right else 0)
        for factor in (0.5, 2.0**31, math.nan):
            for keyword in ("alpha", "beta"):
                with self.assertRaisesRegex(ValueError, keyword + " = .* whole number"):
                    x = numpy.ones((1, 1), "int32")
                    trine.matmul(x, x, out=x.copy(), **{keyword: factor})


class Norms(unittest.TestCase):
    def ulps(self, x):
        """How far the norm is from the real one, in units in its last place."""
        got = float(trine.norm(x))
        exact = sum((Fraction(float(v)) ** 2 for v in x.flat), Fraction(0))
        scale = Fraction(2) ** 2000  # integers have an exact square root
        right = Fraction(math.isqrt(int(exact * scale * scale)), int(scale))
        return abs(Fraction(got) - right) / Fraction(float(numpy.spacing(x.dtype.type(got))))

    def test_within_one_unit_wherever_the_squares_lie(self):
        rng = numpy.random.default_rng(5)
        for exponent in (-1060, -600, -530, -500, 0, 500, 510, 512, 1000, 1020):
            x = rng.standard_normal(101) * 2.0 ** (exponent / 2) * 2.0 ** (exponent - exponent / 2)
            with self.subTest(exponent=exponent):
                self.assertLess(self.ulps(x), 1)
        for exponent in (-140, -75, 0, 64, 120):
            x = numpy.ldexp(rng.standard_normal(101).astype("float32"), exponent)
            with self.subTest(float32=exponent):
                self.assertLess(self.ulps(x), 0.501)

    def test_axes_and_special_values(self):
        x = numpy.array(
            [[3e200, 4e200], [3, 4], [0, 0], [numpy.inf, 1], [numpy.nan, 1], [3e-320, 4e-320]]
        )
        right = [5e200, 5, 0, numpy.inf, numpy.nan, 5e-320]
        numpy.testing.assert_allclose(trine.norm(x, 1), right, rtol=3e-16)
        self.assertEqual(trine.norm(x, 1, keepdims=True).shape, (6, 1))
        out = numpy.zeros(6)
        self.assertIs(trine.norm(x, 1, out=out), out)
        numpy.testing.assert_allclose(out, right, rtol=3e-16)
        self.assertEqual(trine.norm(numpy.zeros((0,))), 0)
        self.assertEqual(trine.norm(numpy.float64(-2)), 2)
        self.assertEqual(trine.norm(python_array.array("d", [3 * 2.0**600, 4 * 2.0**600])), 5 * 2.0**600)
        for wrong in ({"x": numpy.ones(3, "int32")}, {"x": x, "out": numpy.zeros((), "float32")}):
            with self.assertRaisesRegex(ValueError, "norm: "):
                trine.norm(wrong["x"], out=wrong.get("out"))


class Transposes(unittest.TestCase):
    def test_every_order_of_axes(self):
        x = numpy.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
        for axes in itertools.permutations(range(4)):
            with self.subTest(axes=axes):
                got = trine.transpose(x, axes)
                numpy.testing.assert_array_equal(got, x.transpose(axes))
                self.assertTrue(got.flags.c_contiguous and not numpy.shares_memory(got, x))
        self.assertTrue(trine.transpose(x[0, 0], order="F").flags.f_contiguous)

    def test_every_shape(self):
        for x in map(integers, SHAPES):
            numpy.testing.assert_array_equal(trine.transpose(x), x.T)
            if x.ndim > 1:
                numpy.testing.assert_array_equal(trine.matrix_transpose(x), x.swapaxes(-1, -2))


class Where(unittest.TestCase):
    def test_a_device_by_name(self):
        x = integers(1000)
        for device in trine.devices():
            self.assertEqual(trine.sum(x, device=device["id"]), x.sum())
        self.assertEqual(trine.sum(x, device="cpu:threads=1", rung="sequential"), x.sum())
        self.assertEqual(trine.matmul(x, x, numerics="fast"), x @ x)

    def test_exact_products_are_rounded_once(self):
        # Two halves of an ulp: lost one by one in float32, an ulp together.
        a, b = numpy.array([[1, 2**-12, 2**-12]], numpy.float32), numpy.array([[1], [2**-12], [2**-12]], numpy.float32)
        self.assertEqual(trine.matmul(a, b)[0, 0], 1)
        self.assertEqual(trine.matmul(a, b, numerics="exact")[0, 0], 1 + 2**-23)
        dice = numpy.random.default_rng(41)
        for dtype in ("float32", "float64"):
            x, y = (dice.standard_normal(shape).astype(dtype) for shape in ((2, 5, 30), (30, 4)))
            x[:, :, 15:] = -x[:, :, :15] * (1 + numpy.finfo(dtype).eps)  # sums that nearly cancel
            y[15:] = y[:15]
            for device in trine.devices():
                z = trine.matmul(x, y, numerics="exact", device=device["id"])
                dots = trine.dot(*numpy.broadcast_arrays(x[:, :, None], y.T[None, None]), axis=3)
                numpy.testing.assert_array_equal(z, dots)
        with self.assertRaisesRegex(ValueError, "numerics can be 'reproducible', 'fast' or 'exact', not 'precise'"):
            trine.matmul(a, b, numerics="precise")

    def test_place_and_why_compute_nothing(self):
        x, out = integers((50, 50)), numpy.zeros((50, 50))
        placement = trine.place(trine.matmul, x, x, out=out, repeats=3)
        self.assertEqual(placement.device, "cpu")
        self.assertFalse(out.any())
        self.assertIn("gemm on cpu by", trine.why(trine.matmul, x, x, out=out))
        self.assertEqual(trine.place(trine.norm, x, device="cpu").device, "cpu")
        with self.assertRaisesRegex(TypeError, "isn't one of trine's functions; place"):
            trine.place(numpy.sum, x)
        self.assertGreater(trine.matmul(x, x, out=out).sum(), 0)

    def test_info_tells_what_is_absent(self):
        rows = trine.info()
        self.assertIn("cpu", [row["id"] for row in rows])
        self.assertTrue(all(row["id"] or row["reason"] for row in rows))


if __name__ == "__main__":
    unittest.main(verbosity=1)
