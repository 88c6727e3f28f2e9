"""Data brought to mean 0 and deviation 1, in a way that a model's symmetry leaves as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from isotropy.data import DataSet, Scaling
from isotropy.groups.action import Action
from isotropy.nn.blueprint import blueprint_of

SAMPLES = 4096
"""Mean and deviation are those of so many samples at most: more would not change their digits."""


def standardised(train: DataSet, model: nn.Module) -> DataSet:
    """Training data with inputs, and targets of regression, of mean 0 and deviation 1.

    Channels that a tied model's group exchanges share both numbers. Data that have a scaling
    already keep it. Validation and test data are to be `scaled_like` these.

    Args:
        train: the training data.
        model: what is to be trained on them.

    >>> import isotropy as iso
    >>> digits = iso.data.load("digits").train
    >>> x, _ = standardised(digits, nn.Linear(64, 10)).batch(range(1797))
    >>> abs(float(x.mean())) < 1e-6, abs(float(x.std()) - 1) < 1e-3
    (True, True)
    """
    if train.scaling is not None:
        return train
    blueprint = blueprint_of(model)
    inputs = None if blueprint is None else blueprint.input_action
    columns = None if blueprint is None else blueprint.output_action
    scaling = Scaling.of(_some(train).samples.chunks(), inputs)
    if train.task != "regression":
        return replace(train, scaling=scaling)
    return replace(train, scaling=scaling, target_scaling=_of_targets(train, columns))


def _some(data: DataSet) -> DataSet:
    """So many samples, evenly spaced."""
    if len(data) <= SAMPLES:
        return data
    return data.subset(np.linspace(0, len(data) - 1, SAMPLES).astype(np.int64))


def _of_targets(train: DataSet, action: Action | None) -> Scaling:
    targets = torch.from_numpy(np.asarray(train.targets, dtype=np.float32))
    return Scaling.of([targets], action)


class AsTheyCome(nn.Module):
    """A model that takes inputs as they come and gives targets in their own units.

    Args:
        model: one that was trained on scaled data.
        data: those, or others scaled like them.

    >>> import isotropy as iso
    >>> digits = iso.data.load("digits").train
    >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    >>> scaled = standardised(digits, model)
    >>> x, raw = scaled.batch([0])[0], digits.batch([0])[0]
    >>> torch.allclose(AsTheyCome(model, scaled)(raw), model(x))
    True
    """

    def __init__(self, model: nn.Module, data: DataSet) -> None:
        super().__init__()
        self.model = model
        self.before = None if data.scaling is None else _Affine(data.scaling, inverse=False)
        targets = data.target_scaling
        self.after = None if targets is None else _Affine(targets, inverse=True)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.model(x if self.before is None else self.before(x))
        if self.after is None:
            return y
        columns: Tensor = self.after(y if y.ndim > 1 else y.unsqueeze(1))
        return columns if y.ndim > 1 else columns.squeeze(1)


class _Affine(nn.Module):
    """A scaling, or its inverse, of every channel."""

    def __init__(self, scaling: Scaling, inverse: bool) -> None:
        super().__init__()
        self.inverse = inverse
        self.register_buffer("shift", torch.tensor(scaling.shift))
        self.register_buffer("scale", torch.tensor(scaling.scale))

    def forward(self, x: Tensor) -> Tensor:
        shape = (-1, *[1] * (x.ndim - 2))
        shift, scale = self.get_buffer("shift").view(shape), self.get_buffer("scale").view(shape)
        return x * scale + shift if self.inverse else (x - shift) / scale
