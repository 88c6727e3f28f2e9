"""A small convolutional network, the default for pictures, signals and volumes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise

from torch import nn

from isotropy.errors import InputError
from isotropy.models.arguments import require_count, require_grid

_LARGE = 16  # pixels from which on a third stage is worth its while
_MULTIPLES = (1, 2, 2, 4, 4, 8)


def plain_cnn(
    example_shape: Sequence[int], outputs: int, width: int = 16, stages: int | None = None
) -> nn.Sequential:
    """Stages of two 3×3 convolutions with batch norm, each but the first halving the grid.

    Made of torch.nn alone, so that what `iso.fold` returns needs nothing of isotropy.

    Args:
        example_shape: (channels, *grid) with one to three axes.
        outputs: numbers per example.
        width: channels of the first stage; later ones have 2, 2, 4, … times as many.
        stages: 2 on grids under 16 pixels and 3 on others, unless given.

    >>> import torch
    >>> net = plain_cnn((1, 28, 28), 10)
    >>> net(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    >>> list(dict(net.named_children()))
    ['stage1', 'pool1', 'stage2', 'pool2', 'stage3', 'head']
    """
    if stages is None:
        stages = 3 if min(example_shape[1:], default=0) >= _LARGE else 2
    require_count(stages, "stages")
    if stages > len(_MULTIPLES):
        raise InputError(f"stages must be at most {len(_MULTIPLES)}, not {stages}")
    channels, grid = require_grid("cnn", example_shape, stages - 1)
    widths = [channels, *(width * m for m in _MULTIPLES[:stages])]
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    for number, (inp, out) in enumerate(pairwise(widths), start=1):
        if number > 1:
            layers[f"pool{number - 1}"] = grid.max_pool()
            grid = grid.halved()
        layers[f"stage{number}"] = grid.double_block(inp, out)
    layers["head"] = grid.mean_head(widths[-1], outputs)
    return nn.Sequential(layers)
