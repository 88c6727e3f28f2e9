"""Standardised data keep the symmetry; a model as data come is the model on scaled data."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import isotropy as iso
from isotropy.data import from_arrays
from isotropy.training import AsTheyCome, standardised
from isotropy.training.scaling import SAMPLES
from tests.training.problems import linear_net, small_net, vectors


def coloured(count: int = 40) -> iso.data.DataSet:
    draws = np.random.default_rng(0)
    X = draws.normal(size=(count, 3, 4, 4)) * [[[[1]], [[10]], [[0.1]]]] + [[[[5]], [[0]], [[-3]]]]
    return from_arrays(X, np.arange(count) % 2)


def test_every_channel_has_mean_0_and_deviation_1() -> None:
    x, _ = standardised(coloured(), small_net()).batch(range(40))
    np.testing.assert_allclose(x.mean((0, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(x.std((0, 2, 3)), 1, atol=1e-2)


def test_so_have_the_columns_of_targets() -> None:
    _, y = standardised(vectors(50), linear_net()).batch(range(50))
    np.testing.assert_allclose(y.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(y.std(0), 1, atol=2e-2)


def test_entries_that_a_group_exchanges_share_their_scaling() -> None:
    data = from_arrays(np.random.default_rng(0).normal(size=(40, 4)) * [1, 2, 3, 9], [0, 1] * 20)
    x, _ = data.batch(range(40))
    model = iso.equivariant(
        nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)),
        "C2",
        x,
        action={"r2": [1, 0, 3, 2]},
    )
    found = standardised(data, model).scaling
    assert found is not None
    assert found.scale[0] == found.scale[1] != found.scale[2] == found.scale[3]
    assert found.shift[0] == found.shift[1] != found.shift[2] == found.shift[3]


def test_a_scaling_that_is_there_stays() -> None:
    data = coloured()
    once = standardised(data, small_net())
    assert standardised(once, small_net()) is once


def test_many_samples_are_sampled_evenly() -> None:
    X = np.linspace(-1, 1, 3 * SAMPLES, dtype=np.float32)[:, None] + np.float32([0, 100])
    found = standardised(from_arrays(X, np.arange(3 * SAMPLES) % 2), linear_net()).scaling
    assert found is not None
    np.testing.assert_allclose(found.shift, [0, 100], atol=1e-3)
    np.testing.assert_allclose(found.scale, 1 / np.sqrt(3), rtol=1e-3)


@pytest.mark.parametrize("columns", [1, 2])
def test_as_they_come(columns: int) -> None:
    data = vectors(30)
    data = from_arrays(data.batch(range(30))[0] * 7 + 3, data.targets[:, :columns] * 5 - 1)
    model = linear_net(outputs=columns)
    scaled = standardised(data, model)
    whole = AsTheyCome(model, scaled)
    assert scaled.target_scaling is not None
    inside = model(scaled.batch(range(30))[0])
    torch.testing.assert_close(whole(data.batch(range(30))[0]), scaled.target_scaling.undo(inside))


def test_unscaled_data_leave_the_model_alone() -> None:
    data, model = vectors(8), linear_net()
    x, _ = data.batch(range(8))
    assert torch.equal(AsTheyCome(model, data)(x), model(x))
