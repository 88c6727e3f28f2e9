"""Shift and scale, one pair of numbers for every channel that the symmetry leaves apart.

Scaling every feature of a vector by itself would break a symmetry that permutes features, and
taking off a mean one that changes signs. So channels of one orbit share both numbers, and where
a sign may change the shift is zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from isotropy.errors import InputError
from isotropy.groups.action import Action
from isotropy.schemes import Partition, vector_partition


@dataclass(frozen=True)
class Scaling:
    """x ↦ (x − shift) / scale, channel by channel (the dimension after the batch).

    >>> import torch
    >>> Scaling((1.0,), (2.0,)).apply(torch.tensor([[3.0], [5.0]])).tolist()
    [[1.0], [2.0]]
    """

    shift: tuple[float, ...]
    scale: tuple[float, ...]

    @classmethod
    def of(
        cls, batches: Iterable[Float[Tensor, "batch channels *grid"]], action: Action | None = None
    ) -> Scaling:
        """What gives all channels mean 0 and deviation 1, as far as a symmetry lets it.

        Args:
            batches: the samples, in pieces.
            action: what a group does to the channels, if it does something.
        """
        count, total, squares = 0, np.zeros(0), np.zeros(0)
        for x in batches:
            flat = x.double().movedim(1, 0).flatten(1)
            count += flat.shape[1]
            total = _plus(total, flat.sum(1))
            squares = _plus(squares, flat.square().sum(1))
        if not count:
            raise InputError("there are no samples to take a mean of")
        mean, square = total / count, squares / count
        if action is not None:
            partition = vector_partition(action, action.group)
            mean, square = _shared(mean, partition, signed=True), _shared(square, partition)
        deviation = np.sqrt(np.maximum(square - mean**2, 0))
        flat_channels = deviation <= 1e-6 * np.maximum(np.sqrt(square), 1e-30)
        deviation[flat_channels] = 1.0  # a constant channel is only shifted
        return cls(tuple(mean.tolist()), tuple(deviation.tolist()))

    def apply(self, x: Float[Tensor, "batch channels *grid"]) -> Tensor:
        """Shift and scale."""
        shift, scale = self._like(x)
        return (x - shift) / scale

    def undo(self, x: Float[Tensor, "batch channels *grid"]) -> Tensor:
        """Back to what it was."""
        shift, scale = self._like(x)
        return x * scale + shift

    def _like(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if x.shape[1] != len(self.shift):
            raise InputError(f"scaling is of {len(self.shift)} channels, not {x.shape[1]}")
        shape = (-1, *[1] * (x.ndim - 2))
        return x.new_tensor(self.shift).view(shape), x.new_tensor(self.scale).view(shape)


def _plus(total: NDArray[np.float64], more: Tensor) -> NDArray[np.float64]:
    values = more.cpu().numpy()
    return values if not total.size else total + values


def _shared(
    values: NDArray[np.float64], partition: Partition, signed: bool = False
) -> NDArray[np.float64]:
    """The mean over every orbit; with signs, zero where an orbit holds its own negative."""
    labels, signs = partition.labels.ravel(), partition.flat_signs().astype(float)
    weights = values * signs if signed else values
    known = labels >= 0
    totals = np.bincount(labels[known], weights[known], minlength=partition.count)
    mean: NDArray[np.float64] = np.append(totals / np.maximum(partition.sizes, 1), 0.0)[labels]
    if signed:
        return np.asarray(mean * signs)
    mean[~known] = values[~known]  # a coordinate that must be zero keeps its size
    return mean
