"""A multi-layer perceptron, the default for vectors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from math import prod

from torch import nn

from isotropy.models.arguments import require_count, require_shape


def plain_mlp(
    example_shape: Sequence[int], outputs: int, width: int = 64, depth: int = 2
) -> nn.Sequential:
    """Hidden linear layers of one width with ReLU, then a linear layer.

    Made of torch.nn alone, so that what `iso.fold` returns needs nothing of isotropy.

    Args:
        example_shape: (features,); anything with more dimensions is flattened first.
        outputs: numbers per example.
        width: of every hidden layer.
        depth: how many hidden layers.

    >>> import torch
    >>> plain_mlp((9,), 3)(torch.zeros(2, 9)).shape
    torch.Size([2, 3])
    """
    shape = require_shape(example_shape)
    inp = prod(shape)
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    if len(shape) > 1:
        layers["flatten"] = nn.Flatten()
    for number in range(1, require_count(depth, "depth") + 1):
        layers[f"hidden{number}"] = nn.Linear(inp, width)
        layers[f"relu{number}"] = nn.ReLU()
        inp = width
    layers["head"] = nn.Linear(inp, outputs)
    return nn.Sequential(layers)
