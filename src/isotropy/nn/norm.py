"""Normalisation with one scale and one shift for every orbit of channels.

A norm that treats the channels of one field differently breaks equivariance. These keep the layout
of channels and fold to torch's own norms.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from isotropy.errors import InputError
from isotropy.groups.action import Action, Group
from isotropy.nn.tied import TiedModule
from isotropy.schemes import OrbitScheme, Partition, Scheme, vector_partition


class Norm(TiedModule):
    """Shared by the norms: scale and shift, one number for every orbit of channels."""

    weight_scheme: Scheme | None
    bias_scheme: Scheme | None

    def __init__(
        self,
        channels: Action,
        group: Group | None,
        eps: float,
        affine: bool,
        shape: tuple[int, ...] | None = None,
        bias: bool = True,
    ) -> None:
        super().__init__()
        require_unsigned(channels, type(self).__name__)
        self.channels = channels
        self.layout = channels.group
        self.group = group or channels.group
        self.eps = eps
        self.shape = shape or (channels.size,)
        partition = self._partition(self.group)
        self.weight_scheme = _ones(OrbitScheme(partition)) if affine else None
        self.bias_scheme = OrbitScheme(partition) if affine and bias else None

    def _partition(self, group: Group) -> Partition:
        return vector_partition(self.channels, group, self.shape)

    def partitions(self, group: Group) -> dict[str, Partition]:
        partition = self._partition(group)
        return {"weight_scheme": partition, "bias_scheme": partition}

    @property
    def weight(self) -> Tensor | None:
        """The scale of every channel."""
        return None if self.weight_scheme is None else self.weight_scheme()

    @property
    def bias(self) -> Tensor | None:
        """The shift of every channel."""
        return None if self.bias_scheme is None else self.bias_scheme()

    @torch.no_grad()
    def _fill(self, plain: nn.Module) -> nn.Module:
        for name in ("weight", "bias"):
            value = getattr(self, name)
            if value is not None:
                plain = plain.to(value.device, value.dtype)
                getattr(plain, name).copy_(value)
                scheme = getattr(self, f"{name}_scheme")
                getattr(plain, name).requires_grad_(scheme.trains)
        return plain.train(self.training)


def _ones(scheme: OrbitScheme) -> OrbitScheme:
    nn.init.ones_(scheme.psi)
    return scheme


class GroupNorm(Norm):
    """Group norm over blocks of channels that the action keeps together.

    Args:
        num_groups: number of blocks.
        channels: the action on channels; each block must hold whole fields.
        group: share over this subgroup only.
        eps, affine: as in torch.

    >>> import torch, isotropy as iso
    >>> from isotropy.groups import regular
    >>> norm = GroupNorm(2, regular(iso.group("C4"), fields=4))
    >>> norm(torch.randn(2, 16, 5, 5)).shape
    torch.Size([2, 16, 5, 5])
    """

    def __init__(
        self,
        num_groups: int,
        channels: Action,
        *,
        group: Group | None = None,
        eps: float = 1e-5,
        affine: bool = True,
    ) -> None:
        _require_blocks(channels, num_groups)
        super().__init__(channels, group, eps, affine)
        self.num_groups = num_groups

    def forward(self, x: Float[Tensor, "batch channels *space"]) -> Tensor:
        return F.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)

    def folded(self) -> nn.Module:
        affine = self.weight_scheme is not None
        return self._fill(nn.GroupNorm(self.num_groups, self.channels.size, self.eps, affine))


def require_unsigned(channels: Action, what: str) -> None:
    """Refuse actions with signs for layers that do not commute with them."""
    if channels.is_signed:
        raise InputError(f"{what} does not commute with sign changes of channels")


def _require_blocks(channels: Action, num_groups: int) -> None:
    if num_groups < 1 or channels.size % num_groups:
        raise InputError(f"num_groups={num_groups} does not divide {channels.size} channels")
    block = np.arange(channels.size) // (channels.size // num_groups)
    for g, move in channels.moves.items():
        image = block[move.target].reshape(num_groups, -1)
        if (image != image[:, :1]).any():
            raise InputError(
                f"GroupNorm with num_groups={num_groups} on {channels.size} channels: {g} of "
                f"{channels.group.name} mixes its blocks; each must hold whole fields"
            )


class LayerNorm(Norm):
    """Layer norm over the last dimensions, scale and shift shared over the action's orbits.

    Args:
        channels: the action on the normalised coordinates, as one vector.
        shape: their shape; by default one dimension.
        group: share over this subgroup only.
        eps, elementwise_affine, bias: as in torch.

    >>> import torch, isotropy as iso
    >>> from isotropy.groups import regular
    >>> norm = LayerNorm(regular(iso.group("C4"), fields=4))
    >>> norm(torch.randn(2, 16)).shape, sum(p.numel() for p in norm.parameters())
    (torch.Size([2, 16]), 8)
    """

    def __init__(
        self,
        channels: Action,
        shape: tuple[int, ...] | None = None,
        *,
        group: Group | None = None,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__(channels, group, eps, elementwise_affine, shape, bias)

    def forward(self, x: Float[Tensor, "*batch channels"]) -> Tensor:
        return F.layer_norm(x, self.shape, self.weight, self.bias, self.eps)

    def folded(self) -> nn.Module:
        affine, bias = self.weight_scheme is not None, self.bias_scheme is not None
        return self._fill(nn.LayerNorm(self.shape, self.eps, affine, bias))
