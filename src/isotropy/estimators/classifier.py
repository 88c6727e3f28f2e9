"""A classifier that finds the symmetry of its data and has it built in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from isotropy.estimators.base import SymmetryEstimator


class SymmetryClassifier(ClassifierMixin, SymmetryEstimator):  # type: ignore[misc]
    """Finds out which symmetry the data have, and predicts with the network that has it built in.

    `fit` is `iso.discover`, so it takes as long; a prediction is one run of a small network. With
    too few samples to compare networks on, no symmetry is built in, every verdict is
    `cannot_tell`, and a warning says so. With 0 or another whole number as `random_state`, the
    same data give the same result.

    Args:
        candidates: names ("C4"), groups, or {name: permutation of a sample's features}; by default
            all that are usual for the kind of data.
        budget: seconds, or "90s", "2m"; what is found then depends on how fast the machine is.
        shape: what a row of X stands for, channels first: (1, 28, 28) for pictures, (2, 500) for
            signals. None: rows are vectors, and arrays of more axes pictures or volumes.
        blocks: of vectors, how many consecutive columns move together.
        plan: how much is done, a `DiscoveryPlan`.
        model: makes your own network by width, instead of the small one that is built in.
        random_state: a whole number, a numpy RandomState, or None for another result every time.
        workers: how many networks are trained at once; None for one for every core.

    Attributes:
        symmetry_: the recommended group, which is built in; its name is str() of it, C1 for none.
        label_permutations_: by element, the class (its place in classes_) that each class becomes;
            empty if classes stay.
        verdicts_: on every candidate, by name.
        report_: the `Discovery`: print it, or write its page with report_.report("page.html").
            None with too few samples.
        model_: the network, a torch module for samples as they are. The samples that the report
            tests it on, `plan.test` of them, are not among those it has learned from.
        classes_: the labels.
        n_features_in_: values of a sample.

    >>> import isotropy as iso
    >>> X = np.random.default_rng(0).normal(size=(400, 4))
    >>> quick = iso.DiscoveryPlan(epochs=10)
    >>> found = SymmetryClassifier(candidates=["sign"], plan=quick).fit(X, X[:, 0] > 0)
    >>> found.label_permutations_  # with the sign of X the two classes change places
    {'n': [1, 0]}
    >>> np.allclose(found.predict_proba(-X), found.predict_proba(X)[:, [1, 0]])
    True
    """

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any) -> SymmetryClassifier:
        """Find out which symmetry the data have, and train the network that has it.

        Args:
            X: samples, (samples, features) or with axes of their own.
            y: labels (samples,), whole numbers or strings.
        """
        rows, labels = self._rows(X, y)
        check_classification_targets(labels)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have two classes or more, not one class {self.classes_[0]!r}")
        self._find_out(rows, numbers, "classification", [str(c) for c in self.classes_])
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """How likely each class is, (samples, classes), in the order of classes_."""
        chances: NDArray[np.float64] = self._outputs(X).softmax(1).numpy()
        return chances

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of every sample."""
        likeliest = self.predict_proba(X).argmax(1)
        return np.asarray(self.classes_[likeliest])
