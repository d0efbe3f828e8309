"""The functions, with NumPy's words for axes, shapes and results."""

from __future__ import annotations

import builtins
import operator
import threading
from typing import TYPE_CHECKING, Any, TypedDict

import numpy

from . import _trine
from ._arrays import array, beside, dtype_of, empty, on_host, returned, stream_handle
from ._errors import ArgumentError

if TYPE_CHECKING:
    from typing_extensions import Unpack

Axis = int | tuple[int, ...] | None


class How(TypedDict, total=False):
    """What every function takes beside its arguments.

    device: where to compute host data, "cpu", "opencl:0", "cuda:0"; None chooses the fastest.
    rung: a kernel by name, "blocked:tile=64"; None lets Trine choose.
    numerics: "reproducible", the default, "fast", or "exact": each element of a product is rounded once.
    stream: where to compute arrays on a GPU: a stream of their library; None is the one it works on.
    """

    device: str | None
    rung: str | None
    numerics: str
    stream: Any


class Reduction(How, total=False):
    """What reductions take beside that.

    out: the array to write; keepdims: reduced axes stay, of one element.
    map: what is applied to each element first, "abs" or, by sum(), "square" (exact).
    """

    out: Any
    keepdims: bool
    map: str


class _Asking(threading.local):
    """What place() sets for the length of a call: `how` it asks, instead of computing."""

    how: dict[str, Any] | None = None


asking = _Asking()


_EXAMPLES = {"device": "'cuda:0'", "rung": "'blocked:tile=64'", "numerics": "'reproducible'"}
_PLAIN = _trine.Call("auto", "", "reproducible", False, "host", 1, None)


def _call(
    device: str | None = None,
    rung: str | None = None,
    numerics: str = "reproducible",
    stream: Any = None,
) -> _trine.Call:
    how = asking.how
    if how is None and device is rung is stream is None and numerics == "reproducible":
        return _PLAIN
    for name, word in (("device", device), ("rung", rung), ("numerics", numerics)):
        if not isinstance(word, str) and (word is not None or name == "numerics"):
            raise ArgumentError(f"{name}: {word!r} is no text; {_EXAMPLES[name]} is one.")
    where, repeats = ("host", 1) if how is None else (how["where"], how["repeats"])
    return _trine.Call(
        device or "auto", rung or "", numerics, how is not None, where, repeats, stream_handle(stream)
    )


def _axes(axis: Axis, rank: int) -> list[int]:
    """The axes by number, as NumPy counts them."""
    if axis is None:
        return list(range(rank))
    axes = []
    for one in map(operator.index, axis if isinstance(axis, tuple) else (axis,)):
        if rank == 0 and one in (0, -1):  # as NumPy has it
            continue
        if not -rank <= one < rank:
            raise ArgumentError(f"axis {one} is out of bounds for an array of {rank} axes.")
        axes.append(one % rank)
    if len(set(axes)) != len(axes):
        raise ArgumentError(f"axis {axis} names one axis twice.")
    return axes


def _name(dtype: Any) -> str:
    """A dtype of any library as NumPy calls it."""
    try:
        return str(numpy.dtype(dtype).name)
    except TypeError:
        return str(dtype).rpartition(".")[2]


def _target(
    out: Any, like: Any, a: _trine.Array, shape: tuple[int, ...], dtype: Any, order: str = "C"
) -> tuple[Any, _trine.Array]:
    """The array that a call writes, `out` or a new one beside `like`, and how Trine reads it."""
    result = empty(like, a, shape, dtype, order) if out is None else out
    target = array(result, writable=True)
    if target.shape != shape:
        raise ArgumentError(f"out has the shape {target.shape}, but the result has {shape}.")
    return result, target


def _reduce(function: str, x: Any, axis: Axis, how: Any, dtype: Any = None) -> Any:
    """A reduction with the keywords `how`; the most frequent one, without any, is the quickest."""
    if axis is dtype is None and not how and asking.how is None:
        result = _trine.reduce_whole(function, "identity", x, None, _PLAIN)
        if result is not None:
            return result
    return _reduce_with(function, x, axis, dtype, **how)


def _reduce_with(
    function: str,
    x: Any,
    axis: Axis,
    dtype: Any = None,
    second: Any = None,
    /,
    *,
    map: str = "identity",
    out: Any = None,
    keepdims: bool = False,
    **how: Unpack[How],
) -> Any:
    """Any reduction: of some axes, of products with a second array, with keywords."""
    call = _call(**how)
    has_keywords = out is not None or map != "identity" or call is not _PLAIN  # _reduce() had none
    if has_keywords and axis is dtype is second is None and not keepdims:
        result = _trine.reduce_whole(function, map, x, out, call)
        if result is not None:
            return result
    a = array(x)
    b = None if second is None else array(second)
    if b is not None and a.shape != b.shape:
        raise ArgumentError(f"dot: x has the shape {a.shape}, y has {b.shape}.")
    axes = _axes(axis, len(a.shape))
    if function not in ("sum", "prod") and builtins.any(a.shape[d] == 0 for d in axes):
        raise ArgumentError(
            f"{function} of no elements: axis {axis} of the shape {a.shape} is empty."
        )
    shape = tuple(1 if d in axes else n for d, n in enumerate(a.shape) if keepdims or d not in axes)
    name = _name(dtype) if dtype is not None else _trine.result_dtype(function, map, a)
    result, target = _target(out, x, a, shape, name)
    answer = _trine.reduce(function, map, a, b, target, axes, keepdims, call)
    return answer or (returned(result, x) if out is None else out)


def sum(x: Any, /, axis: Axis = None, *, dtype: Any = None, **how: Unpack[Reduction]) -> Any:
    """The sum over `axis`: of floats exact and rounded once, of integers in 64 bits; of none 0.

    dtype may be float64 for float32 elements. Further keywords: see Reduction and How.
    """
    return _reduce("sum", x, axis, how, dtype)


def prod(x: Any, /, axis: Axis = None, *, dtype: Any = None, **how: Unpack[Reduction]) -> Any:
    """The product over `axis`: of floats by one fixed tree, of integers in 64 bits; of none 1."""
    return _reduce("prod", x, axis, how, dtype)


def min(x: Any, /, axis: Axis = None, **how: Unpack[Reduction]) -> Any:
    """The smallest element over `axis`, of which there must be one; NaN wins, -0 is below +0."""
    return _reduce("min", x, axis, how)


def max(x: Any, /, axis: Axis = None, **how: Unpack[Reduction]) -> Any:
    """The largest element over `axis`, of which there must be one; NaN wins, +0 is above -0."""
    return _reduce("max", x, axis, how)


def argmin(x: Any, /, axis: int | None = None, **how: Unpack[Reduction]) -> Any:
    """The lowest position of the smallest element, or of the first NaN."""
    return _reduce("argmin", x, axis, how)


def argmax(x: Any, /, axis: int | None = None, **how: Unpack[Reduction]) -> Any:
    """The lowest position of the largest element, or of the first NaN."""
    return _reduce("argmax", x, axis, how)


def dot(
    x: Any,
    y: Any,
    /,
    *,
    axis: Any = "vectors",
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    **how: Unpack[How],
) -> Any:
    """The sum of x * y, exact and rounded once, of float32 or float64 arrays of one shape.

    Without `axis`, x and y are vectors; with it, they are arrays of any shape (None: all elements).
    """
    if axis == "vectors":
        if len(array(x).shape) != 1:
            raise ArgumentError(
                "dot: without axis= it takes vectors; numpy.dot of matrices is matmul()."
            )
        axis = None
    return _reduce_with("sum", x, axis, dtype, y, map="product", out=out, keepdims=keepdims, **how)


def vecdot(x: Any, y: Any, /, *, axis: int = -1, **how: Unpack[How]) -> Any:
    """The array API's vecdot: dot() along one axis."""
    return dot(x, y, axis=axis, **how)


_TINY, _HUGE = numpy.finfo(numpy.float64).tiny, numpy.finfo(numpy.float64).max


def norm(
    x: Any, /, axis: Axis = None, *, out: Any = None, keepdims: bool = False, **how: Unpack[How]
) -> Any:
    """The Euclidean norm over `axis` of float32 or float64, within one unit in its last place.

    It is the square root of the exact sum of squares, both rounded once in float64. Where that sum
    leaves float64's range, x is first divided by a power of two: the only case that copies x.
    """
    a, double = array(x), None
    if how.get("stream") is not None:
        raise ArgumentError(
            "norm: it waits for its sums, on the stream that the array's library works on; make the "
            "stream that one instead of stream=."
        )
    if a.dtype == "float32":  # whose squares float64 holds, however large or small
        double = "float64"
    elif a.dtype != "float64":
        raise ArgumentError(f"norm: it takes float32 and float64, not {a.dtype}.")
    squares = _reduce_with("sum", x, axis, double, map="square", keepdims=True, **how)
    if asking.how is not None:
        return squares
    sums, scale = on_host(squares), numpy.ones(())
    in_range = numpy.all((sums >= _TINY) & (sums <= _HUGE))
    if not (in_range or double or 0 in a.shape):
        largest = on_host(_reduce_with("max", x, axis, map="abs", keepdims=True, **how))
        exponents = numpy.frexp(numpy.where(numpy.isfinite(largest), largest, 0))[1]
        scale = numpy.ldexp(1.0, exponents // 2)
        sums = on_host(_reduce_with("sum", _divided(x, scale), axis, map="square", keepdims=True, **how))
    roots = (numpy.sqrt(sums) * scale * scale).astype(a.dtype)
    axes = [] if keepdims else _axes(axis, roots.ndim)
    roots = roots.reshape([n for d, n in enumerate(roots.shape) if d not in axes])
    if out is None and a.device is None:
        return returned(roots, x)
    result, target = _target(out, x, a, roots.shape, a.dtype)
    if target.dtype != a.dtype:
        raise ArgumentError(f"norm: out has {target.dtype} elements, x has {a.dtype}.")
    result[...] = roots if target.device is None else beside(roots, result)
    return result


def _divided(x: Any, scale: Any) -> Any:
    """x / scale / scale: a power of two whose own square may be out of range."""
    step = 1 / scale
    if array(x).device is None:
        return on_host(x) * step * step
    factor = step.item() if step.size == 1 else beside(step, x)
    return x * factor * factor


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: {value!r} is no real number.") from None


def _order(order: str, *arrays: _trine.Array) -> str:
    """The order of a new result: NumPy's C, F, or A and K, which look at the arguments."""
    if order not in ("C", "F", "A", "K"):
        raise ArgumentError(f"order can be 'C', 'F', 'A' or 'K', not '{order}'.")
    if order in "CF":
        return order
    columns = [len(a.shape) > 1 and a.strides[0] == 1 and a.strides[-1] != 1 for a in arrays]
    return "F" if builtins.all(columns) else "C"


def matmul(
    a: Any,
    b: Any,
    /,
    *,
    alpha: float = 1,
    beta: float = 0,
    out: Any = None,
    order: str = "C",
    **how: Unpack[How],
) -> Any:
    """alpha * a @ b + beta * out of float32, float64 or int32: vectors, matrices, stacks of them.

    Each element is one chain of fused multiply-adds, so every device gives the same bits; with
    numerics="exact" it is the real number, rounded once.
    """
    call, alpha, beta = _call(**how), _number("alpha", alpha), _number("beta", beta)
    if order == "C" and (made := _trine.multiply_two(alpha, a, b, beta, out, call)) is not None:
        return made
    left, right = array(a), array(b)
    if beta != 0 and out is None:
        raise ArgumentError("matmul: with beta, out= is read too and must be given.")
    m, k = (left.shape[-2:-1], left.shape[-1:])
    n = right.shape[-1:] if len(right.shape) > 1 else ()
    if not left.shape or not right.shape or k != right.shape[-2:][:1]:
        raise ArgumentError(
            f"matmul: shapes {left.shape} and {right.shape} don't fit: the last axis of a "
            "must be as long as the last but one of b, and neither may be a scalar."
        )
    stack: tuple[int, ...] = ()
    if len(left.shape) > 2 or len(right.shape) > 2:
        try:
            stack = numpy.broadcast_shapes(left.shape[:-2], right.shape[:-2])
        except ValueError:
            raise ArgumentError(
                f"matmul: the stacks of {left.shape} and {right.shape} can't be broadcast."
            ) from None
    _trine.check_factors(left, right)
    shape, order = (*stack, *m, *n), _order(order, left, right)
    if out is None and order == "F" and len(stack) > 0 and len(shape) > 2:
        # Its matrices have no unit stride, which a product writes along: they are moved there.
        made = matmul(a, b, alpha=alpha, **how)
        axes = tuple(range(len(shape)))
        where = {"device": how.get("device"), "stream": how.get("stream")}
        return made if asking.how else transpose(made, axes, order="F", **where)
    result, target = _target(out, a, left, shape, left.dtype, order)
    return _trine.matmul(alpha, left, right, beta, target, call) or (
        returned(result, a) if out is None else out
    )


def transpose(
    x: Any,
    axes: tuple[int, ...] | None = None,
    *,
    out: Any = None,
    order: str = "C",
    **how: Unpack[How],
) -> Any:
    """A new array with the axes of `x` in reverse, or as `axes` names them; the elements, of any
    dtype, are moved bit by bit. (numpy.transpose gives a view.)"""
    call, a = _call(**how), array(x)
    rank = len(a.shape)
    if axes is not None and len(axes) != rank:
        raise ArgumentError(f"transpose: axes {axes} must name each of the {rank} axes once.")
    wanted = list(reversed(range(rank))) if axes is None else _axes(tuple(axes), rank)
    shape = tuple(a.shape[d] for d in wanted)
    result, target = _target(out, x, a, shape, dtype_of(a), _order(order, a))
    if target.dtype != a.dtype:
        raise ArgumentError(
            f"transpose: out has elements of {target.dtype}, x has {a.dtype}; bits are moved, never "
            "converted."
        )
    return _trine.transpose(a, target, wanted, call) or (
        returned(result, x) if out is None else out
    )


def matrix_transpose(x: Any, /, **how: Any) -> Any:
    """transpose() of the last two axes, which are matrices in a stack."""
    rank = len(array(x).shape)
    if rank < 2:
        raise ArgumentError("matrix_transpose: there must be two axes or more.")
    return transpose(x, (*range(rank - 2), rank - 1, rank - 2), **how)
