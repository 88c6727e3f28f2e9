"""How the networks of a search are trained: piece by piece, all on the same samples.

Training is cut into generations, and a generation into stages. What is trained in a stage is a
function of the seed and of the stage alone, so it does not matter who trains it, where, and when.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from torch import nn
from torch.optim import Optimizer

from isotropy.data import DataSet
from isotropy.data.samples import IntArray
from isotropy.errors import InputError
from isotropy.training import Augmentation, Settings, evaluate, fit, stream, torch_seed
from isotropy.training.optimizer import make_optimizer, rate

PAPER = Settings(
    optimizer="sgd",
    lr=0.1,
    momentum=0.0,
    weight_decay=0.0,
    schedule="constant",
    warmup=0.0,
    keep="last",
)
"""How 001 trains in its evolution (Appendix B): nothing that a relaxation could disturb."""


@dataclass(frozen=True)
class Course:
    """How long and how networks are trained.

    Args:
        generations: in how many pieces.
        epochs: passes over the training data in each of them; 0.5 are half a pass.
        settings: how; the rate follows its schedule over the whole course and is constant within a
            generation. Its `epochs`, `keep` and `patience` are not asked.
        seed: of the order of samples.
        halvings: stages of a generation, but one: the first is 1 / 2^halvings of it long, and every
            other one ends at twice the length of the one before.

    >>> Course(generations=4, epochs=0.5, halvings=2).ends
    (0.25, 0.5, 1.0)
    """

    generations: int
    epochs: float
    settings: Settings = PAPER
    seed: int = 0
    halvings: int = 0

    def __post_init__(self) -> None:
        if self.generations < 1:
            raise InputError(f"generations must be at least 1, not {self.generations}")
        if not 0 < self.epochs < float("inf"):
            raise InputError(f"epochs must be above 0, not {self.epochs}")
        if not 0 <= self.halvings <= 10:
            raise InputError(f"halvings must be from 0 to 10, not {self.halvings}")

    @property
    def ends(self) -> tuple[float, ...]:
        """The part of a generation after which each of its stages ends."""
        return tuple(0.5**n for n in range(self.halvings, -1, -1))

    def passes(self, stages: int) -> float:
        """The passes over the training data in so many stages of a generation."""
        return self.epochs * self.ends[stages - 1] if stages else 0.0

    def train(
        self,
        model: nn.Module,
        optimizer: Optimizer,
        data: DataSet,
        generation: int,
        stage: int,
        key: tuple[str | int, ...],
        augmentation: Augmentation | None = None,
    ) -> None:
        """Train a network, in place, for one stage of a generation.

        Args:
            model: the network.
            optimizer: the one that it has been trained with before.
            data: all of the training data.
            generation: from 1.
            stage: of the generation, from 0.
            key: names the random numbers of this training, beside those that all share.
            augmentation: moves samples.
        """
        samples = self.samples(len(data), generation, stage)
        if not len(samples):
            return
        fit(
            model,
            data.subset(samples),
            settings=self._settings(generation),
            seed=torch_seed(self.seed, *key, generation, stage),
            optimizer=optimizer,
            augmentation=augmentation,
        ).whole()

    def _settings(self, generation: int) -> Settings:
        lr = rate(generation - 1, self.generations, self.settings)
        return replace(
            self.settings,
            lr=lr,
            epochs=1,
            schedule="constant",
            warmup=0.0,
            keep="last",
            patience=0,
        )

    def samples(self, size: int, generation: int, stage: int) -> IntArray:
        """Which samples are trained on in a stage: all of them in turn, in ever new orders.

        >>> course = Course(generations=4, epochs=0.5)
        >>> sorted([*course.samples(6, 1, 0), *course.samples(6, 2, 0)]) == list(range(6))
        True
        """
        begin = 0.0 if stage == 0 else self.ends[stage - 1]
        first, last = (
            round((generation - 1 + part) * self.epochs * size)
            for part in (begin, self.ends[stage])
        )
        passes = range(first // size, -(-last // size))
        orders = [stream(self.seed, "pass", number).permutation(size) for number in passes]
        before = passes.start * size
        return np.concatenate([np.arange(0), *orders])[first - before : last - before]


def fresh_optimizer(model: nn.Module, course: Course) -> Optimizer:
    """The optimiser of a network that has not been trained."""
    return make_optimizer(model, course.settings)


def error_of(model: nn.Module, data: DataSet) -> float:
    """What a search makes small: the share of wrong answers, or the mean squared error."""
    found = evaluate(model, data)
    return found["mse"] if data.task == "regression" else 1 - found["accuracy"]
