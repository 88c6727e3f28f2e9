"""From gains to verdicts and to the one recommendation: the rules, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isotropy.evidence.gain import Gain

BUILD_IN = "build_in"
PERMUTED = "build_in_permuted"
HARMLESS = "harmless"
HURTS = "hurts"
CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True)
class Standing:
    """What is known of a candidate when it is judged.

    Args:
        name: the candidate's.
        size: the logarithm of its order; larger symmetries are preferred among equals.
        gain: over the untied network at as many parameters; None if it was not compared.
        rejected: moving the inputs by one of its generators can be seen.
        permuted: it exchanges labels.
        dropped: it was given up after a few rounds, as it had clearly lost.
    """

    name: str
    size: float
    gain: Gain | None
    rejected: bool = False
    permuted: bool = False
    dropped: bool = False


@dataclass(frozen=True)
class Rules:
    """What counts as a difference.

    Args:
        margin: a difference in score that does not matter.
        tolerated: a loss that "harmless" must rule out.
        learned: networks have found something in the labels; otherwise nothing can be told.
    """

    margin: float = 0.01
    tolerated: float = 0.03
    learned: bool = True


def recommend(standings: Sequence[Standing], rules: Rules) -> Standing | None:
    """The symmetry to build in, or None.

    Among candidates whose moves cannot be seen in the inputs, the largest within the margin of the
    best ("no symmetry" is one of them, with a gain of 0). One whose moves can be seen only if its
    interval lies above those of all others.
    """
    if not rules.learned:
        return None
    judged = [s for s in standings if s.gain is not None and not s.dropped]
    accepted = [s for s in judged if not s.rejected]
    ceiling = max([0.0, *(_high(s) for s in accepted)])
    standing_out = [s for s in judged if s.rejected and _low(s) > ceiling]
    if standing_out:
        return _largest(standing_out, max(map(_mean, standing_out)), rules.margin)
    best = max([0.0, *map(_mean, accepted)])
    harmless = [s for s in accepted if _low(s) >= -rules.tolerated and _high(s) >= 0]
    return _largest(harmless, best, rules.margin)


def _largest(standings: Sequence[Standing], best: float, margin: float) -> Standing | None:
    near = [s for s in standings if best - _mean(s) <= margin]
    return max(near, key=lambda s: (round(s.size, 6), _mean(s)), default=None)


def verdict(standing: Standing, rules: Rules, recommended: bool = False) -> str:
    """What to think of a candidate."""
    gain = standing.gain
    if gain is None or not rules.learned:
        return CANNOT_TELL
    if gain.low > 0 and (recommended or not standing.rejected):
        return PERMUTED if standing.permuted else BUILD_IN
    if gain.mean < -rules.margin and gain.high < 0:
        return HURTS
    if gain.low >= -rules.tolerated and gain.mean >= -rules.margin:
        return HARMLESS
    return CANNOT_TELL


def has_lost(standing: Standing, best: Gain | None, rules: Rules) -> bool:
    """Whether a candidate can be given up after a few rounds.

    Args:
        standing: the candidate after these rounds.
        best: the gain of the leading candidate over this one in the same rounds, None if there is
            none or it leads itself.
        rules: the margin.
    """
    gain = standing.gain
    if gain is None:
        return False
    behind = best is not None and best.low > rules.margin
    below = gain.high < -rules.margin or gain.mean < -3 * rules.margin
    return behind or below or (standing.rejected and gain.mean < rules.margin)


def is_open(standings: Sequence[Standing], rules: Rules) -> bool:
    """Whether more rounds may change what is recommended."""
    judged = [s for s in standings if s.gain is not None and not s.dropped and not s.rejected]
    best = max([0.0, *map(_mean, judged)])
    for s in judged:
        error = (_high(s) - _low(s)) / 4
        if abs(best - _mean(s) - rules.margin) < error and _mean(s) < best:
            return True
        if verdict(s, rules) == CANNOT_TELL:
            return True
    return False


def _mean(standing: Standing) -> float:
    assert standing.gain is not None
    return standing.gain.mean


def _low(standing: Standing) -> float:
    assert standing.gain is not None
    return standing.gain.low


def _high(standing: Standing) -> float:
    assert standing.gain is not None
    return standing.gain.high
