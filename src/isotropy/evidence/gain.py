"""How much a symmetry gains, and how sure that is: paired differences over rounds of splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isotropy.errors import InputError


@dataclass(frozen=True)
class Gain:
    """A mean difference of scores with an interval for its true value.

    Args:
        mean: of the differences.
        low: the lower end.
        high: the upper end.
        differences: one of every round.
    """

    mean: float
    low: float
    high: float
    differences: tuple[float, ...]

    @property
    def pairs(self) -> int:
        """How many rounds there were."""
        return len(self.differences)

    @property
    def error(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2


def paired_gain(
    differences: Sequence[float],
    test_share: float,
    resolution: float = 0.0,
    confidence: float = 0.95,
) -> Gain:
    """The mean of paired differences with an interval by the corrected resampled t-test.

    Rounds draw their splits from the same samples, so they are not independent and their plain
    standard error is too small. Nadeau & Bengio (2003) add the share of validation samples to each
    training sample to the variance: s² (1/R + n_validation / n_training).

    Args:
        differences: one of every round, at least two.
        test_share: validation samples for every training sample.
        resolution: the smallest difference that there can be; rounds that agree to less than that
            do so by chance.
        confidence: of the interval.

    >>> gain = paired_gain([0.04, 0.05, 0.06], test_share=1 / 3)
    >>> round(gain.mean, 3), round(gain.low, 3), round(gain.high, 3)
    (0.05, 0.015, 0.085)
    """
    from scipy.stats import t

    values = np.asarray(differences, dtype=float)
    if len(values) < 2:
        raise InputError(f"an interval needs two rounds at least, not {len(values)}")
    spread = max(float(values.std(ddof=1)), resolution / 2)
    error = spread * np.sqrt(1 / len(values) + test_share)
    half = float(t.ppf((1 + confidence) / 2, len(values) - 1)) * error
    mean = float(values.mean())
    return Gain(mean, mean - half, mean + half, tuple(float(v) for v in values))
