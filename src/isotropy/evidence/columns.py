"""Candidates for vectors: permutations of columns that are of one kind, blocks of them, signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from math import lgamma, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isotropy.errors import InputError
from isotropy.evidence.symmetry import Symmetry
from isotropy.groups.action import natural, permuting
from isotropy.groups.construct import from_permutations
from isotropy.groups.permutation import PermutationGroup
from isotropy.groups.signed import Signed

Numbers = NDArray[np.float64]

MOST_PAIRS = 10
MOST_LISTED = 16
MOST_COUNTED = 5000
ALIKE = 1.8  # Kolmogorov's distance in units of its deviation: 1 in 300 columns alike exceeds it


def vector_symmetries(X: Numbers, blocks: int = 1) -> list[Symmetry]:
    """Exchanges of columns that look alike, all permutations of them, and change of sign.

    Two columns are of one kind if their values are distributed alike. With blocks of several
    columns (the coordinates of particles, say) whole blocks are exchanged.

    Args:
        X: (samples, columns).
        blocks: the number of consecutive columns that move together.

    >>> X = np.random.default_rng(0).normal(size=(500, 3)) * [1, 1, 9]
    >>> [s.name for s in vector_symmetries(X)]
    ['sign', 'x0~x1']
    """
    columns = X.shape[1]
    if blocks < 1 or columns % blocks:
        raise InputError(f"blocks of {blocks} columns do not divide the {columns} columns")
    found = [_sign(columns)]
    for kind in _kinds(X, blocks):
        if 2 < len(kind) <= MOST_PAIRS // 2:
            found += [exchanges([pair], blocks, columns) for pair in combinations(kind, 2)]
        if len(kind) > 1:
            found.append(exchanges([kind], blocks, columns))
    return found


def _sign(columns: int) -> Symmetry:
    both = from_permutations({"n": [1, 0]}, "sign")
    inputs = permuting(both, {"n": -np.eye(columns, dtype=np.int64)}, "columns", columns)
    return Symmetry(both, inputs, "change of sign of all columns", view="entries")


def exchanges(kinds: Sequence[Sequence[int]], blocks: int, columns: int) -> Symmetry:
    """All permutations of the columns (or blocks) within each of some sets."""
    generators: dict[str, ArrayLike] = {}
    for kind in kinds:
        for first, second in pairwise(kind):
            generators[f"x{first}~x{second}"] = _exchange(first, second, blocks, columns)
    listed = ["{" + ", ".join(f"x{i}" for i in kind) + "}" for kind in kinds]
    whole = len(kinds) == 1 and len(kinds[0]) * blocks == columns
    what = "all" if whole else " and ".join(listed)
    noun = "columns" if blocks == 1 else f"blocks of {blocks} columns"
    if len(generators) == 1:
        (name,) = generators
        meaning = f"exchange of {noun} {' and '.join(map(str, kinds[0]))}"
        return from_moves(generators, name, meaning)
    name = f"permute {what}"
    size = sum(lgamma(len(kind) + 1) for kind in kinds)
    return from_moves(generators, name, f"any order of {what} {noun}", size)


def _exchange(first: int, second: int, blocks: int, columns: int) -> NDArray[np.int64]:
    images = np.arange(columns).reshape(-1, blocks)
    images[[first, second]] = images[[second, first]]
    return images.ravel()


def from_moves(
    moves: Mapping[str, Signed | ArrayLike], name: str, meaning: str, size: float | None = None
) -> Symmetry:
    """The symmetry that some (signed) permutations of all entries generate.

    Small groups are listed, and hidden layers carry regular fields of them; of larger ones hidden
    layers carry copies of the input's own permutation, which needs permutations without signs.

    Args:
        moves: the permutations by name.
        name: what to call the symmetry.
        meaning: what it is, in words.
        size: the logarithm of its order, if that is known.

    >>> from_moves({"turn": [1, 2, 0]}, "C3", "cyclic").group.order
    3
    """
    own = _without_idle(PermutationGroup(moves, name))
    order = MOST_LISTED + 1 if size and size > log(MOST_LISTED) else _count(own, MOST_COUNTED)
    if order <= MOST_LISTED:
        listed = from_permutations({g: _doubled(p) for g, p in own.natural.items()}, name)
        inputs = permuting(listed, own.natural, "entries", own.size)
        return Symmetry(listed, inputs, meaning, view="entries")
    if any(p.flips.any() for p in own.natural.values()):
        raise InputError(
            f"{name}: permutations with signs are handled for groups of at most {MOST_LISTED} "
            "elements, and these generate more"
        )
    return Symmetry(own, natural(own), meaning, view="entries", size=size or log(order))


def _without_idle(own: PermutationGroup) -> PermutationGroup:
    """Without generators that move nothing or do what another does."""
    kept: dict[str, Signed] = {}
    for g, p in own.natural.items():
        if not p.is_identity and not any(p.equals(other) for other in kept.values()):
            kept[g] = p
    if not kept:
        raise InputError(f"{own.name}: the permutations leave everything where it is")
    return PermutationGroup(kept, own.name)


def _doubled(p: Signed) -> NDArray[np.int64]:
    """A signed permutation as one of the entries and their negatives."""
    turned = p.target + np.where(p.flips, p.size, 0)
    return np.concatenate([turned, (turned + p.size) % (2 * p.size)])


def _count(own: PermutationGroup, limit: int) -> int:
    """How many elements there are, up to a limit."""
    generators = [_doubled(p) for p in own.natural.values()]
    frontier = [np.arange(2 * own.size)]
    seen = {frontier[0].tobytes()}
    while frontier and len(seen) <= limit:
        images = [g[element] for element in frontier for g in generators]
        fresh = {image.tobytes(): image for image in images if image.tobytes() not in seen}
        seen |= fresh.keys()
        frontier = list(fresh.values())
    return len(seen)


def _kinds(X: Numbers, blocks: int) -> list[list[int]]:
    """Sets of columns (or blocks) whose values are distributed alike, in order."""
    parts = X.reshape(len(X), -1, blocks)
    kinds: list[list[int]] = []
    for number in range(parts.shape[1]):
        for kind in kinds:
            if _alike(parts[:, kind[0]], parts[:, number]):
                kind.append(number)
                break
        else:
            kinds.append([number])
    return kinds


def _alike(first: Numbers, second: Numbers) -> bool:
    """Whether each pair of columns is distributed alike, by Kolmogorov's distance."""
    n = len(first)
    for a, b in zip(first.T, second.T, strict=True):
        values = np.sort(np.concatenate([a, b]))
        below = [np.searchsorted(np.sort(part), values, side="right") for part in (a, b)]
        if np.abs(below[0] - below[1]).max() / n > ALIKE * np.sqrt(2 / n):
            return False
    return True
