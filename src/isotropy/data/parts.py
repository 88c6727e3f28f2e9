"""What is trained on, chosen on and tested on: the parts that a run makes of a source."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from isotropy.data.dataset import DataSet
from isotropy.data.samples import IntArray, Part
from isotropy.data.split import split
from isotropy.data.splits import Splits
from isotropy.errors import InputError


@dataclass(frozen=True)
class Parts:
    """What is set apart of the data.

    Args:
        validation: The part of the training data on which the best epoch is chosen, where the
            source sets none apart; 0 for none.
        test: The part that is tested on in the end, where the source sets none apart.
    """

    validation: float = field(default=0.1, metadata={"min": 0.0, "max": 0.9})
    test: float = field(default=0.2, metadata={"min": 0.0, "max": 0.9})


def divide(loaded: Splits, parts: Parts, seed: int) -> Splits:
    """Training, validation and test data; what the source sets apart goes first.

    Args:
        loaded: the source's own parts.
        parts: how much is to be set apart of its training data.
        seed: which samples are.

    >>> from isotropy.data import load
    >>> found = divide(load("digits"), Parts(), seed=0)
    >>> len(found.train), len(found.validation), len(found.test)
    (1258, 180, 359)
    """
    validation = loaded.validation if parts.validation else None
    new_validation = parts.validation if loaded.validation is None else 0.0
    new_test = parts.test if loaded.test is None else 0.0
    rest = 1 - new_validation - new_test
    if rest <= 1e-9:
        raise InputError("validation and test: nothing is left to train on")
    if rest == 1:
        return Splits(loaded.train, loaded.test, validation)
    shares = [share for share in (rest, new_validation, new_test) if share]
    train, *others = split(loaded.train, shares, seed=seed)
    validation = others.pop(0) if new_validation else validation
    return Splits(train, others.pop(0) if new_test else loaded.test, validation)


def without(whole: DataSet, part: DataSet) -> DataSet:
    """The samples of a data set that are not in a part of it.

    >>> from isotropy.data import load
    >>> digits = load("digits").train
    >>> len(without(digits, digits.subset(range(100))))
    1697
    """
    taken = np.isin(_numbers(whole), _numbers(part))
    return whole.subset(np.flatnonzero(~taken))


def _numbers(data: DataSet) -> IntArray:
    """Which samples they are, of those that all parts were taken from."""
    if isinstance(data.samples, Part):
        return data.samples.indices
    return np.arange(len(data), dtype=np.int64)
