"""The layers that fit a grid: convolutions that keep its size, pooling that halves it exactly."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from torch import nn

_CONV: tuple[type[nn.Module], ...] = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_NORM: tuple[type[nn.Module], ...] = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
_MAX: tuple[type[nn.Module], ...] = (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)
_MEAN: tuple[type[nn.Module], ...] = (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)
_DROPOUT: tuple[type[nn.Module], ...] = (nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)
_ONE: tuple[type[nn.Module], ...] = (
    nn.AdaptiveAvgPool1d,
    nn.AdaptiveAvgPool2d,
    nn.AdaptiveAvgPool3d,
)
_LINEAR = ("linear", "bilinear", "trilinear")


@dataclass(frozen=True)
class Grid:
    """The grid of a signal, picture or volume, and torch's layers for it.

    A window of 2 with stride 2 leaves a row of an odd grid over, at one end, and a turned picture
    is then cut up differently; a window of 3 fits. So halving takes 2 where the size is even and 3
    where it is odd. Either way ⌊size / 2⌋ pixels are left, as after an ordinary pooling.

    Args:
        sizes: pixels along each of one to three axes.

    >>> Grid((28, 29)).max_pool()
    MaxPool2d(kernel_size=(2, 3), stride=2, padding=0, dilation=1, ceil_mode=False)
    >>> Grid((28, 29)).halved(2)
    Grid(sizes=(7, 7))
    """

    sizes: tuple[int, ...]

    @property
    def axes(self) -> int:
        """How many axes there are."""
        return len(self.sizes)

    @property
    def least(self) -> int:
        """Pixels along the shortest axis."""
        return min(self.sizes)

    def halved(self, times: int = 1) -> Grid:
        """What a pooling leaves, or several one after the other."""
        return Grid(tuple(size >> times for size in self.sizes))

    def conv(self, inp: int, out: int, kernel: int = 3, bias: bool = False) -> nn.Module:
        """A convolution that keeps the grid's size."""
        return _CONV[self.axes - 1](inp, out, kernel, padding=kernel // 2, bias=bias)

    def norm(self, channels: int) -> nn.Module:
        """Batch norm."""
        return _NORM[self.axes - 1](channels)

    def dropout(self, p: float) -> nn.Module:
        """Dropout of whole channels: tied, whole fields, so that a draw is equivariant as well."""
        return _DROPOUT[self.axes - 1](p)

    def max_pool(self) -> nn.Module:
        """The maximum over windows, which halves the grid."""
        return _MAX[self.axes - 1](self._window(), stride=2)

    def mean_pool(self) -> nn.Module:
        """The mean over windows, which halves the grid."""
        return _MEAN[self.axes - 1](self._window(), stride=2)

    def halved_up(self) -> Grid:
        """What a pooling with padding leaves: half the pixels, rounded up."""
        return Grid(tuple(-(-size // 2) for size in self.sizes))

    def mean_pool_padded(self) -> nn.Module:
        """The mean over 3 pixels with padding, which halves the grid; it fits odd sizes only."""
        return _MEAN[self.axes - 1](3, stride=2, padding=1)

    def global_mean(self) -> nn.Module:
        """The mean over the whole grid."""
        return _ONE[self.axes - 1](1)

    def resize(self) -> nn.Module:
        """Linear interpolation to this grid from any other, exact between any two sizes."""
        return nn.Upsample(size=self.sizes, mode=_LINEAR[self.axes - 1], align_corners=False)

    def conv_block(self, inp: int, out: int) -> nn.Sequential:
        """Convolution, batch norm, ReLU."""
        return nn.Sequential(
            OrderedDict(conv=self.conv(inp, out), norm=self.norm(out), relu=nn.ReLU())
        )

    def double_block(self, inp: int, out: int) -> nn.Sequential:
        """Two blocks one after the other."""
        return nn.Sequential(
            OrderedDict(block1=self.conv_block(inp, out), block2=self.conv_block(out, out))
        )

    def mean_head(self, channels: int, outputs: int) -> nn.Sequential:
        """The mean over the grid, then a linear layer."""
        return nn.Sequential(
            OrderedDict(
                pool=self.global_mean(), flatten=nn.Flatten(), linear=nn.Linear(channels, outputs)
            )
        )

    def _window(self) -> tuple[int, ...]:
        return tuple(2 + size % 2 for size in self.sizes)
