"""How good predictions are: of labels, probabilities, numbers and angles; float64 throughout.

All take numpy arrays, tensors or lists, predictions first, and return a float.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax, softmax
from torch import Tensor

from isotropy.errors import InputError

Numbers = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

_SUM_TOLERANCE = 1e-3  # of probabilities computed in float16


# -- labels -----------------------------------------------------------------------------------


def accuracy(logits: Any, y: Any) -> float:
    """The fraction of labels that have the largest score.

    Args:
        logits: (n, classes), or (n, classes, *grid) for a label per pixel.
        y: labels (n,) or (n, *grid).

    >>> accuracy([[2.0, 0.0], [0.0, 1.0]], [0, 0])
    0.5
    """
    scores, labels = _classified(logits, y)
    return float((scores.argmax(1) == labels).mean())


def balanced_accuracy(logits: Any, y: Any) -> float:
    """The accuracy within every class, averaged over the classes that occur in y.

    Args:
        logits: (n, classes), or (n, classes, *grid) for a label per pixel.
        y: labels (n,) or (n, *grid).

    >>> balanced_accuracy([[2.0, 0.0], [2.0, 0.0], [2.0, 0.0]], [0, 0, 1])
    0.5
    """
    scores, labels = _classified(logits, y)
    classes = scores.shape[1]
    right = np.bincount(labels[scores.argmax(1) == labels], minlength=classes)
    present = np.bincount(labels, minlength=classes)
    return float((right[present > 0] / present[present > 0]).mean())


def mean_iou(logits: Any, y: Any) -> float:
    """Intersection over union of every class, averaged over those in y or predicted.

    Args:
        logits: (n, classes, *grid), or (n, classes).
        y: labels (n, *grid) or (n,).

    >>> round(mean_iou([[2.0, 0.0], [2.0, 0.0], [0.0, 2.0]], [0, 1, 1]), 3)
    0.5
    """
    scores, labels = _classified(logits, y)
    classes, predicted = scores.shape[1], scores.argmax(1)
    both = np.bincount(labels[predicted == labels], minlength=classes)
    either = np.bincount(labels, minlength=classes) + np.bincount(predicted, minlength=classes)
    union = either - both
    return float((both[union > 0] / union[union > 0]).mean())


# -- probabilities ----------------------------------------------------------------------------


def nll(logits: Any, y: Any) -> float:
    """The mean negative log-likelihood, in nats, of the labels under the softmax of the logits.

    Args:
        logits: (n, classes), or (n, classes, *grid) for a label per pixel; log-probabilities are
            logits too.
        y: labels (n,) or (n, *grid).

    >>> round(nll([[0.0, 0.0]], [1]), 4)
    0.6931
    """
    scores, labels = _classified(logits, y)
    likelihood = log_softmax(scores, axis=1)[np.arange(len(labels)), labels]
    return float(-likelihood.mean())


def ece(scores: Any, y: Any, bins: int = 15, probabilities: bool | None = None) -> float:
    """The expected calibration error: how far confidence is from accuracy, in bins of confidence.

    Bins are of equal width, closed above, and weigh as many examples as they hold.

    Args:
        scores: logits or probabilities, (n, classes) or (n, classes, *grid).
        y: labels (n,) or (n, *grid).
        bins: how many.
        probabilities: what the scores are; if not given, they are probabilities when all lie in
            [0, 1] and every row sums to 1.

    >>> round(ece([[0.8, 0.2], [0.8, 0.2]], [0, 1]), 3)
    0.3
    """
    if bins < 1:
        raise InputError(f"bins must be a whole number, at least 1, not {bins!r}")
    values, labels = _classified(scores, y, "scores")
    chances = _probabilities(values, probabilities)
    confidence, right = chances.max(1), chances.argmax(1) == labels
    edges = np.linspace(0, 1, bins + 1)[1:-1]
    place = np.digitize(confidence, edges, right=True)
    gaps = np.bincount(place, weights=right - confidence)
    return float(np.abs(gaps).sum() / len(labels))


def _probabilities(scores: Numbers, given: bool | None) -> Numbers:
    look_so = bool((scores >= 0).all() and (np.abs(scores.sum(1) - 1) < _SUM_TOLERANCE).all())
    if given and not look_so:
        raise InputError("scores: probabilities must not be negative and every row must sum to 1")
    is_given = look_so if given is None else given
    return scores if is_given else np.asarray(softmax(scores, axis=1), dtype=np.float64)


# -- numbers ----------------------------------------------------------------------------------


def mse(predicted: Any, y: Any) -> float:
    """The mean squared error; both of one shape.

    >>> mse([1.0, 2.0], [1.0, 4.0])
    2.0
    """
    a, b = _paired(predicted, y)
    return float(np.square(a - b).mean())


def mae(predicted: Any, y: Any) -> float:
    """The mean absolute error; both of one shape.

    >>> mae([1.0, 2.0], [1.0, 4.0])
    1.0
    """
    a, b = _paired(predicted, y)
    return float(np.abs(a - b).mean())


def r2(predicted: Any, y: Any) -> float:
    """The part of y's variance that is predicted, averaged over the columns of y.

    Of a column that is constant it is 1 where every prediction is right, else 0.

    >>> r2([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), r2([2.0, 2.0, 2.0], [1.0, 2.0, 3.0])
    (1.0, 0.0)
    """
    a, b = (values.reshape(len(values), -1) for values in _paired(predicted, y))
    missed = np.square(a - b).sum(0)
    total = np.square(b - b.mean(0)).sum(0)
    constant = (b == b[0]).all(0)
    ratio = np.where(constant, missed > 0, missed / np.where(constant, 1, total))
    return float(1 - ratio.mean())


def angular_error(predicted: Any, y: Any) -> float:
    """The mean angle between directions in the plane, in degrees, from 0 to 180.

    Args:
        predicted: (n, 2) as (cos, sin) of any length, or angles (n,) in radians.
        y: either of the two as well.

    >>> round(angular_error([[0.0, 2.0]], [0.0]), 6)
    90.0
    """
    a, b = _angles(predicted, "predicted"), _angles(y, "y")
    _require_equal_lengths(a, b)
    off = np.abs((a - b + np.pi) % (2 * np.pi) - np.pi)
    return float(np.degrees(off.mean()))


def _angles(value: Any, name: str) -> Numbers:
    values = _numbers(value, name)
    if values.ndim == 2 and values.shape[1] == 2:
        return np.arctan2(values[:, 1], values[:, 0])
    if values.ndim != 1:
        raise InputError(
            f"{name} must be angles (n,) or (n, 2) as (cos, sin), not of shape {values.shape}"
        )
    return values


# -- what comes in ----------------------------------------------------------------------------


def _array(value: Any) -> npt.NDArray[Any]:
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        return np.asarray(value.double() if value.is_floating_point() else value)
    return np.asarray(value)


def _numbers(value: Any, name: str) -> Numbers:
    """Real numbers as float64; at least one, none NaN."""
    array = _array(value)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold real numbers, not {array.dtype}")
    if not array.ndim or not array.size:
        raise InputError(f"{name} must hold at least one example, not shape {array.shape}")
    if np.isnan(array).any():
        raise InputError(f"{name} holds NaN")
    return array.astype(np.float64)


def _paired(predicted: Any, y: Any) -> tuple[Numbers, Numbers]:
    a, b = _numbers(predicted, "predicted"), _numbers(y, "y")
    _require_equal_lengths(a, b)
    if a.shape != b.shape:
        raise InputError(f"predicted and y must have one shape, not {a.shape} and {b.shape}")
    return a, b


def _require_equal_lengths(predicted: Numbers, y: npt.NDArray[Any]) -> None:
    if len(predicted) != len(y):
        raise InputError(f"predictions are for {len(predicted)} examples, y for {len(y)}")


def _classified(logits: Any, y: Any, name: str = "logits") -> tuple[Numbers, Labels]:
    """Scores (places, classes) and labels (places,): every pixel is a place of its own."""
    scores, labels = _numbers(logits, name), _array(y)
    if scores.ndim < 2 or scores.shape[1] < 2:
        raise InputError(
            f"{name} must have shape (n, classes) with two classes or more, not {scores.shape}"
        )
    _require_equal_lengths(scores, np.atleast_1d(labels))
    if labels.shape != (len(scores), *scores.shape[2:]):
        raise InputError(
            f"y must have shape {(len(scores), *scores.shape[2:])}, not {labels.shape}"
        )
    if labels.dtype.kind not in "biu":
        raise InputError(f"y must hold labels as whole numbers, not {labels.dtype}")
    flat = labels.astype(np.int64).ravel()
    classes = scores.shape[1]
    if flat.min() < 0 or flat.max() >= classes:
        raise InputError(f"y must hold labels 0 to {classes - 1}, not {flat.min()} to {flat.max()}")
    return np.moveaxis(scores, 1, -1).reshape(-1, classes), flat
