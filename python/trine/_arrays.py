"""Arrays of other libraries: read where they are, and made anew for results."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy
from numpy.ma import MaskedArray  # here, because a fork while NumPy imports it would lock the child

from . import _trine
from ._errors import ArgumentError, ArrayError


def array(x: Any, writable: bool = False) -> _trine.Array:
    """`x` as the extension module reads it, without a copy."""
    if isinstance(x, MaskedArray):
        raise ArgumentError(
            "A masked array's mask would be ignored; x.compressed() or x.filled() has none."
        )
    if _is_pyopencl(x):
        return _of_pyopencl(x)
    if hasattr(x, "__cuda_array_interface__") and not hasattr(x, "__dlpack__"):
        return _of_cuda(x, writable)
    try:
        return _trine.Array(x, writable)
    except TypeError as error:
        raise ArrayError(str(error)) from None


def _is_pyopencl(x: Any) -> bool:
    return hasattr(getattr(x, "base_data", None), "int_ptr")


def _of_pyopencl(x: Any) -> _trine.Array:
    """A pyopencl.array.Array: its cl_mem, on the queue that the array has."""
    if x.queue is None:
        raise ArgumentError("The pyopencl array has no queue; x.with_queue(queue) gives it one.")
    x.finish()  # of work on other queues than its own
    return _trine.Array.foreign(
        x,
        opencl=True,
        address=x.base_data.int_ptr,
        offset=x.offset,
        bytes=x.base_data.size,
        dtype=numpy.dtype(x.dtype).name,
        shape=x.shape,
        strides=x.strides,
        device=x.queue.device.int_ptr,
        queue=x.queue.int_ptr,
    )


def _of_cuda(x: Any, writable: bool) -> _trine.Array:
    """An array of CUDA memory without DLPack. The interface tells no device: the first is taken."""
    facts = x.__cuda_array_interface__
    address, read_only = facts["data"]
    if writable and read_only:
        raise ArgumentError("out: the array is read-only.")
    dtype = numpy.dtype(facts["typestr"])
    strides = facts.get("strides")
    if strides is None:
        shape = facts["shape"]
        strides = [dtype.itemsize * math.prod(shape[d + 1 :]) for d in range(len(shape))]
    return _trine.Array.foreign(
        x,
        opencl=False,
        address=address,
        offset=0,
        bytes=0,
        dtype=dtype.name,
        shape=facts["shape"],
        strides=strides,
        device=0,
        queue=facts.get("stream") or 0,
    )


def _namespace(x: Any) -> Any:
    """The library of an array, as the array API names it or by its module."""
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__()
    return sys.modules.get(type(x).__module__.partition(".")[0])


def empty(like: Any, shape: tuple[int, ...], dtype: str, order: Any = "C") -> Any:
    """An array for results, where `like` lies: in host memory NumPy's, else of the same library."""
    if _is_pyopencl(like):
        return type(like)(like.queue, shape, numpy.dtype(dtype), order=order)
    if array(like).device is None:
        return numpy.empty(shape, dtype, order)
    library = _namespace(like)
    if order != "C" or not hasattr(library, "empty"):
        raise ArgumentError(
            f"Trine can't make such an array of {type(like).__module__}; give it one by out=."
        )
    if hasattr(like, "new_empty"):  # torch
        return like.new_empty(shape, dtype=getattr(library, dtype))
    if hasattr(like, "get"):  # cupy
        with like.device:
            return library.empty(shape, dtype)
    return library.empty(shape, dtype=getattr(library, dtype), device=like.device)


def returned(result: Any, like: Any) -> Any:
    """A result as its caller gets it: of the library of `like`; of NumPy, a scalar without axes."""
    if isinstance(result, numpy.ndarray):
        library = _namespace(like)
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
    result = empty(x, values.shape, values.dtype.name)
    if hasattr(result, "set"):  # cupy, pyopencl
        result.set(values)
    else:
        result[...] = _namespace(x).asarray(values)
    return result
