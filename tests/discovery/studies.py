"""Small studies, and networks that are not trained but make up their scores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from isotropy.data import DataSet, from_arrays
from isotropy.discovery.clock import Clock
from isotropy.discovery.ledger import Ledger
from isotropy.discovery.plan import Plan
from isotropy.discovery.progress import Progress
from isotropy.discovery.race import Race
from isotropy.discovery.study import Study
from isotropy.discovery.trial import TIED, Outcome, Trial, asked_indices
from isotropy.evidence import Symmetry, candidates_for
from isotropy.evidence.probe import Probe
from isotropy.search.workers import Workers

QUICK = Plan(rounds=2, more_rounds=2, first_rounds=2, shown_rounds=2, settling_rounds=2, epochs=2)


def crosses(count: int = 120, turned: bool = True, seed: int = 0) -> DataSet:
    """Pictures of one or two bars, turned by quarter turns or as they are."""
    draw = np.random.default_rng(seed)
    y = np.arange(count) % 2
    X = 0.3 * draw.normal(size=(count, 8, 8))
    X[:, 1, 1:6] += 2.0
    X[y == 1, 1:7, 1] += 2.0
    if turned:
        X = np.stack([np.rot90(x, k) for x, k in zip(X, draw.integers(4, size=count), strict=True)])
    return from_arrays(X.astype(np.float32)[:, None], y, layout="nchw", name="crosses")


def study_of(folder: Path, data: DataSet, plan: Plan = QUICK, view: str = "grid") -> Study:
    probe = Probe(data.shape, data.outputs, view, width=4)
    study = Study(folder / "data", data.task, data.classes, probe, plan, seed=3)
    study.write(data)
    return study


Scores = Callable[[Trial], float]


class Scripted:
    """In place of `run_trial`: scores that the test makes up, and who was asked for them.

    Args:
        scores: by trial.
        exchanging: what the untied network says of moved samples of each class, by element.
    """

    def __init__(self, scores: Scores, exchanging: dict[str, list[int]] | None = None) -> None:
        self.scores, self.exchanging = scores, exchanging or {}
        self.asked: list[str] = []

    def __call__(self, job: tuple[Study, Trial]) -> Outcome:
        study, trial = job
        self.asked.append(trial.key)
        return Outcome(trial.key, self.scores(trial), 100, 1.0, self._answers(study, trial))

    def _answers(self, study: Study, trial: Trial) -> dict[str, list[Any]]:
        if not trial.asked:
            return {}
        validation = study.parts(trial.round)[1]
        labels = validation.targets[asked_indices(validation)]
        found = {"": labels.tolist()}
        for symmetry in trial.asked:
            for g in symmetry.group.generators:
                images = np.array(self.exchanging.get(g, range(len(study.classes))))
                found[g] = images[labels].tolist()
        return found


def by_candidate(means: dict[str, float], noise: float = 0.002) -> Scores:
    """An untied network at 0.8, and tied ones so much better, each round a little different."""

    def score(trial: Trial) -> float:
        wobble = noise * np.random.default_rng([trial.round, len(trial.candidate)]).normal()
        if trial.arm != TIED:
            return 0.8 + (means.get(trial.candidate, 0.0) if trial.arm == "wide" else 0.0)
        return 0.8 + means.get(trial.candidate, 0.0) + wobble

    return score


def race_of(
    study: Study,
    candidates: list[Symmetry],
    folder: Path,
    rejected: tuple[str, ...] = (),
    clock: Clock | None = None,
    reserve: float = 0.0,
) -> Race:
    return Race(
        study,
        candidates,
        rejected,
        Ledger(folder / "trials.jsonl"),
        Workers(1),
        clock or Clock(None, 1),
        Progress(),
        lambda _: reserve,
    )


def named(data: DataSet, *names: str) -> list[Symmetry]:
    return candidates_for(data, list(names))
