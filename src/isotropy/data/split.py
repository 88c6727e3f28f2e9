"""Disjoint parts of a data set, with all classes in each of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isotropy.data.dataset import DataSet
from isotropy.data.samples import IntArray
from isotropy.errors import InputError


def split(
    data: DataSet, fractions: Sequence[float], seed: int = 0, least: int = 1
) -> tuple[DataSet, ...]:
    """Parts drawn at random that share no sample; for classification each has all classes.

    Args:
        data: what to take parts of.
        fractions: how much of it each part gets; what is left of 1 stays out.
        seed: the same seed gives the same parts.
        least: samples of every class in each part, where there are so many.

    >>> from isotropy.data import from_arrays
    >>> data = from_arrays(np.arange(80).reshape(20, 4), [0] * 10 + [1] * 10)
    >>> train, rest = split(data, (0.8, 0.2))
    >>> len(train), np.bincount(rest.targets).tolist()
    (16, [2, 2])
    """
    shares = np.asarray(fractions, dtype=float)
    if not shares.size or (shares <= 0).any() or shares.sum() > 1 + 1e-9:
        raise InputError(f"fractions must be positive and at most 1 together, not {fractions}")
    chance = np.random.default_rng(np.random.SeedSequence(seed))
    groups = _by_class(data) if data.task == "classification" else [np.arange(len(data))]
    dealt = [_deal(chance.permutation(group), shares, least) for group in groups]
    for number, parts in enumerate(dealt):
        if min(map(len, parts)) == 0:
            raise InputError(_too_few(data, number, len(groups[number]), len(shares)))
    return tuple(
        data.subset(np.sort(np.concatenate(pieces))) for pieces in zip(*dealt, strict=True)
    )


def _by_class(data: DataSet) -> list[IntArray]:
    present = range(len(data.classes))
    return [found for c in present if len(found := np.flatnonzero(data.targets == c))]


def _deal(
    indices: IntArray, shares: np.ndarray[tuple[int], np.dtype[np.float64]], least: int
) -> list[IntArray]:
    """The indices in consecutive pieces by share, none too small where there are enough."""
    ends = np.round(np.cumsum(shares) * len(indices)).astype(int)
    sizes = np.diff(ends, prepend=0)
    least = min(least, len(indices) // len(sizes))
    while sizes.min() < least:
        if sizes.sum() == len(indices):
            sizes[sizes.argmax()] -= 1
        sizes[sizes.argmin()] += 1
    return np.split(indices, np.cumsum(sizes))[:-1]


def _too_few(data: DataSet, number: int, count: int, parts: int) -> str:
    if data.task != "classification":
        return f"{data.name}: {count} samples cannot be split in {parts} parts"
    present = [c for c in range(len(data.classes)) if (data.targets == c).any()]
    return (
        f"{data.name}: class {data.classes[present[number]]!r} has {count} samples, but at least "
        f"{parts} are needed to be in each of {parts} parts"
    )
