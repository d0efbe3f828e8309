"""Agreement with array-api-strict, the array API's reference, for what both have: dtypes, axes,
keepdims, empty input, stacks and broadcasting."""

import itertools
import unittest

import array_api_strict as xp
import numpy

import trine

DTYPES = (xp.float32, xp.float64, xp.int32, xp.int64, xp.uint32, xp.uint64)
SHAPES = ((), (1,), (5,), (0,), (2, 3), (3, 0), (4, 1, 3), (2, 3, 4, 2))


def values(shape, dtype, seed=1):
    drawn = numpy.random.default_rng(seed).integers(1, 4, shape)
    return xp.astype(xp.asarray(numpy.asarray(drawn)), dtype)


class Agreement(unittest.TestCase):
    def same(self, ours, theirs, *arguments, **keywords):
        """The same result, dtype and shape; or both refuse."""
        try:
            right = theirs(*arguments, **keywords)
        except (TypeError, ValueError, IndexError) as refusal:
            with self.assertRaises((TypeError, ValueError), msg=str(refusal)):
                ours(*arguments, **keywords)
            return
        got = ours(*arguments, **keywords)
        self.assertEqual((got.shape, got.dtype), (right.shape, right.dtype))
        self.assertTrue(bool(xp.all(got == right)))

    def test_reductions(self):
        functions = ("sum", "prod", "min", "max", "argmin", "argmax")
        for function, dtype, shape, keepdims in itertools.product(
            functions, DTYPES, SHAPES, (False, True)
        ):
            x = values(shape, dtype)
            for axis in (None, *range(-len(shape) - 1, len(shape) + 1)):
                with self.subTest(function=function, dtype=dtype, shape=shape, axis=axis):
                    self.same(
                        getattr(trine, function),
                        getattr(xp, function),
                        x,
                        axis=axis,
                        keepdims=keepdims,
                    )

    def test_reductions_over_several_axes(self):
        for function, axis in itertools.product(
            ("sum", "prod", "min", "max"), ((0, 1), (1, 2), (0, 2), (0, 0), (0, 3))
        ):
            with self.subTest(function=function, axis=axis):
                self.same(
                    getattr(trine, function),
                    getattr(xp, function),
                    values((4, 2, 3), xp.float64),
                    axis=axis,
                )

    def test_matmul(self):
        shapes = (
            (3,),
            (2, 3),
            (3, 2),
            (3, 3),
            (5, 2, 3),
            (1, 3, 2),
            (5, 3, 2),
            (4, 1, 2, 3),
            (0, 3),
            (3, 0),
            (),
        )
        for (a, b), dtype in itertools.product(
            itertools.product(shapes, shapes), (xp.float32, xp.float64, xp.int32)
        ):
            with self.subTest(a=a, b=b, dtype=dtype):
                self.same(trine.matmul, xp.matmul, values(a, dtype), values(b, dtype, 2))

    def test_vecdot(self):
        for shape, dtype in itertools.product(
            ((4,), (3, 4), (2, 3, 4), (3, 0)), (xp.float32, xp.float64)
        ):
            for axis in range(-len(shape), 0):
                with self.subTest(shape=shape, axis=axis):
                    self.same(
                        trine.vecdot,
                        xp.vecdot,
                        values(shape, dtype),
                        values(shape, dtype, 2),
                        axis=axis,
                    )

    def test_transposes(self):
        every = DTYPES + (xp.int8, xp.uint16, xp.bool, xp.complex64, xp.complex128)
        for shape, dtype in itertools.product(SHAPES, every):
            with self.subTest(shape=shape, dtype=dtype):
                x = values(shape, dtype) if dtype != xp.bool else values(shape, xp.int32) > 2
                self.same(trine.matrix_transpose, xp.matrix_transpose, x)
                axes = tuple(reversed(range(len(shape))))
                self.same(trine.transpose, xp.permute_dims, x, axes=axes)


if __name__ == "__main__":
    unittest.main(verbosity=1)
