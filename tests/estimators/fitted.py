"""Estimators that take a second or two to fit, and pictures with a symmetry to fit them to."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

import isotropy as iso

QUICK = iso.DiscoveryPlan(  # with so few rounds only a large loss can be ruled out
    rounds=3, more_rounds=3, settling_rounds=2, shown_rounds=2, epochs=8, margin=0.03, tolerated=0.2
)
SHAPE = (1, 8, 8)
SWAP = [1, 0]

Pictures = NDArray[np.float32]
Labels = NDArray[np.str_]


@cache
def turned_digits(count: int = 360) -> tuple[Pictures, Labels]:
    """Some digits of 0, 1 and 7, each turned by some quarter turns, as rows."""
    digits = iso.data.load("digits").train
    few = digits.subset(np.flatnonzero(np.isin(digits.targets, (0, 1, 7)))[:count])
    return as_rows(iso.data.symmetrised(few, "C4", seed=0))


@cache
def exchanged_digits(count: int = 360) -> tuple[Pictures, Labels]:
    """Digits of 4 and 7, half of them mirrored; a mirrored one is labelled as the other."""
    digits = iso.data.load("digits").train
    few = digits.subset(np.flatnonzero(np.isin(digits.targets, (4, 7)))[:count])
    two = iso.data.from_arrays(few.samples.take(np.arange(len(few))), few.targets == 7)
    return as_rows(iso.data.symmetrised(two, "D1", labels={"s": SWAP}, seed=0))


def as_rows(data: iso.data.DataSet) -> tuple[Pictures, Labels]:
    """Rows of features, and labels as words."""
    rows = data.samples.take(np.arange(len(data))).flatten(1).numpy()
    return rows, np.array([f"class {data.classes[t]}" for t in data.targets])


@cache
def turned_classifier() -> iso.SymmetryClassifier:
    """Fitted to turned digits, asked about quarter turns."""
    return iso.SymmetryClassifier(candidates=["C4"], shape=SHAPE, plan=QUICK).fit(*turned_digits())


@cache
def exchanging_classifier() -> iso.SymmetryClassifier:
    """Fitted to digits whose mirror images are of the other class."""
    asked = iso.SymmetryClassifier(candidates=["D1"], shape=SHAPE, plan=QUICK)
    return asked.fit(*exchanged_digits())


def vectors(count: int = 200, columns: int = 4) -> NDArray[np.float64]:
    return np.random.default_rng(0).normal(size=(count, columns))


@cache
def product_regressor() -> iso.SymmetryRegressor:
    """Fitted to a product of two columns, asked whether they may be exchanged."""
    X = vectors(400)
    return iso.SymmetryRegressor(candidates=["x0~x1"], plan=QUICK).fit(X, X[:, 0] * X[:, 1])
