"""Bad arguments: the library's own sentences as exceptions, nothing written, no crash."""

import unittest

import numpy

import trine


def at_address(array, shape, strides, dtype):
    """A view with any strides, also beyond its memory."""
    return numpy.lib.stride_tricks.as_strided(array.view(dtype), shape, strides)


class Refusals(unittest.TestCase):
    def setUp(self):
        self.out = numpy.full((4, 4), 7.0)

    def refused(self, kind, words, function, *arguments, **keywords):
        with self.assertRaisesRegex(kind, words) as caught:
            function(*arguments, **keywords)
        self.assertIsInstance(caught.exception, trine.Error)
        self.assertTrue((self.out == 7).all(), "a refused call has written")
        return caught.exception

    def test_what_is_no_array(self):
        for thing in (
            [1, 2],
            "abc",
            None,
            3,
            object(),
            numpy.array([None]),
        ):
            self.refused(TypeError, "is no array of numbers", trine.sum, thing)
        self.refused(ValueError, "mask", trine.sum, numpy.ma.masked_array([1.0, 2], [0, 1]))

    def test_dtypes(self):
        for dtype in ("int8", "uint16", "float16", "bool", "complex64"):
            error = self.refused(
                ValueError, "can't be reduced; float32, float64", trine.sum, numpy.zeros(3, dtype)
            )
            self.assertEqual(error.status, "invalid_argument")
        self.refused(
            ValueError, "gemm: ", trine.matmul, numpy.zeros((2, 2)), numpy.zeros((2, 2), "float32")
        )
        self.refused(
            ValueError,
            "reduce: ",
            trine.sum,
            numpy.zeros((4, 4), "float32"),
            0,
            out=self.out[0].view("int64"),
        )
        self.refused(
            ValueError, "reduce: ", trine.dot, numpy.zeros(3, "int64"), numpy.zeros(3, "int64")
        )
        self.refused(ValueError, "reduce: ", trine.prod, numpy.zeros(3), map="square")
        self.refused(LookupError, "cube", trine.sum, numpy.zeros(3), map="cube")

    def test_shapes(self):
        x = numpy.zeros((4, 4))
        self.refused(ValueError, "out of bounds", trine.sum, x, 2)
        self.refused(ValueError, "twice", trine.sum, x, (0, -2))
        self.refused(ValueError, "shape", trine.sum, x, 0, out=self.out)
        self.refused(ValueError, "shape", trine.sum, x, 0, out=self.out[:, 0], keepdims=True)
        self.refused(ValueError, "don't fit", trine.matmul, x, numpy.zeros((3, 4)))
        self.refused(ValueError, "don't fit", trine.matmul, x, numpy.float64(3))
        self.refused(
            ValueError, "broadcast", trine.matmul, numpy.zeros((2, 4, 4)), numpy.zeros((3, 4, 4))
        )
        self.refused(ValueError, "shape", trine.dot, numpy.zeros(3), numpy.zeros(4))
        self.refused(ValueError, "each of the 2 axes", trine.transpose, x, (0,))
        self.refused(ValueError, "two axes", trine.matrix_transpose, x[0])
        with self.assertRaises(TypeError):
            trine.sum(x, numpy.nan)

    def test_strides_that_would_need_a_copy(self):
        x = numpy.zeros((4, 4, 4, 4))
        for function in (trine.sum, trine.transpose):
            self.refused(ValueError, "strides are never negative.*copy", function, x[::-1])
        self.refused(
            ValueError, "one of them must be 1", trine.matmul, x[0, 0, :, ::2], x[0, 0, :2]
        )

    def test_outputs(self):
        x = self.out
        self.refused(
            ValueError, "read-only", trine.sum, x, 0, out=numpy.broadcast_to(self.out[0], (4, 4))[0]
        )
        frozen = numpy.zeros(4)
        frozen.flags.writeable = False
        self.refused(ValueError, "read-only", trine.sum, x, 0, out=frozen)
        self.refused(ValueError, "overlaps", trine.sum, x, 0, out=x[0])
        self.refused(ValueError, "overlaps", trine.matmul, x, x, out=x)
        self.refused(ValueError, "overlaps", trine.transpose, x[1:], out=x[:, 1:])
        square = numpy.arange(16.0).reshape(4, 4)
        expected = square.T.copy()
        trine.transpose(square, out=square)
        numpy.testing.assert_array_equal(square, expected)
        self.refused(
            ValueError,
            "overlap or repeat",
            trine.sum,
            numpy.ones((4, 4)),
            0,
            out=at_address(self.out, (4,), (0,), "f8"),
        )

    def test_outputs_of_calls_in_several_parts(self):
        room = numpy.full(4096, 7.0)
        x = room[: 2 * 3 * 4 * 6].reshape(2, 3, 4, 6)[:, ::2, :, ::3]
        before = room.copy()
        self.refused(ValueError, "overlaps", trine.sum, x, 3, out=room[100:116].reshape(2, 2, 4))
        self.refused(
            ValueError,
            "overlap or repeat",
            trine.sum,
            x,
            3,
            out=at_address(room[2000:], (2, 2, 4), (8, 8, 8), "f8"),
        )
        numpy.testing.assert_array_equal(room, before)

    def test_names(self):
        x = numpy.zeros(3)
        error = self.refused(LookupError, "No device is called 'gpu'", trine.sum, x, device="gpu")
        self.assertEqual(error.status, "not_found")
        self.refused(LookupError, "no rung of reduce is called 'quick'", trine.sum, x, rung="quick")
        self.refused(LookupError, "There are: cpu", trine.sum, x, device="cuda:9")
        self.refused(ValueError, "'study'", trine.sum, x, numerics="study")
        self.refused(ValueError, "order", trine.transpose, x, order="Z")
        with self.assertRaises(TypeError):
            trine.sum(x, devise="cpu")

    def test_words_that_are_none(self):
        x = numpy.ones(3)
        for keywords in ({"device": 0}, {"device": False}, {"rung": 1}, {"numerics": None}):
            self.refused(ValueError, "is no text; '", trine.sum, x, **keywords)
        y = numpy.ones((4, 4))
        for keywords in ({"alpha": "a"}, {"alpha": 1j}, {"alpha": None}, {"beta": "b"}):
            self.refused(ValueError, "is no real number", trine.matmul, y, y, out=self.out, **keywords)

    def test_alignment(self):
        beside = numpy.zeros(33, "uint8")[1:].view("float64")
        self.refused(ValueError, "multiple of 8", trine.sum, beside)

    def test_cuda_without_cuda(self):
        if any(row["id"].startswith("cuda") for row in trine.devices()):
            self.skipTest("not run: there is a CUDA device, whose address this test would make up")

        class Claims:
            __cuda_array_interface__ = {
                "shape": (4,),
                "typestr": "<f4",
                "data": (4096, False),
                "version": 3,
            }

        self.refused(LookupError, "Absent: .*cuda", trine.sum, Claims())


class Huge(unittest.TestCase):
    def test_broadcast_views(self):
        one = numpy.broadcast_to(numpy.float32(0.1), (1 << 16, 1 << 14))
        self.assertEqual(trine.sum(one), numpy.float32(0.1) * (1 << 30))
        self.assertEqual(trine.argmax(one), 0)
        self.assertEqual(trine.sum(numpy.broadcast_to(numpy.int64(0), (1 << 40, 0))), 0)


if __name__ == "__main__":
    unittest.main(verbosity=1)
