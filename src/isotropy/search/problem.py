"""What a search works on: training and validation data, scaled alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from isotropy.data import DataSet, from_arrays, split
from isotropy.errors import InputError
from isotropy.training import standardised


@dataclass(frozen=True)
class Problem:
    """Data to learn from, and others to choose by.

    Args:
        train: what networks learn from.
        validation: what they are chosen by.
    """

    train: DataSet
    validation: DataSet

    @property
    def example(self) -> Tensor:
        """Two samples, to tie a network with."""
        return self.train.batch([0, min(1, len(self.train) - 1)])[0]

    def scaled(self, model: nn.Module) -> Problem:
        """The same with inputs of mean 0 and deviation 1, as far as a model's symmetry lets it.

        Args:
            model: what is to be trained; data that are scaled already stay as they are.
        """
        train = standardised(self.train, model)
        return Problem(train, self.validation.scaled_like(train))


def make_problem(
    X: Any, y: Any = None, *, validation: float | DataSet = 0.1, seed: int = 0
) -> Problem:
    """Training and validation data from what a caller has.

    Args:
        X: the inputs as an array or tensor, or a `DataSet`.
        y: the targets, if X is an array.
        validation: the part of the data to choose by, drawn with the seed; or data set apart.
        seed: of the split.

    >>> import numpy as np
    >>> X = np.arange(20 * 64.0).reshape(20, 1, 8, 8)
    >>> problem = make_problem(X, [0, 1] * 10, validation=0.2)
    >>> len(problem.train), len(problem.validation), problem.example.shape
    (16, 4, torch.Size([2, 1, 8, 8]))
    """
    if isinstance(X, DataSet):
        if y is not None:
            raise InputError("y: the targets are in the data set already")
        data = X
    elif y is None:
        raise InputError("y: give the targets of X")
    else:
        data = from_arrays(X, y)
    if isinstance(validation, DataSet):
        _require_alike(data, validation)
        return Problem(data, validation)
    if not 0 < validation < 1:
        raise InputError(f"validation must be a part between 0 and 1, not {validation}")
    return Problem(*split(data, (1 - validation, validation), seed))


def _require_alike(train: DataSet, validation: DataSet) -> None:
    for what in ("shape", "task", "classes"):
        mine, theirs = getattr(train, what), getattr(validation, what)
        if mine != theirs:
            raise InputError(f"validation: its {what} is {theirs}, that of the data {mine}")
