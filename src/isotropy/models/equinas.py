"""The network of EquiNAS: eight convolutions, two linear layers (001, Appendix B)."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence

from torch import nn

from isotropy.errors import InputError
from isotropy.models.arguments import require_count, require_grid
from isotropy.models.grid import Grid

_MULTIPLES = (1, 1, 1, 1, 2, 2, 2, 2)
_KERNEL = 5
_LARGE = 64  # pixels from which on the paper pools once more
_POOLED, _POOLED_LARGE = (2, 4, 6), (2, 4, 5, 6)
_POOLS = ("exact", "paper")


def equinas(
    example_shape: Sequence[int],
    outputs: int,
    width: int = 128,
    hidden: int | None = None,
    pool: str = "exact",
    order: int = 1,
) -> nn.Sequential:
    """Eight 5×5 convolutions with batch norm, twice as wide from the fifth on; two linear layers.

    The grid is halved after the third, fifth and seventh convolution, and from 64 pixels on after
    the sixth too. Tied under D4 a width of 128 is the paper's 16 and 32 fields.

    Args:
        example_shape: (channels, *grid) with one to three axes.
        outputs: numbers per example.
        width: channels of the first four convolutions.
        hidden: numbers between the two linear layers; as many as the last convolution has channels,
            unless given (the paper has 64 for digits and 128 for other pictures).
        pool: "exact" takes means over windows that fit the grid; "paper" over 3 pixels with stride
            2 and padding 1, which fit odd sizes only: on others `iso.equivariant` says how far the
            tied network is from equivariant, and so does `iso.audit`.
        order: of the group that the network will be tied under. Weights are drawn with variance
            1 / (c_out · c_in), where c counts fields, width / order (001); batch norm takes the
            scale out again, but not out of the first steps.

    >>> import torch
    >>> net = equinas((1, 28, 28), 10, width=8)
    >>> net(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    >>> [name for name, _ in net.named_children()][:4]
    ['block1', 'block2', 'block3', 'pool3']
    """
    order = require_count(order, "order")
    if pool not in _POOLS:
        raise InputError(f"pool must be one of {_POOLS}, not {pool!r}")
    channels, grid = require_grid("equinas", example_shape, len(_POOLED))
    pooled = _POOLED_LARGE if grid.least >= _LARGE else _POOLED
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    for number, multiple in enumerate(_MULTIPLES):
        deviation = _deviation(channels, width * multiple, order, first=number == 0)
        layers[f"block{number + 1}"] = _block(grid, channels, width * multiple, deviation)
        channels = width * multiple
        if number in pooled:
            layers[f"pool{number + 1}"] = _pool(grid, pool)
            grid = grid.halved() if pool == "exact" else grid.halved_up()
    hidden = channels if hidden is None else require_count(hidden, "hidden")
    layers["head"] = _head(grid, channels, hidden, outputs)
    return nn.Sequential(layers)


def _deviation(inp: int, out: int, order: int, first: bool) -> float:
    """Of fresh weights; the picture's own channels are no fields."""
    fields_in = inp if first else max(inp // order, 1)
    return 1 / math.sqrt(fields_in * max(out // order, 1))


def _block(grid: Grid, inp: int, out: int, deviation: float) -> nn.Sequential:
    conv = grid.conv(inp, out, _KERNEL)
    nn.init.normal_(next(conv.parameters()), std=deviation)
    return nn.Sequential(OrderedDict(conv=conv, norm=grid.norm(out), relu=nn.ReLU()))


def _pool(grid: Grid, pool: str) -> nn.Module:
    return grid.mean_pool() if pool == "exact" else grid.mean_pool_padded()


def _head(grid: Grid, channels: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        OrderedDict(
            pool=grid.global_mean(),
            flatten=nn.Flatten(),
            hidden=nn.Linear(channels, hidden, bias=False),
            norm=nn.BatchNorm1d(hidden),
            relu=nn.ReLU(),
            linear=nn.Linear(hidden, outputs),
        )
    )
