"""Activations with parameters, shared over fields."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from isotropy.groups.action import Action, Group
from isotropy.nn.norm import require_unsigned
from isotropy.nn.tied import TiedModule
from isotropy.schemes import OrbitScheme, Partition, Scheme, vector_partition


class PReLU(TiedModule):
    """PReLU with one slope for every orbit of channels.

    Args:
        channels: the action on channels (the second dimension).
        init: the slope to begin with.
        group: share over this subgroup only.

    >>> import torch, isotropy as iso
    >>> from isotropy.groups import regular
    >>> slopes = PReLU(regular(iso.group("C4"), fields=2))
    >>> slopes(-torch.ones(1, 8)).unique().tolist(), sum(p.numel() for p in slopes.parameters())
    ([-0.25], 2)
    """

    weight_scheme: Scheme

    def __init__(self, channels: Action, init: float = 0.25, *, group: Group | None = None) -> None:
        super().__init__()
        require_unsigned(channels, "PReLU")
        self.channels = channels
        self.layout = channels.group
        self.group = group or channels.group
        slopes = OrbitScheme(vector_partition(channels, self.group))
        nn.init.constant_(slopes.psi, init)
        self.weight_scheme = slopes

    @property
    def weight(self) -> Tensor:
        """The slope of every channel."""
        weight: Tensor = self.weight_scheme()
        return weight

    def partitions(self, group: Group) -> dict[str, Partition]:
        return {"weight_scheme": vector_partition(self.channels, group)}

    def forward(self, x: Float[Tensor, "batch channels *space"]) -> Tensor:
        return F.prelu(x, self.weight_scheme())

    def folded(self) -> nn.Module:
        plain = nn.PReLU(self.channels.size).to(self.weight.device, self.weight.dtype)
        plain.weight.data.copy_(self.weight.detach())
        return plain.train(self.training)
