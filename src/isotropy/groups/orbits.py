"""Orbits of permutations and of signed permutations, on a set or on pairs.

A weight W[a, b] tied under a group has one free number for every orbit of the pairs (a, b). The
group may be huge; its generators suffice, because the orbits under a group are the connected
components under its generators (002, Theorem 1 and Claim 1).

On pairs there is a quick way (`pair_orbits`). Every orbit of pairs meets the row of an orbit
representative a0 of the first axis, and there it is an orbit of a0's stabiliser, which Schreier's
lemma generates: walk a spanning tree of a0's orbit, carry for every row a the map T[a] that takes
(a, b) back to row a0, and every generator that closes a loop in the tree says which points of row
a0 are one. Rows whose orbits look alike (copies of one field) share all of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isotropy.errors import InputError
from isotropy.groups.signed import Signed

IntArray = NDArray[np.int64]
Labels = NDArray[np.int32]
Signs = NDArray[np.int8]


def orbits(
    generators: Sequence[ArrayLike] | Sequence[tuple[ArrayLike, ArrayLike]],
    size: int | tuple[int, int],
) -> Labels:
    """Labels 0, 1, ... of the orbits, numbered in the order in which they first appear.

    Args:
        generators: permutations as integer arrays, p[i] the image of i; for pairs of points
            (`size` a pair) each generator is a pair of arrays, one for each axis.
        size: number of points, or of points on both axes.

    Returns:
        An integer array of shape (size,), or of shape `size` for pairs.

    >>> orbits([[1, 0, 2, 3]], 4).tolist()
    [0, 0, 1, 2]
    >>> orbits([([1, 0], [1, 0])], (2, 2)).tolist()
    [[0, 1], [1, 0]]
    """
    if not isinstance(size, tuple):
        flat = cast("Sequence[ArrayLike]", generators)
        return _components([_permutation(p, size) for p in flat], size)
    pairs = cast("Sequence[tuple[ArrayLike, ArrayLike]]", generators)
    first = [Signed(_permutation(pair[0], size[0])) for pair in pairs]
    second = [Signed(_permutation(pair[1], size[1])) for pair in pairs]
    return pair_orbits(first, second, size).labels


def _permutation(values: ArrayLike, size: int) -> IntArray:
    array = np.asarray(values)
    if array.shape != (size,) or array.dtype.kind not in "iu":
        raise InputError(
            f"a generator must be {size} integers, not of shape {array.shape}, {array.dtype}"
        )
    hit = np.zeros(size, dtype=bool)
    inside = (array >= 0) & (array < size)
    hit[array[inside]] = True
    if not hit.all():
        raise InputError(f"a generator is no permutation of range({size})")
    return array.astype(np.int64, copy=False)


def _components(generators: Sequence[IntArray], size: int) -> Labels:
    """By closing under one generator after another; by a graph where that does not settle it."""
    small = [g.astype(np.int32) for g in generators]
    labels: Labels | None = np.arange(size, dtype=np.int32)
    for g in small:
        labels = None if labels is None else _least_along_cycles(labels, g)
    if labels is not None and all(np.array_equal(labels.take(g), labels) for g in small):
        return first_appearance(labels)
    columns = np.stack(small, axis=1).ravel()
    starts = np.arange(size + 1, dtype=np.int32) * len(small)
    return _connected(columns, starts, size)


def _least_along_cycles(labels: Labels, generator: NDArray[np.int32]) -> Labels | None:
    """The least label on every cycle, by doubling; None for cycles longer than 128."""
    power = generator
    for _ in range(8):
        least = np.minimum(labels, labels.take(power))
        if np.array_equal(least, labels):
            return labels
        labels, power = least, power.take(power)
    return None


def _connected(columns: NDArray[np.int32], starts: NDArray[np.int32], size: int) -> Labels:
    """Connected components of a graph in compressed rows, numbered by first appearance."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # explicit zeros are edges too; float64 is what scipy works in, any other type is copied
    graph = csr_array((np.zeros(columns.size), columns, starts), shape=(size, size), copy=False)
    _, labels = connected_components(graph, directed=True, connection="weak")
    return first_appearance(labels)


def first_appearance(labels: NDArray[np.integer]) -> Labels:
    """The same partition, numbered in the order of first appearance; -1 stays -1.

    >>> first_appearance(np.array([7, 7, -1, 3])).tolist()
    [0, 0, -1, 1]
    """
    flat = labels.ravel()
    if flat.size == 0:
        return labels.astype(np.int32)
    # the last write wins, so written backwards the first appearance stays; slot -1 is for -1
    first = np.full(int(flat.max()) + 2, flat.size, dtype=np.int64)
    first[flat[::-1]] = np.arange(flat.size - 1, -1, -1)
    number = np.empty(first.size, dtype=np.int32)
    number[np.argsort(first[:-1], kind="stable")] = np.arange(first.size - 1, dtype=np.int32)
    number[-1] = -1
    numbered: Labels = number[flat].reshape(labels.shape)
    return numbered


@dataclass(frozen=True)
class PairOrbits:
    """Orbits of pairs: labels (-1 where a sign forces zero), signs (None if all +1), count."""

    labels: Labels
    signs: Signs | None
    count: int


def pair_orbits(
    first: Sequence[Signed], second: Sequence[Signed], size: tuple[int, int]
) -> PairOrbits:
    """Orbits of the pairs (a, b) under generators that act on both axes at once.

    Args:
        first: what each generator does to the first axis.
        second: what each generator does to the second axis, in the same order.
        size: the number of points on each axis.

    Returns:
        Labels of shape `size`, in order of first appearance; the sign of every entry relative to
        the first of its orbit; and how many orbits there are.

    >>> swap = [Signed.read([1, 0])]
    >>> pair_orbits(swap, swap, (2, 2)).labels.tolist()
    [[0, 1], [1, 0]]
    """
    n, m = size
    if len(first) != len(second):
        raise InputError(f"{len(first)} generators for one axis and {len(second)} for the other")
    signed = any(g.sign is not None for g in (*first, *second))
    labels = np.empty((n, m), dtype=np.int32)
    signs = np.empty((n, m), dtype=np.int8) if signed else None
    blocks: dict[bytes, PairOrbits] = {}
    offset = 0
    for orbit in _orbits_of_points(first, n):
        signature = orbit.moves.tobytes() + orbit.flips.tobytes()
        if signature not in blocks:
            blocks[signature] = _one_orbit(orbit, second, m, signed)
        block = blocks[signature]
        shifted = block.labels + np.int32(offset)
        labels[orbit.points] = np.where(block.labels < 0, -1, shifted) if signed else shifted
        if signs is not None and block.signs is not None:
            signs[orbit.points] = block.signs
        offset += block.count
    if signs is not None and (signs == 1).all():
        signs = None
    return PairOrbits(labels, signs, offset)


@dataclass(frozen=True)
class _Orbit:
    """An orbit of one axis in local numbers: what every generator does to its points."""

    points: IntArray  # local number -> point
    moves: NDArray[np.int32]  # (generators, points): image, in local numbers
    flips: NDArray[np.bool_]  # (generators, points): whether the sign turns
    tree: list[tuple[int, int, int]]  # (child, parent, generator), parents first


def _orbits_of_points(generators: Sequence[Signed], n: int) -> list[_Orbit]:
    """The orbits of range(n), in the order of their smallest points."""
    targets = [g.target.tolist() for g in generators]
    local = [-1] * n
    found = []
    for start in range(n):
        if local[start] >= 0:
            continue
        local[start] = 0
        points, tree = [start], []
        for parent, point in enumerate(points):  # grows while we go
            for g, target in enumerate(targets):
                image = target[point]
                if local[image] < 0:
                    local[image] = len(points)
                    tree.append((len(points), parent, g))
                    points.append(image)
        members = np.array(points)
        moves = np.array([[local[t[p]] for p in points] for t in targets], dtype=np.int32)
        flips = np.array([g.flips[members] for g in generators], dtype=bool)
        found.append(_Orbit(members, moves, flips, tree))
    return found


def _one_orbit(orbit: _Orbit, second: Sequence[Signed], m: int, signed: bool) -> PairOrbits:
    """Orbits of pairs whose first point lies in one orbit, that orbit's points in local order."""
    back = _way_back(orbit, second, m)
    classes = _stabiliser_classes(orbit, second, back, m, signed)
    return _read_off(classes, back, m, signed)


def _way_back(orbit: _Orbit, second: Sequence[Signed], m: int) -> NDArray[np.int32]:
    """T[a, b]: the point of row 0 that (a, b) comes from, plus m if its sign has turned."""
    back = np.empty((orbit.points.size, m), dtype=np.int32)
    back[0] = np.arange(m)
    for child, parent, g in orbit.tree:
        back[child, second[g].target] = _flip(
            back[parent], second[g].flips ^ orbit.flips[g, parent], m
        )
    return back


def _flip(codes: NDArray[np.int32], turned: NDArray[np.bool_], m: int) -> NDArray[np.int32]:
    """Codes b or b + m stand for the point b and its negative; turn some of them over."""
    if not turned.any():
        return codes
    return np.where(turned, (codes + m) % (2 * m), codes).astype(np.int32)


def _stabiliser_classes(
    orbit: _Orbit, second: Sequence[Signed], back: NDArray[np.int32], m: int, signed: bool
) -> Labels:
    """Which points of row 0 (and their negatives) are one, from the loops in the orbit's graph.

    A few rows usually tell nearly all; all rows are then compared, and only what still differs
    is joined, so the answer is exact and the graph stays small.
    """
    nodes = 2 * m if signed else m
    everyone = np.arange(orbit.points.size)
    classes = np.arange(nodes, dtype=np.int32)
    for rows in (everyone[:2], everyone[-1:], everyone):
        edges = []
        for g, action in enumerate(second):
            here = classes[back[rows]]
            image = classes[back[orbit.moves[g, rows]].take(action.target, axis=1)]
            turned = action.flips ^ orbit.flips[g, rows, None]
            if signed:
                here = classes[_flip(back[rows], turned, m)]
            differing = here != image
            edges.append(np.stack([here[differing], image[differing]]))
        joined = np.concatenate(edges, axis=1) if edges else np.empty((2, 0), dtype=np.int32)
        classes = _join(classes, joined, m, signed)
    return classes


def _join(classes: Labels, edges: NDArray[np.int32], m: int, signed: bool) -> Labels:
    """Coarser classes, in which the two ends of every edge (and their negatives) are one."""
    if edges.shape[1] == 0:
        return classes
    count = int(classes.max(initial=-1)) + 1
    if signed:
        negative = np.empty(count, dtype=np.int32)
        negative[classes] = np.roll(classes, m)
        edges = np.concatenate([edges, negative[edges]], axis=1)
    return connected(edges[0], edges[1], count)[classes]


def connected(start: NDArray[np.integer], end: NDArray[np.integer], size: int) -> Labels:
    """Connected components of the nodes 0 .. size-1 under edges start[i] - end[i]."""
    unique = np.unique(start.astype(np.int64) * size + end)
    first, second = np.divmod(unique, size)
    starts = np.searchsorted(first, np.arange(size + 1)).astype(np.int32)
    return _connected(second.astype(np.int32), starts, size)


def _read_off(classes: Labels, back: NDArray[np.int32], m: int, signed: bool) -> PairOrbits:
    if not signed:
        numbered = first_appearance(classes)
        return PairOrbits(numbered[back], None, int(numbered.max(initial=-1)) + 1)
    positive, negative = classes[:m], classes[m:]
    zero = positive == negative
    orbit = np.where(zero, -1, np.minimum(positive, negative))
    numbered = first_appearance(orbit)
    count = int(numbered.max(initial=-1)) + 1
    # the first point of an orbit in row 0 carries +1
    leader = np.full(count + 1, -1, dtype=np.int32)  # the last slot is for the zeros
    kept = np.flatnonzero(~zero)[::-1]
    leader[numbered[kept]] = positive[kept]
    sign = np.where(zero, 0, np.where(positive == leader[numbered], 1, -1)).astype(np.int8)
    point, turned = back % m, back >= m
    return PairOrbits(numbered[point], np.where(turned, -sign[point], sign[point]), count)
