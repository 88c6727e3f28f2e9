"""Rows of features, as scikit-learn has them, and the samples that they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotropy.data.layout import guess
from isotropy.data.samples import ArraySamples
from isotropy.errors import InputError


@dataclass(frozen=True)
class Layout:
    """What a row of features stands for.

    Args:
        axes: the shape of a sample as it is given.
        channels: where its channels are, as in `ArraySamples`.

    >>> Layout((8, 8), "none").samples(np.zeros((5, 64))).shape
    (1, 8, 8)
    """

    axes: tuple[int, ...]
    channels: str = "first"

    @classmethod
    def of(cls, X: Any, shape: Any = None) -> Layout:
        """The layout of samples, from their own axes or from what is said of rows.

        Args:
            X: rows, or an array of more axes.
            shape: of one sample, channels first; None if its own axes tell.
        """
        own = tuple(int(size) for size in np.shape(X)[1:])
        if shape is None:
            return cls(own, guess((len(X), *own)))
        said = _checked(shape)
        if len(own) == 1 and own[0] == prod(said):
            return cls(said)
        if own == said:
            return cls(own)
        if (1, *own) == said:
            return cls(own, "none")
        raise InputError(f"shape: is {said}, {prod(said)} values, but samples of X are {own}")

    def rows(self, X: Any) -> Any:
        """What has the samples' own axes as rows; all else as it is, for scikit-learn to judge."""
        return flat(X) if has_axes(X) and tuple(X.shape[1:]) == self.axes else X

    def samples(self, rows: NDArray[Any]) -> ArraySamples:
        """The samples that rows stand for."""
        return ArraySamples(rows.reshape(len(rows), *self.axes), self.channels)


def has_axes(X: Any) -> bool:
    """Whether samples have more axes than one; lists and tables have not."""
    return bool(getattr(X, "ndim", 2) > 2)


def flat(X: Any) -> Any:
    """An array of many axes as rows; all else as it is."""
    return X.reshape(len(X), -1) if has_axes(X) else X


def _checked(shape: Any) -> tuple[int, ...]:
    try:
        sizes = tuple(int(size) for size in shape)
    except (TypeError, ValueError):
        sizes = ()
    if not 1 <= len(sizes) <= 4 or min(sizes) < 1:
        raise InputError(
            "shape must be that of one sample, channels first, as (1, 28, 28) for pictures or "
            f"(2, 500) for signals, not {shape!r}"
        )
    return sizes
