"""A U-Net: from a picture to a map of the same size."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from isotropy.models.arguments import require_count, require_grid


class UNet(nn.Module):
    """Down and up again; every level hands its map across to be concatenated on the way up.

    The way up is linear interpolation to the size of the map that was handed across: repeating
    pixels is exact only by whole factors, hence on grids that are even at every level.

    Args:
        example_shape: (channels, *grid) with one to three axes.
        outputs: numbers per pixel.
        width: channels of the first level; the next ones have 2, 4, … times as many.
        depth: how often the grid is halved.

    >>> UNet((3, 29, 29), 2, width=8)(torch.zeros(2, 3, 29, 29)).shape
    torch.Size([2, 2, 29, 29])
    """

    def __init__(
        self, example_shape: Sequence[int], outputs: int, width: int = 16, depth: int = 3
    ) -> None:
        super().__init__()
        require_count(depth, "depth")
        channels, grid = require_grid("unet", example_shape, depth)
        self.first = grid.double_block(channels, width)
        self.pool, self.down = nn.ModuleList(), nn.ModuleList()
        self.up, self.join = nn.ModuleList(), nn.ModuleList()
        for level in range(depth):
            above, below = width * 2**level, width * 2 ** (level + 1)
            self.pool.append(grid.max_pool())
            self.down.append(grid.halved().double_block(above, below))
            self.up.insert(0, nn.Sequential(grid.resize(), grid.conv_block(below, above)))
            self.join.insert(0, grid.double_block(2 * above, above))
            grid = grid.halved()
        self.out = grid.conv(width, outputs, kernel=1, bias=True)

    def forward(
        self, x: Float[Tensor, "batch channels *grid"]
    ) -> Float[Tensor, "batch outputs *grid"]:
        y: Tensor = self.first(x)
        across = []
        for pool, down in zip(self.pool, self.down, strict=True):
            across.append(y)
            y = down(pool(y))
        for up, join in zip(self.up, self.join, strict=True):
            y = join(torch.cat([across.pop(), up(y)], 1))
        mapped: Tensor = self.out(y)
        return mapped
