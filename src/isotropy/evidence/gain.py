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


@dataclass(frozen=True)
class Spread:
    """A variance of differences that is expected, and how many observations that is worth.

    Args:
        variance: of one difference.
        freedom: degrees of freedom.
    """

    variance: float
    freedom: float


MOST_FREEDOM = 8.0


def common_spread(others: Sequence[Sequence[float]]) -> Spread | None:
    """The variance that other comparisons of the same rounds have on average.

    After two or three rounds a variance is hardly known, but networks of one study differ from
    round to round by about as much, whatever they are tied under (the idea of moderated t-tests,
    Smyth 2004). Comparisons share their untied networks, so they count for less than their number.

    Args:
        others: the differences of each other comparison.

    >>> common_spread([[0.0, 0.02], [0.01, 0.03]])
    Spread(variance=0.0002, freedom=1.0)
    """
    known = [np.asarray(values, dtype=float) for values in others if len(values) > 1]
    freedom = sum(len(values) - 1 for values in known)
    if not freedom:
        return None
    squares = sum(float(((values - values.mean()) ** 2).sum()) for values in known)
    return Spread(round(squares / freedom, 12), min(freedom / 2, MOST_FREEDOM))


def paired_gain(
    differences: Sequence[float],
    test_share: float,
    resolution: float = 0.0,
    confidence: float = 0.95,
    expected: Spread | None = None,
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
        expected: the variance that comparisons like this one have.

    >>> gain = paired_gain([0.04, 0.05, 0.06], test_share=1 / 3)
    >>> round(gain.mean, 3), round(gain.low, 3), round(gain.high, 3)
    (0.05, 0.015, 0.085)
    """
    from scipy.stats import t

    values = np.asarray(differences, dtype=float)
    if len(values) < 2:
        raise InputError(f"an interval needs two rounds at least, not {len(values)}")
    own = Spread(float(values.var(ddof=1)), float(len(values) - 1))
    spread = own if expected is None else _moderated(own, expected)
    deviation = max(spread.variance**0.5, resolution / 2)
    error = deviation * np.sqrt(1 / len(values) + test_share)
    half = float(t.ppf((1 + confidence) / 2, spread.freedom) * error)
    mean = float(values.mean())
    return Gain(mean, mean - half, mean + half, tuple(float(v) for v in values))


def _moderated(own: Spread, expected: Spread) -> Spread:
    """Both variances, each by its degrees of freedom.

    What is expected counts for less where the own variance is the larger one. Candidates that lose
    much vary more as well; with the others' spread at its full weight the intervals of such held
    the true gain in 90 % of simulated draws only (experiments/calibration.py).
    """
    alike = min(1.0, expected.variance / own.variance) if own.variance else 1.0
    worth = expected.freedom * alike
    freedom = own.freedom + worth
    return Spread((own.variance * own.freedom + expected.variance * worth) / freedom, freedom)
