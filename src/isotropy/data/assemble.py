"""Inputs and targets, from wherever they are, into checked data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from isotropy.data.check import check_lengths, check_numeric, check_samples
from isotropy.data.dataset import DataSet
from isotropy.data.layout import arrange
from isotropy.data.resize import Resized
from isotropy.data.samples import Samples
from isotropy.data.splits import Splits
from isotropy.data.targets import encode, task_of
from isotropy.errors import InputError


@dataclass(frozen=True, eq=False)
class Raw:
    """Samples with their targets as they were found, and where that was, for messages."""

    samples: Samples
    targets: NDArray[Any]
    where: str


def assemble(
    train: Raw,
    test: Raw | None = None,
    validation: Raw | None = None,
    *,
    task: str | None = None,
    names: Sequence[str] | None = None,
    name: str = "data",
    origin: Mapping[str, Any] | None = None,
    resize: int | None = None,
) -> Splits:
    """Checked data sets that share their classes.

    Args:
        train: the training data.
        test: the test data, if there is some.
        validation: the validation data, if there is some.
        task: "classification", "regression" or "dense"; told from the targets if None.
        names: the names of classes or columns, if known.
        name: what to call the data.
        origin: how it came to be.
        resize: if given, pictures become squares of this side.
    """
    parts = [part for part in (train, test, validation) if part is not None]
    for part in parts:
        _check_part(part, train)
    grid = train.samples.shape[1:]
    task = task or task_of(train.targets, grid)
    targets, classes = encode([part.targets for part in parts], task, names, grid, train.where)
    made = {
        id(part): DataSet(part.samples, values, task, classes, name, dict(origin or {}))
        for part, values in zip(parts, targets, strict=True)
    }
    whole = Splits(made[id(train)], made.get(id(test)), made.get(id(validation)))
    return whole if resize is None else resized(whole, resize)


def _check_part(part: Raw, train: Raw) -> None:
    check_lengths(len(part.samples), len(part.targets), part.where)
    check_samples(part.samples, part.where)
    if part.samples.shape != train.samples.shape:
        raise InputError(
            f"{part.where}: samples are of shape {part.samples.shape}, but those of "
            f"{train.where} of {train.samples.shape}"
        )


def resized(splits: Splits, side: int) -> Splits:
    """The same with pictures brought to squares of a side."""
    if splits.train.task == "dense":
        raise InputError("resize is for inputs alone; maps to predict would no longer fit them")
    return splits.each(lambda data: replace(data, samples=Resized(data.samples, side)))


def as_array(value: ArrayLike | torch.Tensor, where: str) -> NDArray[Any]:
    """An array from what numpy or torch hold, or from lists; shared, not copied, where it can."""
    if isinstance(value, torch.Tensor):
        return _from_tensor(value, where)
    try:
        return np.asarray(value)
    except ValueError:
        raise InputError(f"{where}: is ragged, its parts are of different lengths") from None


def _from_tensor(value: torch.Tensor, where: str) -> NDArray[Any]:
    try:
        still = value.detach().cpu()
        return (still.float() if still.dtype == torch.bfloat16 else still).numpy()
    except (TypeError, RuntimeError) as error:  # sparse, quantised, or without values
        raise InputError(f"{where}: no array can be made of this tensor: {error}") from None


def from_arrays(
    X: ArrayLike | torch.Tensor,
    y: ArrayLike | torch.Tensor,
    *,
    layout: str | None = None,
    task: str | None = None,
    classes: Sequence[str] | None = None,
    name: str = "data",
    resize: int | None = None,
) -> DataSet:
    """A data set from arrays, tensors or lists.

    Args:
        X: the inputs, one for every index of the first axis.
        y: what is to be predicted of each.
        layout: what X's axes mean, if that cannot be told from its shape: "nchw", "nhwc", ...
        task: "classification", "regression" or "dense"; told from y if None.
        classes: the names of the classes, if y holds their numbers.
        name: what to call it.
        resize: if given, pictures become squares of this side.

    >>> data = from_arrays(np.arange(4 * 9).reshape(4, 3, 3), ["b", "a", "a", "b"])
    >>> data.classes, data.targets.tolist(), data.shape
    (('a', 'b'), [1, 0, 0, 1], (1, 3, 3))
    """
    return assemble(
        raw_arrays(as_array(X, "X"), as_array(y, "y"), layout, "X"),
        task=task,
        names=classes,
        name=name,
        origin={"source": "arrays"},
        resize=resize,
    ).train


def raw_arrays(X: NDArray[Any], y: NDArray[Any], layout: str | None, where: str) -> Raw:
    """Inputs and targets as arrays, laid out."""
    check_numeric(X, where)
    if y.ndim == 0:
        raise InputError(f"{where}: the targets must be an array, one for every sample")
    return Raw(arrange(X, layout, where), y, where)
