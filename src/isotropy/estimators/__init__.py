"""scikit-learn estimators that find the symmetry of their data and predict with it."""

from isotropy.estimators.classifier import SymmetryClassifier
from isotropy.estimators.regressor import SymmetryRegressor

__all__ = ["SymmetryClassifier", "SymmetryRegressor"]
