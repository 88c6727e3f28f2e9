"""A regressor that finds the symmetry of its data and has it built in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from isotropy.estimators.base import SymmetryEstimator


class SymmetryRegressor(RegressorMixin, SymmetryEstimator):  # type: ignore[misc]
    """Finds out which symmetry the data have, and predicts with the network that has it built in.

    Targets may change sign with a symmetry. All else is as in `SymmetryClassifier`, which has the
    parameters.

    Attributes:
        symmetry_: the recommended group, which is built in; its name is str() of it, C1 for none.
        label_permutations_: by element, the column of y that each column becomes; −1 − column
            where it changes sign too. Empty if targets stay.
        verdicts_: on every candidate, by name.
        report_: the `Discovery`, or None with too few samples.
        model_: the network, a torch module for samples as they are.
        n_features_in_: values of a sample.

    >>> import isotropy as iso
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> quick = iso.DiscoveryPlan(epochs=10)
    >>> found = SymmetryRegressor(candidates=["x0~x1"], plan=quick).fit(X, X[:, 0] * X[:, 1])
    >>> str(found.symmetry_), np.allclose(found.predict(X), found.predict(X[:, ::-1]))
    ('x0~x1', True)
    """

    def fit(self, X: Any, y: Any) -> SymmetryRegressor:
        """Find out which symmetry the data have, and train the network that has it.

        Args:
            X: samples, (samples, features) or with axes of their own.
            y: numbers, (samples,) or (samples, columns).
        """
        rows, numbers = self._rows(X, y, multi_output=True, y_numeric=True)
        self._is_one_number = np.ndim(numbers) == 1
        self._find_out(rows, np.asarray(numbers, dtype=np.float64), "regression", None)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The targets of every sample, of the shape that they had in `fit`."""
        numbers: NDArray[np.float64] = self._outputs(X).numpy()
        return numbers[:, 0] if self._is_one_number else numbers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
