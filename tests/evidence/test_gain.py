"""Gains: the formula, its monotonicity, and how often the interval holds the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from isotropy.errors import InputError
from isotropy.evidence.gain import MOST_FREEDOM, Gain, common_spread, paired_gain

SHARE = 1 / 3
NUMBERS = st.floats(-1, 1, allow_subnormal=False)
ROUNDS = st.lists(NUMBERS, min_size=2, max_size=8)


@given(ROUNDS, st.floats(0.1, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_it_is_the_corrected_resampled_t_interval(
    values: list[float], share: float, confidence: float
) -> None:
    gain = paired_gain(values, share, confidence=confidence)
    variance = np.var(values, ddof=1) * (1 / len(values) + share)
    half = student.ppf((1 + confidence) / 2, len(values) - 1) * np.sqrt(variance)
    assert gain.mean == pytest.approx(np.mean(values))
    assert gain.high - gain.mean == pytest.approx(half, abs=1e-9)
    assert gain.mean - gain.low == pytest.approx(half, abs=1e-9)
    assert gain.error == pytest.approx(half, abs=1e-9)
    assert (gain.pairs, gain.differences) == (len(values), tuple(values))


@given(ROUNDS, NUMBERS)
def test_it_moves_with_the_differences(values: list[float], more: float) -> None:
    first, second = (paired_gain(v, SHARE) for v in (values, [v + more for v in values]))
    for before, after in zip(ends(first), ends(second), strict=True):
        assert after == pytest.approx(before + more, abs=1e-9)


@given(ROUNDS)
def test_the_other_way_round_it_is_its_negative(values: list[float]) -> None:
    gain, lost = (paired_gain([sign * v for v in values], SHARE) for sign in (1, -1))
    assert ends(lost) == pytest.approx(tuple(-end for end in reversed(ends(gain))), abs=1e-9)


@given(ROUNDS, st.floats(0.001, 0.1), st.floats(0.1, 0.5))
def test_more_shared_samples_a_coarser_score_and_more_confidence_widen_it(
    values: list[float], coarse: float, share: float
) -> None:
    plain = paired_gain(values, share)
    for wider in (
        paired_gain(values, 2 * share),
        paired_gain(values, share, resolution=coarse),
        paired_gain(values, share, confidence=0.99),
    ):
        assert wider.error >= plain.error - 1e-12


def ends(gain: Gain) -> tuple[float, float, float]:
    return gain.low, gain.mean, gain.high


def test_rounds_that_agree_by_chance_leave_an_interval() -> None:
    """Half of the smallest difference there can be is the least deviation."""
    gain = paired_gain([0.02, 0.02], SHARE, resolution=0.01)
    assert gain.error == pytest.approx(student.ppf(0.975, 1) * 0.005 * np.sqrt(1 / 2 + SHARE))


@pytest.mark.parametrize("values", [[], [0.1]])
def test_one_round_has_no_interval(values: list[float]) -> None:
    with pytest.raises(InputError, match=f"two rounds at least, not {len(values)}"):
        paired_gain(values, SHARE)


def test_ends_are_plain_numbers() -> None:
    assert {type(end) for end in ends(paired_gain([0.1, 0.2], SHARE))} == {float}


# -- the spread of other comparisons ------------------------------------------------------------


@given(st.lists(st.lists(NUMBERS, max_size=6), max_size=5))
def test_a_common_spread_is_the_mean_of_variances_by_their_freedom(
    others: list[list[float]],
) -> None:
    known = [values for values in others if len(values) > 1]
    spread = common_spread(others)
    if not known:
        assert spread is None
        return
    assert spread is not None
    freedom = [len(values) - 1 for values in known]
    variances = [np.var(values, ddof=1) for values in known]
    assert spread.variance == pytest.approx(np.average(variances, weights=freedom), abs=1e-9)
    assert 0 < spread.freedom <= MOST_FREEDOM
    assert spread.freedom <= sum(freedom)


def test_what_others_show_narrows_an_interval_of_few_rounds() -> None:
    others = [[0.0, 0.01, -0.01]] * 4
    alone = paired_gain([0.02, 0.03], SHARE)
    among = paired_gain([0.02, 0.03], SHARE, expected=common_spread(others))
    assert among.mean == alone.mean
    assert among.error < alone.error / 3


@given(st.floats(5, 1e6), st.integers(2, 8))
def test_a_spread_far_larger_than_the_others_is_believed(times: float, rounds: int) -> None:
    """The others' variance then counts for little: the interval is nearly what it is alone."""
    small = np.resize([0.01, -0.01], rounds)
    others = common_spread([small.tolist()] * 3)
    large = (times * small).tolist()
    alone, among = paired_gain(large, SHARE), paired_gain(large, SHARE, expected=others)
    assert alone.error / 4 < among.error <= alone.error + 1e-9
    assert among.error > 0.8 * times * paired_gain(small.tolist(), SHARE, expected=others).error


@given(ROUNDS, st.lists(ROUNDS, min_size=1, max_size=4))
def test_an_interval_is_finite_and_holds_its_mean(
    values: list[float], others: list[list[float]]
) -> None:
    gain = paired_gain(values, SHARE, expected=common_spread(others))
    assert np.isfinite(ends(gain)).all()
    assert gain.low <= gain.mean <= gain.high


# -- coverage -----------------------------------------------------------------------------------


def simulated(draw: Any, rounds: int, spreads: Any, shared: float) -> Any:
    """Differences of several comparisons around 0: what a set of samples has in common, and what
    each round has of its own."""
    common = draw.normal(size=(len(spreads), 1)) * np.sqrt(shared)
    own = draw.normal(size=(len(spreads), rounds)) * np.sqrt(1 - shared)
    return (common + own) * np.array(spreads)[:, None]


@pytest.mark.parametrize("rounds", [2, 5, 8])
@pytest.mark.parametrize("spreads", [(1, 1, 1, 1), (1, 1, 1, 5)], ids=["alike", "one wider"])
def test_intervals_hold_the_truth(rounds: int, spreads: tuple[int, ...]) -> None:
    """Rounds share 1/4 of their variance, as Nadeau and Bengio suppose for this share."""
    draw, held = np.random.default_rng(0), []
    for _ in range(400):
        values = simulated(draw, rounds, spreads, SHARE / (1 + SHARE))
        others = common_spread(values[:-1].tolist())
        gain = paired_gain(values[-1].tolist(), SHARE, expected=others)
        held.append(gain.low <= 0 <= gain.high)
    assert np.mean(held) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 400) - (0.03 if rounds == 2 else 0)
