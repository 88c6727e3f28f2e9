"""Targets as they are given, and as they are learned: class numbers, columns of numbers, maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotropy.data.check import check_finite, pieces
from isotropy.data.dataset import TASKS
from isotropy.errors import InputError

Array = NDArray[Any]


def task_of(targets: Array, grid: tuple[int, ...]) -> str:
    """What the targets ask for, by their type and shape.

    >>> task_of(np.array([0, 1]), (8, 8)), task_of(np.array([0.5, 1.0]), (8, 8))
    ('classification', 'regression')
    >>> task_of(np.zeros((2, 8, 8), dtype=int), (8, 8))
    'dense'
    """
    if targets.dtype.kind == "f":
        return "regression"
    return "dense" if grid and _is_map(targets.shape[1:], grid) else "classification"


def _is_map(shape: tuple[int, ...], grid: tuple[int, ...]) -> bool:
    """Whether targets are maps of a grid, perhaps with an axis for their one channel."""
    return shape in (grid, (1, *grid), (*grid, 1))


def encode(
    parts: Sequence[Array],
    task: str,
    names: Sequence[str] | None = None,
    grid: tuple[int, ...] = (),
    where: str = "y",
) -> tuple[list[Array], tuple[str, ...]]:
    """Targets ready to be learned, and the names of classes or columns.

    Class labels may be any integers or strings. They become 0, 1, … in sorted order over all
    parts, and keep their names; with names given, label i is the i-th of them.

    Args:
        parts: the targets of the training data, then of the test data if there is some.
        task: "classification", "regression" or "dense".
        names: the names of the classes (of the columns, for regression), if they are known.
        grid: the shape of a sample without its channels.
        where: the file or argument, for messages.

    >>> encode([np.array(["cat", "dog", "cat"])], "classification")
    ([array([0, 1, 0])], ('cat', 'dog'))
    """
    if task not in TASKS:
        raise InputError(f"task must be one of {', '.join(TASKS)}, not {task!r}")
    if task == "regression":
        columns = [_columns(part, where) for part in parts]
        return columns, tuple(names or _column_names(columns[0].shape[1]))
    shaped = [_maps(part, grid, where) if task == "dense" else _flat(part, where) for part in parts]
    whole = [_whole_or_text(part, where) for part in shaped]
    encoded, classes = _numbered(whole, names, where)
    present = np.unique(encoded[0])
    if len(present) < 2:
        only = classes[int(present[0])] if len(present) else "none"
        raise InputError(f"{where}: there must be two classes or more, but all are {only!r}")
    return encoded, classes


def _columns(targets: Array, where: str) -> Array:
    if targets.dtype.kind not in "buif" or targets.ndim not in (1, 2):
        raise InputError(
            f"{where}: targets of regression must be numbers of shape (n,) or (n, columns), not "
            f"{targets.dtype} of shape {targets.shape}"
        )
    check_finite(targets, where)
    return targets.reshape(len(targets), -1).astype(np.float64)


def _column_names(count: int) -> tuple[str, ...]:
    return ("y",) if count == 1 else tuple(f"y{i}" for i in range(count))


def _flat(targets: Array, where: str) -> Array:
    if targets.ndim == 2 and targets.shape[1] == 1:
        return targets[:, 0]
    if targets.ndim != 1:
        raise InputError(
            f"{where}: labels must be of shape (n,), one for every sample, not {targets.shape}"
        )
    return targets


def _maps(targets: Array, grid: tuple[int, ...], where: str) -> Array:
    if not grid or not _is_map(targets.shape[1:], grid):
        raise InputError(
            f"{where}: dense targets must be maps of the samples' grid {grid}, not of shape "
            f"{targets.shape[1:]}"
        )
    return targets.reshape(len(targets), *grid)


def _whole_or_text(labels: Array, where: str) -> Array:
    if labels.dtype.kind == "O":
        for kind, dtype in ((str, np.str_), (int | np.integer, np.int64)):
            if all(isinstance(label, kind) for label in labels.ravel()):
                return labels.astype(dtype)
    if labels.dtype.kind == "f":
        check_finite(labels, where)
        if (labels != np.round(labels)).any():
            example = labels[labels != np.round(labels)].flat[0]
            raise InputError(f"{where}: labels must be integers or strings, not {example}")
        return labels.astype(np.int64)
    if labels.dtype.kind not in "buiUS":
        raise InputError(f"{where}: labels must be integers or strings, not {labels.dtype}")
    return labels


def _numbered(
    parts: Sequence[Array], names: Sequence[str] | None, where: str
) -> tuple[list[Array], tuple[str, ...]]:
    if names is not None and all(part.dtype.kind in "bui" for part in parts):
        for part in parts:
            _check_within(part, len(names), where)
        return [part.astype(np.int64, copy=False) for part in parts], tuple(names)
    values = np.unique(np.concatenate([_values(part) for part in parts]))
    classes = tuple(_text(value) for value in values)
    return [np.searchsorted(values, part) for part in parts], classes


def _values(labels: Array) -> Array:
    """The different labels, without a copy of all of them."""
    return np.unique(np.concatenate([np.unique(piece) for _, piece in pieces(labels)]))


def _check_within(labels: Array, count: int, where: str) -> None:
    if labels.size and not 0 <= labels.min() <= labels.max() < count:
        raise InputError(
            f"{where}: there are {count} class names, but labels from {labels.min()} to "
            f"{labels.max()}"
        )


def _text(label: Any) -> str:
    return label.decode("utf-8", "replace") if isinstance(label, bytes) else str(label)
