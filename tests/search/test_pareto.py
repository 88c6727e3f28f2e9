"""Pareto selection against the definition, pair by pair."""

from __future__ import annotations

import math

import numpy as np
import pytest

from isotropy.errors import InputError
from isotropy.search.pareto import Point, front, select


def dominates(a: Point, b: Point) -> bool:
    return a[0] <= b[0] and a[1] <= b[1] and a != b


def slow_front(points: list[Point]) -> list[int]:
    return [i for i, p in enumerate(points) if not any(dominates(q, p) for q in points)]


def slow_select(points: list[Point], size: int) -> list[int]:
    """Takes the best of the rest one at a time, as the paper words it."""
    chosen = slow_front(points)
    while len(chosen) < min(size, len(points)):
        best = None
        for i in range(len(points)):
            if i not in chosen and (best is None or points[i] < points[best]):
                best = i
        assert best is not None
        chosen.append(best)
    return sorted(chosen)


def cases() -> list[tuple[list[Point], int]]:
    """Small ranges, so that errors, parameters and whole points are often equal."""
    draw = np.random.default_rng(0)
    found = []
    for _ in range(1000):
        count, errors, sizes = draw.integers(1, 30), draw.integers(1, 12), draw.integers(1, 12)
        points = [
            (float(e) / 10, int(p))
            for e, p in zip(
                draw.integers(0, errors, count), draw.integers(0, sizes, count), strict=True
            )
        ]
        found.append((points, int(draw.integers(1, 12))))
    return found


def test_a_thousand_random_cases_with_ties() -> None:
    ties = 0
    for points, size in cases():
        ties += len(set(points)) < len(points)
        assert front(points) == slow_front(points)
        assert select(points, size) == slow_select(points, size)
    assert ties > 500


def test_infinite_errors_are_last() -> None:
    assert front([(math.inf, 1), (0.5, 2), (math.inf, 2)]) == [0, 1]
    assert select([(math.inf, 3), (0.5, 2), (0.4, 3), (0.5, 4)], 3) == [1, 2, 3]


def test_bad_input() -> None:
    assert front([]) == select([], 3) == []
    with pytest.raises(InputError, match="must be a number"):
        front([(math.nan, 1)])
    with pytest.raises(InputError, match="parents must be at least 1"):
        select([(0.1, 1)], 0)
