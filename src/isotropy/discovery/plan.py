"""How much is done to find out: rounds, samples, epochs, and what counts as a difference."""

from __future__ import annotations

from dataclasses import dataclass

from isotropy.errors import InputError
from isotropy.training import Settings

SEEN = 20_000  # samples that a network sees in training, over all epochs
FEWEST_EPOCHS, MOST_EPOCHS = 4, 40
BATCH = 64
LEAST_ALPHA = 1e-3


@dataclass(frozen=True)
class Plan:
    """The numbers a run goes by.

    Args:
        rounds: how often every candidate is compared with the untied network, each time with a
            new split and new weights.
        more_rounds: up to so many where that leaves the question open.
        first_rounds: after so many, candidates that have clearly lost are dropped.
        shown_rounds: so many with moved training data and with equal width, for those left.
        settling_rounds: up to so many for candidates that are given up before it is known whether
            they hurt.
        validation: the share of the samples that networks are compared on.
        test: the share kept for the one last look, where the source sets none apart.
        margin: a difference in score that does not matter.
        tolerated: a loss that the verdict "harmless" must rule out.
        alpha: the chance of rejecting a symmetry that inputs have.
        confidence: of the intervals of gains.
        epochs: by default so many that a network sees 20,000 samples.
        samples: networks are compared on at most so many; the last ones learn from all.

    >>> Plan().settings(1000).epochs
    20
    """

    rounds: int = 5
    more_rounds: int = 8
    first_rounds: int = 2
    shown_rounds: int = 2
    settling_rounds: int = 4
    validation: float = 0.25
    test: float = 0.15
    margin: float = 0.01
    tolerated: float = 0.03
    alpha: float = 0.01
    confidence: float = 0.95
    epochs: int | None = None
    samples: int = 6000

    def __post_init__(self) -> None:
        if not 2 <= self.first_rounds <= self.rounds <= self.more_rounds:
            raise InputError(
                "rounds must be at least 2, with first_rounds ≤ rounds ≤ more_rounds, not "
                f"{self.first_rounds}, {self.rounds}, {self.more_rounds}"
            )
        for name in ("validation", "test", "alpha", "confidence"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"{name} must be between 0 and 1, not {getattr(self, name)}")
        if self.alpha < LEAST_ALPHA:
            raise InputError(
                f"alpha must be at least {LEAST_ALPHA:g}, as p-values come of counting "
                f"permutations, not {self.alpha:g}"
            )
        for name in ("shown_rounds", "settling_rounds"):
            if getattr(self, name) < 2:
                raise InputError(f"{name} must be at least 2, not {getattr(self, name)}")
        for name in ("margin", "tolerated"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)}")
        if self.epochs is not None and self.epochs < 1:
            raise InputError(f"epochs must be at least 1, not {self.epochs}")
        if self.samples < 20:
            raise InputError(f"samples must be at least 20, not {self.samples}")

    def settings(self, samples: int, balanced: bool = False) -> Settings:
        """How a network is trained on so many samples."""
        epochs = self.epochs or min(max(round(SEEN / samples), FEWEST_EPOCHS), MOST_EPOCHS)
        return Settings(
            epochs=epochs,
            batch_size=min(BATCH, max(samples // 8, 1)),
            lr=1e-2,
            keep="last",
            class_weights="balanced" if balanced else "none",
        )

    @property
    def test_share(self) -> float:
        """Validation samples for every training sample."""
        return self.validation / (1 - self.validation)
