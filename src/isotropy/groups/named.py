"""Groups by name: the symmetries of pictures and volumes, and the common families."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from functools import cache
from itertools import permutations, product
from typing import overload

import numpy as np

from isotropy.errors import InputError
from isotropy.groups.action import Group
from isotropy.groups.construct import cyclic, dihedral, symmetric
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.permutation import PermutationGroup

D4_SUBGROUPS: dict[str, tuple[str, ...]] = {
    "C1": ("e",),
    "C2": ("e", "r2"),
    "C4": ("e", "r", "r2", "r3"),
    "D1": ("e", "s"),
    "D1v": ("e", "sr2"),
    "D1d": ("e", "sr3"),
    "D1a": ("e", "sr"),
    "D2": ("e", "r2", "s", "sr2"),
    "D2d": ("e", "r2", "sr", "sr3"),
    "D4": ("e", "r", "r2", "r3", "s", "sr", "sr2", "sr3"),
}
"""D4's ten subgroups: r a quarter turn counter-clockwise, s the mirror left-right."""

MEANINGS: dict[str, str] = {
    "C1": "no symmetry",
    "C2": "half turns",
    "C4": "quarter turns",
    "D1": "mirror left-right",
    "D1v": "mirror up-down",
    "D1d": "mirror along the main diagonal",
    "D1a": "mirror along the other diagonal",
    "D2": "mirrors left-right and up-down",
    "D2d": "mirrors along both diagonals",
    "D4": "quarter turns and mirrors",
    "O": "rotations of the cube",
    "Oh": "rotations and mirrors of the cube",
}

ELEMENT_MEANINGS: dict[str, str] = {
    "e": "as it is",
    "r": "a quarter turn",
    "r2": "a half turn",
    "r3": "three quarter turns",
    "s": MEANINGS["D1"],
    "sr": MEANINGS["D1a"],
    "sr2": MEANINGS["D1v"],
    "sr3": MEANINGS["D1d"],
}
"""What D4's elements do to a picture."""

_FAMILIES: dict[str, Callable[[int], FiniteGroup]] = {"C": cyclic, "D": dihedral, "S": symmetric}
_PARAMETER_LIMIT = {"C": 1000, "D": 500, "S": 6}


def group(name: str) -> FiniteGroup:
    """A group by name.

    The ten subgroups of D4 (C1, C2, C4, D1, D1v, D1d, D1a, D2, D2d, D4) act on pictures, O and
    Oh on volumes. Other C<n>, D<n> and S<n> are the cyclic, dihedral (2n elements) and
    symmetric families.

    >>> d4 = group("D4")
    >>> d4.order, d4.elements
    (8, ('e', 'r', 'r2', 'r3', 's', 'sr', 'sr2', 'sr3'))
    >>> group("D2").is_subgroup_of(d4)
    True
    """
    if not isinstance(name, str):
        raise InputError(f"a group's name must be a string, not {type(name).__name__}")
    if name in D4_SUBGROUPS:
        return _square().subgroup(D4_SUBGROUPS[name])
    if name in ("O", "Oh"):
        return _cube() if name == "Oh" else _cube_rotations()
    family = re.fullmatch(r"([CDS])([1-9]\d{0,3})", name)
    if family and int(family[2]) <= _PARAMETER_LIMIT[family[1]]:
        return _FAMILIES[family[1]](int(family[2]))
    raise InputError(_unknown(name))


@overload
def as_group(value: FiniteGroup | str) -> FiniteGroup: ...
@overload
def as_group(value: Group | str) -> Group: ...
def as_group(value: Group | str) -> Group:
    """A group from its name, or the group itself."""
    if isinstance(value, FiniteGroup | PermutationGroup):
        return value
    return group(value)


def known_names() -> tuple[str, ...]:
    """The names that `group` knows one by one.

    >>> known_names()[:4]
    ('C1', 'C2', 'C4', 'D1')
    """
    return (*D4_SUBGROUPS, "O", "Oh")


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, known_names(), n=1, cutoff=0.3)
    hint = f" Did you mean {near[0]}?" if near else ""
    known = ", ".join(known_names())
    return f"unknown group {name!r}. Known: {known}, C<n>, D<n>, S<n> (n ≤ 6).{hint}"


@cache
def _square() -> FiniteGroup:
    turn, mirror = np.array([[0, -1], [1, 0]]), np.array([[1, 0], [0, -1]])
    powers = [np.linalg.matrix_power(turn, i) for i in range(4)]
    matrices = np.stack([*powers, *(mirror @ p for p in powers)])
    plain = dihedral(4)
    square = FiniteGroup(plain.table, plain.elements, "D4", matrices)
    square.subgroup_names = {frozenset(v): k for k, v in D4_SUBGROUPS.items()}
    return square


@cache
def _cube() -> FiniteGroup:
    """All 48 signed permutation matrices of three axes (depth, row, column).

    An element is named by where it sends the axes d, r, c: "cd-r" sends depth to column, column
    to minus row, ...; in the name the letters stand in the order of the images of d, r, c.
    """
    matrices, names = [], []
    for order in permutations(range(3)):
        for signs in product((1, -1), repeat=3):
            matrix = np.zeros((3, 3), dtype=np.int64)
            matrix[list(order), range(3)] = signs
            matrices.append(matrix)
            names.append(
                "".join(
                    ("-" if s < 0 else "") + "drc"[a] for a, s in zip(order, signs, strict=True)
                )
            )
    names[0] = "e"
    stacked = np.stack(matrices)
    lookup = {m.tobytes(): i for i, m in enumerate(stacked)}
    products = np.einsum("aij,bjk->abik", stacked, stacked)
    table = [[lookup[np.ascontiguousarray(m).tobytes()] for m in row] for row in products]
    cube = FiniteGroup(table, names, "Oh", stacked)
    rotations = frozenset(n for n, m in zip(names, stacked, strict=True) if np.linalg.det(m) > 0)
    cube.subgroup_names = {rotations: "O"}
    return cube


def _cube_rotations() -> FiniteGroup:
    cube = _cube()
    (rotations,) = cube.subgroup_names
    return cube.subgroup(rotations)
