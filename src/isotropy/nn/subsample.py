"""Taking every s-th pixel in a way that a mirrored picture survives.

A grid of stride s that does not fit leaves r pixels over at one end. The mean over its r + 1
placements is symmetric, of the same size, and the plain grid itself when r = 0.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

_AVERAGE = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)
_AVERAGE_MODULES: tuple[type[nn.Module], ...] = (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)


def smooth(x: Tensor, stride: tuple[int, ...], left_over: tuple[int, ...]) -> Tensor:
    """The mean over all placements of a strided grid: the smallest symmetric one."""
    window = tuple(r + 1 for r in left_over)
    pooled: Tensor = _AVERAGE[len(stride) - 1](x, window, stride)
    return pooled


def smoothing_module(stride: tuple[int, ...], left_over: tuple[int, ...]) -> nn.Module:
    """`smooth` as a plain module."""
    window = tuple(r + 1 for r in left_over)
    return _AVERAGE_MODULES[len(stride) - 1](window, stride)


class SymmetricPool(nn.Module):
    """A pooling that a mirrored picture survives: stride 1, then the mean over the left-over.

    Args:
        pool: the pooling with its stride set to 1.
        stride: the stride it had.
        left_over: pixels that its last window left over, for every axis.
    """

    def __init__(
        self, pool: nn.Module, stride: tuple[int, ...], left_over: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.pool = pool
        self.stride = stride
        self.left_over = left_over

    def forward(self, x: Tensor) -> Tensor:
        return smooth(self.pool(x), self.stride, self.left_over)

    def folded(self) -> nn.Module:
        """The same in torch's own modules."""
        return nn.Sequential(self.pool, smoothing_module(self.stride, self.left_over))
