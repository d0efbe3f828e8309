"""Exact sums in parts, which processes and files can exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from . import _trine
from ._arrays import array
from ._errors import ArgumentError
from ._functions import How, _call
from ._state import State

if TYPE_CHECKING:
    from typing_extensions import Unpack


def _terms(x: Any) -> _trine.Array:
    return array(numpy.asarray(x) if isinstance(x, (list, tuple, float)) else x)


class ExactSum(State):
    """The exact sum of floats, of their squares or products, before its one rounding.

    >>> import trine
    >>> (trine.ExactSum([1e100, 1.0]) + trine.ExactSum([-1e100, 2.0])).round()
    3.0

    Sums of equal value are equal bytes, whatever the order of their terms: parts that threads, processes
    or files have added become the sum of the whole. Sums can be pickled; bytes() and from_bytes() are
    the same for other languages. Threads may add to one sum at the same time. A sum changes when something
    is added, so it isn't hashable.
    """

    __slots__ = ()
    _kind = _trine.ExactSum

    def __init__(self, x: Any = None, /, *, map: str = "identity", **how: Unpack[How]) -> None:
        """The sum of nothing, or that of an array of float32 or float64."""
        self._state = _trine.ExactSum()
        if x is not None:
            self.add(x, map=map, **how)

    def add(self, x: Any, /, *, map: str = "identity", **how: Unpack[How]) -> ExactSum:
        """Adds all elements of x; map is applied to each first: "abs" or "square". Keywords: see How."""
        self._state.add(map, _terms(x), None, _call(**how))
        return self

    def add_dot(self, x: Any, y: Any, /, **how: Unpack[How]) -> ExactSum:
        """Adds x * y for all elements of two arrays of one shape and dtype."""
        a, b = _terms(x), _terms(y)
        if a.shape != b.shape:
            raise ArgumentError(f"add_dot: x has the shape {a.shape}, y has {b.shape}.")
        self._state.add("product", a, b, _call(**how))
        return self

    def round(self, dtype: Any = "float64") -> float:
        """The sum, rounded once to float64 or float32."""
        name = numpy.dtype(dtype).name
        if name not in ("float32", "float64"):
            raise ArgumentError(f"round: a sum is rounded to float32 or float64, not {name}.")
        return self._state.to_f32() if name == "float32" else self._state.to_f64()

    def __float__(self) -> float:
        return self.round()

    def __repr__(self) -> str:
        return f"ExactSum({self.round()!r})"
