"""Metrics against plain loops and scikit-learn, and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as sk
import torch

from isotropy import metrics
from isotropy.errors import InputError

CLOSE = 1e-12
Metric = Callable[[Any, Any], float]


def problem(n: int = 60, classes: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Logits that know something of labels that are not equally frequent."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.integers(0, classes, n), rng.integers(0, classes, n))
    return rng.normal(size=(n, classes)) + 1.5 * np.eye(classes)[y], y


def dense(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Logits (5, 3, 4, 6), a label for every pixel, and the same as a flat list."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(5, 3, 4, 6)), rng.integers(0, 3, (5, 4, 6))


def flat(logits: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.moveaxis(logits, 1, -1).reshape(-1, logits.shape[1]), y.ravel()


def chances_of(row: np.ndarray) -> list[float]:
    powers = [math.exp(v) for v in row]
    return [p / sum(powers) for p in powers]


# -- oracles: one example at a time -----------------------------------------------------------


def slow_nll(logits: np.ndarray, y: np.ndarray) -> float:
    return -sum(math.log(chances_of(row)[k]) for row, k in zip(logits, y, strict=True)) / len(y)


def slow_ece(probabilities: np.ndarray, y: np.ndarray, bins: int) -> float:
    total = 0.0
    for i in range(bins):
        low, high = i / bins, (i + 1) / bins
        inside = [
            (max(row), int(np.argmax(row)) == k)
            for row, k in zip(probabilities, y, strict=True)
            if low < max(row) <= high
        ]
        if inside:
            confidence = sum(c for c, _ in inside) / len(inside)
            right = sum(r for _, r in inside) / len(inside)
            total += len(inside) / len(y) * abs(right - confidence)
    return total


def slow_angle(a: float, b: float) -> float:
    """By the law of cosines, between arrows of length one."""
    return math.degrees(
        math.acos(max(-1.0, min(1.0, math.cos(a) * math.cos(b) + math.sin(a) * math.sin(b))))
    )


@pytest.mark.parametrize("seed", range(5))
def test_labels_against_sklearn(seed: int) -> None:
    logits, y = problem(seed=seed)
    predicted = logits.argmax(1)
    assert metrics.accuracy(logits, y) == pytest.approx(sk.accuracy_score(y, predicted), abs=CLOSE)
    expected = sk.balanced_accuracy_score(y, predicted)
    assert metrics.balanced_accuracy(logits, y) == pytest.approx(expected, abs=CLOSE)
    expected = sk.jaccard_score(y, predicted, average="macro")
    assert metrics.mean_iou(logits, y) == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_against_loops(seed: int) -> None:
    logits, y = problem(seed=seed)
    chances = np.array([chances_of(row) for row in logits])
    assert metrics.nll(logits, y) == pytest.approx(slow_nll(logits, y), abs=CLOSE)
    assert metrics.nll(np.log(chances), y) == pytest.approx(slow_nll(logits, y), abs=CLOSE)
    for bins in (1, 4, 15):
        expected = slow_ece(chances, y, bins)
        assert metrics.ece(logits, y, bins) == pytest.approx(expected, abs=CLOSE)
        assert metrics.ece(chances, y, bins) == pytest.approx(expected, abs=CLOSE)
        assert metrics.ece(chances, y, bins, probabilities=True) == pytest.approx(expected)


@pytest.mark.parametrize("shape", [(30,), (30, 1), (30, 3)])
def test_numbers_against_sklearn(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(3, 1, shape)
    predicted = y + rng.normal(0, 0.5, shape)
    assert metrics.mse(predicted, y) == pytest.approx(sk.mean_squared_error(y, predicted))
    assert metrics.mae(predicted, y) == pytest.approx(sk.mean_absolute_error(y, predicted))
    assert metrics.r2(predicted, y) == pytest.approx(sk.r2_score(y, predicted))


def test_angles_against_the_law_of_cosines() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-20, 20, 50), rng.uniform(-20, 20, 50)
    expected = np.mean([slow_angle(s, t) for s, t in zip(a, b, strict=True)])
    assert metrics.angular_error(a, b) == pytest.approx(expected, abs=1e-6)
    lengths = rng.uniform(0.1, 9, 50)
    arrows = lengths[:, None] * np.stack([np.cos(a), np.sin(a)], 1)
    assert metrics.angular_error(arrows, b) == pytest.approx(expected, abs=1e-6)
    assert metrics.angular_error(b, arrows) == pytest.approx(expected, abs=1e-6)


def test_angles_across_the_cut() -> None:
    assert metrics.angular_error([math.pi - 0.1], [-math.pi + 0.1]) == pytest.approx(
        math.degrees(0.2)
    )
    assert metrics.angular_error([math.pi], [0.0]) == pytest.approx(180)
    assert metrics.angular_error([7 * math.pi], [math.pi]) == pytest.approx(0, abs=1e-9)


def test_pixels_are_examples() -> None:
    logits, y = dense()
    for metric in (
        metrics.accuracy,
        metrics.balanced_accuracy,
        metrics.mean_iou,
        metrics.nll,
        metrics.ece,
    ):
        assert metric(logits, y) == pytest.approx(metric(*flat(logits, y)), abs=CLOSE)


# -- edges ------------------------------------------------------------------------------------


def test_perfect_and_useless() -> None:
    logits, y = 50.0 * np.eye(3), np.arange(3)
    assert metrics.accuracy(logits, y) == metrics.balanced_accuracy(logits, y) == 1
    assert metrics.mean_iou(logits, y) == 1
    assert metrics.nll(logits, y) == pytest.approx(0, abs=1e-12)
    assert metrics.ece(logits, y) == pytest.approx(0, abs=1e-12)
    assert metrics.accuracy(-logits, y) == metrics.mean_iou(-logits, y) == 0


def test_classes_that_do_not_occur_do_not_count() -> None:
    logits = np.array([[3.0, 0, 0], [3.0, 0, 0], [0, 3.0, 0]])
    assert metrics.balanced_accuracy(logits, [0, 0, 0]) == pytest.approx(2 / 3)
    assert metrics.mean_iou(logits, [0, 0, 1]) == 1
    assert metrics.mean_iou(logits, [0, 0, 0]) == pytest.approx((2 / 3 + 0) / 2)


def test_huge_logits_do_not_overflow() -> None:
    assert metrics.nll([[1e4, 0.0]], [1]) == pytest.approx(1e4)
    assert metrics.ece([[1e4, 0.0]], [0]) == 0


def test_impossible_labels_cost_infinitely_much() -> None:
    assert metrics.nll([[0.0, -np.inf]], [0]) == 0
    assert metrics.nll([[0.0, -np.inf]], [1]) == np.inf


def test_confidence_on_an_edge_belongs_to_the_bin_below() -> None:
    chances = [[0.5, 0.5], [0.75, 0.25]]  # bins (0, 0.5] and (0.5, 1]
    assert metrics.ece(chances, [0, 1], bins=2) == pytest.approx((0.5 + 0.75) / 2)
    assert metrics.ece([[1.0, 0.0]], [0], bins=7) == 0


def test_logits_that_look_like_probabilities() -> None:
    scores, y = [[1.0, 0.0], [0.0, 1.0]], [0, 1]
    assert metrics.ece(scores, y) == 0
    expected = 1 - math.e / (1 + math.e)
    assert metrics.ece(scores, y, probabilities=False) == pytest.approx(expected)


def test_r2_of_what_does_not_vary() -> None:
    assert metrics.r2([2.0, 2.0], [2.0, 2.0]) == 1
    assert metrics.r2([2.0, 2.1], [2.0, 2.0]) == 0
    assert metrics.r2([[2.0, 1.0], [2.0, 2.0]], [[2.0, 1.0], [2.0, 2.0]]) == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_tensors_and_their_gradients(dtype: torch.dtype) -> None:
    logits, y = problem()
    tensor = torch.tensor(logits, dtype=dtype, requires_grad=True)
    array = tensor.detach().double().numpy()
    for metric in (metrics.accuracy, metrics.balanced_accuracy, metrics.nll, metrics.ece):
        result = metric(tensor, torch.tensor(y))
        assert type(result) is float
        assert result == metric(array, y) == metric(array.tolist(), y.tolist())
    assert metrics.mse(tensor, array) == 0


def test_sums_are_in_float64() -> None:
    y = np.full(100_000, 0.1, dtype=np.float32)
    assert metrics.mae(np.zeros_like(y), y) == pytest.approx(float(np.float32(0.1)), rel=1e-12)


# -- bad input --------------------------------------------------------------------------------

ON_LABELS = (
    metrics.accuracy,
    metrics.balanced_accuracy,
    metrics.mean_iou,
    metrics.nll,
    metrics.ece,
)
ON_NUMBERS = (metrics.mse, metrics.mae, metrics.r2)


@pytest.mark.parametrize("metric", ON_LABELS)
@pytest.mark.parametrize(
    ("scores", "y", "words"),
    [
        (np.zeros((3, 2)), [0, 1], "for 3 examples, y for 2"),
        (np.zeros((0, 2)), [], "at least one example"),
        (np.zeros(3), [0, 1, 0], r"shape \(n, classes\)"),
        (np.zeros((3, 1)), [0, 0, 0], "two classes or more"),
        (np.zeros((3, 2)), [[0], [1], [0]], r"y must have shape \(3,\), not \(3, 1\)"),
        (np.zeros((2, 2, 4, 4)), [0, 1], r"y must have shape \(2, 4, 4\)"),
        (np.zeros((2, 2)), [0.0, 1.0], "whole numbers, not float64"),
        (np.zeros((2, 2)), [0, 2], "labels 0 to 1, not 0 to 2"),
        (np.zeros((2, 2)), [-1, 0], "labels 0 to 1, not -1 to 0"),
        ([[np.nan, 0.0]], [0], "holds NaN"),
        ([["a", "b"]], [0], "real numbers"),
        ([[1j, 0]], [0], "real numbers, not complex128"),
    ],
)
def test_bad_labels(metric: Metric, scores: Any, y: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        metric(scores, y)


@pytest.mark.parametrize("metric", ON_NUMBERS)
@pytest.mark.parametrize(
    ("predicted", "y", "words"),
    [
        (np.zeros(3), np.zeros(2), "for 3 examples, y for 2"),
        (np.zeros((3, 1)), np.zeros(3), r"one shape, not \(3, 1\) and \(3,\)"),
        ([], [], "at least one example"),
        (1.0, 1.0, "at least one example"),
        ([0.0], [np.nan], "y holds NaN"),
    ],
)
def test_bad_numbers(metric: Metric, predicted: Any, y: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        metric(predicted, y)


@pytest.mark.parametrize(
    ("predicted", "y", "words"),
    [
        (np.zeros((3, 3)), np.zeros(3), r"predicted must be angles .* not of shape \(3, 3\)"),
        (np.zeros(3), np.zeros((3, 1)), "y must be angles"),
        (np.zeros((3, 2)), np.zeros(2), "for 3 examples, y for 2"),
    ],
)
def test_bad_angles(predicted: Any, y: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        metrics.angular_error(predicted, y)


def test_bad_calibration() -> None:
    with pytest.raises(InputError, match="bins must be"):
        metrics.ece([[0.5, 0.5]], [0], bins=0)
    with pytest.raises(InputError, match="sum to 1"):
        metrics.ece([[0.5, 0.6]], [0], probabilities=True)
    with pytest.raises(InputError, match="scores"):
        metrics.ece([0.5], [0])
