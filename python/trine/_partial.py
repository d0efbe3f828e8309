"""Reductions in parts, which processes and files can exchange."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy

from . import _trine
from ._arrays import array
from ._functions import How, _call, _name
from ._state import State

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Partial(State):
    """What is known of a reduction when some elements of the whole have been seen.

    >>> import numpy, trine
    >>> left, right = numpy.array([3.0, 1.0, 4.0]), numpy.array([1.0, 5.0])
    >>> smallest = trine.Partial("argmin", "float64").add(left, 0)
    >>> int(smallest.merge(trine.Partial("argmin", "float64").add(right, 3)).result())
    1

    Parts cut anywhere merge to the bits that the function has of the whole, and to the same bytes.
    They can be pickled; bytes() and from_bytes() are the same for other languages. Threads may add
    to one at the same time. It changes when something is added, so it isn't hashable.
    """

    __slots__ = ()
    _kind = _trine.Partial

    def __init__(self, function: str, dtype: Any, *, map: str = "identity") -> None:
        """The reduction of nothing: "sum", "prod", "min", "max", "argmin" or "argmax" of elements of
        `dtype`; map is applied to each first: "abs", for sums also "square"."""
        self._state = _trine.Partial(function, _name(dtype), map)

    def add(self, x: Any, first: int, /, **how: Unpack[How]) -> Partial:
        """Adds an array: a part whose elements have the indices `first`, first + 1, … of the whole,
        in C's order. Products need each element once; sums, min and max don't look at indices.
        Keywords: see How."""
        self._state.add(array(x), operator.index(first), _call(**how))
        return self

    def result(self, dtype: Any = None) -> Any:
        """The result of what was added, a scalar of NumPy.

        dtype may be float64 for a sum of float32."""
        name = self._state.result_dtype if dtype is None else _name(dtype)
        return numpy.frombuffer(self._state.result(name), name)[0]

    def __repr__(self) -> str:
        p = self._state
        return f"Partial({p.function!r}, {p.dtype!r}, map={p.map!r})"
