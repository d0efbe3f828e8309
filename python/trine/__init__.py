"""Trine: reduce, transpose and gemm with the same bits on CUDA, OpenCL and the CPU.

>>> import numpy, trine
>>> trine.sum(numpy.array([1e16, 1.0, -1e16]))  # exact, rounded once
1.0

Arrays of NumPy, of every library with DLPack, and of pyopencl are read and written where they are.
The page docs/python.md of the project describes the package.
"""

import atexit as _atexit
import os as _os

from . import _trine
from ._errors import (
    ArgumentError,
    ArrayError,
    BackendError,
    DeviceLostError,
    Error,
    InternalError,
    NotFoundError,
    OutOfMemoryError,
    UnsupportedError,
)
from ._exact_sum import ExactSum
from ._functions import (
    argmax,
    argmin,
    dot,
    matmul,
    matrix_transpose,
    max,
    min,
    norm,
    prod,
    sum,
    transpose,
    vecdot,
)
from ._partial import Partial
from ._program import compare
from ._rows import Rows
from ._trine import release_idle
from ._where import Placement, backends, devices, info, place, why

__version__ = _trine.version

__all__ = [
    "argmax",
    "argmin",
    "dot",
    "matmul",
    "matrix_transpose",
    "max",
    "min",
    "norm",
    "prod",
    "sum",
    "transpose",
    "vecdot",
    "backends",
    "compare",
    "devices",
    "info",
    "place",
    "release_idle",
    "why",
    "ExactSum",
    "Partial",
    "Placement",
    "Rows",
    "Error",
    "ArgumentError",
    "ArrayError",
    "BackendError",
    "DeviceLostError",
    "InternalError",
    "NotFoundError",
    "OutOfMemoryError",
    "UnsupportedError",
]

# A thread whose call ended after the interpreter would be killed inside it; a forked child has no
# such threads.
_atexit.register(_trine.finish_calls)
_os.register_at_fork(after_in_child=_trine.forget_calls)
