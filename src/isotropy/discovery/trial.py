"""One network: which, trained on what, and what came of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from isotropy.data import DataSet
from isotropy.discovery.study import Study
from isotropy.evidence.symmetry import Symmetry
from isotropy.nn.cost import count_parameters
from isotropy.training import Augmentation, fit, predict
from isotropy.training.evaluate import scores
from isotropy.training.seeds import torch_seed

UNTIED, TIED, AUGMENTED, WIDE = "untied", "tied", "augmented", "wide"
"""The arms of the comparison: without the symmetry; tied, at as many trained numbers; untied, on
moved samples; tied, at the same width."""

MOST_ASKED = 2000  # validation samples that are moved to see what labels they then get

Answers = dict[str, list[list[float]]]


@dataclass(frozen=True)
class Trial:
    """A network to train.

    Args:
        arm: one of the four arms.
        candidate: the candidate's name; empty for the untied network.
        round: which split and which weights.
        symmetry: the candidate itself.
        width: of the network.
        asked: symmetries whose elements move the validation samples, to see what the untied
            network then says.
    """

    arm: str
    candidate: str
    round: int
    symmetry: Symmetry | None = None
    width: int = 0
    asked: tuple[Symmetry, ...] = field(default=(), compare=False)

    @property
    def key(self) -> str:
        """What the outcome is filed under."""
        return f"{self.round}/{self.arm}/{self.candidate}"


@dataclass(frozen=True)
class Outcome:
    """What came of a network.

    Args:
        key: the trial's.
        score: on the validation data.
        parameters: numbers trained.
        seconds: the time it took.
        answers: of the untied network, by element: the label it gives to each moved sample (or
            the numbers, in regression), in the order of `asked_indices`.
    """

    key: str
    score: float
    parameters: int
    seconds: float
    answers: dict[str, list[Any]] = field(default_factory=dict)


def run_trial(job: tuple[Study, Trial]) -> Outcome:
    """Train and score a network; a function of its argument alone, for any process."""
    study, trial = job
    start = time.monotonic()
    train, validation = study.parts(trial.round)
    tying = trial.symmetry if trial.arm in (TIED, WIDE) else None
    train = study.scaled(train, trial.symmetry)
    model = trained(study, train, trial, tying)
    score = score_of(study, model, validation.scaled_like(train))
    answers = _answers(model, validation.scaled_like(train), trial.asked)
    return Outcome(trial.key, score, count_parameters(model), time.monotonic() - start, answers)


def trained(study: Study, train: DataSet, trial: Trial, tying: Symmetry | None) -> nn.Module:
    """A network after its training; twins of a round begin with the same random state."""
    with torch.random.fork_rng():
        torch.manual_seed(torch_seed(study.seed, "weights", trial.round))
        width = trial.width or None
        if tying is None:
            model = study.probe.plain(width)
        else:
            model = study.probe.tied(tying, width or study.probe.first_width)
    augmentation = None
    if trial.arm == AUGMENTED and trial.symmetry is not None:
        moving = trial.symmetry
        augmentation = Augmentation(moving.inputs, moving.labels, shift=moving.shift)
    settings = study.plan.settings(len(train), study.balanced)
    seed = torch_seed(study.seed, "training", trial.round)
    found = fit(model, train, settings=settings, seed=seed, augmentation=augmentation)
    return found.whole().model


def score_of(study: Study, model: nn.Module, data: DataSet) -> float:
    """How right a network is on some data, by the run's metric."""
    found = scores(predict(model, data), data)
    return float(found.get(study.metric, 0.0))


def asked_indices(validation: DataSet) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The validation samples that are moved: all, or so many of all classes alike."""
    return np.arange(0, len(validation), -(-len(validation) // MOST_ASKED))


@torch.no_grad()
def _answers(
    model: nn.Module, validation: DataSet, asked: tuple[Symmetry, ...]
) -> dict[str, list[Any]]:
    """What a network says of moved samples, by element; "" is of those left as they are."""
    if not asked:
        return {}
    x = validation.samples.take(asked_indices(validation))  # moved first, then scaled
    found = {"": _said(model, x, validation)}
    for symmetry in asked:
        for element in symmetry.group.generators:
            if element not in found:
                found[element] = _said(model, symmetry.move(x, element), validation)
    return found


def _said(model: nn.Module, x: Tensor, data: DataSet) -> list[Any]:
    """What a network says of samples as they are."""
    assert data.scaling is not None
    x = data.scaling.apply(x).to(next(model.parameters()).device)
    outputs = torch.cat([model(part) for part in torch.split(x, 512)])
    if data.task == "classification":
        return list(outputs.argmax(1).tolist())
    outputs = outputs.reshape(len(x), -1)
    if data.target_scaling is not None:
        outputs = data.target_scaling.undo(outputs)
    return [[float(f"{v:.6g}") for v in row] for row in outputs.tolist()]
