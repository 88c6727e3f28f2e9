"""A data set as it comes: what to train on, and what its makers set apart for testing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from isotropy.data.dataset import DataSet


@dataclass(frozen=True, eq=False)
class Splits:
    """Training data, and test data where the source sets some apart.

    Args:
        train: what to learn from, and to take validation data of.
        test: what its makers keep for the last comparison, or None.
    """

    train: DataSet
    test: DataSet | None = None

    @property
    def note(self) -> str:
        """What to say beside every number got from this data; empty if there is nothing."""
        return str(self.train.origin.get("note", ""))

    def parts(self) -> Iterator[DataSet]:
        """The training data, then the test data if there is some."""
        yield self.train
        if self.test is not None:
            yield self.test
