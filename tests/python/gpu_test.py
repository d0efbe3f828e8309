"""Arrays on a GPU, of torch, CuPy, JAX and Numba: the bits, the streams, captured graphs, what is refused, and
with `--speed` the price of a call beside the library's own. Without a GPU or the library, a test says so."""

import contextlib
import sys
import time
import unittest

import numpy

import trine
from trine._arrays import array

DTYPES = ("float32", "float64", "int32")


def library(name):
    """A library that has a GPU, or the test is skipped with the reason."""
    if not any(row["id"].startswith("cuda") for row in trine.devices()):
        raise unittest.SkipTest("not run: Trine finds no CUDA device")
    try:
        return __import__(name, fromlist=["array"])
    except ImportError as error:
        raise unittest.SkipTest(f"not run: {error}") from None


class Torch:
    """What the tests ask of a library."""

    def __init__(self):
        self.torch = library("torch")
        if not self.torch.cuda.is_available():
            raise unittest.SkipTest("not run: torch has no CUDA device")

    def put(self, values, device=0):
        return self.torch.from_numpy(numpy.array(values)).to(f"cuda:{device}")

    def get(self, x):
        return x.cpu().numpy()

    def devices(self):
        return self.torch.cuda.device_count()

    def stream(self):
        return self.torch.cuda.Stream()

    def on(self, stream):
        return self.torch.cuda.stream(stream)

    def is_done(self, stream):
        return stream.query()

    def finish(self):
        self.torch.cuda.synchronize()

    def keep_busy(self, stream):
        """Work of many milliseconds on a stream."""
        with self.on(stream):
            self.torch.cuda._sleep(100_000_000)

    def captured(self, work):
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            work()
        return graph.replay


class Cupy:
    def __init__(self):
        self.cupy = library("cupy")
        self.spin = self.cupy.RawKernel(
            'extern "C" __global__ void spin(long long n) {'
            " for (const long long end = clock64() + n; clock64() < end;) {} }",
            "spin",
        )

    def put(self, values, device=0):
        with self.cupy.cuda.Device(device):
            return self.cupy.asarray(values)

    def get(self, x):
        return x.get()

    def devices(self):
        return self.cupy.cuda.runtime.getDeviceCount()

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return stream

    def is_done(self, stream):
        return stream.done

    def finish(self):
        self.cupy.cuda.runtime.deviceSynchronize()

    def keep_busy(self, stream):
        with stream:
            self.spin((1,), (1,), (100_000_000,))

    def captured(self, work):
        stream = self.stream()
        with stream:
            stream.begin_capture()
            work()
            graph = stream.end_capture()

        def replay():
            graph.launch(stream)
            stream.synchronize()

        return replay


class Calls:
    """The tests of each library whose streams are known."""

    def values(self, shape, dtype="float32", seed=1):
        source = numpy.random.default_rng(seed)
        if dtype == "int32":
            return source.integers(-1000, 1000, shape, dtype=dtype)
        return source.standard_normal(shape).astype(dtype)

    def same(self, result, expected):
        found = self.on.get(result)
        self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
        numpy.testing.assert_array_equal(found, expected)

    def test_results_have_the_bits_of_the_cpu_and_stay_on_the_device(self):
        for dtype in DTYPES:
            a, b = self.values((130, 70), dtype), self.values((70, 90), dtype, 2)
            x, y = self.on.put(a), self.on.put(b)
            with self.subTest(dtype=dtype):
                product = trine.matmul(x, y)
                self.assertIsInstance(product, type(x))
                self.same(product, trine.matmul(a, b, device="cpu"))
                self.same(trine.transpose(x), a.T)
                for axis in (None, 0, 1):
                    for function in (trine.sum, trine.max, trine.argmin):
                        self.same(function(x, axis), numpy.asarray(function(a, axis, device="cpu")))
                if dtype != "int32":
                    self.same(trine.vecdot(x, x), trine.vecdot(a, a, device="cpu"))
        self.assertEqual(float(trine.sum(x)), float(trine.sum(a)))
        self.same(trine.norm(self.on.put(self.values(1000))), trine.norm(self.values(1000)))

    def test_a_call_returns_at_once_and_comes_after_the_librarys_work(self):
        a = self.values((256, 256))
        expected = trine.sum(2 * a, device="cpu")
        x, out = self.on.put(a), self.on.put(numpy.zeros((), "float32"))
        stream = self.on.stream()
        trine.sum(x + x, out=out)  # loads the kernels
        self.on.keep_busy(stream)
        self.on.finish()
        with self.on.on(stream):
            self.on.keep_busy(stream)
            doubled = x + x
            begin = time.perf_counter()
            trine.sum(doubled, out=out)
            took = time.perf_counter() - begin
            self.assertFalse(self.on.is_done(stream), "the call waited for the stream")
            self.assertLess(took, 0.01)
            result = out + 0  # the library's work after it
        self.on.finish()
        self.same(result, numpy.asarray(expected))

    def test_memory_is_not_handed_out_while_it_is_used(self):
        a = self.values((512, 512))
        expected = trine.matmul(a, a, device="cpu")
        for stream in (None, self.on.stream()):
            x = self.on.put(a)
            results = []
            self.on.finish()
            for turn in range(50):
                with self.on.on(stream or self.on.stream()) if turn % 2 else contextlib.nullcontext():
                    copy = x + 0
                    named = {"stream": stream} if stream is not None else {}
                    results.append(trine.matmul(copy, copy, **named))
                    del copy
                    x * float("nan")  # may get the copy's memory
                    if stream is not None:
                        self.on.finish()  # who names a stream orders what comes after it
            self.on.finish()
            for result in results:
                self.same(result, expected)

    def test_a_named_stream_comes_after_the_librarys_own(self):
        a = self.values((300, 200))
        x, stream = self.on.put(a), self.on.stream()
        self.on.finish()
        own = self.on.stream()
        with self.on.on(own):
            self.on.keep_busy(own)
            doubled = x + x
            total = trine.sum(doubled, 0, stream=stream)
            turned = trine.transpose(doubled, stream=_handle(stream))
            del doubled
        self.on.finish()
        self.same(total, trine.sum(2 * a, 0, device="cpu"))
        self.same(turned, (2 * a).T)
        with self.assertRaisesRegex(trine.ArgumentError, "norm: it waits"):
            trine.norm(x, stream=stream)
        with self.assertRaisesRegex(trine.ArgumentError, "stream: a str is none"):
            trine.sum(x, stream="mine")
        with self.assertRaisesRegex(trine.ArgumentError, "the host's memory"):
            trine.sum(a, stream=stream)

    def test_the_stream_of_each_thread_and_the_default_one_by_its_names(self):
        a = self.values(5000)
        for handle in (0, 1, 2):
            x = self.on.put(a)
            self.on.finish()
            total = trine.sum(x, stream=handle)
            self.on.finish()
            self.same(total, numpy.asarray(trine.sum(a, device="cpu")))

    def test_captured_graphs_replay_with_the_right_bits(self):
        first, second = self.values((200, 300)), self.values((200, 300), seed=3)
        x = self.on.put(first)
        y = self.on.put(numpy.ascontiguousarray(first.T))
        product, total = self.on.put(numpy.zeros((200, 200), "float32")), self.on.put(numpy.float32(0))
        self.on.finish()

        def work():
            trine.matmul(x, y, out=product)
            trine.sum(product, out=total)

        replay = self.on.captured(work)  # nothing of it has run before
        for values in (first, second):
            x[...] = self.on.put(values)
            y[...] = self.on.put(numpy.ascontiguousarray(values.T))
            self.on.finish()
            replay()
            self.on.finish()
            expected = trine.matmul(values, numpy.ascontiguousarray(values.T), device="cpu")
            self.same(product, expected)
            self.same(total, numpy.asarray(trine.sum(expected, device="cpu")))
            trine.sum(self.on.put(self.values(1 << 22)))  # a larger call on another stream
            self.on.finish()
            replay()
            self.on.finish()
            self.same(product, expected)

    def test_several_gpus(self):
        if self.on.devices() < 2:
            self.skipTest("not run: there is one GPU")
        a = self.values((100, 100))
        x, y = self.on.put(a, 1), self.on.put(a, 0)
        self.assertEqual((array(x).device, array(y).device), ("cuda:1", "cuda:0"))
        self.same(trine.matmul(x, x), trine.matmul(a, a, device="cpu"))
        with self.assertRaisesRegex(trine.ArgumentError, "Trine copies neither"):
            trine.matmul(x, y)
        with self.assertRaisesRegex(trine.ArgumentError, "another device or context"):
            trine.sum(x, stream=self.on.stream())


class TorchArrays(Calls, unittest.TestCase):
    def setUp(self):
        self.on = Torch()

    def test_what_torch_has_and_trine_hasn_t(self):
        torch = self.on.torch
        x = torch.ones(8, 8, device="cuda")
        with self.assertRaisesRegex(trine.ArgumentError, r"requires grad.*x\.detach\(\)"):
            trine.sum(x.requires_grad_())
        for dtype, name in ((torch.bfloat16, "bfloat16"), (torch.float16, "float16"),
                            (torch.complex64, "complex64"), (torch.bool, "bool")):
            y = torch.ones(8, 8, dtype=dtype, device="cuda")
            with self.assertRaisesRegex(trine.ArgumentError, f"{name} can't be multiplied; float32"):
                trine.matmul(y, y)
            with self.assertRaisesRegex(trine.ArgumentError, f"{name} can't be reduced; float32"):
                trine.sum(y)


class CupyArrays(Calls, unittest.TestCase):
    def setUp(self):
        self.on = Cupy()

    def test_managed_memory(self):
        cupy = self.on.cupy
        with cupy.cuda.using_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc):
            x = cupy.arange(1000, dtype="float64")
            self.assertEqual(float(trine.sum(x)), 499500)


class Others(unittest.TestCase):
    def test_arrays_of_torch_and_cupy_in_one_call(self):
        torch, cupy = Torch(), Cupy()
        a = numpy.random.default_rng(1).standard_normal((500, 500))
        stream, other = torch.stream(), cupy.stream()
        x, y = torch.put(a), cupy.put(a)
        torch.finish()
        with torch.on(stream), other:
            torch.keep_busy(stream)
            cupy.keep_busy(other)
            out = cupy.cupy.empty((500, 500))
            trine.matmul(x + x, y + y, out=out)
            result = out + 0
        torch.finish()
        numpy.testing.assert_array_equal(result.get(), trine.matmul(2 * a, 2 * a, device="cpu"))

    def test_jax(self):
        jax = library("jax")
        if jax.default_backend() != "gpu":
            self.skipTest("not run: JAX has no GPU")
        a = numpy.random.default_rng(1).standard_normal((300, 300)).astype("float32")
        x = jax.numpy.asarray(a)
        self.assertEqual(array(x * 2).device, "cuda:0")
        total = trine.sum(x * 2)
        self.assertEqual(float(total), float(trine.sum(2 * a, device="cpu")))

    def test_numba(self):
        library("numba")
        try:
            cuda = __import__("numba.cuda", fromlist=["cuda"])
            x = cuda.to_device(numpy.arange(1000.0))
        except Exception as error:
            self.skipTest(f"not run: {error}")
        out = cuda.to_device(numpy.zeros(()))
        trine.sum(x, out=out)
        self.assertEqual(float(out.copy_to_host()), 499500)
        stream = cuda.stream()
        trine.sum(x, out=out, stream=stream)
        stream.synchronize()
        self.assertEqual(float(out.copy_to_host()), 499500)
        if len(cuda.gpus) > 1:
            with cuda.gpus[1]:
                x, out = cuda.to_device(numpy.arange(1000.0)), cuda.to_device(numpy.zeros(()))
            self.assertEqual(array(x).device, "cuda:1")
            trine.sum(x, out=out)
            self.assertEqual(float(out.copy_to_host()), 499500)


def _handle(stream):
    return getattr(stream, "cuda_stream", None) or stream.ptr


def speed():
    """A call's price beside the library's, in microseconds: the best of rounds in turns."""

    def best(*calls, count=500, rounds=15):
        least = [float("inf")] * len(calls)
        for _ in range(rounds):
            for i, call in enumerate(calls):
                begin = time.perf_counter()
                for _ in range(count):
                    call()
                least[i] = min(least[i], (time.perf_counter() - begin) / count * 1e6)
                finish()
        return least

    rows = []
    for kind in (Torch, Cupy):
        try:
            on = kind()
        except unittest.SkipTest as reason:
            print(reason)
            continue
        finish, own = on.finish, on.torch if kind is Torch else on.cupy
        for n in (64, 512, 2048):
            x = on.put(numpy.random.default_rng(1).standard_normal((n, n)).astype("float32"))
            count = 500 if n < 2048 else 20
            rows.append((f"{kind.__name__} matmul {n}", *best(
                lambda: trine.matmul(x, x), lambda: own.matmul(x, x), count=count)))
        y, out = on.put(numpy.ones(1 << 20, "float32")), on.put(numpy.zeros((), "float32"))
        rows.append((f"{kind.__name__} sum 2^20 into a scalar", *best(
            lambda: trine.sum(y, out=out), lambda: own.sum(y))))
    finish = lambda: None
    x, a = numpy.ones(1000, "float32"), numpy.ones((64, 64), "float32")
    rows.append(("NumPy sum 1000", *best(lambda: trine.sum(x), lambda: numpy.sum(x), count=2000)))
    rows.append(("NumPy matmul 64", *best(lambda: trine.matmul(a, a), lambda: a @ a, count=2000)))
    for name, ours, theirs in rows:
        print(f"{name:32} trine {ours:8.2f} us, the library {theirs:8.2f} us, {ours / theirs:5.2f}")


if __name__ == "__main__":
    if "--speed" in sys.argv:
        speed()
    else:
        unittest.main()
