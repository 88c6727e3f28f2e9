"""Predictions in order, and scores in the units of the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from isotropy import metrics
from isotropy.data import Scaling, from_arrays
from isotropy.nn.transform import move
from isotropy.training import Alone, Augmentation, evaluate, predict, scores
from isotropy.training.evaluate import Judge
from tests.training.problems import linear_net, maps, pictures, small_net, vectors


def outputs_of(model: nn.Module, x: Tensor) -> Tensor:
    with torch.no_grad():
        y: Tensor = model.eval()(x)
    return y


@pytest.mark.parametrize("size", [1, 7, 100])
def test_predictions_are_the_models_in_order(size: int) -> None:
    data, model = pictures(20), small_net().train()
    expected = outputs_of(small_net(), data.batch(range(20))[0])
    torch.testing.assert_close(predict(model, data, batch_size=size), expected)
    assert model.training


def test_averaged_predictions_are_the_mean_of_the_probabilities() -> None:
    data, model = pictures(10), small_net()
    group = Augmentation.by("D4", data)
    x, _ = data.batch(range(10))
    each = [
        outputs_of(model, move(x, group.inputs, e)).softmax(1) for e in group.inputs.group.elements
    ]
    averaged = predict(model, data, average=group).softmax(1)
    torch.testing.assert_close(averaged, torch.stack(each).mean(0))


def test_scores_of_classes_are_the_metrics() -> None:
    data = pictures(30)
    outputs = torch.randn(30, 3)
    y = torch.from_numpy(data.targets)
    assert scores(outputs, data) == {
        "accuracy": metrics.accuracy(outputs, y),
        "balanced_accuracy": metrics.balanced_accuracy(outputs, y),
        "nll": metrics.nll(outputs, y),
        "ece": metrics.ece(outputs.softmax(1), y),
    }


def test_every_pixel_counts_where_maps_are_predicted() -> None:
    data = maps(5)
    outputs = torch.randn(5, 2, 6, 6)
    right = (outputs.argmax(1).numpy() == data.targets).mean()
    found = scores(outputs, data)
    assert found["accuracy"] == pytest.approx(right)
    assert found["mean_iou"] == pytest.approx(metrics.mean_iou(outputs, data.targets))


def test_numbers_are_judged_in_their_own_units() -> None:
    data = vectors(20)
    scaled = replace(data, target_scaling=Scaling((5.0, -1.0), (10.0, 0.1)))
    perfect, _ = scaled.target_batch(range(20)), None
    assert scores(perfect, scaled)["mse"] == pytest.approx(0, abs=1e-9)
    off = perfect + torch.tensor([1.0, 0.0])
    assert scores(off, scaled)["mse"] == pytest.approx(50, rel=1e-4)
    assert scores(off, scaled)["mae"] == pytest.approx(5, rel=1e-4)


def test_directions_have_an_angle() -> None:
    angles = np.linspace(0, 3, 8)
    y = np.stack([np.cos(angles), np.sin(angles)], 1)
    data = from_arrays(np.random.default_rng(0).normal(size=(8, 3)), y)
    turned = np.stack([np.cos(angles + 0.5), np.sin(angles + 0.5)], 1)
    found = scores(torch.from_numpy(turned), data)
    assert found["angular_error"] == pytest.approx(np.degrees(0.5), abs=1e-3)
    assert "angular_error" not in scores(torch.zeros(20, 2), vectors(20))


def test_a_constant_target_has_no_r2() -> None:
    data = from_arrays(np.random.default_rng(0).normal(size=(6, 3)), np.full((6, 1), 2.5))
    assert set(scores(torch.zeros(6, 1), data)) == {"mse", "mae"}


@pytest.mark.parametrize(("make", "data"), [(small_net, pictures(20)), (linear_net, vectors(20))])
def test_the_judge_says_what_evaluate_says(make: object, data: object) -> None:
    model = make()  # type: ignore[operator]
    assert Judge(data, Alone("cpu"))(model) == pytest.approx(evaluate(model, data))  # type: ignore[arg-type]
