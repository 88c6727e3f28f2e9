"""Signed partitions, listed and drawn, and what they are as linear spaces: oracles for tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from isotropy.schemes import Partition

Matrix = NDArray[np.float64]


def partition(labels: object, signs: object = None) -> Partition:
    """From any labels (negative ones force zero) and signs, brought to the canonical form."""
    array = np.asarray(labels)
    turned = np.ones(array.size, int) if signs is None else np.asarray(signs).ravel()
    numbers: dict[int, int] = {}
    leading: dict[int, int] = {}
    new = np.full(array.size, -1, dtype=np.int32)
    relative = np.zeros(array.size, dtype=np.int8)
    for i, label in enumerate(array.ravel().tolist()):
        if label >= 0:
            new[i] = numbers.setdefault(label, len(numbers))
            relative[i] = turned[i] * leading.setdefault(label, int(turned[i]))
    flat = None if (relative == 1).all() else relative.reshape(array.shape)
    return Partition(new.reshape(array.shape), flat, len(numbers))


def every_signed_partition(entries: int) -> list[Partition]:
    """All of them: 2, 6, 24, 116, ... (the Dowling numbers of a group of two)."""

    def extend(labels: tuple[int, ...], signs: tuple[int, ...]) -> Iterator[Partition]:
        if len(labels) == entries:
            yield partition(labels, signs)
            return
        count = max((*labels, -1)) + 1
        yield from extend((*labels, -1), (*signs, 1))
        yield from extend((*labels, count), (*signs, 1))
        for label in range(count):
            for sign in (1, -1):
                yield from extend((*labels, label), (*signs, sign))

    return list(extend((), ()))


def matrix(p: Partition) -> Matrix:
    """B: a column for every class, entry by entry."""
    found = np.zeros((p.labels.size, p.count))
    for entry, (label, sign) in enumerate(zip(p.labels.ravel(), p.flat_signs(), strict=True)):
        if label >= 0:
            found[entry, label] = sign
    return found


def contains(outer: Matrix, inner: Matrix) -> bool:
    """Whether the column space of one holds that of the other."""
    together = np.concatenate([outer, inner], axis=1)
    return rank(together) == rank(outer)


def rank(m: Matrix) -> int:
    return int(np.linalg.matrix_rank(m)) if m.size else 0


def random_refinement(p: Partition, rng: np.random.Generator) -> Partition:
    """A partition whose space holds the given one's: its classes split, its zeros let go."""
    zero = p.labels.ravel() < 0
    part = rng.integers(0, int(rng.integers(1, 4)), p.labels.size)
    labels = np.where(zero, -1, p.labels.ravel() * 4 + part)
    signs = np.where(zero, rng.choice([-1, 1], p.labels.size), p.flat_signs())
    freed = zero & (rng.random(p.labels.size) < 0.5)
    labels = np.where(freed, 4 * p.count + part, labels)
    return partition(labels.reshape(p.shape), signs)


def random_partition(shape: Sequence[int], rng: np.random.Generator) -> Partition:
    classes = int(rng.integers(1, int(np.prod(shape)) + 1))
    labels = rng.integers(int(rng.integers(-1, 1)), classes, tuple(shape))
    signs = rng.choice([-1, 1], tuple(shape)) if rng.random() < 0.7 else None
    return partition(labels, signs)


@st.composite
def partitions(draw: st.DrawFn, shape: tuple[int, ...]) -> Partition:
    entries = int(np.prod(shape))
    labels = draw(st.lists(st.integers(-1, entries - 1), min_size=entries, max_size=entries))
    signs = draw(st.lists(st.sampled_from((-1, 1)), min_size=entries, max_size=entries))
    return partition(np.reshape(labels, shape), signs)


shapes = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)
pairs = shapes.flatmap(lambda shape: st.tuples(partitions(shape), partitions(shape)))
