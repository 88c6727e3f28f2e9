"""Candidates for pictures, volumes and signals: what turns, mirrors and shifts their grid."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np

from isotropy.errors import InputError
from isotropy.evidence.symmetry import Symmetry
from isotropy.groups.action import permuting, trivial
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.grid import grid
from isotropy.groups.named import D4_SUBGROUPS, MEANINGS, group

AXES = ("depth", "row", "column")


def picture_symmetries(shape: tuple[int, ...]) -> list[Symmetry]:
    """D4's subgroups, as far as they fit pictures (channels, height, width); the largest last.

    >>> [s.name for s in picture_symmetries((1, 8, 12))]
    ['C2', 'D1', 'D1v', 'D2']
    """
    found = [
        Symmetry(own, trivial(own, shape[0]), MEANINGS[name])
        for name in D4_SUBGROUPS
        if name != "C1" and fits(own := group(name), shape)
    ]
    return sorted(found, key=lambda symmetry: symmetry.log_order)


def fits(own: FiniteGroup, shape: tuple[int, ...]) -> bool:
    """Whether a group keeps the grid of samples of this shape."""
    try:
        grid(own, shape[1:])
    except InputError:
        return False
    return True


# -- volumes ----------------------------------------------------------------------------------


def volume_symmetries(shape: tuple[int, ...]) -> list[Symmetry]:
    """Mirrors and turns about each axis, and the groups of the cube, as far as they fit.

    >>> [s.name for s in volume_symmetries((1, 4, 6, 8))][:3]
    ['mirror depth', 'mirror row', 'mirror column']
    """
    cube = group("Oh")
    found = []
    for name, meaning, generators in _volume_groups(cube):
        own = cube.subgroup(generators, name)
        if fits(own, shape):
            found.append(Symmetry(own, trivial(own, shape[0]), meaning))
    return found


def _volume_groups(cube: FiniteGroup) -> Iterator[tuple[str, str, list[str]]]:
    mirrors = [_element(cube, np.diag([-1 if i == j else 1 for i in range(3)])) for j in range(3)]
    halves = [_element(cube, np.diag([1 if i == j else -1 for i in range(3)])) for j in range(3)]
    quarters = [_element(cube, _quarter(axis)) for axis in range(3)]
    for axis, mirror in zip(AXES, mirrors, strict=True):
        yield f"mirror {axis}", f"mirror along the {axis} axis", [mirror]
    for axis, half in zip(AXES, halves, strict=True):
        yield f"C2 {axis}", f"half turns about the {axis} axis", [half]
    yield "half turns", "half turns about every axis", halves[:2]
    yield "mirrors", "mirrors along every axis", mirrors
    for axis, quarter in zip(AXES, quarters, strict=True):
        yield f"C4 {axis}", f"quarter turns about the {axis} axis", [quarter]
    yield "O", MEANINGS["O"], quarters[:2]
    yield "Oh", MEANINGS["Oh"], [*quarters[:2], mirrors[0]]


def _quarter(axis: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    first, second = (i for i in range(3) if i != axis)
    turn = np.zeros((3, 3), dtype=np.int64)
    turn[axis, axis] = 1
    turn[second, first], turn[first, second] = 1, -1
    return turn


def _element(cube: FiniteGroup, matrix: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> str:
    assert cube.matrices is not None
    return cube.elements[int((cube.matrices == matrix).all((1, 2)).argmax())]


# -- signals ----------------------------------------------------------------------------------


def signal_group() -> FiniteGroup:
    """Reversal f in time and sign change n, which commute."""
    table = [[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]]
    reversal = [[[1]], [[-1]], [[1]], [[-1]]]
    return FiniteGroup(table, ["e", "f", "n", "fn"], "reversal + sign", reversal)


_SIGNALS = {
    "": ([], ""),
    "reversal": (["f"], "reversal in time"),
    "sign": (["n"], "change of sign"),
    "reversed sign": (["fn"], "reversal together with a change of sign"),
    "reversal + sign": (["f", "n"], "reversal and change of sign, each by itself"),
}


def signal_symmetries(shape: tuple[int, ...]) -> list[Symmetry]:
    """Reversal, sign change and cyclic shifts of signals (channels, length), in all combinations.

    >>> [s.name for s in signal_symmetries((1, 64))][:5]
    ['reversal', 'sign', 'reversed sign', 'reversal + sign', 'shift']
    """
    whole, (channels, length) = signal_group(), shape
    if length < 2:
        raise InputError("signals of length 1 have no order in time; give them as vectors")
    still = np.eye(channels, dtype=np.int64)
    found = []
    for shift in (False, True):
        for name, (generators, meaning) in _SIGNALS.items():
            if not generators and not shift:
                continue
            full = " + ".join(filter(None, ["shift" if shift else "", name]))
            own = whole.subgroup(generators, full)
            moves = {g: -still if g in ("n", "fn") else still for g in own.generators}
            inputs = permuting(own, moves, "channels", channels)
            words = " and ".join(filter(None, ["shifts in time" if shift else "", meaning]))
            size = log(length) if shift else 0.0
            found.append(Symmetry(own, inputs, words, shift=shift, size=size))
    return found
