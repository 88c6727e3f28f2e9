"""Losses: those of torch, in parts that add up, and models that do not fit their data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from isotropy.data import DataSet, from_arrays
from isotropy.errors import InputError
from isotropy.training import Settings
from isotropy.training.objective import Objective, balanced_weights, require_fitting
from tests.training.problems import maps, pictures, vectors

Make = Callable[[], DataSet]

CPU = torch.device("cpu")


def objective(data: DataSet, **settings: Any) -> Objective:
    return Objective(data, Settings(**settings), CPU)


def some_output(data: DataSet) -> tuple[Tensor, Tensor]:
    _, y = data.batch(range(len(data)))
    grid = y.shape[1:] if data.task == "dense" else ()
    return torch.randn(len(data), data.outputs, *grid), y


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("make", [pictures, maps])
def test_classes_have_torchs_cross_entropy(make: Make, smoothing: float) -> None:
    data = make()
    output, y = some_output(data)
    expected = F.cross_entropy(output, y, label_smoothing=smoothing)
    torch.testing.assert_close(objective(data, label_smoothing=smoothing)(output, y), expected)


def test_numbers_have_the_mean_square() -> None:
    data = vectors()
    output, y = some_output(data)
    torch.testing.assert_close(objective(data)(output, y), (output - y).square().mean())
    one = replace(data, targets=data.targets[:, :1], classes=("y",))
    _, column = one.batch(range(len(one)))
    flat = torch.randn(len(one))
    expected = (flat - column[:, 0]).square().mean()
    torch.testing.assert_close(objective(one)(flat, column), expected)


SUMS = [(pictures, "none"), (pictures, "balanced"), (maps, "balanced"), (vectors, "none")]


@pytest.mark.parametrize(("make", "balanced"), SUMS)
def test_parts_of_a_batch_add_up_to_the_whole(make: Make, balanced: str) -> None:
    data = make()
    loss = objective(data, class_weights=balanced)
    output, y = some_output(data)
    parts = [(output[:5], y[:5]), (output[5:], y[5:])]
    total = sum(loss(a, b) * len(a) for a, b in parts) / len(output)
    torch.testing.assert_close(loss(output, y), total)


def test_balanced_classes_weigh_the_same_and_one_on_average() -> None:
    labels = np.repeat([0, 1, 2], [10, 4, 1])
    data = from_arrays(np.random.default_rng(0).normal(size=(15, 3)), labels)
    weights = balanced_weights(data).numpy()
    np.testing.assert_allclose(np.bincount(labels) * weights, 5.0, rtol=1e-6)
    np.testing.assert_allclose(weights[labels].mean(), 1.0, rtol=1e-6)


def test_balance_needs_classes() -> None:
    with pytest.raises(InputError, match=r"class_weights.*regression"):
        objective(vectors(), class_weights="balanced")


class Gives(nn.Module):
    """A model with outputs of a given shape behind the batch."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, x: Tensor) -> Tensor:
        return x.new_zeros(len(x), *self.shape)


class Fails(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError("sizes do not match\nand a long story")


class GivesTwo(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x, x


FITTING = [(pictures, (3,)), (vectors, (2,)), (maps, (2, 6, 6))]
UNFIT = [
    (pictures, Gives(4), r"model gives \(2, 4\) .* 3 classes needs \(2, 3\)"),
    (pictures, Gives(), r"model gives \(2,\) .*needs \(2, 3\)"),
    (vectors, Gives(3), r"2 columns needs \(2, 2\)"),
    (maps, Gives(2), r"dense .*needs \(2, 2, 6, 6\)"),
    (maps, Gives(2, 3, 3), r"needs \(2, 2, 6, 6\)"),
    (pictures, GivesTwo(), "model gives tuple"),
    (pictures, Fails(), r"samples of shape \(1, 6, 6\) \(sizes do not match\)$"),
]


@pytest.mark.parametrize(("make", "shape"), FITTING)
def test_a_model_that_fits_passes(make: Make, shape: tuple[int, ...]) -> None:
    data = make()
    require_fitting(Gives(*shape), data.batch([0, 1])[0], data)


@pytest.mark.parametrize(("make", "model", "words"), UNFIT)
def test_a_model_that_does_not_is_refused(make: Make, model: nn.Module, words: str) -> None:
    data = make()
    with pytest.raises(InputError, match=words):
        require_fitting(model, data.batch([0, 1])[0], data)


def test_one_column_may_come_without_its_dimension() -> None:
    data = vectors()
    one = replace(data, targets=data.targets[:, :1], classes=("y",))
    require_fitting(Gives(), one.batch([0, 1])[0], one)
