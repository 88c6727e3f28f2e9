"""What the two-sample test sees of a sample: the values themselves, and the answers of filters.

Any fixed features make the test valid; these are to make it see much: where things are (values on
a coarse grid), and what small patterns there are, wherever they are (random filters, their mean
and spread over the grid).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

Numbers = NDArray[np.float64]

COARSE = {1: 64, 2: 14, 3: 7}  # points along every axis of the coarse grid, by axes
FINE = {1: 256, 2: 40, 3: 16}  # the same for filters
FILTERS = 48
FAR = 5.0  # deviations beyond which a value counts no more

_CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
_POOL: dict[int, Callable[..., Tensor]] = {
    1: F.adaptive_avg_pool1d,
    2: F.adaptive_avg_pool2d,
    3: F.adaptive_avg_pool3d,
}


def views(x: Tensor) -> list[Numbers]:
    """Several sets of features of the same samples, each (samples, features), of one scale.

    Args:
        x: (samples, channels, *grid) or (samples, features).

    >>> [len(view) for view in views(torch.randn(5, 1, 8, 8))]
    [5, 5]
    """
    if x.ndim == 2:
        return [standardised(x)]
    return [standardised(shrunk(x, COARSE[x.ndim - 2])), standardised(answers(x))]


def standardised(x: Tensor) -> Numbers:
    """Flat features with mean 0 and deviation 1 each, without those that never change."""
    flat = x.flatten(1).double().numpy()
    spread = flat.std(0)
    kept = spread > 1e-9 * max(float(np.abs(flat).max(initial=0)), 1e-300)
    if not kept.any():
        return np.zeros((len(flat), 1))
    centred = (flat[:, kept] - flat[:, kept].mean(0)) / spread[kept]
    return np.asarray(np.clip(centred, -FAR, FAR))


def shrunk(x: Tensor, most: int) -> Tensor:
    """The samples on a grid of at most so many points along every axis."""
    sizes = tuple(min(size, most) for size in x.shape[2:])
    if sizes == tuple(x.shape[2:]):
        return x
    shrink = _POOL[len(sizes)]
    return torch.cat([shrink(part, sizes) for part in torch.split(x, 256)])


def answers(x: Tensor) -> Tensor:
    """Mean and spread over the grid of what random filters answer, at two scales.

    Args:
        x: (samples, channels, *grid).
    """
    axes = x.ndim - 2
    x = shrunk(x, FINE[axes])
    x = (x - x.mean()) / x.std().clamp_min(1e-12)
    found = [_filtered(x, 1)]
    if min(x.shape[2:]) >= 4:
        found.append(_filtered(_POOL[axes](x, tuple(s // 2 for s in x.shape[2:])), 2))
    return torch.cat(found, 1)


def _filtered(x: Tensor, seed: int) -> Tensor:
    axes = x.ndim - 2
    size = min(5, *x.shape[2:])
    draw = torch.Generator().manual_seed(seed)
    filters = torch.randn(FILTERS, x.shape[1], *[size] * axes, generator=draw)
    filters /= filters[0].numel() ** 0.5
    found = []
    for part in torch.split(x, 128):
        answer = _CONV[axes](part, filters).relu().flatten(2)
        found.append(torch.cat([answer.mean(2), answer.std(2, correction=0)], 1))
    return torch.cat(found)
