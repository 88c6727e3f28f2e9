"""From numbers to pixels: in order, within bounds, with round and few ticks."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from isotropy.report.charts.scale import Scale, finite, fitted, nice_step, tick_text

NUMBERS = st.floats(-1e9, 1e9).filter(lambda v: v == 0 or abs(v) > 1e-9)
SIZES = st.floats(1e-3, 1e12)
COUNTS = st.integers(1, 12)


@st.composite
def scales(draw: st.DrawFn) -> Scale:
    """A range that is wide enough to be told from a point, even or by logarithms."""
    log = draw(st.booleans())
    low = draw(SIZES if log else NUMBERS)
    width = draw(st.floats(1e-6, 1e6))
    high = low * (1 + width) if log else low + width * max(abs(low), 1e-3)
    start, stop = draw(st.sampled_from([(0.0, 100.0), (380.0, 20.0)]))
    return Scale(low, high, start, stop, log)


@given(scales())
def test_ends_are_met_and_order_is_kept(scale: Scale) -> None:
    assert scale(scale.low) == pytest.approx(scale.start, abs=1e-6)
    assert scale(scale.high) == pytest.approx(scale.stop, abs=1e-6)
    middle = math.sqrt(scale.low) * math.sqrt(scale.high) if scale.log else None
    at = scale(middle if middle is not None else (scale.low + scale.high) / 2)
    assert at == pytest.approx((scale.start + scale.stop) / 2, abs=0.01)


@given(scales(), COUNTS)
def test_ticks_are_few_within_the_range_and_in_order(scale: Scale, count: int) -> None:
    ticks = scale.ticks(count)
    room = 1e-6 * (scale.high - scale.low)
    assert all(scale.low - room <= tick <= scale.high + room for tick in ticks)
    assert ticks == sorted(set(ticks))
    assert len(ticks) <= 2 * count + 1


@given(scales())
def test_there_are_ticks_to_read_a_value_by(scale: Scale) -> None:
    assert len(scale.ticks(5)) >= 2


@given(NUMBERS, st.floats(1e-6, 1e6), COUNTS)
def test_a_step_is_round_and_no_larger_than_needed(low: float, width: float, count: int) -> None:
    high = low + width
    assume(high > low)
    step = nice_step(low, high, count)
    digits = step / 10.0 ** math.floor(math.log10(step) + 1e-9)
    assert any(digits == pytest.approx(d) for d in (1, 2, 2.5, 5, 10))
    assert step * count >= (high - low) * (1 - 1e-6)
    assert step * count <= 2.5 * (high - low) * (1 + 1e-6)


@given(scales(), COUNTS)
def test_labels_say_what_their_ticks_are(scale: Scale, count: int) -> None:
    labels = scale.labels(count)
    assert [tick for tick, _ in labels] == scale.ticks(count)
    assert len({label for _, label in labels}) == len(labels)
    for tick, label in labels:
        assert value_of(label) == pytest.approx(tick, rel=1e-3, abs=1e-6 * (scale.high - scale.low))


def value_of(label: str) -> float:
    """The number that a tick's label stands for."""
    units = {"k": 1e3, "M": 1e6, "G": 1e9}
    plain = label.replace("−", "-")
    return float(plain.rstrip("kMG")) * units.get(plain[-1], 1.0)


@given(st.floats(-1e12, 1e12), st.sampled_from([None, 0.01, 0.25, 20.0]))
def test_a_tick_has_a_true_minus_and_nothing_has_none(value: float, step: float | None) -> None:
    label = tick_text(value, step)
    assert "-" not in label
    assert label == "0" or value_of(label) != 0


@given(st.lists(st.one_of(st.none(), st.floats(width=32)), max_size=8), st.booleans())
def test_a_fitted_scale_holds_all_that_is_a_number(values: list[float | None], log: bool) -> None:
    kept = [v for v in values if v is not None and math.isfinite(v) and (v > 0 or not log)]
    scale = fitted(values, 10, 90, log=log)
    assert (scale is None) == (not kept)
    if scale is not None:
        assert scale.low < scale.high
        assert all(10 <= scale(v) <= 90 for v in kept)


@given(st.lists(NUMBERS, min_size=1, max_size=5), NUMBERS)
def test_what_is_to_be_included_is(values: list[float], included: float) -> None:
    scale = fitted(values, 0, 1, include=[included])
    assert scale is not None
    assert scale.low <= included <= scale.high


def test_without_margin_the_range_is_that_of_the_values() -> None:
    scale = fitted([2, 5, None], 0, 1, margin=0)
    assert scale is not None
    assert (scale.low, scale.high) == (2, 5)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, True), (0.5, True), (None, False), (math.nan, False), (math.inf, False)],
)
def test_finite(value: float | None, expected: bool) -> None:
    assert finite(value) is expected
