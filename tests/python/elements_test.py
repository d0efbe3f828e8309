"""Dtypes: all of 1 to 16 bytes are moved with their bits; what isn't computed with is refused by name."""

import itertools
import re
import unittest

import numpy

import trine
from handmade import BFLOAT, FLOAT, UINT, Produced
from places import PLACES, Refusing


class Elements(Refusing):
    MOVES = ("transpose", "matrix_transpose", "transpose into")
    DTYPES = ("M8[s]", "m8[ms]", "S4", "S16", "U1", "U4", "V8", "V1", "longdouble", ">f8", ">i4", "f4,i4")
    DTYPES += ("i1", "u1", "?", "f2", "i2", "f4", "u8", "c8", "c16")

    def test_all_dtypes_of_bits_are_transposed(self):
        bits = numpy.random.default_rng(1).integers(0, 256, 16 * 24, "uint8")
        for dtype in map(numpy.dtype, self.DTYPES):
            x = bits[: 24 * dtype.itemsize].view(dtype).reshape(4, 6)
            views = (x, x[::2, 1:5], numpy.broadcast_to(x[0], (3, 6)))
            for order, view in itertools.product("CF", views):
                got = trine.transpose(view, order=order)
                self.assertEqual((got.dtype, got.shape), (dtype, view.shape[::-1]))
                self.assertEqual(got.tobytes("C"), view.T.copy("C").tobytes("C"))
            out = numpy.zeros((6, 4), dtype)
            self.assertIs(trine.transpose(x, out=out), out)
            self.assertEqual(out.tobytes(), x.T.tobytes())

    def test_dtypes_that_numpy_lacks_go_from_tensor_to_tensor(self):
        for code, bits in ((BFLOAT, 16), (10, 8), (FLOAT, 128)):  # 10: float8_e4m3fn
            values, out = numpy.arange(24.0), numpy.zeros(24)
            fields = {"code": code, "bits": bits}
            to = Produced(out, (3, 2), **fields)
            self.assertIs(trine.transpose(Produced(values, (2, 3), **fields), out=to), to)
            used = 6 * bits // 8
            words = f"V{bits // 8}"
            right = values.view("uint8")[:used].view(words).reshape(2, 3).T
            self.assertEqual(out.view("uint8")[:used].tobytes(), right.tobytes())
            other = Produced(out, (3, 2), code=UINT, bits=bits)
            with self.assertRaisesRegex(trine.ArgumentError, "never converted"):
                trine.transpose(Produced(values, (2, 3), **fields), out=other)

    def test_an_output_of_another_dtype_is_refused(self):
        for dtype, other in (("M8[s]", "M8[ms]"), ("S4", "U1"), (">f8", "f8"), ("f2", "i2"), ("i1", "?")):
            out = numpy.ones((2, 2), other)
            before = out.tobytes()
            with self.assertRaisesRegex(trine.ArgumentError, "never converted"):
                trine.transpose(numpy.zeros((2, 2), dtype), out=out)
            self.assertEqual(out.tobytes(), before)

    def test_computing_refuses_them_by_name(self):
        vectors = {name: p for name, p in PLACES.items() if name.split()[0] in ("dot", "add_dot", "sum")}
        for dtype in ("float16", "bool", "int8", "complex64", "M8[s]", "S4", "U1", "longdouble", ">f8"):
            x = numpy.zeros((2, 2), dtype)
            name = x.dtype.name if x.dtype.isnative and x.dtype.kind in "biufc" else str(x.dtype)
            words = re.escape(name) + " can't be .*float32.* float64.* can"
            for place, function in PLACES.items():
                if place in self.MOVES or "norm" in place or place == "dot into":
                    continue
                self.refused(words, x[0] if place in vectors else x, {place: function})
            self.refused("norm: .*" + re.escape(name), x, {"norm": trine.norm})
        x = numpy.zeros(4)
        bfloats = Produced(x, (2, 2), code=BFLOAT, bits=16)
        self.refused("bfloat16 can't be .*float32", bfloats, {"sum": trine.sum, "matmul": PLACES["matmul"]})
        for function in (trine.sum, trine.prod):
            with self.assertRaisesRegex(trine.ArgumentError, "float16 can't be reduced"):
                function(x, dtype="float16")
        with self.assertRaisesRegex(trine.ArgumentError, "float16, but with float32"):
            trine.Partial("sum", "float16")

    def test_what_has_no_elements_in_memory(self):
        dtypes = [object, "O,i4"]
        if hasattr(numpy.dtypes, "StringDType"):
            dtypes.append(numpy.dtypes.StringDType())
        for dtype in dtypes:
            x = numpy.zeros((2, 2), dtype)
            self.refused("aren't in the array's memory", x, kind=trine.ArrayError)
        self.refused("1, 2, 4, 8 or 16 bytes; .* has 3", numpy.zeros((2, 2), "S3"))
        self.refused("1, 2, 4, 8 or 16 bytes; .* has 0", numpy.zeros((2, 2), "V0"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
