"""What there is to run on, and where a call would run."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from . import _trine
from ._functions import asking
from ._rows import Rows


class Placement(NamedTuple):
    """Where a call would run, and why."""

    device: str
    rung: str
    seconds: float
    sentence: str
    choice: str
    candidates: Rows


def backends() -> list[dict[str, Any]]:
    """All backends with their devices, absent ones with the reason, then rung packs."""
    return _trine.backends()


def devices() -> Rows:
    """All devices: `id` is what device= takes."""
    return Rows(device for backend in backends() for device in backend["devices"])


def info() -> Rows:
    """The devices, and why a backend is absent, as a table."""
    columns = ("id", "name", "driver", "memory_bytes", "compute_units")
    return Rows(
        {"backend": backend["name"]}
        | {column: device.get(column) for column in columns}
        | {"reason": backend["reason"]}
        for backend in backends()
        for device in backend["devices"] or [{}]
    )


def place(
    function: Callable[..., Any],
    /,
    *arrays: Any,
    where: str = "host",
    repeats: int = 1,
    **keywords: Any,
) -> Placement:
    """Where `function(*arrays, **keywords)` would take the least time; nothing is computed.

    where: "host", "host_pinned" or "host_pipelined" memory, for arrays in the host's; repeats: how
    many runs share one transfer.
    """
    asking.how = {"where": where, "repeats": repeats}
    try:
        answer = function(*arrays, **keywords)
    finally:
        asking.how = None
    if not (isinstance(answer, dict) and "candidates" in answer):
        raise TypeError(f"{function!r} isn't one of trine's functions; place() and why() take those, like trine.sum.")
    return Placement(**(answer | {"candidates": Rows(answer["candidates"])}))


def why(function: Callable[..., Any], /, *arrays: Any, **keywords: Any) -> str:
    """The reasons for the device and for the rung, in words; arguments as place()."""
    placement = place(function, *arrays, **keywords)
    return f"{placement.sentence}\n{placement.choice}"
