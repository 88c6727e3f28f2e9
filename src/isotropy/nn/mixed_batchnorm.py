"""Batch norm behind a mixed layer: every group's own, mixed by the layer's weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from isotropy.groups.action import Action, Group
from isotropy.nn.batchnorm import BatchNorm, TrackingNorm
from isotropy.nn.blueprint import meet_all
from isotropy.nn.moments import moments
from isotropy.schemes.mixture import MixtureScheme


class MixedBatchNorm(TrackingNorm):
    """Batch norm whose statistics, scale and shift are Σ_G z_G times those shared under G.

    The channels of a mixed layer's field differ as far as its smaller groups have weight, so no
    one way to share their statistics is right. Here z says how much each has: with all of it on
    one group this is `BatchNorm` under that group, exactly, in either mode.

    Args:
        channels: the action on channels (the second dimension).
        dimensions: of space: 0 or 1 folds to BatchNorm1d, 2 to 2d, 3 to 3d.
        groups: those that are mixed.
        alpha: the weights before the softmax, of the layer it follows.
        eps, momentum, affine, track_running_stats: as in torch.

    >>> import isotropy as iso
    >>> from isotropy.groups import regular
    >>> d4, c1 = iso.group("D4"), iso.group("C1")
    >>> norm = MixedBatchNorm(regular(d4), 2, [d4, c1], nn.Parameter(torch.zeros(2)))
    >>> norm(torch.randn(2, 8, 5, 5)).shape, norm.running_mean.shape
    (torch.Size([2, 8, 5, 5]), torch.Size([9]))
    """

    plains: ClassVar = BatchNorm.plains
    labels: Int[Tensor, "groups channels"]
    sizes: Float[Tensor, " orbits"]

    def __init__(
        self,
        channels: Action,
        dimensions: int,
        groups: Sequence[Group],
        alpha: nn.Parameter,
        *,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        super().__init__(
            channels,
            dimensions,
            group=meet_all(list(groups)),
            eps=eps,
            momentum=momentum,
            affine=affine,
            track_running_stats=track_running_stats,
        )
        self.alpha = alpha
        partitions = {g.name: self._partition(g) for g in groups}
        if affine:
            scale = MixtureScheme(partitions, alpha, normalise=False)
            self.weight_scheme = scale.project_(torch.ones(channels.size))
            self.bias_scheme = MixtureScheme(partitions, alpha, normalise=False)
        starts = np.cumsum([0, *(p.count for p in partitions.values())])
        pairs = zip(partitions.values(), starts, strict=False)
        labels = np.stack([p.labels + start for p, start in pairs])
        sizes = np.concatenate([p.sizes for p in partitions.values()]).astype(np.float32)
        self.register_buffer("labels", torch.from_numpy(labels), persistent=False)
        self.register_buffer("sizes", torch.from_numpy(sizes), persistent=False)
        if track_running_stats:
            self.register_buffer("running_mean", torch.zeros(sizes.size))
            self.register_buffer("running_var", torch.ones(sizes.size))

    def forward(self, x: Float[Tensor, "batch channels *space"]) -> Tensor:
        mean, var = self._statistics(x)
        return standardise(x, self._mix(mean), self._mix(var), self.weight, self.bias, self.eps)

    def _statistics(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if self.training or self.running_mean is None or self.running_var is None:
            return self._batch_statistics(x)
        return self.running_mean, self.running_var

    def _batch_statistics(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance over every orbit of every group."""
        own_mean, own_var = moments(x if x.dtype == self.alpha.dtype else x.to(self.alpha.dtype))
        mean = self._over_orbits(own_mean.expand(self.labels.shape))
        apart = own_mean - mean[self.labels]
        var = self._over_orbits(own_var + apart.square())
        if self.training:
            self._track(mean, var, x.numel() // x.shape[1])
        return mean, var

    def _over_orbits(self, values: Float[Tensor, "groups channels"]) -> Float[Tensor, " orbits"]:
        total = values.new_zeros(self.sizes.shape)
        return total.index_add(0, self.labels.flatten(), values.flatten()) / self.sizes

    @torch.no_grad()
    def _track(self, mean: Tensor, var: Tensor, places: int) -> None:
        momentum = self._next_momentum()
        if self.running_mean is None or self.running_var is None:
            return
        n = self.sizes * places
        self.running_mean.lerp_(mean, momentum)
        self.running_var.lerp_(var * n / (n - 1).clamp(min=1), momentum)

    def _mix(self, values: Float[Tensor, " orbits"]) -> Float[Tensor, " channels"]:
        """From one number per orbit of every group to their mixture per channel."""
        # no product of matrices, which autocast would compute in 16 bits
        return (torch.softmax(self.alpha, 0)[:, None] * values[self.labels]).sum(0)

    def _spread(self, values: Tensor | None) -> Tensor | None:
        return None if values is None else self._mix(values)


def standardise(
    x: Float[Tensor, "batch channels *space"],
    mean: Float[Tensor, " channels"],
    var: Float[Tensor, " channels"],
    weight: Float[Tensor, " channels"] | None,
    bias: Float[Tensor, " channels"] | None,
    eps: float,
) -> Float[Tensor, "batch channels *space"]:
    """(x - mean) / √(var + eps) · weight + bias, differentiable by all of them.

    Torch's batch norm takes mean and variance as constants. So they are given as such, and what
    they contribute to the derivative goes by way of scale and shift: the factor below is 1 and the
    difference 0, whatever the numbers are.
    """
    scale = ((var.detach() + eps) / (var + eps)).sqrt()
    scale = scale if weight is None else scale * weight
    shift = (mean.detach() - mean) * scale * (var.detach() + eps).rsqrt()
    shift = shift if bias is None else shift + bias
    return F.batch_norm(x, mean.detach(), var.detach(), scale, shift, False, 0.0, eps)
