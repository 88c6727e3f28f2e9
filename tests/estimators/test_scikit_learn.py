"""What scikit-learn asks of an estimator: its own checks, copies, searches, pipelines."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import isotropy as iso
from tests.estimators.fitted import (
    QUICK,
    product_regressor,
    turned_classifier,
    turned_digits,
    vectors,
)

OPTIONAL = ("pandas", "SCIPY_ARRAY_API")  # what isotropy does not use
BRIEF = replace(QUICK, rounds=2, more_rounds=2, epochs=4)
CHECKED = [
    iso.SymmetryClassifier(candidates=["sign"], plan=BRIEF),
    iso.SymmetryRegressor(candidates=["sign"], plan=BRIEF),
]


@pytest.mark.filterwarnings("ignore::isotropy.errors.IsotropyWarning")  # of too few samples
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(CHECKED)
def test_check(estimator: BaseEstimator, check: Callable[[BaseEstimator], None]) -> None:
    try:
        check(estimator)
    except SkipTest as skipped:
        if not any(name in str(skipped) for name in OPTIONAL):
            raise


@pytest.mark.parametrize("fitted", [turned_classifier, product_regressor])
def test_pickles(fitted: Callable[[], Any]) -> None:
    estimator = fitted()
    X = vectors(9, estimator.n_features_in_)
    again = pickle.loads(pickle.dumps(estimator))
    assert np.array_equal(again.predict(X), estimator.predict(X))
    assert str(again.symmetry_) == str(estimator.symmetry_)
    assert str(again.report_) == str(estimator.report_)


def test_clone_keeps_what_is_asked_and_nothing_that_was_found() -> None:
    estimator = turned_classifier()
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert not hasattr(copy, "symmetry_")
    with pytest.raises(NotFittedError):
        copy.predict(turned_digits()[0])
    with pytest.raises(NotFittedError):
        copy.export("model.pt2")


def test_grid_search_in_a_pipeline() -> None:
    X = vectors(120)
    y = X[:, 0] + X[:, 1] > 0
    pipeline = make_pipeline(StandardScaler(), iso.SymmetryClassifier(plan=BRIEF))
    listed = [["sign"], {"swap": np.array([1, 0, 2, 3])}]
    grid = GridSearchCV(pipeline, {"symmetryclassifier__candidates": listed}, cv=2)
    grid.fit(100 * X, y)
    assert len(grid.cv_results_["mean_test_score"]) == 2
    assert grid.best_score_ > 0.7
    asked = grid.best_params_["symmetryclassifier__candidates"]
    assert set(asked) <= set(grid.best_estimator_[-1].verdicts_)
