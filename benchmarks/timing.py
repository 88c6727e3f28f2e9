"""Interleaved timing: every candidate once, again and again, and the median of each."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Median seconds, and the ratio to the reference with its quartiles."""

    name: str
    seconds: float
    ratio: float
    low: float
    high: float


def interleave(
    candidates: dict[str, Callable[[], object]], rounds: int = 15, warm_up: int = 2
) -> list[Timing]:
    """Time candidates in turn; the first is the reference.

    Ratios are taken within each round, so that what slows the machine for a while slows both.
    """
    for _ in range(warm_up):
        for run in candidates.values():
            run()
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for turn in range(rounds):
        names = list(candidates)
        for name in names if turn % 2 else reversed(names):
            start = time.perf_counter()
            candidates[name]()
            seconds[name].append(time.perf_counter() - start)
    reference = next(iter(seconds.values()))
    return [_timing(name, own, reference) for name, own in seconds.items()]


def _timing(name: str, own: list[float], reference: list[float]) -> Timing:
    ratios = [a / b for a, b in zip(own, reference, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return Timing(name, statistics.median(own), middle, low, high)
