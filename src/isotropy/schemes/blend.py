"""Sums of weights tied under different groups, built on one another.

A weight tied under a group is one of every subgroup's too. So a sum over groups is taken on the
way down: the numbers of the largest group are spread over those of the next smaller one and added
there, and so on. Only the last step writes all entries; for the six groups from D4 to C1 that is
less than half of the work of spreading each by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from isotropy.errors import InputError
from isotropy.schemes.base import Scheme
from isotropy.schemes.orbit import OrbitScheme, _repeats, gather_index
from isotropy.schemes.partition import Partition, Refinement, refinement


class Step(nn.Module):
    """From the classes of a partition to those of a finer one, with signs.

    Args:
        how: where the finer classes lie in the coarser ones.
        coarse: how many coarser classes there are.
        rows: into how many equal blocks both may divide.
    """

    index: Int[Tensor, " block"]
    sign: Float[Tensor, " block"] | None

    def __init__(self, how: Refinement, coarse: int, rows: int) -> None:
        super().__init__()
        rows = rows if how.parent.size % rows == 0 else 1
        labels = how.parent.reshape(rows, -1)
        signs = None if (how.sign == 1).all() else how.sign.reshape(rows, -1)
        self.blocks = _repeats(Partition(labels, signs, coarse))
        self.identical = signs is None and how.parent.size == coarse
        labels = labels.reshape(self.blocks, -1)[0]
        sign = None
        if signs is not None:
            sign = torch.from_numpy(signs.reshape(self.blocks, -1)[0].astype(np.float32))
        self.register_buffer("index", gather_index(labels), persistent=False)
        self.register_buffer("sign", sign, persistent=False)

    def forward(self, values: Float[Tensor, " coarse"]) -> Float[Tensor, " fine"]:
        if self.identical:
            return values
        entries = values.view(self.blocks, -1).index_select(1, self.index)
        return (entries if self.sign is None else entries * self.sign).flatten()


class Blend(Scheme):
    """W = Σ_G B_G x_G, where subclasses say what the x_G are.

    Args:
        partitions: by the name of every group, what is one number under it.
    """

    parts: nn.ModuleList
    steps: nn.ModuleList

    def __init__(self, partitions: Mapping[str, Partition]) -> None:
        super().__init__()
        if not partitions:
            raise InputError("groups: name at least one")
        self.names = tuple(partitions)
        found = list(partitions.values())
        self.shape = tuple(found[0].shape)
        for other in found:
            if other.shape != self.shape:
                raise InputError(f"partitions of different shapes: {self.shape}, {other.shape}")
        self.parts = nn.ModuleList(OrbitScheme(p) for p in found)
        for number, partition in enumerate(found):
            sizes = partition.sizes
            alike = sizes.size == 0 or bool((sizes == sizes[0]).all())
            kept = None if alike else torch.from_numpy(sizes.astype(np.float32))
            self.register_buffer(f"sizes{number}", kept, persistent=False)
        self.order = sorted(range(len(found)), key=lambda i: found[i].count)
        self._entries = tuple(int(p.sizes.sum()) for p in found)
        self.next = _descent(found, self.order)
        self.steps = nn.ModuleList(
            _step(found[i], None if j is None else found[j], self.part(i).blocks)
            for i, j in enumerate(self.next)
        )

    @property
    def trains(self) -> bool:
        return any(self.part(i).trains for i in range(len(self.names)))

    def part(self, which: str | int) -> OrbitScheme:
        """The scheme of one group, by name or number."""
        found = self.parts[which if isinstance(which, int) else self.names.index(which)]
        assert isinstance(found, OrbitScheme)
        return found

    def weighting(self, number: int) -> Float[Tensor, " numbers"] | float:
        """How many entries every number of a group stands for, or one count for all of them."""
        sizes: Tensor | None = getattr(self, f"sizes{number}")
        if sizes is not None:
            return sizes
        return self._entries[number] / max(self.part(number).psi.numel(), 1)

    def total(self, values: Sequence[Float[Tensor, "_"]]) -> Float[Tensor, "..."]:
        """Σ_G B_G x_G, for one x of every group."""
        sums = list(values)
        whole: Tensor | None = None
        for i in self.order:
            spreaded, below = self.steps[i](sums[i]), self.next[i]
            if below is not None:
                sums[below] = sums[below] + spreaded
            else:
                whole = spreaded if whole is None else whole + spreaded
        assert whole is not None
        return whole.view(self.shape)

    @torch.no_grad()
    def project_(self, weight: Float[Tensor, "..."]) -> Blend:
        """Give every group the nearest weight that is tied under it."""
        for number in range(len(self.names)):
            self.part(number).project_(weight)
        return self

    def bases(self) -> list[Float[Tensor, "entries free"]]:
        """The matrix of every group by itself."""
        return [self.part(i).basis() for i in range(len(self.names))]


def _descent(partitions: Sequence[Partition], order: Sequence[int]) -> list[int | None]:
    """For every partition the nearest finer one among them; None where there is none."""
    below: list[int | None] = [None] * len(partitions)
    for place, i in enumerate(order):
        finer = (j for j in order[place + 1 :] if partitions[j].refines(partitions[i]))
        below[i] = next(finer, None)
    return below


def _step(coarse: Partition, fine: Partition | None, rows: int) -> Step:
    """From one partition to the next, or to all entries."""
    if fine is not None:
        return Step(refinement(coarse, fine), coarse.count, rows)
    share = np.zeros(coarse.labels.size)  # not asked for
    return Step(Refinement(coarse.labels.ravel(), coarse.flat_signs(), share), coarse.count, rows)
