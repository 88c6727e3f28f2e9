"""Small data and models to train on, each in a fraction of a second."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import torch
from torch import nn

from isotropy.data import DataSet, from_arrays


def pictures(count: int = 24, side: int = 6, classes: int = 3, seed: int = 0) -> DataSet:
    """Noise with a bright row, whose number is the class."""
    draws = np.random.default_rng(seed)
    y = np.arange(count) % classes
    X = draws.normal(size=(count, 1, side, side)).astype(np.float32)
    X[np.arange(count), 0, y] += 3.0
    return from_arrays(X, y)


def vectors(count: int = 24, features: int = 4, seed: int = 0) -> DataSet:
    """Numbers with a linear target in two columns."""
    draws = np.random.default_rng(seed)
    X = draws.normal(size=(count, features)).astype(np.float32)
    return from_arrays(X, X @ draws.normal(size=(features, 2)))


def maps(count: int = 12, side: int = 6, seed: int = 0) -> DataSet:
    """Pictures of which every bright pixel is to be found."""
    X = np.random.default_rng(seed).normal(size=(count, 1, side, side)).astype(np.float32)
    return from_arrays(X, (X[:, 0] > 0).astype(np.int64), task="dense")


def small_net(outputs: int = 3, dropout: float = 0.25, seed: int = 0) -> nn.Module:
    """A convolution, batch norm, dropout and a linear layer: all that has a state."""
    torch.manual_seed(seed)
    return nn.Sequential(
        OrderedDict(
            conv=nn.Conv2d(1, 4, 3, padding=1),
            norm=nn.BatchNorm2d(4),
            relu=nn.ReLU(),
            mix=nn.Conv2d(4, 4, 3, padding=1),
            dropout=nn.Dropout(dropout),
            pool=nn.AdaptiveAvgPool2d((3, 1)),
            flatten=nn.Flatten(),
            linear=nn.Linear(12, outputs),
        )
    )


def linear_net(features: int = 4, outputs: int = 2, seed: int = 0) -> nn.Module:
    """One linear layer."""
    torch.manual_seed(seed)
    return nn.Linear(features, outputs)


def weights(model: nn.Module) -> dict[str, torch.Tensor]:
    """A copy of a model's state."""
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def same(a: nn.Module | dict[str, torch.Tensor], b: nn.Module | dict[str, torch.Tensor]) -> bool:
    """Whether two models, or their states, are equal to the bit."""
    first, second = (x.state_dict() if isinstance(x, nn.Module) else x for x in (a, b))
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)
