"""Arrays of other libraries go in and out without a copy: shown by their addresses."""

import unittest

import numpy

import trine
from trine._arrays import array


def library(name):
    """A library, or the test is skipped with the reason."""
    try:
        return __import__(name, fromlist=["array"])
    except ImportError as error:
        raise unittest.SkipTest(f"not run: {error}") from None


class HostArrays(unittest.TestCase):
    def test_numpy(self):
        x = numpy.arange(24.0).reshape(4, 6)
        for view in (x, x[1:, ::2], x.T, numpy.broadcast_to(x[0], (3, 6))):
            seen = array(view)
            self.assertEqual((seen.address, seen.shape), (view.ctypes.data, view.shape))
            self.assertEqual(seen.strides, tuple(s // 8 for s in view.strides))
        frozen = x[:]
        frozen.flags.writeable = False
        self.assertEqual(array(frozen).address, x.ctypes.data)

    def test_results_can_be_handed_on(self):
        result = trine.transpose(numpy.arange(6.0).reshape(2, 3))
        self.assertEqual(numpy.from_dlpack(result).ctypes.data, result.ctypes.data)

    def test_array_api_strict(self):
        xp = library("array_api_strict")
        x = xp.asarray([[1.0, 2], [3, 4]])
        self.assertEqual(array(x).address, numpy.from_dlpack(x).ctypes.data)
        result = trine.matmul(x, x)
        self.assertIsInstance(result, type(x))
        self.assertTrue(xp.all(result == x @ x))
        self.assertEqual(trine.sum(xp.astype(x, xp.int32), 1).dtype, xp.int64)
        norm = trine.norm(xp.asarray([3 * 2.0**600, 4 * 2.0**600]))
        self.assertTrue(isinstance(norm, type(x)) and norm == 5 * 2.0**600)

    def test_torch(self):
        torch = library("torch")
        x = torch.arange(24.0, dtype=torch.float64).reshape(4, 6)
        self.assertEqual(array(x[1:, ::2]).address, x[1:, ::2].data_ptr())
        self.assertEqual(trine.sum(x).item(), 276)
        out = torch.zeros(6, 4, dtype=torch.float64)
        self.assertIs(trine.transpose(x, out=out), out)
        self.assertTrue(torch.equal(out, x.T))
        result = trine.matmul(x, out)
        self.assertIsInstance(result, torch.Tensor)
        self.assertTrue(torch.equal(result, x @ x.T))


class OpenClArrays(unittest.TestCase):
    """pyopencl's arrays: their cl_mem and cl_command_queue are adopted."""

    def setUp(self):
        self.cl = library("pyopencl.array")
        cl = library("pyopencl")
        try:
            self.context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
        except (cl.Error, IndexError) as error:
            self.skipTest(f"not run: pyopencl finds no device: {error}")
        if not any(row["id"].startswith("opencl") for row in trine.devices()):
            self.skipTest("not run: Trine finds no OpenCL device")
        self.queue = cl.CommandQueue(self.context)

    def on_device(self, values):
        return self.cl.to_device(self.queue, values)

    def test_memory_is_read_and_written_where_it_is(self):
        values = numpy.random.default_rng(1).standard_normal((50, 40))
        x = self.on_device(values)
        self.assertEqual(array(x).address, x.base_data.int_ptr)
        self.assertTrue(array(x).device.startswith("opencl:"))
        for axis in (None, 0, 1):
            result = trine.sum(x, axis)
            self.assertIsInstance(result, type(x))
            numpy.testing.assert_array_equal(result.get(), trine.sum(values, axis, device="cpu"))
        out = self.cl.zeros(self.queue, (40, 50), "float64")
        memory = out.base_data.int_ptr
        self.assertIs(trine.transpose(x, out=out), out)
        self.assertEqual(out.base_data.int_ptr, memory)
        numpy.testing.assert_array_equal(out.get(), values.T)
        numpy.testing.assert_array_equal(
            trine.matmul(x, out).get(), trine.matmul(values, values.T, device="cpu")
        )

    def test_views_and_order_of_work(self):
        x = self.on_device(numpy.arange(100, dtype="float32"))
        x += 1  # on the same queue, not waited for
        self.assertEqual(trine.sum(x[10:90]).get(), sum(range(11, 91)))
        self.assertEqual(trine.argmax(x[::2]).get(), 49)
        columns = self.on_device(numpy.asfortranarray(numpy.arange(12.0).reshape(3, 4)))
        numpy.testing.assert_array_equal(trine.sum(columns, 1).get(), [6, 22, 38])

    def test_norm(self):
        x = self.on_device(numpy.array([3e200, 4e200]))
        self.assertAlmostEqual(float(trine.norm(x).get()) / 5e200, 1, 15)
        rows = self.on_device(numpy.array([[3.0, 4.0], [5, 12]], "float32"))
        numpy.testing.assert_array_equal(trine.norm(rows, 1).get(), [5, 13])

    def test_sums_in_parts(self):
        values = numpy.random.default_rng(1).standard_normal((50, 40))
        x = self.on_device(values)
        self.assertEqual(trine.ExactSum(x), trine.ExactSum(values))
        self.assertEqual(trine.ExactSum().add_dot(x, x), trine.ExactSum(values, map="square"))
        for function in ("prod", "max", "argmin"):
            part = trine.Partial(function, "float64")
            self.assertEqual(part.add(x, 3), trine.Partial(function, "float64").add(values, 3))
        for part in (trine.ExactSum(), trine.Partial("max", "float64")):
            with self.assertRaisesRegex(trine.UnsupportedError, "'exact' can't be asked for"):
                part.add(x, *(() if isinstance(part, trine.ExactSum) else (0,)), rung="exact")

    def test_mixed_places_are_refused(self):
        x, host = self.on_device(numpy.ones(4)), numpy.zeros(())
        with self.assertRaisesRegex(trine.ArgumentError, "opencl.*Trine copies neither"):
            trine.sum(x, out=host)
        with self.assertRaisesRegex(trine.ArgumentError, "device='cpu'"):
            trine.sum(x, device="cpu")
        self.assertEqual(trine.place(trine.sum, x).device, array(x).device)
        with self.assertRaisesRegex(trine.ArgumentError, "queue"):
            trine.sum(x.with_queue(None))


class CudaArrays(unittest.TestCase):
    def test_cupy(self):
        cupy = library("cupy")
        x = cupy.arange(24, dtype="float32").reshape(4, 6)
        self.assertEqual(array(x).address, x.data.ptr)
        self.assertTrue(cupy.array_equal(trine.sum(x, 1), x.sum(1)))


if __name__ == "__main__":
    unittest.main(verbosity=1)
