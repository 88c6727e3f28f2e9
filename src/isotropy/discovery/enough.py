"""Whether there are samples enough to compare networks on at all."""

from __future__ import annotations

import numpy as np

from isotropy.data import DataSet

FEWEST = 30
"""Of these enough are left, after some are set apart, for a test of inputs with 10 on a side."""
FEWEST_PER_CLASS = 6
"""So that each class is in every part, however often the samples are split anew."""


def shortage(data: DataSet) -> str:
    """What is lacking, in words; empty if nothing is.

    Args:
        data: all samples that are not set apart by their makers.

    >>> from isotropy.data import from_arrays
    >>> shortage(from_arrays(np.arange(40).reshape(20, 2), [0, 1] * 10))
    'data: 20 samples are too few to compare networks on, at least 30'
    """
    if len(data) < FEWEST:
        return (
            f"{data.name}: {len(data)} samples are too few to compare networks on, "
            f"at least {FEWEST}"
        )
    if data.task != "classification":
        return ""
    counts = np.bincount(data.targets, minlength=len(data.classes))
    for name, count in zip(data.classes, counts, strict=True):
        if 0 < count < FEWEST_PER_CLASS:
            return (
                f"{data.name}: class {name!r} has {count} samples, but every class needs "
                f"{FEWEST_PER_CLASS} to be split again and again"
            )
    return ""
