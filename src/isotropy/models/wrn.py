"""Wide residual networks: norm and ReLU before each convolution, few layers, many channels."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from isotropy.errors import InputError
from isotropy.models.arguments import require_count, require_grid
from isotropy.models.grid import Grid


class WideBlock(nn.Module):
    """Two convolutions, each after norm and ReLU; a 1×1 shortcut where channels change.

    Args:
        grid: what it runs on; it leaves its size as it is.
        inp: channels that come in.
        out: channels that go out.
        dropout: of channels, between the convolutions.

    >>> block = WideBlock(Grid((8, 8)), 4, 8)
    >>> block(torch.zeros(2, 4, 8, 8)).shape
    torch.Size([2, 8, 8, 8])
    """

    def __init__(self, grid: Grid, inp: int, out: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm1 = grid.norm(inp)
        self.conv1 = grid.conv(inp, out)
        self.norm2 = grid.norm(out)
        self.dropout = grid.dropout(dropout) if dropout else nn.Identity()
        self.conv2 = grid.conv(out, out)
        self.shortcut = None if inp == out else grid.conv(inp, out, kernel=1)

    def forward(self, x: Float[Tensor, "batch inp *grid"]) -> Float[Tensor, "batch out *grid"]:
        start = torch.relu(self.norm1(x))
        y: Tensor = self.conv2(self.dropout(torch.relu(self.norm2(self.conv1(start)))))
        across: Tensor = x if self.shortcut is None else self.shortcut(start)
        return across + y


class WideResNet(nn.Module):
    """WRN-depth-widen: a stem, three stages of wide blocks, norm, the mean, a linear layer.

    The grid is halved by a mean before the second and third stage, as in `ResNet`, since strided
    convolutions are exact on odd grids only.

    Args:
        example_shape: (channels, *grid) with one to three axes.
        outputs: numbers per example.
        width: channels of the stem; the stages have 1, 2, 4 times widen · width.
        depth: layers with weights, 6 n + 4 for n blocks in each stage.
        widen: how much wider than the stem the stages are; WRN-16-4 is depth 16, widen 4.
        dropout: of channels, between the two convolutions of every block.

    >>> WideResNet((1, 28, 28), 10, width=8)(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self,
        example_shape: Sequence[int],
        outputs: int,
        width: int = 16,
        depth: int = 16,
        widen: int = 2,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if depth < 10 or (depth - 4) % 6:
            raise InputError(f"depth must be 6 n + 4, as 10, 16, 22 or 28, not {depth!r}")
        require_count(widen, "widen")
        channels, grid = require_grid("wrn", example_shape, halvings=2)
        self.stem = grid.conv(channels, width)
        self.stages = nn.Sequential()
        inp = width
        for i in range(3):
            out = width * widen * 2**i
            if i:
                self.stages.append(grid.mean_pool())
                grid = grid.halved()
            self.stages.append(_stage(grid, inp, out, (depth - 4) // 6, dropout))
            inp = out
        self.norm = grid.norm(inp)
        self.head = grid.mean_head(inp, outputs)

    def forward(self, x: Float[Tensor, "batch channels *grid"]) -> Float[Tensor, "batch outputs"]:
        y: Tensor = self.head(torch.relu(self.norm(self.stages(self.stem(x)))))
        return y


def _stage(grid: Grid, inp: int, out: int, count: int, dropout: float) -> nn.Sequential:
    first = WideBlock(grid, inp, out, dropout)
    return nn.Sequential(first, *(WideBlock(grid, out, out, dropout) for _ in range(count - 1)))
