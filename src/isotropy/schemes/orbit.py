"""Hard sharing: one free number for every orbit, up to sign (002, 001; Ravanbakhsh et al. 2017)."""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from isotropy.errors import InputError
from isotropy.schemes.base import Scheme
from isotropy.schemes.partition import Partition, Refinement, refinement


class OrbitScheme(Scheme):
    """W[e] = sign[e] · ψ[orbit of e], and 0 where a sign forces it.

    ψ's gradient is the sum over its orbit, so under plain SGD a tied weight moves orbit-size times
    as fast as its untied twin (8 times under D4), part of what looks like "equivariance trains
    faster". With `orthonormal`, ψ is stored times the root of its orbit's size: B then has
    orthonormal columns, a step of SGD on ψ is the projection of the twin's step, and the twins'
    first steps on symmetric data are equal (up to the scales of norms, which are not part of it).
    Adam divides by the gradient's size and does not need it.

    Args:
        partition: which entries are one number.
        orthonormal: scale ψ so that B's columns are orthonormal.

    >>> scheme = OrbitScheme(Partition.from_labels([[0, 1], [1, 0]]))
    >>> scheme.shape, scheme.free_parameters
    ((2, 2), 2)
    """

    index: Int[Tensor, " block"]
    sign: Float[Tensor, " block"] | None
    sizes: Int[Tensor, " free"] | None

    def __init__(self, partition: Partition, orthonormal: bool = False) -> None:
        super().__init__()
        self.shape = tuple(partition.shape)
        self.orthonormal = orthonormal
        self.psi = nn.Parameter(torch.zeros(partition.count))
        # weights of equal fields share one pattern: only one block of it is kept and gathered by,
        # which halves the time of a gather and its adjoint (measured) and the memory of the index
        self.blocks = _repeats(partition)
        labels = partition.labels.reshape(self.blocks, -1)[0]
        signs = None
        if partition.signs is not None or (labels < 0).any():
            block = partition.flat_signs().reshape(self.blocks, -1)[0]
            signs = torch.from_numpy(block.astype(np.float32))
        # derived from the group, so not part of the state
        self.register_buffer("index", gather_index(labels), persistent=False)
        self.register_buffer("sign", signs, persistent=False)
        sizes = torch.from_numpy(partition.sizes) if orthonormal else None
        self.register_buffer("sizes", sizes, persistent=False)

    def forward(self) -> Float[Tensor, "..."]:
        if self.psi.numel() == 0:
            return self.psi.new_zeros(self.shape)
        psi = self.psi if self.sizes is None else self.psi * self.sizes.to(self.psi).rsqrt()
        weight = psi.view(self.blocks, -1).index_select(1, self.index)
        if self.sign is not None:
            weight = weight * self.sign
        return weight.view(self.shape)

    def basis(self) -> Float[Tensor, "entries free"]:
        partition = self.partition
        dense = self.psi.new_zeros(partition.labels.size, partition.count)
        kept = np.flatnonzero(partition.labels.ravel() >= 0)
        sign = torch.from_numpy(partition.flat_signs()[kept].astype(np.float64))
        dense[kept, partition.labels.ravel()[kept]] = sign.to(dense)
        return dense if self.sizes is None else dense * self.sizes.to(dense).rsqrt()

    @property
    def partition(self) -> Partition:
        """The signed partition this scheme was made from."""
        count = self.psi.numel()
        first = self.index.cpu().numpy().astype(np.int32)
        starts = np.arange(self.blocks, dtype=np.int32)[:, None] * (count // self.blocks)
        labels = first + starts
        if self.sign is None:
            return Partition(labels.reshape(self.shape), None, count)
        signs = np.broadcast_to(self.sign.cpu().float().numpy().astype(np.int8), labels.shape)
        labels = np.where(signs == 0, np.int32(-1), labels).reshape(self.shape)
        return Partition(labels, None if (signs == 1).all() else signs.reshape(self.shape), count)

    @torch.no_grad()
    def project_(self, weight: Float[Tensor, "..."], factor: float = 1.0) -> OrbitScheme:
        """Take the nearest tied weight: ψ becomes the (signed) mean over each orbit.

        Args:
            weight: an array of this scheme's shape.
            factor: multiplies the result.
        """
        if tuple(weight.shape) != self.shape:
            raise InputError(f"weight must have shape {self.shape}, not {tuple(weight.shape)}")
        if self.psi.numel() == 0:
            return self
        values = weight.detach().double().reshape(self.blocks, -1)
        if self.sign is not None:
            values = values * self.sign
        psi = self.psi.view(self.blocks, -1)
        total = torch.zeros(psi.shape, dtype=torch.float64, device=psi.device)
        total.index_add_(1, self.index, values.to(total))
        size = self._sizes().double()
        mean = total / size * factor
        psi.copy_(mean if self.sizes is None else mean * size.sqrt())
        return self

    @torch.no_grad()
    def reset(self, rms: float) -> OrbitScheme:
        """Draw ψ uniformly, so that W has this root mean square.

        A layer's output then has, on independent inputs, the variance of the plain layer whose
        weights have that root mean square: entries of one orbit meet different inputs. Forced
        zeros are made up for by the other entries.
        """
        filled = 1.0 if self.sign is None else float((self.sign != 0).double().mean())
        if self.psi.numel() == 0:
            return self
        bound = rms * math.sqrt(3 / filled)
        self.psi.uniform_(-bound, bound)
        if self.sizes is not None:
            self.psi.mul_(self.sizes.to(self.psi).sqrt())
        return self

    def _sizes(self) -> Int[Tensor, " orbits"]:
        """How many entries each orbit of one block has."""
        filled = self.index if self.sign is None else self.index[self.sign != 0]
        return torch.bincount(filled, minlength=self.psi.numel() // self.blocks)

    @torch.no_grad()
    def refined(self, finer: Partition) -> tuple[OrbitScheme, Refinement]:
        """The same weight, with the free numbers of a finer partition (001, Eq. 4).

        Returns:
            The new scheme, and how its numbers come from the old ones.
        """
        how = refinement(self.partition, finer)
        scheme = OrbitScheme(finer, self.orthonormal).to(self.psi.device, self.psi.dtype)
        scheme.psi.copy_(inherit(self.psi, how))
        if self.orthonormal:
            ratio = torch.from_numpy(np.sqrt(how.share)).to(self.psi)
            scheme.psi.mul_(ratio)
        scheme.psi.requires_grad_(self.psi.requires_grad)
        scheme.train(self.training)
        return scheme, how


def _repeats(partition: Partition) -> int:
    """Into how many equal blocks the array divides along its first axis, labels counting on."""
    rows, labels = len(partition.labels), partition.labels
    signs = partition.flat_signs().reshape(rows, -1) if partition.signs is not None else None
    for blocks in range(rows, 1, -1):
        if rows % blocks or partition.count % blocks:
            continue
        height, step = rows // blocks, partition.count // blocks
        if labels[height].flat[0] != labels.flat[0] + step and labels.flat[0] >= 0:
            continue
        pattern = labels.reshape(blocks, height, -1)
        shift = np.where(pattern[0] < 0, 0, step).astype(labels.dtype)
        same_signs = signs is None or (signs.reshape(blocks, -1) == signs[:height].ravel()).all()
        # one after the other, so that what is compared stays in cache
        if same_signs and all(
            np.array_equal(own, pattern[0] + i * shift) for i, own in enumerate(pattern)
        ):
            return blocks
    return 1


def gather_index(labels: NDArray[np.integer]) -> Int[Tensor, " entries"]:
    """What to gather for every entry; where zero is forced anything, as the sign is 0.

    In 64 bits: torch's adjoint of `index_select` is its fast scatter only then (52 ns an entry by
    32-bit indices, 1 ns by these, measured).
    """
    return torch.from_numpy(np.maximum(labels, 0).astype(np.int64))


def inherit(values: Float[Tensor, " coarse"], how: Refinement) -> Float[Tensor, " fine"]:
    """Every finer class takes its parent's value, with the sign of its first entry in it."""
    padded = torch.cat([values, values.new_zeros(1)])
    sign = torch.from_numpy(how.sign.astype(np.float64)).to(values)
    return padded[torch.from_numpy(how.parent.astype(np.int64)).to(values.device)] * sign
