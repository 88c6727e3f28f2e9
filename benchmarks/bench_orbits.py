"""Orbits of weights: 400×784 entries under five generators, and 6.3 million entries.

Limit written down first: every entry must be written once, 4 bytes; 313,600 entries are 1.3 MB and
6.2 million 25 MB, so about 0.1 and 3 ms at memory speed. One gather per entry and generator in the
factored form should come within a factor of 50.
"""

from __future__ import annotations

import numpy as np

import isotropy as iso
from benchmarks.timing import Timing, interleave
from isotropy.groups.orbits import IntArray

TARGETS = {"flat 400×784": 0.030, "factored 400×784": 0.010, "factored 2304×2704": 0.4}


def generators(m: int) -> list[IntArray]:
    """A quarter turn, two mirrors and two shifts by 4 on an m×m grid (002)."""
    grid = np.arange(m * m).reshape(m, m)
    moved = [np.rot90(grid), grid[:, ::-1], grid[::-1], np.roll(grid, 4, 0), np.roll(grid, 4, 1)]
    return [np.argsort(image.ravel()) for image in moved]


def run() -> list[Timing]:
    small = list(zip(generators(20), generators(28), strict=True))
    flat = [(a[:, None] * 784 + b).ravel() for a, b in small]
    large = list(zip(generators(48), generators(52), strict=True))
    return interleave(
        {
            "flat 400×784": lambda: iso.orbits(flat, 400 * 784),
            "factored 400×784": lambda: iso.orbits(small, (400, 784)),
            "factored 2304×2704": lambda: iso.orbits(large, (48 * 48, 52 * 52)),
        }
    )
