"""VGG-11 with batch norm, for pictures of any size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from torch import nn

from isotropy.models.arguments import require_grid
from isotropy.models.grid import Grid

_STAGES = ((1,), (2,), (4, 4), (8, 8), (8, 8))


def plain_vgg(
    example_shape: Sequence[int], outputs: int, width: int = 16, dropout: float = 0.5
) -> nn.Sequential:
    """Eight 3×3 convolutions in five stages, the mean over the grid, two linear layers.

    Every stage halves the grid as long as there are two pixels to halve, so a grid under 32 is one
    pixel before the last stage. Made of torch.nn alone, so that what `iso.fold` returns needs
    nothing of isotropy.

    Args:
        example_shape: (channels, *grid) with one to three axes.
        outputs: numbers per example.
        width: channels of the first stage; later ones have 2, 4, 8, 8 times as many.
        dropout: before the last linear layer.

    >>> import torch
    >>> plain_vgg((3, 32, 32), 10)(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 10])
    """
    channels, grid = require_grid("vgg", example_shape, halvings=1)
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    for number, multiples in enumerate(_STAGES, start=1):
        widths = [width * m for m in multiples]
        layers[f"stage{number}"] = _stage(grid, channels, widths)
        channels = widths[-1]
        if grid.least > 1:
            layers[f"pool{number}"] = grid.max_pool()
            grid = grid.halved()
    layers["head"] = _head(grid, channels, outputs, dropout)
    return nn.Sequential(layers)


def _stage(grid: Grid, inp: int, widths: Sequence[int]) -> nn.Sequential:
    blocks: OrderedDict[str, nn.Module] = OrderedDict()
    for number, out in enumerate(widths, start=1):
        blocks[f"block{number}"] = grid.conv_block(inp, out)
        inp = out
    return nn.Sequential(blocks)


def _head(grid: Grid, channels: int, outputs: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(
        OrderedDict(
            pool=grid.global_mean(),
            flatten=nn.Flatten(),
            hidden=nn.Linear(channels, channels),
            relu=nn.ReLU(),
            dropout=nn.Dropout(dropout),
            linear=nn.Linear(channels, outputs),
        )
    )
