"""ResNet-18 for small pictures, down-sampled so that turned pictures stay in step."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from isotropy.models.arguments import require_count, require_grid
from isotropy.models.grid import Grid


class ResidualBlock(nn.Module):
    """Two convolutions beside a shortcut, which is a 1×1 convolution where channels change.

    Args:
        grid: what it runs on; it leaves its size as it is.
        inp: channels that come in.
        out: channels that go out.

    >>> block = ResidualBlock(Grid((8, 8)), 4, 8)
    >>> block(torch.zeros(2, 4, 8, 8)).shape
    torch.Size([2, 8, 8, 8])
    """

    def __init__(self, grid: Grid, inp: int, out: int) -> None:
        super().__init__()
        self.conv1 = grid.conv(inp, out)
        self.norm1 = grid.norm(out)
        self.conv2 = grid.conv(out, out)
        self.norm2 = grid.norm(out)
        self.shortcut: nn.Module = nn.Identity()
        if inp != out:
            self.shortcut = nn.Sequential(grid.conv(inp, out, kernel=1), grid.norm(out))

    def forward(self, x: Float[Tensor, "batch inp *grid"]) -> Float[Tensor, "batch out *grid"]:
        y = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


class ResNet(nn.Module):
    """A 3×3 stem, four stages of two residual blocks, the mean over the grid, a linear layer.

    A 3×3 convolution with stride 2 and padding 1 keeps its place only on odd grids. Here a mean
    over windows that fit halves the grid before a stage, for the block and its shortcut alike, and
    all convolutions have stride 1: exact at any size and at the same cost (ResNet-D does so on its
    shortcuts).

    Args:
        example_shape: (channels, *grid) with one to three axes.
        outputs: numbers per example.
        width: channels of the stem and first stage; later ones have 2, 4, 8 times as many.
        blocks: residual blocks of each stage.

    >>> ResNet((3, 32, 32), 10)(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self,
        example_shape: Sequence[int],
        outputs: int,
        width: int = 16,
        blocks: Sequence[int] = (2, 2, 2, 2),
    ) -> None:
        super().__init__()
        counts = [require_count(count, f"blocks {tuple(blocks)}: every count") for count in blocks]
        require_count(len(counts), "the number of stages in blocks")
        channels, grid = require_grid("resnet", example_shape, len(counts) - 1)
        self.stem = grid.conv_block(channels, width)
        self.stages = nn.Sequential()
        inp = width
        for i, count in enumerate(counts):
            out = width * 2**i
            if i:
                self.stages.append(grid.mean_pool())
                grid = grid.halved()
            self.stages.append(_stage(grid, inp, out, count))
            inp = out
        self.head = grid.mean_head(inp, outputs)

    def forward(self, x: Float[Tensor, "batch channels *grid"]) -> Float[Tensor, "batch outputs"]:
        y: Tensor = self.head(self.stages(self.stem(x)))
        return y


def _stage(grid: Grid, inp: int, out: int, count: int) -> nn.Sequential:
    first = ResidualBlock(grid, inp, out)
    return nn.Sequential(first, *(ResidualBlock(grid, out, out) for _ in range(count - 1)))
