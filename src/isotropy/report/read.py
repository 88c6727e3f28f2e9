"""Reading a result that came from a file: what is missing or of the wrong kind counts as absent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Result = Mapping[str, Any]


def number(value: Any) -> float | None:
    """A finite number, or None.

    >>> number(3), number("3"), number(float("nan")), number(True)
    (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def interval(value: Any) -> tuple[float, float] | None:
    """Two finite numbers, or None.

    >>> interval([0.1, 0.2]), interval([0.1, None])
    ((0.1, 0.2), None)
    """
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        return None
    low, high = number(value[0]), number(value[1])
    return None if low is None or high is None else (min(low, high), max(low, high))


def words(value: Any, default: str = "") -> str:
    """A text; numbers are written, anything else is the default."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else default


def part(value: Any, name: str) -> Result:
    """A part of a result by name; empty if it is not there."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def items(value: Any, name: str) -> list[Any]:
    """A list by name; empty if it is not there."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return list(found) if isinstance(found, Sequence) and not isinstance(found, str) else []


def rows(value: Any, name: str) -> list[Result]:
    """A list of parts by name, without what is none."""
    return [row for row in items(value, name) if isinstance(row, Mapping)]


def texts(value: Any, name: str) -> list[str]:
    """A list of texts by name."""
    return [found for found in (words(item) for item in items(value, name)) if found]
