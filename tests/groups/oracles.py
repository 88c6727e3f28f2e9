"""Slow and obvious: what groups, actions and orbits are by definition, without our shortcuts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, permutations, product

import numpy as np

import isotropy as iso
from isotropy.groups import Action, FiniteGroup, central_extension, cyclic, direct_product

Rows = Sequence[Sequence[int]]


# -- groups ----------------------------------------------------------------------------------


def is_group(table: Rows) -> bool:
    """The four axioms, looked up one by one; element 0 is the neutral one."""
    everyone = range(len(table))
    if any(len(row) != len(table) for row in table):
        return False
    closed = all(table[a][b] in everyone for a in everyone for b in everyone)
    neutral = all(table[0][a] == a == table[a][0] for a in everyone)
    inverses = all(any(table[a][b] == 0 == table[b][a] for b in everyone) for a in everyone)
    return (
        closed
        and neutral
        and inverses
        and all(
            table[table[a][b]][c] == table[a][table[b][c]]
            for a in everyone
            for b in everyone
            for c in everyone
        )
    )


def multiply(group: FiniteGroup, *names: str) -> str:
    """The product of elements, by name."""
    result = 0
    for name in names:
        result = int(group.table[result, group.elements.index(name)])
    return group.elements[result]


def closure(group: FiniteGroup, names: Iterable[str]) -> frozenset[str]:
    """Multiply everything with everything until nothing new comes."""
    found = {"e" if "e" in group else group.elements[0], *names}
    while True:
        bigger = found | {multiply(group, a, b) for a in found for b in found}
        if bigger == found:
            return frozenset(found)
        found = bigger


def all_subgroups(group: FiniteGroup) -> set[frozenset[str]]:
    """Every subset with the neutral element that is closed under products."""
    neutral, *others = group.elements
    subsets = chain.from_iterable(combinations(others, k) for k in range(group.order))
    return {
        frozenset((neutral, *subset))
        for subset in subsets
        if all(
            multiply(group, a, b) in (neutral, *subset) for a in subset for b in (neutral, *subset)
        )
    }


def conjugacy_classes(group: FiniteGroup) -> set[frozenset[frozenset[str]]]:
    """The subgroups, put together when one is g H g⁻¹ of the other."""
    inverse = {a: b for a in group.elements for b in group.elements if multiply(group, a, b) == "e"}
    return {
        frozenset(
            frozenset(multiply(group, g, h, inverse[g]) for h in subgroup) for g in group.elements
        )
        for subgroup in all_subgroups(group)
    }


def all_automorphisms(group: FiniteGroup) -> set[tuple[str, ...]]:
    """Every bijection of the elements that keeps products."""
    neutral, *others = range(group.order)
    table = group.table
    found = set()
    for images in permutations(others):
        image = np.array((neutral, *images))
        if (image[table] == table[np.ix_(image, image)]).all():
            found.add(tuple(group.elements[i] for i in image))
    return found


def alphas(normal: FiniteGroup, acting: FiniteGroup) -> Iterator[dict[str, tuple[str, ...]]]:
    """Every homomorphism from `acting` to Aut(normal), by trying all maps."""
    candidates = sorted(all_automorphisms(normal))
    where = {name: i for i, name in enumerate(normal.elements)}
    for choice in product(candidates, repeat=acting.order):
        alpha = dict(zip(acting.elements, choice, strict=True))
        if all(
            tuple(alpha[a][where[x]] for x in alpha[b]) == alpha[multiply(acting, a, b)]
            for a in acting.elements
            for b in acting.elements
        ):
            yield alpha


def klein() -> FiniteGroup:
    """C2 × C2, its elements named e, a, b, ab."""
    pairs = direct_product(cyclic(2), cyclic(2))
    return FiniteGroup(pairs.table, ["e", "b", "a", "ab"], "V4")


def quaternions() -> FiniteGroup:
    """The quaternion group: V4 extended by ±1 with i² = j² = k² = −1 (i = a, j = b, k = ab)."""
    minus = [("a", "a"), ("b", "b"), ("ab", "ab"), ("b", "a"), ("ab", "b"), ("a", "ab")]
    return central_extension(cyclic(2), klein(), dict.fromkeys(minus, "r"))


SMALL: Mapping[str, FiniteGroup] = {
    "C1": iso.group("C1"),
    "C2": cyclic(2),
    "C3": cyclic(3),
    "C4": cyclic(4),
    "V4": klein(),
    "C5": cyclic(5),
    "C6": cyclic(6),
    "S3": iso.group("S3"),
    "C7": cyclic(7),
    "C8": cyclic(8),
    "C2xC4": direct_product(cyclic(2), cyclic(4)),
    "C2xV4": direct_product(cyclic(2), klein()),
    "D4": iso.group("D4"),
    "Q8": quaternions(),
}
"""Groups of order up to 8: all of them, but for the ways in which they are made."""


# -- actions ---------------------------------------------------------------------------------


def assert_action(action: Action) -> None:
    """The matrices of all elements multiply as the elements do, and are signed permutations."""
    group = action.group
    assert isinstance(group, FiniteGroup)
    matrices = {name: action.of(name).matrix() for name in group.elements}
    for matrix in matrices.values():
        assert matrix.shape == (action.size, action.size)
        assert (np.abs(matrix).sum(0) == 1).all()
        assert (np.abs(matrix).sum(1) == 1).all()
    assert (matrices[group.elements[0]] == np.eye(action.size)).all()
    for a in group.elements:
        for b in group.elements:
            assert (matrices[a] @ matrices[b] == matrices[multiply(group, a, b)]).all(), (a, b)


# -- orbits ----------------------------------------------------------------------------------


def in_order(values: Iterable[object]) -> list[int]:
    """The same partition, numbered 0, 1, ... as its parts first appear."""
    number: dict[object, int] = {}
    return [number.setdefault(value, len(number)) for value in values]


def orbits_by_union(generators: Iterable[Sequence[int]], size: int) -> list[int]:
    """Union-find: join every point with its images."""
    root = list(range(size))

    def find(i: int) -> int:
        while root[i] != i:
            i = root[i]
        return i

    for images in generators:
        for i, j in enumerate(images):
            root[find(int(j))] = find(i)
    return in_order(find(i) for i in range(size))


def on_pairs(first: Sequence[int], second: Sequence[int]) -> np.ndarray:
    """What two permutations do to the pairs (i, j), numbered row by row."""
    return np.array([i * len(second) + j for i in first for j in second], dtype=np.int64)


def joined(*labels: Sequence[int]) -> list[int]:
    """The finest partition that is coarser than all of these."""
    cycles = []
    for partition in labels:
        flat = np.ravel(partition)
        images = np.arange(flat.size)
        for label in np.unique(flat):
            members = np.flatnonzero(flat == label)
            images[members] = np.roll(members, 1)
        cycles.append(images)
    return orbits_by_union(cycles, np.size(labels[0]))


def projector(first: Action, second: Action) -> np.ndarray:
    """The projection on the weights W with a(g) W b(g)ᵀ = W, that is 1/|G| Σ a(g) ⊗ b(g)."""
    group = first.group
    assert isinstance(group, FiniteGroup)
    total = sum(np.kron(first.of(g).matrix(), second.of(g).matrix()) for g in group.elements)
    return np.asarray(total / group.order)
