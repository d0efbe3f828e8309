"""What other objects say of their memory, by DLPack, buffers and interfaces: read where it can be true,
refused with a sentence where it can't, by every function that takes arrays."""

import array as python_array
import ctypes
import itertools
import sys
import unittest

import numpy

import trine
from handmade import BOOL, FLOAT, INT, UINT, Exporter, Produced, new_capsule
from places import FUNCTIONS, PLACES, Refusing
from trine._arrays import array


class Places(unittest.TestCase):
    def test_the_list_has_all(self):
        others = {"backends", "compare", "devices", "info", "release_idle", "Placement", "Rows"}
        names = {name for name in trine.__all__ if not name.endswith("Error")}
        self.assertEqual(names, set(FUNCTIONS) | others)


class DLPack(Refusing):
    def setUp(self):
        self.values = numpy.arange(24.0)

    def test_hand_made_tensors_are_read(self):
        for version in (None, (1, 0), (1, 9)):
            x = Produced(self.values, (2, 3), version=version)
            self.assertEqual(trine.sum(x), 15)
            self.assertEqual(array(x).strides, (3, 1))
            x = Produced(self.values, (2, 3), (8, 2), version=version, byte_offset=16)
            self.assertEqual(trine.sum(x), (2 + 4 + 6) + (10 + 12 + 14))
        capsule = Produced(self.values, (4,))
        self.assertEqual(trine.sum(capsule.__dlpack__()), 6)
        self.assertEqual(trine.sum(Produced(self.values, (1 << 40, 1 << 40, 0))), 0)
        self.assertEqual(trine.sum(Produced(self.values, ())), 0)

    def test_memory_is_given_back(self):
        count = sys.getrefcount(self.values)
        for function in (trine.sum, trine.transpose, trine.ExactSum):
            function(self.values)
            function(memoryview(self.values))
        self.assertEqual(sys.getrefcount(self.values), count)

    def test_elements_that_are_no_single_numbers_of_whole_bytes(self):
        self.refused("vectors of 2 float32", Produced(self.values, (3,), bits=32, lanes=2))
        self.refused("vectors of 0 float64", Produced(self.values, (3,), lanes=0))
        for code, bits in ((BOOL, 1), (UINT, 1), (INT, 4), (UINT, 12), (17, 4), (16, 6), (FLOAT, 0)):
            x = Produced(self.values, (3,), code=code, bits=bits)
            self.refused(f"elements have {bits} bits", x)
        for bits in (24, 48, 80, 248):
            self.refused("1, 2, 4, 8 or 16 bytes", Produced(self.values, (3,), bits=bits))

    def test_extents_that_no_array_has(self):
        repeated = Produced(self.values, (1 << 32, 1 << 32), (0, 0))
        self.refused(r"more than 2\^63 - 1 elements", repeated)
        self.refused(
            r"more than 2\^63 - 1 elements", Produced(self.values, (3, 1 << 62, 1, 2), (0, 0, 7, 0))
        )
        self.refused(r"more than 2\^63 - 1 elements", Produced(self.values, (1 << 32, 1 << 32)))
        self.refused(r"beyond 2\^63 bytes", Produced(self.values, (3, 2), (1 << 62, 1)))
        self.refused(r"beyond 2\^63 bytes", Produced(self.values, (1 << 31, 1 << 31), (1 << 31, 1)))
        self.refused("axis 1 .* extent of -1", Produced(self.values, (2, -1), (1, 1)))
        for axes in (-1, 129, 1 << 30):
            self.refused(f"has {axes} axes", Produced(self.values, (2,), (1,), ndim=axes))
        self.refused("has 1 axes", Produced(self.values, None, ndim=1))

    def test_versions_and_flags(self):
        for version in ((2, 0), (0, 8), (1 << 31, 0)):
            x = Produced(self.values, (2, 2), version=version)
            self.refused(f"DLPack {version[0]}.{version[1]}; Trine reads", x)
        writes = {name: place for name, place in PLACES.items() if name.endswith("into")}
        self.refused("read-only", Produced(self.values, (2, 2), flags=1), writes)
        self.refused("copy of the array", Produced(self.values, (2, 2), flags=2), writes)
        self.assertEqual(trine.sum(Produced(self.values, (4,), flags=3)), 6)
        self.assertTrue((self.values == numpy.arange(24)).all())

    def test_capsules_that_have_been_read_or_are_no_tensors(self):
        for name in (b"used_dltensor", b"used_dltensor_versioned", b"other", None):
            self.refused("isn't a DLPack capsule", new_capsule(1, name, None))

    def test_devices_that_there_are_not(self):
        self.refused("device of DLPack's type 8,", Produced(self.values, (2, 2), device_type=8))


class Buffers(Refusing):
    def setUp(self):
        self.memory = (ctypes.c_float * 6)(1, 2, 3, 4, 5, 6)
        self.address = ctypes.addressof(self.memory)

    def sizes(self, *numbers):
        self.kept = (ctypes.c_ssize_t * len(numbers))(*numbers)
        return ctypes.addressof(self.kept)

    def export(self, **facts):
        default = {"buf": self.address, "len": 24, "itemsize": 4, "ndim": 1, "format": b"f"}
        return Exporter(**(default | facts))

    def test_pythons_own(self):
        rows = ((ctypes.c_double * 3) * 2)((1, 2, 3), (4, 5, 6))
        for x, total in (
            (self.memory, 21),
            (rows, 21),
            (ctypes.c_double(2.5), 2.5),
            ((ctypes.c_float * 0)(), 0),
            ((ctypes.c_long * 2)(3, 4), 7),
            (python_array.array("d", [1, 2]), 3),
            (memoryview(rows), 21),
            (memoryview(bytes(16)).cast("d"), 0),
            (memoryview(bytearray(16)).cast("i", (2, 2)), 0),
        ):
            self.assertEqual(trine.sum(x), total)
        self.assertEqual(array(self.memory).address, self.address)
        numpy.testing.assert_array_equal(trine.sum(rows, 0), [5, 7, 9])
        out = ((ctypes.c_double * 2) * 3)()
        self.assertIs(trine.transpose(rows, out=out), out)
        self.assertEqual([list(row) for row in out], [[1, 4], [2, 5], [3, 6]])
        for flat in (b"abcdef", bytearray(b"abcdef")):
            self.assertEqual(trine.transpose(flat).tobytes(), b"abcdef")
        self.refused("read-only", bytes(32), {"into": PLACES["transpose into"]})

    def test_every_function_reads_what_says_no_strides(self):
        for name, function in FUNCTIONS.items():
            square = name in ("matmul", "matrix_transpose")
            x = ((ctypes.c_double * 2) * 2)((1, 2), (3, 4)) if square else (ctypes.c_double * 4)(1, 2, 3, 4)
            with self.subTest(function=name):
                function(x)

    def test_what_a_buffer_leaves_out(self):
        for ndim, format, has_shape in itertools.product((0, 1, 2), (None, b"f"), (False, True)):
            shape = self.sizes(*(() if ndim == 0 else (6,) if ndim == 1 else (2, 3))) if has_shape else None
            size = {"len": 4} if ndim == 0 else {}
            x = self.export(ndim=ndim, format=format, shape=shape, **size)
            with self.subTest(ndim=ndim, format=format, shape=has_shape):
                if ndim == 2 and not has_shape:
                    self.refused("2 axes and no shape", x)
                elif format is None:  # bytes, but of 4 bytes each
                    self.refused("buffer", x, kind=trine.Error)
                else:
                    self.assertEqual(trine.sum(x), 1 if ndim == 0 else 21)
        x = self.export(itemsize=1, format=None)
        self.assertEqual(trine.transpose(x).tobytes(), bytes(self.memory))

    def test_what_no_buffer_says(self):
        self.refused("elements of 0", self.export(itemsize=0))
        self.refused("elements of -4", self.export(itemsize=-4))
        self.refused("and no memory", self.export(buf=None))
        self.refused("-1 axes", self.export(ndim=-1))
        shape = self.sizes(2, 3, 12, 4, 0, -1)
        self.refused(
            "axis 0 leads by pointers",
            self.export(ndim=2, shape=shape, strides=shape + 16, suboffsets=shape + 32),
        )
        self.refused("buffer", self.export(format=b"nonsense"))
        self.refused(
            "multiples of the elements' size",
            self.export(ndim=1, shape=self.sizes(2, 5), strides=self.address_of(1)),
        )

    def test_exporters_that_raise_and_those_whose_dlpack_raises(self):
        released = memoryview(bytes(32)).cast("d", (2, 2))
        released.release()
        self.refused("memoryview .*buffer.* raised ValueError: operation forbidden", released)

        def refuse(*arguments, **keywords):
            raise BufferError("not by DLPack")

        self.export()
        both = type("Both", (Exporter.kind,), {"__dlpack__": refuse})()
        self.assertEqual(trine.sum(both), 21)

    def address_of(self, place):
        return ctypes.addressof(self.kept) + 8 * place


def raising(name, error, calls=False, **attributes):
    """An object with one attribute that raises, when it is read or when it is called."""

    def fail(*arguments, **keywords):
        raise error

    return type("Raising", (), attributes | {name: fail if calls else property(fail)})()


class Protocols(Refusing):
    GRAD = RuntimeError("Can't export tensors that require gradient, use tensor.detach()")

    def test_what_a_protocol_raises_is_chained_to_a_sentence(self):
        for name in ("__dlpack__", "__cuda_array_interface__", "__array_interface__"):
            for error in (self.GRAD, ValueError("no such"), KeyError("x"), MemoryError()):
                with self.subTest(name=name, error=error):
                    x = raising(name, error)
                    words = f"{name} raised {type(error).__name__}: "
                    words += r".*detach\(\)" if error is self.GRAD else ""
                    self.assertIs(self.refused(words, x).__cause__, error)
        for error in (self.GRAD, BufferError("conjugate bit"), TypeError("no keyword")):
            x = raising("__dlpack__", error, calls=True)
            self.assertIs(self.refused(f"__dlpack__ raised {type(error).__name__}", x).__cause__, error)
            x = raising("__dlpack_device__", error, calls=True)
            x.__dlpack__ = lambda **_: None
            self.assertIs(self.refused(f"__dlpack_device__ raised {type(error).__name__}", x).__cause__, error)

    def test_a_tensor_that_requires_grad(self):
        x = raising("__cuda_array_interface__", self.GRAD, requires_grad=True)
        self.refused(r"requires grad.*x\.detach\(\)", x)

    def test_interfaces_that_lack_something(self):
        for facts in ({}, {"data": (0, False)}, {"data": 5, "typestr": "<f8", "shape": (2,)}, 7):
            x = type("Claims", (), {"__cuda_array_interface__": facts})()
            self.refused("__cuda_array_interface__ raised", x)

    def test_array_interface(self):
        values = numpy.arange(4.0).reshape(2, 2)
        x = type("Claims", (), {"__array_interface__": values.__array_interface__})()
        self.assertEqual(trine.sum(x), 6)
        self.assertEqual(array(x).address, values.ctypes.data)
        trine.transpose(numpy.ones((2, 2)), out=x)
        self.assertTrue((values == 1).all())

    def test_no_array(self):
        self.refused("is no array of numbers", object(), kind=trine.ArrayError)


if __name__ == "__main__":
    unittest.main(verbosity=1)
