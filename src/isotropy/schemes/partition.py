"""Signed partitions: which entries of a weight are one number, up to sign.

`labels` number the classes in the order of their first appearance; `signs` hold +1 or -1 relative
to the first entry of the class, or None if all are +1; entries that must be zero have label -1.
As a linear space, a partition is all W with W[e] = signs[e] · ψ[labels[e]].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isotropy.errors import InputError
from isotropy.groups.action import Action, orbits_of_pairs
from isotropy.groups.orbits import Labels, Signs, connected, first_appearance


@dataclass(frozen=True, eq=False)
class Partition:
    """A signed partition of the entries of an array.

    >>> Partition.from_labels([[5, 5], [7, 5]]).labels.tolist()
    [[0, 0], [1, 0]]
    """

    labels: Labels
    signs: Signs | None
    count: int

    @classmethod
    def from_labels(cls, labels: ArrayLike) -> Partition:
        """Without signs, from any labels."""
        numbered = first_appearance(np.asarray(labels))
        return cls(numbered, None, int(numbered.max(initial=-1)) + 1)

    @classmethod
    def of_pairs(cls, first: Action, second: Action, shape: tuple[int, ...]) -> Partition:
        """Orbits of the pairs of two actions' coordinates, seen as an array of this shape."""
        found = orbits_of_pairs(first, second)
        signs = None if found.signs is None else found.signs.reshape(shape)
        return cls(found.labels.reshape(shape), signs, found.count)

    @classmethod
    def discrete(cls, shape: tuple[int, ...]) -> Partition:
        """Every entry its own class."""
        size = int(np.prod(shape))
        return cls(np.arange(size, dtype=np.int32).reshape(shape), None, size)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array that is partitioned."""
        return self.labels.shape

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many entries each class has."""
        flat = self.labels.ravel()
        return np.bincount(flat[flat >= 0], minlength=self.count)

    @cached_property
    def leaders(self) -> NDArray[np.int64]:
        """The flat position of every class's first entry."""
        flat = self.labels.ravel()
        leaders = np.empty(self.count + 1, dtype=np.int64)  # the last slot takes the zeros
        leaders[flat[::-1]] = np.arange(flat.size - 1, -1, -1)
        return leaders[:-1]

    def flat_signs(self) -> Signs:
        """Signs of all entries as a flat array, 0 where zero is forced."""
        if self.signs is not None:
            return self.signs.ravel()
        return np.where(self.labels.ravel() < 0, 0, 1).astype(np.int8)

    def equals(self, other: Partition) -> bool:
        """Whether both are the same partition."""
        return (
            self.shape == other.shape
            and np.array_equal(self.labels, other.labels)
            and np.array_equal(self.flat_signs(), other.flat_signs())
        )

    def refines(self, coarser: Partition) -> bool:
        """Whether every weight of the coarser partition is one of mine."""
        try:
            refinement(coarser, self)
        except InputError:
            return False
        return True

    def join(self, other: Partition) -> Partition:
        """The finest partition coarser than both: weights that obey both."""
        _same_shape(self, other)
        zero = self.count + other.count
        mine = np.where(self.labels < 0, zero, self.labels).ravel().astype(np.int64)
        theirs = np.where(other.labels < 0, zero, other.labels + self.count).ravel()
        theirs = theirs.astype(np.int64)
        turned = (self.flat_signs() * other.flat_signs()) < 0
        return _read(_double_cover(mine, theirs, turned, zero), mine, self)

    def meet(self, other: Partition) -> Partition:
        """The coarsest partition finer than both: contains the weights of either."""
        _same_shape(self, other)
        mine, theirs = self.flat_signs(), other.flat_signs()
        columns = [self.labels.ravel(), other.labels.ravel(), mine * theirs]
        keys, labels = np.unique(np.stack(columns), axis=1, return_inverse=True)
        nothing = (keys[:2] == -1).all(axis=0)
        numbered = first_appearance(np.where(nothing[labels], -1, labels.ravel()))
        found = Partition(numbered, None, int(numbered.max(initial=-1)) + 1)
        sign = np.where(mine != 0, mine, theirs)
        relative = sign * np.append(sign[found.leaders], 0)[numbered]
        signs = None if (relative == 1).all() else relative.astype(np.int8).reshape(self.shape)
        return Partition(numbered.reshape(self.shape), signs, found.count)


@dataclass(frozen=True)
class Refinement:
    """How the classes of a finer partition sit in those of a coarser one.

    Args:
        parent: for every finer class the coarser one it is part of, -1 where that is zero.
        sign: +1 or -1 (0 for no parent): its first entry's sign in the coarser class.
        share: the part n_i / n of the coarser class's entries that it holds (0 for no parent).
    """

    parent: NDArray[np.int32]
    sign: Signs
    share: NDArray[np.float64]


def refinement(coarser: Partition, finer: Partition) -> Refinement:
    """Where every class of the finer partition lies in the coarser one; refused if it does not.

    >>> coarse, fine = Partition.from_labels([0, 0, 0, 1]), Partition.from_labels([0, 1, 1, 2])
    >>> refinement(coarse, fine).parent.tolist()
    [0, 0, 1]
    """
    _same_shape(coarser, finer)
    parent = coarser.labels.ravel()[finer.leaders]
    sign = coarser.flat_signs()[finer.leaders]
    _check_refines(coarser, finer, parent, sign)
    sizes = np.append(coarser.sizes, 1)
    share = np.where(parent < 0, 0.0, finer.sizes / sizes[parent])
    return Refinement(parent, sign, share)


def _check_refines(
    coarser: Partition, finer: Partition, parent: NDArray[np.int32], sign: Signs
) -> None:
    labels, signs = finer.labels.ravel(), finer.flat_signs()
    kept = labels >= 0
    expected = np.where(kept, np.append(parent, -1)[labels], -1)
    expected_sign = np.append(sign, 0)[labels] * signs
    same = np.array_equal(expected, coarser.labels.ravel())
    if not same or not np.array_equal(expected_sign, coarser.flat_signs()):
        raise InputError("the partition is not a refinement: it parts what should stay together")


def _same_shape(first: Partition, second: Partition) -> None:
    if first.shape != second.shape:
        raise InputError(f"partitions of different shapes: {first.shape} and {second.shape}")


def _double_cover(
    mine: NDArray[np.int64], theirs: NDArray[np.int64], turned: NDArray[np.bool_], zero: int
) -> Labels:
    """Components of the classes and their negatives (node + zero + 1), joined entry by entry."""
    half = zero + 1
    start = np.concatenate([mine, mine + half, [zero]])
    end = np.concatenate(
        [
            np.where(turned, theirs + half, theirs),
            np.where(turned, theirs, theirs + half),
            [zero + half],
        ]
    )
    return connected(start, end, 2 * half)


def _read(nodes: Labels, mine: NDArray[np.int64], like: Partition) -> Partition:
    half = nodes.size // 2
    positive, negative = nodes[:half][mine], nodes[half:][mine]
    sign = like.flat_signs()
    plus = np.where(sign < 0, negative, positive)
    minus = np.where(sign < 0, positive, negative)
    both = np.where(plus == minus, -1, np.minimum(plus, minus))
    labels = first_appearance(both)
    found = Partition(labels, None, int(labels.max(initial=-1)) + 1)
    leading = np.append(plus[found.leaders], -1)[labels]
    relative = np.where(labels < 0, 0, np.where(plus == leading, 1, -1)).astype(np.int8)
    signs = None if (relative == 1).all() else relative.reshape(like.shape)
    return Partition(labels.reshape(like.shape), signs, found.count)


def partition_distance(a: ArrayLike, b: ArrayLike) -> int:
    """How many entries must change class to turn one partition into the other (004).

    Args:
        a: a label array, or an assignment matrix (entries × classes) whose rows' largest entries
            name the classes. Matrices are told by their float type.
        b: another one, of as many entries.

    >>> partition_distance([0, 0, 1, 1], [5, 5, 5, 2])
    1
    """
    from scipy.optimize import linear_sum_assignment

    first, second = _as_labels(a), _as_labels(b)
    if first.size != second.size:
        raise InputError(f"partitions of {first.size} and of {second.size} entries")
    overlap = np.zeros((first.max(initial=-1) + 1, second.max(initial=-1) + 1), dtype=np.int64)
    np.add.at(overlap, (first, second), 1)
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    return int(first.size - overlap[rows, columns].sum())


def _as_labels(value: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(value)
    if array.dtype.kind == "f" and array.ndim == 2:
        if np.isnan(array).any():
            raise InputError("an assignment matrix must not hold NaN")
        array = array.argmax(axis=1)
    if array.dtype.kind not in "iub":
        raise InputError(
            f"labels must be integers or a float matrix, not {array.dtype} of shape {array.shape}"
        )
    return np.unique(array.ravel(), return_inverse=True)[1].astype(np.int64)
