"""A data set as it comes: what to train on, what its makers set apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from isotropy.data.dataset import DataSet


@dataclass(frozen=True, eq=False)
class Splits:
    """Training data, and test data where the source sets some apart.

    Args:
        train: what to learn from, and to take validation data of where none is set apart.
        test: what its makers keep for the last comparison, or None.
        validation: what its makers set apart to choose on, or None.

    >>> from isotropy.data import from_arrays
    >>> Splits(from_arrays([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])).test is None
    True
    """

    train: DataSet
    test: DataSet | None = None
    validation: DataSet | None = None

    @property
    def note(self) -> str:
        """What to say beside every number got from this data; empty if there is nothing."""
        return str(self.train.origin.get("note", ""))

    def parts(self) -> Iterator[DataSet]:
        """The training data, then test and validation data as far as there are some."""
        for part in (self.train, self.test, self.validation):
            if part is not None:
                yield part

    def each(self, change: Callable[[DataSet], DataSet]) -> Splits:
        """The same with every part changed in one way."""
        test, validation = (None if p is None else change(p) for p in (self.test, self.validation))
        return Splits(change(self.train), test, validation)
