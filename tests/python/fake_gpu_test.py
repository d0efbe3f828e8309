"""Arrays on a GPU that a fake driver plays: what a call enqueues on which stream, and when the host waits.
Kernels compute nothing there; their bits are gpu_test.py's.

    fake_gpu_test.py BACKEND    the cuda backend over the fake driver
"""

import contextlib
import ctypes
import gc
import math
import os
import sys
import unittest
import weakref

os.environ["TRINE_BACKEND_PATH"] = os.path.dirname(sys.argv[1])

import numpy  # noqa: E402

import trine  # noqa: E402
from handmade import FLOAT, Versioned, Tensor, new_capsule  # noqa: E402

gpu = ctypes.CDLL(sys.argv.pop(1))
gpu.fake_gpu_memory.restype = gpu.fake_gpu_stream.restype = ctypes.c_void_p
gpu.fake_gpu_memory.argtypes = [ctypes.c_size_t]
gpu.fake_gpu_hold.argtypes = gpu.fake_gpu_is_capture_intact.argtypes = [ctypes.c_void_p]
gpu.fake_gpu_capture.argtypes = [ctypes.c_void_p, ctypes.c_bool]
gpu.fake_gpu_fail.argtypes = [ctypes.c_long]
gpu.fake_gpu_has_failed.restype = gpu.fake_gpu_is_capture_intact.restype = ctypes.c_bool
gpu.fake_gpu_log.restype = ctypes.c_char_p


def log():
    """What was enqueued since the last look: (word, stream, event)."""
    rows = gpu.fake_gpu_log().decode().replace("host waits", "host_waits").split("\n")
    return [tuple(int(x) if x.isdigit() else x for x in row.split()) for row in rows if row]


def words():
    return [row[0] for row in log()]


class Exchange(ctypes.Structure):
    """DLPack 1.3's functions in C, of which an array's stream comes."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("earlier", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("hand_out", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)),
        ("take", ctypes.c_void_p),
        ("hand_out_briefly", ctypes.c_void_p),
        ("stream", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p)),
    ]


def library(stream):
    """A library of arrays that works on `stream`: the class of its arrays."""

    class Array:
        def __init__(self, *shape, memory=None):
            self.shape = shape
            self.memory = memory or gpu.fake_gpu_memory(max(4 * math.prod(shape), 4))
            self.extents = (ctypes.c_int64 * len(shape))(*shape)
            tensor = Tensor(self.memory, 2, 0, len(shape), FLOAT, 32, 1,
                            ctypes.addressof(self.extents), None, 0)
            self.versioned = Versioned(1, 3, None, None, 0, tensor)

        def new_empty(self, shape, dtype=None):
            return Array(*shape)

    def hand_out(array, where):
        ctypes.c_void_p.from_address(where).value = ctypes.addressof(array.versioned)
        return 0

    def tell_stream(kind, device, where):
        ctypes.c_void_p.from_address(where).value = stream
        return 0

    fields = dict(Exchange._fields_)
    Array.functions = Exchange(1, 3, None, None, fields["hand_out"](hand_out), None, None,
                               fields["stream"](tell_stream))
    Array.__dlpack_c_exchange_api__ = new_capsule(
        ctypes.addressof(Array.functions), b"dlpack_exchange_api", None)
    return Array


class Calls(unittest.TestCase):
    def setUp(self):
        self.stream, self.other = gpu.fake_gpu_stream(), gpu.fake_gpu_stream()
        self.array, self.far = library(self.stream), library(self.other)
        trine.matmul(self.array(8, 8), self.array(8, 8))  # loads the kernels
        trine.sum(self.array(8), out=self.array())
        log()

    def tearDown(self):
        gpu.fake_gpu_fail(0)
        gpu.fake_gpu_go_on()

    def test_a_call_on_the_arrays_stream_enqueues_kernels_alone(self):
        x, y = self.array(64, 64), self.array(64, 64)
        gpu.fake_gpu_hold(self.stream)
        for call in (
            lambda: trine.matmul(x, y),
            lambda: trine.matmul(x, y, out=self.array(64, 64)),
            lambda: trine.sum(x, out=self.array()),
            lambda: trine.sum(x, 0, out=self.array(64)),
            lambda: trine.transpose(x, out=self.array(64, 64)),
        ):
            call()
            found = log()
            self.assertEqual({row[:2] for row in found}, {("launch", self.stream)}, found)

    def test_streams_wait_for_each_other_and_the_host_for_none(self):
        x, y, out = self.array(64, 64), self.far(64, 64), self.array(64, 64)
        gpu.fake_gpu_hold(self.other)
        trine.matmul(x, y, out=out)
        rows = log()
        launched = [i for i, row in enumerate(rows) if row[0] == "launch"]
        (record, wait), (end, after) = rows[: launched[0]], rows[launched[-1] + 1 :]
        self.assertEqual({row[1] for row in rows if row[0] == "launch"}, {self.stream})
        self.assertEqual((record[:2], wait), (("record", self.other), ("wait", self.stream, record[2])))
        self.assertEqual((end[:2], after), (("record", self.stream), ("wait", self.other, end[2])))

    def test_who_names_a_stream_orders_what_comes_after(self):
        x, out = self.array(64, 64), self.array(64, 64)
        gpu.fake_gpu_hold(self.stream)
        trine.transpose(x, out=out, stream=self.other)
        rows = log()
        self.assertEqual(rows[0][:2], ("record", self.stream))
        self.assertEqual(rows[1], ("wait", self.other, rows[0][2]))
        self.assertEqual({row[1] for row in rows[1:]}, {self.other})
        self.assertNotIn("host_waits", [row[0] for row in rows])

    def test_arrays_stay_while_another_librarys_stream_uses_them(self):
        x, out = self.far(64, 64), self.array(64, 64)
        gone = weakref.ref(x)
        gpu.fake_gpu_hold(self.stream)
        trine.transpose(x, out=out)
        del x
        trine.sum(self.array(8), out=self.array())
        gc.collect()
        self.assertIsNotNone(gone(), "the array was let go while the stream stands still")
        gpu.fake_gpu_go_on()
        trine.sum(self.array(8), out=self.array())
        gc.collect()
        self.assertIsNone(gone())

    def test_a_call_that_fails_midway_leaves_nothing_in_flight(self):
        stack, one = self.array(2, 3, 2, 8, 8), self.far(2, 1, 2, 8, 8)
        out = self.array(2, 3, 2, 8, 8)
        for n in range(1, 200):
            log()
            gpu.fake_gpu_fail(n)
            try:
                trine.matmul(stack, one, out=out)
            except trine.Error:
                found = log()
                last = max((i for i, row in enumerate(found) if row[0] == "launch"), default=-1)
                rest = [row[:2] for row in found[last + 1 :]]
                if last >= 0 and ("host_waits", self.stream) not in rest:
                    ordered = [("record", self.stream), ("wait", self.other)]
                    self.assertEqual(rest, ordered, f"call {n} of the driver failed")
            else:
                if not gpu.fake_gpu_has_failed():
                    break
        self.assertGreater(n, 5)
        gpu.fake_gpu_fail(0)
        self.assertGreater(words().count("launch"), 1, "the product isn't one of several parts")

    def test_a_refusal_waits_for_nothing(self):
        gpu.fake_gpu_hold(self.stream)
        for x in (self.array(64), self.far(64)):
            with self.assertRaises(trine.Error):
                trine.sum(x, out=self.array(), rung="none")
        self.assertNotIn("host_waits", words())

    def test_only_what_returns_a_number_waits(self):
        x = self.array(3, 5, 7)
        trine.sum(x, 1, out=self.array(3, 7))
        self.assertNotIn("host_waits", words())
        with contextlib.suppress(trine.Error):  # what comes back is no state
            trine.ExactSum().add(x)
        self.assertIn("host_waits", words())

    def test_a_library_without_a_stream_of_its_own_is_waited_for(self):
        class Facts:
            __cuda_array_interface__ = {
                "shape": (64,), "typestr": "<f4", "data": (gpu.fake_gpu_memory(256), False),
                "version": 3, "stream": self.stream}

        trine.sum(self.array(64), out=self.array())
        self.assertNotIn("host_waits", words())
        out, memory = Facts(), gpu.fake_gpu_memory(4)
        out.__cuda_array_interface__ = Facts.__cuda_array_interface__ | {
            "shape": (), "data": (memory, False)}
        trine.sum(Facts(), out=out)
        self.assertEqual(words().count("host_waits"), 1)

    def test_memory_that_is_no_gpus_is_refused(self):
        values = numpy.ones(64, "float32")  # as a pointer that the driver has forgotten
        x, out = self.array(64, memory=values.ctypes.data), self.array()
        with self.assertRaisesRegex(trine.ArgumentError, "memory"):
            trine.sum(x, out=out)
        with self.assertRaisesRegex(trine.ArgumentError, "memory"):
            trine.transpose(self.array(8, 8), out=self.array(8, 8, memory=values.ctypes.data))
        self.assertNotIn("launch", words())
        self.assertTrue((values == 1).all())

    def test_a_capture_takes_calls_and_stays_whole(self):
        x, y, product = self.array(300, 200), self.array(200, 90), self.array(300, 90)
        large, total = self.array(1 << 20), self.array()
        gpu.fake_gpu_capture(self.stream, True)
        self.addCleanup(gpu.fake_gpu_capture, self.stream, False)
        trine.matmul(x, y, out=product)
        trine.sum(product, out=total)
        trine.sum(large, out=total)  # asks for more workspace
        with self.assertRaises(trine.Error):
            trine.sum(large, out=total, rung="none")
        self.assertTrue(gpu.fake_gpu_is_capture_intact(self.stream))
        self.assertNotIn("host_waits", words())

    def test_queues_and_devices_are_opened_once(self):
        x, out = self.array(64, 64), self.array(64, 64)
        trine.transpose(x, out=out)
        gpu.fake_gpu_fail(1 << 30)
        trine.transpose(x, out=out)
        calls = gpu.fake_gpu_calls()
        self.assertLessEqual(calls, 40, "calls of the driver in one call on known streams")


if __name__ == "__main__":
    unittest.main()
