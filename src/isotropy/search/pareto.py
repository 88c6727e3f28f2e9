"""Who lives on: the whole Pareto front, and then the most accurate (001, Section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isnan

from isotropy.errors import InputError

Point = tuple[float, int]
"""What is made small: the error and the number of parameters."""


def front(points: Sequence[Point]) -> list[int]:
    """The indices of the points that no other one dominates, in their order.

    A point dominates another if it is no larger in both and smaller in one; so equal points do not
    dominate each other, and are on the front together.

    >>> front([(0.1, 80), (0.2, 10), (0.2, 80), (0.1, 80), (0.3, 10)])
    [0, 1, 3]
    """
    _require_numbers(points)
    kept: list[int] = []
    before = fewest = last_error = inf  # the fewest parameters of smaller errors, and of this one
    for index in sorted(range(len(points)), key=lambda i: points[i]):
        error, parameters = points[index]
        if error != last_error or not kept:
            before, last_error = min(before, fewest), error
            fewest = parameters
        if parameters < before and parameters == fewest:
            kept.append(index)
    return sorted(kept)


def select(points: Sequence[Point], size: int) -> list[int]:
    """The indices of the whole front, filled up to a size with those of the smallest error.

    Among equal errors fewer parameters come first, then the point that is given first.

    Args:
        points: error and parameters of everyone.
        size: how many to select; more if the front is larger, fewer if there are no more.

    >>> select([(0.1, 80), (0.2, 10), (0.3, 20), (0.15, 90)], 3)
    [0, 1, 3]
    """
    if size < 1:
        raise InputError(f"parents must be at least 1, not {size}")
    kept = front(points)
    rest = sorted(set(range(len(points))) - set(kept), key=lambda i: (points[i], i))
    return sorted([*kept, *rest[: max(size - len(kept), 0)]])


def _require_numbers(points: Sequence[Point]) -> None:
    for error, parameters in points:
        if isnan(error):
            raise InputError(f"the error must be a number, not {(error, parameters)}")
