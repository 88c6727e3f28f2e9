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
        inputs: how its inputs were scaled, if they were.
        targets: how its targets were.
    """

    def __init__(
        self, model: nn.Module, inputs: Scaling | None = None, targets: Scaling | None = None
    ) -> None:
        super().__init__()
        self.model = model
        self.inputs = inputs
        self.targets = targets

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.model(x if self.inputs is None else self.inputs.apply(x))
        if self.targets is None:
            return y
        columns = len(self.targets.shift)
        return self.targets.undo(y.reshape(len(y), columns)).reshape(y.shape)
