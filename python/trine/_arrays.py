"""Arrays of other libraries: read where they are, and made anew for results."""

from __future__ import annotations

import ctypes
import functools
import math
import sys
from array import array as python_array
from typing import Any

import numpy
from numpy.ma import MaskedArray  # here, because a fork while NumPy imports it would lock the child

from . import _trine
from ._errors import ArgumentError, ArrayError, Error


def array(x: Any, writable: bool = False) -> _trine.Array:
    """`x` as the extension module reads it, without a copy."""
    if type(x) is numpy.ndarray:
        return _of_numpy(x, writable)
    if type(x) in (memoryview, python_array):
        return _of_host(x, writable)
    if _protocol(x, "requires_grad") is True:
        raise ArgumentError(
            f"The {_kind(x)} requires grad, and Trine's results have none: pass x.detach()."
        )
    if (exchanged := _exchanged(x, writable)) is not None:
        return exchanged
    if isinstance(x, MaskedArray):
        raise ArgumentError(
            "A masked array's mask would be ignored; x.compressed() or x.filled() has none."
        )
    if writable and isinstance(x, numpy.generic):
        raise ArgumentError("out: a NumPy scalar is read-only.")
    if isinstance(x, (numpy.ndarray, numpy.generic)):
        return _of_numpy(numpy.asarray(x), writable and isinstance(x, numpy.ndarray))
    if _is_pyopencl(x):
        return _of_pyopencl(x)
    if type(x).__name__ == "PyCapsule":
        return _trine.Array(x, x, writable)
    if (export := _protocol(x, "__dlpack__")) is not None:
        return _of_dlpack(x, export, writable)
    if (facts := _protocol(x, "__cuda_array_interface__")) is not None:
        return _of_cuda(x, facts, writable)
    return _of_host(x, writable)


def _kind(x: Any) -> str:
    return f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins.")


def _protocol(x: Any, name: str) -> Any:
    """An attribute by which libraries hand out their arrays; None where there is none."""
    try:
        return getattr(x, name, None)
    except Exception as error:  # a property's own
        raise _said_by(x, name, error) from error


def _said_by(x: Any, name: str, error: Exception) -> ArgumentError:
    return ArgumentError(
        f"The {_kind(x)} doesn't hand out its memory: its {name} raised "
        f"{type(error).__name__}: {error}"
    )


def _word(dtype: numpy.dtype[Any]) -> str:
    """NumPy's name of a dtype, with the byte order where it isn't the machine's: no two share it."""
    return dtype.name if dtype.isnative and dtype.kind in "biufc" else str(dtype)


def _of_numpy(x: numpy.ndarray[Any, Any], writable: bool) -> _trine.Array:
    """NumPy's own: by DLPack, or by its address where DLPack has no word for it."""
    may_write = x.flags.writeable
    if writable and not may_write:
        raise ArgumentError("out: the array is read-only.")
    try:
        capsule = x.__dlpack__() if may_write else x.__dlpack__(max_version=(1, 0))
    except (BufferError, TypeError, RuntimeError):  # older NumPy, or a dtype that is bits to us
        if x.dtype.hasobject or x.dtype.kind not in "biufcmMSUV":
            raise ArrayError(
                f"Elements of {x.dtype} aren't in the array's memory, so there is nothing that "
                "Trine can read: it is no array of numbers."
            ) from None
        return _trine.Array.foreign(
            x,
            address=x.ctypes.data,
            dtype=_word(x.dtype),
            itemsize=x.dtype.itemsize,
            shape=x.shape,
            strides=x.strides,
        )
    return _trine.Array(capsule, x, writable)


def _exchanged(x: Any, writable: bool) -> _trine.Array | None:
    """An array whose library has functions in C for its consumers (torch), which take a fifth of the time."""
    try:
        return _trine.Array.exchanged(x, writable)
    except Error:
        raise
    except Exception as error:
        raise _said_by(x, "__dlpack_c_exchange_api__", error) from error


def _on_cuda(x: Any) -> bool:
    """Whether a producer of DLPack says that its memory is a CUDA device's, or managed."""
    device = _protocol(x, "__dlpack_device__")
    try:
        return device is not None and int(device()[0]) in (2, 13)
    except Exception as error:
        raise _said_by(x, "__dlpack_device__", error) from error


def _of_dlpack(x: Any, export: Any, writable: bool) -> _trine.Array:
    """A producer of DLPack. Only a capsule with a version tells what may not be written, and only one
    without comes from all producers, so one of them is asked for first, then the other. A CUDA array
    is taken on the stream that its library works on, if that tells it, else when the default stream
    has it."""
    failure: Exception | None = None
    stream = None
    if on_cuda := _on_cuda(x):
        stream = _stream_of_library(x)
        export = functools.partial(export, stream=1 if stream is None else -1)
    for version in ((1, 0), None) if writable or on_cuda else (None, (1, 0)):
        try:
            capsule = export() if version is None else export(max_version=version)
        except Exception as error:
            failure = error if version is None or failure is None else failure
        else:
            return _trine.Array(capsule, x, writable, stream)
    try:
        return _of_host(x, writable)
    except ArrayError:  # there is nothing else
        raise _said_by(x, "__dlpack__", failure) from failure  # type: ignore[arg-type]


def _of_host(x: Any, writable: bool) -> _trine.Array:
    """What has the buffer protocol or __array_interface__, as NumPy reads it, without a copy."""
    try:
        if _trine.has_buffer(x):
            made = numpy.asarray(memoryview(x))
            if isinstance(made.base, memoryview):  # else the elements would be copies
                return _of_numpy(made, writable)
        elif _protocol(x, "__array_interface__") is not None:
            return _of_numpy(numpy.asarray(x), writable)
    except Error:
        raise
    except Exception as error:
        raise _said_by(x, "buffer or __array_interface__", error) from error
    raise ArrayError(
        f"{_kind(x)} is no array of numbers that Trine can read: it takes NumPy arrays, arrays with "
        "DLPack, a buffer, __array_interface__ or __cuda_array_interface__, and pyopencl's."
    )


def _is_pyopencl(x: Any) -> bool:
    return hasattr(_protocol(x, "base_data"), "int_ptr")


def _of_pyopencl(x: Any) -> _trine.Array:
    """A pyopencl.array.Array: its cl_mem, on the queue that the array has."""
    if x.queue is None:
        raise ArgumentError("The pyopencl array has no queue; x.with_queue(queue) gives it one.")
    x.finish()  # of work on other queues than its own
    dtype = numpy.dtype(x.dtype)
    return _trine.Array.foreign(
        x,
        backend="opencl",
        address=x.base_data.int_ptr,
        offset=x.offset,
        bytes=x.base_data.size,
        dtype=_word(dtype),
        itemsize=dtype.itemsize,
        shape=x.shape,
        strides=x.strides,
        device=x.queue.device.int_ptr,
        stream=x.queue.int_ptr,
    )


@functools.cache
def _driver() -> Any:
    """CUDA's driver; None where there is none."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


def _gpu_of(address: int) -> int:
    """The number of the GPU that memory belongs to; 0 where the driver doesn't know it."""
    number = ctypes.c_int(0)
    if address and (driver := _driver()) is not None:
        of_device = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        driver.cuPointerGetAttribute(ctypes.byref(number), of_device, ctypes.c_uint64(address))
    return number.value


def _of_cuda(x: Any, facts: Any, writable: bool) -> _trine.Array:
    """An array of CUDA memory without DLPack, whose interface tells no device."""
    try:
        address, read_only = facts["data"]
        dtype, shape, strides = numpy.dtype(facts["typestr"]), facts["shape"], facts.get("strides")
        if strides is None:
            strides = [dtype.itemsize * math.prod(shape[d + 1 :]) for d in range(len(shape))]
        if facts.get("mask") is not None:
            raise ArgumentError("The array's mask would be ignored.")
        if writable and read_only:
            raise ArgumentError("out: the array is read-only.")
        return _trine.Array.foreign(
            x,
            backend="cuda",
            address=address,
            dtype=_word(dtype),
            itemsize=dtype.itemsize,
            shape=shape,
            strides=strides,
            device=_gpu_of(address),
            stream=facts.get("stream") or 0,
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, Error):
            raise
        raise _said_by(x, "__cuda_array_interface__", error) from error


def _stream_of_library(x: Any) -> int | None:
    """The stream that an array's library works on in this thread, where it tells: cupy's."""
    cupy = sys.modules.get("cupy")
    if cupy is None or not isinstance(x, cupy.ndarray):
        return None
    return cupy.cuda.get_current_stream(x.device.id).ptr


def stream_handle(stream: Any) -> int | None:
    """A stream that the caller names, as its library writes it, or by its handle."""
    if stream is None or isinstance(stream, int):
        return stream
    if (protocol := _protocol(stream, "__cuda_stream__")) is not None:
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr", "int_ptr", "handle"):  # torch, cupy, pyopencl, numba
        if (handle := _protocol(stream, name)) is not None:
            return int(getattr(handle, "value", handle) or 0)
    raise ArgumentError(
        f"stream: a {_kind(stream)} is none; give a stream of torch, cupy, numba or CUDA's own "
        "(__cuda_stream__), a queue of pyopencl, or its handle as a number."
    )


def _namespace(x: Any) -> Any:
    """The library of an array, as the array API names it or by its module."""
    namespace = _protocol(x, "__array_namespace__")
    if namespace is not None:
        return namespace()
    return sys.modules.get(type(x).__module__.partition(".")[0])


def dtype_of(a: _trine.Array) -> Any:
    """The dtype of an array as empty() takes it: NumPy's, or its name."""
    return a.owner.dtype if isinstance(a.owner, numpy.ndarray) else a.dtype


def empty(like: Any, a: _trine.Array, shape: tuple[int, ...], dtype: Any, order: Any = "C") -> Any:
    """An array for results, where `like` lies, which is read as `a`: in host memory NumPy's, else of the
    same library."""
    if a.device is None and _is_numpys(dtype):
        return numpy.empty(shape, dtype, order)
    if _is_pyopencl(like):
        return type(like)(like.queue, shape, numpy.dtype(dtype), order=order)
    library = _namespace(like)
    if order != "C" or not hasattr(library, "empty") or not hasattr(library, dtype):
        raise ArgumentError(
            f"Trine can't make an array of {dtype} for a {_kind(like)} in the order {order}; give it "
            "one by out=."
        )
    if hasattr(like, "new_empty"):  # torch
        return like.new_empty(shape, dtype=getattr(library, dtype))
    if hasattr(like, "get"):  # cupy
        with like.device:
            return library.empty(shape, dtype)
    return library.empty(shape, dtype=getattr(library, dtype), device=like.device)


def _is_numpys(dtype: Any) -> bool:
    """Whether NumPy has the dtype: not bfloat16, unless a library has given it to NumPy."""
    try:
        return numpy.dtype(dtype) is not None
    except TypeError:
        return False


def returned(result: Any, like: Any) -> Any:
    """A result as its caller gets it: of the library of `like`; of NumPy, a scalar without axes."""
    if isinstance(result, numpy.ndarray):
        library = numpy if type(like) is numpy.ndarray else _namespace(like)
        if library not in (numpy, None) and hasattr(library, "from_dlpack"):
            return library.from_dlpack(result)
        return result[()]
    return result


def on_host(x: Any) -> numpy.ndarray:
    """The elements of an array as NumPy's, in the host's memory; copied only from elsewhere."""
    if hasattr(x, "get"):  # cupy, pyopencl
        x = x.get()
    elif hasattr(x, "cpu"):  # torch
        x = x.cpu()
    if hasattr(x, "__dlpack__") and not isinstance(x, (numpy.ndarray, numpy.generic)):
        return numpy.from_dlpack(x)
    return numpy.asarray(x)


def beside(values: numpy.ndarray, x: Any) -> Any:
    """A copy of host values where the device array `x` lies."""
    result = empty(x, array(x), values.shape, values.dtype.name)
    if hasattr(result, "set"):  # cupy, pyopencl
        result.set(values)
    else:
        result[...] = _namespace(x).asarray(values)
    return result
