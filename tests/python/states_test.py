"""Reductions in parts: sums and partials as states that travel, and axes that no view of memory joins."""

import itertools
import math
import pickle
import unittest

import numpy

import trine
from functions_test import DTYPES, REDUCTIONS, integers


class ExactSums(unittest.TestCase):
    def values(self, count=4000):
        bits = numpy.random.default_rng(7).integers(0, 2**64, count, "uint64")
        values = bits.view("float64")
        return numpy.where(numpy.isfinite(values), values, -0.0)

    def test_parts_merge_to_the_bytes_of_the_whole(self):
        x = self.values()
        whole = trine.ExactSum(x)
        self.assertEqual(whole.round(), trine.sum(x))
        for pieces in (2, 7):
            parts = [trine.ExactSum(part) for part in numpy.array_split(x, pieces)]
            self.assertEqual(sum(reversed(parts)), whole)
            self.assertEqual(bytes(sum(parts)), bytes(whole))
        with self.assertRaises(TypeError):
            hash(whole)

    def test_any_axes_squares_and_dots(self):
        x = self.values(2 * 30 * 20).reshape(2, 30, 20)
        every_other = x[:, ::2, ::3]
        self.assertEqual(trine.ExactSum(every_other), trine.ExactSum(every_other.copy()))
        self.assertEqual(
            trine.ExactSum().add_dot(every_other, every_other), trine.ExactSum(every_other, map="square")
        )
        self.assertEqual(trine.ExactSum().add_dot([1.0, 2.0], (3.0, 4.0)).round(), 11.0)
        singles = numpy.float32([0.5, 3e38])
        self.assertEqual(trine.ExactSum(singles).round("float32"), singles.sum())

    def test_it_travels(self):
        total = trine.ExactSum([1e100, 1.0, float("inf")]) + trine.ExactSum([-1e100])
        for copy in (pickle.loads(pickle.dumps(total)), trine.ExactSum.from_bytes(bytes(total))):
            self.assertEqual(copy, total)
            self.assertEqual(float(copy), math.inf)
        self.assertEqual(len(bytes(total)), 552)
        self.assertEqual(bytes(trine.ExactSum()), bytes(552))

    def test_what_fails_leaves_the_sum(self):
        total = trine.ExactSum([2.5])
        for bad in (
            lambda: total.add(numpy.arange(3)),
            lambda: total.add([1.0], map="cube"),
            lambda: total.add_dot(numpy.ones(3), numpy.ones(4)),
            lambda: total.round("int32"),
            lambda: trine.ExactSum.from_bytes(bytes(551)),
            lambda: trine.ExactSum.from_bytes(b"\xff" * 552),
        ):
            with self.assertRaises(trine.Error):
                bad()
        largest = trine.ExactSum().add_dot([1.7e308], [1.7e308])
        for _ in range(127):
            largest.merge(largest)
        with self.assertRaisesRegex(trine.Error, "leaves what a state holds"):
            largest.merge(largest)
        with self.assertRaises(TypeError):
            total + 1.5
        self.assertEqual(total, trine.ExactSum([2.5]))


class Partials(unittest.TestCase):
    def test_parts_merge_to_the_bits_of_the_whole(self):
        for function, dtype, map in itertools.product(REDUCTIONS, DTYPES, ("identity", "abs")):
            x = integers(500, dtype) / 2 if dtype.startswith("f") else integers(500, dtype)
            whole = trine.Partial(function, dtype, map=map).add(x, 0)
            cut = sorted(numpy.random.default_rng(3).integers(0, 501, 5).tolist())
            parts = [
                trine.Partial(function, dtype, map=map).add(x[begin:end], begin)
                for begin, end in zip([0, *cut], [*cut, 500])
            ]
            self.assertEqual(sum(reversed(parts)), whole)
            self.assertEqual(bytes(sum(parts)), bytes(whole))
            got, right = whole.result(), getattr(trine, function)(x, map=map)
            self.assertEqual((got, got.dtype), (right, right.dtype), (function, dtype))
        with self.assertRaises(TypeError):
            hash(whole)

    def test_any_axes_count_in_the_order_of_c(self):
        x = numpy.random.default_rng(4).standard_normal((4, 6, 5, 8)).astype("float32") + 1
        for view in (x, x[:, ::2, 1:, ::3], x.T, x.transpose(1, 3, 0, 2), x[1, 2, 3], x[1, 2, 3, 4], x[:0]):
            for function in ("prod", "argmax"):
                p = trine.Partial(function, x.dtype).add(view, 7)
                self.assertEqual(p, trine.Partial(function, x.dtype).add(view.copy("C"), 7))
        self.assertEqual(
            trine.Partial("argmax", "float32").add(x.T, 0).result(), numpy.argmax(x.T.copy("C"))
        )

    def test_it_travels(self):
        p = trine.Partial("argmin", "int64", map="abs").add(numpy.array([3, -1, 4]), 5)
        for copy in (pickle.loads(pickle.dumps(p)), trine.Partial.from_bytes(bytes(p))):
            self.assertEqual(copy, p)
            self.assertEqual(copy.result(), 6)
        self.assertEqual(len(bytes(p)), 2048)
        self.assertEqual(repr(p), "Partial('argmin', 'int64', map='abs')")
        single = trine.Partial("sum", "float32").add(numpy.float32([0.1]), 0)
        self.assertEqual(single.result("float64").dtype, numpy.float64)

    def test_what_fails_leaves_it(self):
        p = trine.Partial("prod", "float64").add(numpy.ones(3), 1)
        before = bytes(p)
        for bad in (
            lambda: trine.Partial("mean", "float64"),
            lambda: trine.Partial("sum", "float16"),
            lambda: trine.Partial("max", "float64", map="square"),
            lambda: p.add(numpy.arange(3), 4),
            lambda: p.add(numpy.ones(2), 2),
            lambda: p.add(numpy.ones(2), -1),
            lambda: p.add(numpy.ones(2), 4, numerics="fast"),
            lambda: p.merge(trine.Partial("sum", "float64")),
            lambda: p.result("int32"),
            lambda: trine.Partial.from_bytes(bytes(2047)),
            lambda: trine.Partial.from_bytes(bytes(2048)),
        ):
            with self.assertRaises(trine.Error):
                bad()
        with self.assertRaisesRegex(trine.Error, "lacks the elements 0 to 0"):
            p.result()
        with self.assertRaises(TypeError):
            p + 1.5
        self.assertEqual(bytes(p), before)


class Axes(unittest.TestCase):
    """Every second element along four axes: no two of them lie behind each other."""

    def setUp(self):
        self.x = numpy.random.default_rng(5).standard_normal((6, 4, 6, 8, 5))
        self.view = self.x[::2, ::2, ::2, ::2]

    def test_every_function_over_every_axes(self):
        subsets = [axes for count in (3, 4, 5) for axes in itertools.combinations(range(5), count)]
        for function, dtype, axes in itertools.product(REDUCTIONS[:4], DTYPES, subsets):
            x = integers(self.x.shape, dtype)[::2, ::2, ::2, ::2]
            for keepdims in (False, True):
                got = getattr(trine, function)(x, axes, keepdims=keepdims)
                right = getattr(trine, function)(x.copy(), axes, keepdims=keepdims)
                self.assertEqual((got.shape, got.dtype), (right.shape, right.dtype))
                self.assertEqual(got.tobytes(), right.tobytes(), (function, dtype, axes))

    def test_the_bits_are_those_of_the_same_elements_side_by_side(self):
        single = self.x.astype("float32")[::2, ::2, ::2, ::2]
        repeated = numpy.broadcast_to(self.view[:1], self.view.shape)
        for view in (self.view, self.view.transpose(3, 0, 4, 1, 2), repeated, single):
            dense = view.copy("C")
            for function in REDUCTIONS:
                got, right = getattr(trine, function)(view), getattr(trine, function)(dense)
                self.assertEqual(got.tobytes(), right.tobytes(), (function, view.dtype))
            self.assertEqual(trine.sum(view, map="square"), trine.sum(dense, map="square"))
            for axes in (None, (0, 2, 3)):
                got, right = trine.dot(view, view, axis=axes), trine.dot(dense, dense, axis=axes)
                self.assertEqual(got.tobytes(), right.tobytes())
        self.assertEqual(trine.sum(single, dtype="float64"), trine.sum(single.copy(), dtype="float64"))
        self.assertAlmostEqual(trine.norm(self.view), numpy.linalg.norm(self.view.ravel()))

    def test_options(self):
        for device in trine.devices():
            self.assertEqual(trine.sum(self.view, device=device["id"]), trine.sum(self.view.copy()))
        self.assertEqual(trine.sum(self.view, numerics="fast"), trine.sum(self.view.copy()))
        self.assertEqual(trine.place(trine.argmax, self.view, device="cpu").device, "cpu")
        out = numpy.full((3, 2), 7.0)
        self.assertIs(trine.sum(self.view, (2, 3, 4), out=out), out)
        numpy.testing.assert_array_equal(out, trine.sum(self.view.copy(), (2, 3, 4)))

    def test_refusals_write_nothing(self):
        out = numpy.full((3, 2), 7, "int64")
        with self.assertRaisesRegex(trine.ArgumentError, "f64"):
            trine.sum(self.view, (2, 3, 4), out=out)
        with self.assertRaisesRegex(trine.NotFoundError, "quick"):
            trine.sum(self.view, (2, 3, 4), out=out.view("float64"), rung="quick")
        with self.assertRaisesRegex(trine.ArgumentError, "overlaps"):
            trine.sum(self.view, (1, 2, 3, 4), out=self.x[0, 0, 0, 0, :3])
        self.assertTrue((out == 7).all())


if __name__ == "__main__":
    unittest.main(verbosity=1)
