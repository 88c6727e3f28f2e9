"""What both estimators are: a discovery with the manners of scikit-learn."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from isotropy.data.assemble import Raw, assemble
from isotropy.data.dataset import DataSet
from isotropy.discovery.discover import discover
from isotropy.discovery.discovered import Discovery
from isotropy.discovery.enough import shortage
from isotropy.discovery.plan import Plan
from isotropy.discovery.verdict import CANNOT_TELL
from isotropy.errors import InputError, IsotropyWarning
from isotropy.estimators.alone import plain_network
from isotropy.estimators.layout import Layout, flat, has_axes
from isotropy.evidence.candidates import Candidates, candidates_for
from isotropy.evidence.probe import Factory
from isotropy.groups.action import Group
from isotropy.groups.named import group
from isotropy.nn.export import export
from isotropy.nn.fold import fold

TOGETHER = 512  # samples that are predicted at once
EXPORTED = 8  # samples that a written file is tried on


class SymmetryEstimator(BaseEstimator):  # type: ignore[misc]
    """Finds out which symmetry the data have, and predicts with the network that has it built in.

    See `SymmetryClassifier` for the parameters and for what `fit` finds.
    """

    candidates: Candidates | None
    budget: float | str | None
    shape: tuple[int, ...] | None
    blocks: int
    plan: Plan | None
    model: Factory | None
    random_state: int | np.random.RandomState | None
    workers: int | None

    report_: Discovery | None
    symmetry_: Group
    verdicts_: dict[str, str]
    label_permutations_: dict[str, list[int]]
    model_: nn.Module
    n_features_in_: int

    # scikit-learn has parameters judged by fit, and anything taken here
    def __init__(
        self,
        *,
        candidates: Any = None,
        budget: Any = None,
        shape: Any = None,
        blocks: Any = 1,
        plan: Any = None,
        model: Any = None,
        random_state: Any = 0,
        workers: Any = 1,
    ) -> None:
        self.candidates = candidates
        self.budget = budget
        self.shape = shape
        self.blocks = blocks
        self.plan = plan
        self.model = model
        self.random_state = random_state
        self.workers = workers

    # -- finding out ----------------------------------------------------------------------------

    def _rows(self, X: Any, y: Any, **reading: Any) -> tuple[NDArray[Any], Any]:
        """Inputs as rows and targets, checked by scikit-learn; the layout is kept."""
        rows, targets = validate_data(self, flat(X), y, ensure_min_samples=2, **reading)
        self._layout = Layout.of(X if has_axes(X) else rows, self.shape)
        return rows, targets

    def _find_out(self, rows: NDArray[Any], targets: NDArray[Any], task: str, names: Any) -> None:
        raw = Raw(self._layout.samples(rows), targets, "X")
        data = assemble(raw, task=task, names=names).train
        seed = seed_of(self.random_state)
        lacking = shortage(data)
        if lacking:
            self._do_without(data, seed, lacking)
        else:
            self._discover(data, seed)
        self._example = data.samples.take(np.arange(min(len(data), EXPORTED)))

    def _discover(self, data: DataSet, seed: int) -> None:
        found = discover(
            data,
            candidates=self.candidates,
            budget=self.budget,
            seed=seed,
            plan=self.plan,
            model=self.model,
            blocks=self.blocks,
            workers=self.workers,
        )
        self.report_, self.model_ = found, found.model
        self.symmetry_ = found.recommended
        self.verdicts_, self.label_permutations_ = found.verdicts, found.label_permutations

    def _do_without(self, data: DataSet, seed: int, lacking: str) -> None:
        warnings.warn(f"{lacking}; no symmetry is built in", IsotropyWarning, stacklevel=5)
        listed = candidates_for(data, self.candidates, self.blocks)
        self.report_, self.symmetry_ = None, group("C1")
        self.verdicts_ = {symmetry.name: CANNOT_TELL for symmetry in listed}
        self.label_permutations_ = {}
        self.model_ = plain_network(data, self.plan or Plan(), self.model, seed)

    # -- using it -------------------------------------------------------------------------------

    @torch.no_grad()
    def _outputs(self, X: Any) -> Tensor:
        """What the network says, (samples, outputs), in double precision.

        So a prediction does not depend on the samples beside it, nor on how they are turned, by
        more than rounding in float64.
        """
        check_is_fitted(self)
        rows = validate_data(self, self._layout.rows(X), reset=False)
        samples = self._layout.samples(rows)
        plain = fold(self.model_).cpu().double()
        starts = range(0, len(samples), TOGETHER)
        parts = [np.arange(start, min(start + TOGETHER, len(samples))) for start in starts]
        return torch.cat([plain(samples.take(part).double()) for part in parts])

    def export(self, path: str | os.PathLike[str]) -> float:
        """Write the network as a plain one, which runs without isotropy; see `iso.export`.

        It takes samples of shape (batch, channels, *grid), or (batch, features), as they are, not
        scaled, and gives numbers: scores of classes before the softmax, or targets.

        Args:
            path: where to; .onnx or .pt2.

        Returns:
            The largest difference between the outputs of the file and of the network.
        """
        check_is_fitted(self)
        return export(self.model_, path, self._example)


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """A whole number as it is, as `iso.discover` takes it; of anything else a number drawn.

    >>> seed_of(3), seed_of(np.random.RandomState(0)) == seed_of(np.random.RandomState(0))
    (3, True)
    """
    if not isinstance(random_state, int | np.integer):
        return int(check_random_state(random_state).randint(2**31 - 1))
    if random_state < 0:
        raise InputError(f"random_state must be 0 or more, not {random_state}")
    return int(random_state)
