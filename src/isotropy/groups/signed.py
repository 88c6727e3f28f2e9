"""Signed permutations: point i goes to target[i], its value times sign[i]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isotropy.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Signed:
    """A permutation of coordinates with signs: (p x)[target[i]] = sign[i] · x[i].

    Args:
        target: the image of every point.
        sign: +1 or -1 for every point; None if all are +1.

    >>> quarter_turn = Signed.read([[0, -1], [1, 0]])
    >>> (quarter_turn @ quarter_turn).matrix().tolist()
    [[-1, 0], [0, -1]]
    """

    target: IntArray
    sign: NDArray[np.int8] | None = None

    @classmethod
    def read(cls, value: Signed | ArrayLike, what: str = "permutation") -> Signed:
        """From a list of images, or a matrix with one ±1 in every row and column."""
        if isinstance(value, Signed):
            return value
        try:
            array = np.asarray(value)
        except ValueError:
            raise InputError(f"{what} must be a list of images or a square matrix") from None
        if array.ndim == 2:
            return cls._from_matrix(array, what)
        if array.ndim != 1 or not np.array_equal(np.sort(array), np.arange(array.size)):
            raise InputError(f"{what} must list the image of every point once, not {_short(array)}")
        return cls(array.astype(np.int64))

    @classmethod
    def _from_matrix(cls, matrix: NDArray[np.generic], what: str) -> Signed:
        used = np.abs(matrix) == 1
        one_each = (used.sum(0) == 1).all() and (used.sum(1) == 1).all()
        if matrix.shape[0] != matrix.shape[1] or not one_each or (matrix[~used] != 0).any():
            raise InputError(
                f"{what} must be a signed permutation matrix (one ±1 in every row and column, "
                f"0 elsewhere), not {_short(matrix)}"
            )
        target = used.argmax(axis=0)
        sign = matrix[target, np.arange(target.size)].astype(np.int8)
        return cls(target.astype(np.int64), None if (sign == 1).all() else sign)

    @classmethod
    def identity(cls, size: int) -> Signed:
        """What leaves every point where it is."""
        return cls(np.arange(size))

    @property
    def size(self) -> int:
        """Number of points."""
        return int(self.target.size)

    @cached_property
    def flips(self) -> NDArray[np.bool_]:
        """Where the sign turns."""
        if self.sign is None:
            return np.zeros(self.size, dtype=bool)
        return self.sign < 0

    def __matmul__(self, other: Signed) -> Signed:
        """This after the other."""
        target = self.target[other.target]
        if self.sign is None:
            return Signed(target, other.sign)
        moved = self.sign[other.target]
        return Signed(target, moved if other.sign is None else moved * other.sign)

    def inverse(self) -> Signed:
        """What undoes this."""
        target = np.empty_like(self.target)
        target[self.target] = np.arange(self.size)
        return Signed(target, None if self.sign is None else self.sign[target])

    def apply(self, x: Tensor, dim: int = -1) -> Tensor:
        """The tensor with its dimension `dim` moved.

        >>> import torch
        >>> Signed.read([[0, -1], [1, 0]]).apply(torch.tensor([3.0, 4.0])).tolist()
        [-4.0, 3.0]
        """
        import torch

        back = self.inverse()
        moved = x.index_select(dim, torch.as_tensor(back.target, device=x.device))
        if not back.flips.any():
            return moved
        shape = [1] * x.ndim
        shape[dim] = self.size
        sign = torch.as_tensor(np.where(back.flips, -1.0, 1.0), device=x.device, dtype=x.dtype)
        return moved * sign.view(shape)

    def equals(self, other: Signed) -> bool:
        """Whether both do the same."""
        same = np.array_equal(self.target, other.target)
        return same and np.array_equal(self.flips, other.flips)

    @property
    def is_identity(self) -> bool:
        """Whether every point stays where it is, sign and all."""
        return self.equals(Signed.identity(self.size))

    def matrix(self) -> IntArray:
        """The signed permutation matrix."""
        matrix = np.zeros((self.size, self.size), dtype=np.int64)
        matrix[self.target, np.arange(self.size)] = np.where(self.flips, -1, 1)
        return matrix

    def tensor_product(self, other: Signed) -> Signed:
        """On pairs (i, j), numbered i · other.size + j."""
        target = (self.target[:, None] * other.size + other.target).ravel()
        if self.sign is None and other.sign is None:
            return Signed(target)
        return Signed(target, _as_sign(self.flips[:, None] ^ other.flips).ravel())

    def __repr__(self) -> str:
        images = zip(self.target.tolist(), self.flips.tolist(), strict=True)
        return "(" + " ".join(f"{'-' if flip else ''}{i}" for i, flip in images) + ")"


def direct_sum(parts: Sequence[Signed]) -> Signed:
    """The parts side by side, on the points of the first, then of the second, ..."""
    starts = np.cumsum([0, *(p.size for p in parts)])
    target = np.concatenate([p.target + s for p, s in zip(parts, starts, strict=False)])
    if all(p.sign is None for p in parts):
        return Signed(target)
    return Signed(target, _as_sign(np.concatenate([p.flips for p in parts])))


def rings(target: Sequence[int] | IntArray) -> list[list[int]]:
    """The rings of a permutation that are longer than one: each point goes to the next one.

    >>> rings([0, 2, 1, 4, 5, 3])
    [[1, 2], [3, 4, 5]]
    """
    seen: set[int] = set()
    found = []
    for start in range(len(target)):
        ring, at = [], start
        while at not in seen:
            seen.add(at)
            ring.append(at)
            at = int(target[at])
        if len(ring) > 1:
            found.append(ring)
    return found


def _as_sign(flips: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(flips, -1, 1).astype(np.int8)


def _short(array: NDArray[np.generic]) -> str:
    text = str(array.tolist())
    return text if len(text) < 80 else text[:76] + " ..."
