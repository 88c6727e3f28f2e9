"""Norms with running statistics, one number for every orbit of channels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from isotropy.errors import InputError, NotSupportedError
from isotropy.groups.action import Action, Group
from isotropy.nn.norm import Norm
from isotropy.schemes import OrbitScheme, Partition, Refinement, Scheme, inherit, refinement


class TrackingNorm(Norm):
    """A norm that keeps running statistics, one number for every orbit of channels."""

    index: Int[Tensor, " channels"]
    running_mean: Float[Tensor, " orbits"] | None
    running_var: Float[Tensor, " orbits"] | None
    num_batches_tracked: Tensor | None
    plains: ClassVar[dict[int, type[nn.Module]]]

    def __init__(
        self,
        channels: Action,
        dimensions: int = 2,
        *,
        group: Group | None = None,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        super().__init__(channels, group, eps, affine)
        self.dimensions = dimensions
        self.momentum = momentum
        self.track_running_stats = track_running_stats
        partition = self._partition(self.group)  # type: ignore[arg-type]
        tracked = track_running_stats
        count = partition.count
        self.register_buffer("running_mean", torch.zeros(count) if tracked else None)
        self.register_buffer("running_var", torch.ones(count) if tracked else None)
        self.register_buffer("num_batches_tracked", torch.tensor(0) if tracked else None)
        self._number_channels(partition)

    def _number_channels(self, partition: Partition) -> None:
        self.register_buffer("index", torch.from_numpy(partition.labels), persistent=False)

    def retie(self, group: Group) -> dict[str, Refinement]:
        before = self._partition(self.group)  # type: ignore[arg-type]
        changes = super().retie(group)
        after = self._partition(group)
        how = refinement(before, after)
        for name in ("running_mean", "running_var"):
            value = getattr(self, name)
            if value is not None:
                setattr(self, name, inherit(value, how))
        device = self.index.device
        self._number_channels(after)
        self.to(device)
        return changes

    def _next_momentum(self) -> float:
        """How much the running statistics move now; counts the batch."""
        if self.num_batches_tracked is None:
            return 0.0
        self.num_batches_tracked.add_(1)
        return 1.0 / float(self.num_batches_tracked) if self.momentum is None else self.momentum

    def _require_channels(self, x: Tensor) -> None:
        """Where fields are seen as one channel each, another number of them could pass unseen."""
        if x.shape[1] != self.channels.size:
            kind = type(self).__name__
            raise InputError(f"{kind} is of {self.channels.size} channels, not {x.shape[1]}")

    def _spread(self, values: Tensor | None) -> Tensor | None:
        """From one number per orbit to one per channel."""
        return None if values is None else values.index_select(0, self.index)

    def folded(self) -> nn.Module:
        if not isinstance(self, InstanceNorm) and not self.track_running_stats:
            raise NotSupportedError(
                "a BatchNorm without running statistics shares those of each batch over fields, "
                "for which torch has no module"
            )
        plain: Any = self.plains[self.dimensions](
            self.channels.size,
            eps=self.eps,
            momentum=self.momentum,
            affine=self.weight_scheme is not None,
            track_running_stats=self.track_running_stats,
        )
        plain = self._fill(plain)
        for name in ("running_mean", "running_var"):
            value = self._spread(getattr(self, name))
            if value is not None:
                plain = plain.to(value.device, value.dtype)
                getattr(plain, name).copy_(value)
        if self.num_batches_tracked is not None:
            plain.num_batches_tracked.copy_(self.num_batches_tracked)
        folded: nn.Module = plain
        return folded

    def extra_repr(self) -> str:
        return f"{self.channels.size}, group={self.group}"


class BatchNorm(TrackingNorm):
    """Batch norm whose statistics, scale and shift are shared over the orbits of channels.

    Args:
        channels: the action on channels (the second dimension).
        dimensions: of space: 0 or 1 folds to BatchNorm1d, 2 to 2d, 3 to 3d.
        group: share over this subgroup only.
        eps, momentum, affine, track_running_stats: as in torch.

    >>> import torch, isotropy as iso
    >>> from isotropy.groups import regular
    >>> norm = BatchNorm(regular(iso.group("D4"), fields=4))
    >>> norm(torch.randn(2, 32, 5, 5)).shape, norm.running_mean.shape
    (torch.Size([2, 32, 5, 5]), torch.Size([4]))
    """

    plains: ClassVar = {
        0: nn.BatchNorm1d,
        1: nn.BatchNorm1d,
        2: nn.BatchNorm2d,
        3: nn.BatchNorm3d,
    }

    order: Int[Tensor, " channels"] | None
    rank: Int[Tensor, " channels"] | None
    orbit_size: int | None

    def _number_channels(self, partition: Partition) -> None:
        super()._number_channels(partition)
        order = np.argsort(partition.labels, kind="stable")
        sizes = set(partition.sizes.tolist())
        self.orbit_size = sizes.pop() if len(sizes) == 1 else None
        moved = self.orbit_size is not None and not np.array_equal(order, np.arange(order.size))
        ranks = np.argsort(order).astype(np.int32)
        self.register_buffer(
            "order", torch.from_numpy(order.astype(np.int32)) if moved else None, persistent=False
        )
        self.register_buffer("rank", torch.from_numpy(ranks) if moved else None, persistent=False)

    def forward(self, x: Float[Tensor, "batch channels *space"]) -> Tensor:
        self._require_channels(x)
        if not self.training and self.track_running_stats:
            mean, var = self._spread(self.running_mean), self._spread(self.running_var)
            return F.batch_norm(x, mean, var, self.weight, self.bias, False, 0.0, self.eps)
        momentum = self._next_momentum() if self.training else 0.0
        if not self.orbit_size:
            return self._by_hand(x, momentum)
        return self._by_torch(x, momentum)

    def _by_torch(self, x: Tensor, momentum: float) -> Tensor:
        """All orbits of one size: they are the channels of a batch norm over longer signals."""
        if self.order is not None:
            x = x.index_select(1, self.order)
        weight, bias = self._numbers(self.weight_scheme), self._numbers(self.bias_scheme)
        fields = x.reshape(x.shape[0], self.channels.size // (self.orbit_size or 1), -1)
        out = F.batch_norm(
            fields, self.running_mean, self.running_var, weight, bias, True, momentum, self.eps
        ).reshape(x.shape)
        return out if self.rank is None else out.index_select(1, self.rank)

    def _numbers(self, scheme: Scheme | None) -> Tensor | None:
        """One number for every orbit, all of whose channels have the same."""
        if scheme is None or isinstance(scheme, OrbitScheme):
            return None if scheme is None else scheme.psi
        entries: Tensor = scheme()
        if self.order is not None:
            entries = entries.index_select(0, self.order)
        return entries[:: self.orbit_size]

    def _by_hand(self, x: Tensor, momentum: float) -> Tensor:
        """Orbits of several sizes: average the channels' moments over each orbit."""
        dims = [d for d in range(x.ndim) if d != 1]
        sizes = torch.bincount(self.index).to(x)
        mean = x.new_zeros(sizes.shape).index_add(0, self.index, x.mean(dims)) / sizes
        centred = x - self._view(mean, x)
        var = x.new_zeros(sizes.shape).index_add(0, self.index, (centred**2).mean(dims)) / sizes
        if self.running_mean is not None and self.running_var is not None:
            n = sizes * (x.numel() // x.shape[1])
            with torch.no_grad():
                self.running_mean.lerp_(mean.to(self.running_mean), momentum)
                unbiased = var * n / (n - 1).clamp(min=1)
                self.running_var.lerp_(unbiased.to(self.running_var), momentum)
        out = centred * self._view((var + self.eps).rsqrt(), x)
        weight, bias = self.weight, self.bias
        if weight is not None:
            out = out * weight.view(1, -1, *[1] * (x.ndim - 2))
        return out if bias is None else out + bias.view(1, -1, *[1] * (x.ndim - 2))

    def _view(self, values: Tensor, like: Tensor) -> Tensor:
        spread = values.index_select(0, self.index)
        return spread.view(1, -1, *[1] * (like.ndim - 2))


class InstanceNorm(TrackingNorm):
    """Instance norm: every channel by itself, scale and shift shared over orbits of channels.

    Arguments are those of `BatchNorm`, with torch's defaults for instance norm.

    >>> import torch, isotropy as iso
    >>> from isotropy.groups import regular
    >>> norm = InstanceNorm(regular(iso.group("C4"), fields=4), affine=True)
    >>> norm(torch.randn(2, 16, 5, 5)).shape, sum(p.numel() for p in norm.parameters())
    (torch.Size([2, 16, 5, 5]), 8)
    """

    plains: ClassVar = {1: nn.InstanceNorm1d, 2: nn.InstanceNorm2d, 3: nn.InstanceNorm3d}

    def __init__(
        self,
        channels: Action,
        dimensions: int = 2,
        *,
        group: Group | None = None,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
    ) -> None:
        super().__init__(
            channels,
            dimensions,
            group=group,
            eps=eps,
            momentum=momentum,
            affine=affine,
            track_running_stats=track_running_stats,
        )

    def forward(self, x: Float[Tensor, "batch channels *space"]) -> Tensor:
        self._require_channels(x)
        own_statistics = self.training or not self.track_running_stats
        mean, var = self._spread(self.running_mean), self._spread(self.running_var)
        momentum = self._next_momentum() if self.training else 0.0
        out = F.instance_norm(
            x, mean, var, self.weight, self.bias, own_statistics, momentum, self.eps
        )
        if self.training:
            self._gather(self.running_mean, mean)
            self._gather(self.running_var, var)
        return out

    @torch.no_grad()
    def _gather(self, running: Tensor | None, updated: Tensor | None) -> None:
        """Bring statistics that torch moved channel by channel back to one per orbit."""
        if running is not None and updated is not None:
            sizes = torch.zeros_like(running).index_add_(0, self.index, torch.ones_like(updated))
            running.zero_().index_add_(0, self.index, updated).div_(sizes)
