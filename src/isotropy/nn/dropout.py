"""Dropout of whole fields: all channels of one orbit go together."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from isotropy.errors import InputError
from isotropy.groups.action import Action, Group
from isotropy.nn.tied import TiedModule
from isotropy.schemes import Partition, Refinement, vector_partition

_PLAIN: dict[int, type[nn.Module]] = {
    0: nn.Dropout,
    1: nn.Dropout1d,
    2: nn.Dropout2d,
    3: nn.Dropout3d,
}


class FieldDropout(TiedModule):
    """Zero every field with probability p while training, and scale the others by 1 / (1 - p).

    Args:
        channels: the action on channels (the second dimension).
        p: probability of dropping a field.
        dimensions: of space; says which plain dropout this folds to.
        group: drop the orbits of this subgroup.

    >>> import torch, isotropy as iso
    >>> from isotropy.groups import regular
    >>> drop = FieldDropout(regular(iso.group("C4"), fields=3))
    >>> kept = drop(torch.ones(1, 12, 2, 2)).reshape(3, 16)
    >>> bool((kept == kept[:, :1]).all())
    True
    """

    index: Int[Tensor, " channels"]

    def __init__(
        self, channels: Action, p: float = 0.5, dimensions: int = 2, *, group: Group | None = None
    ) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise InputError(f"p must be a probability, not {p}")
        self.channels = channels
        self.layout = channels.group
        self.group = group or channels.group
        self.p = p
        self.dimensions = dimensions
        self._number_fields()

    def _number_fields(self) -> None:
        unsigned = self.channels.restrict(self.group or self.channels.group).unsigned()
        partition = vector_partition(unsigned, unsigned.group)
        self.fields = partition.count
        self.register_buffer("index", torch.from_numpy(partition.labels), persistent=False)

    def partitions(self, group: Group) -> dict[str, Partition]:  # noqa: ARG002
        return {}

    def retie(self, group: Group) -> dict[str, Refinement]:
        changes = super().retie(group)
        device = self.index.device
        self._number_fields()
        self.to(device)
        return changes

    def forward(self, x: Float[Tensor, "batch channels *space"]) -> Tensor:
        if not self.training or self.p == 0:
            return x
        kept = torch.empty(x.shape[0], self.fields, device=x.device, dtype=x.dtype)
        kept.bernoulli_(1 - self.p).div_(max(1 - self.p, 1e-12))
        mask = kept.index_select(1, self.index)
        return x * mask.view(*mask.shape, *[1] * (x.ndim - 2))

    def folded(self) -> nn.Module:
        return _PLAIN[self.dimensions](self.p).train(self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}, group={self.group}"
