"""Numbers as people read them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotropy.report.numbers import Unit, chance, count, duration, signed, significant, times

ACCURACY, ERROR, MSE = Unit(), Unit("error", False), Unit("mse", False)


@pytest.mark.parametrize(
    ("unit", "value", "score", "gain"),
    [
        (ACCURACY, 0.9694, "96.9%", "+96.9 points"),
        (ACCURACY, -0.00049, "-0.0%", "0.0 points"),
        (ACCURACY, 0, "0.0%", "0.0 points"),
        (ERROR, 0.0171, "1.7%", "+1.7 points"),
        (MSE, 0.0123456, "0.01235", "+0.01235"),
        (MSE, -1234567, "−1.235e6", "−1.235e6"),
        (Unit("r2"), 0.873, "0.873", "+0.873"),
        (ACCURACY, None, "–", "–"),
    ],
)
def test_scores_and_gains(unit: Unit, value: float | None, score: str, gain: str) -> None:
    assert unit.score(value).replace("-", "−") == score.replace("-", "−")
    assert unit.gain(value) == gain


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "–"), (0, "0.0 s"), (9.94, "9.9 s"), (9.96, "10 s"), (59.4, "59 s"), (59.6, "1 min"),
        (61, "1 min 1 s"), (3599.6, "1 h"), (3600, "1 h"), (7300, "2 h 2 min"),
        (86400 * 3, "72 h"),
    ],
)  # fmt: skip
def test_durations(seconds: float | None, words: str) -> None:
    assert duration(seconds) == words


@given(st.floats(0, 1e6))
def test_a_duration_is_right_to_half_of_its_smallest_unit(seconds: float) -> None:
    sizes = {"h": 3600.0, "min": 60.0, "s": 1.0}
    parts = re.findall(r"([\d.]+) (h|min|s)", duration(seconds))
    total = sum(float(number) * sizes[unit] for number, unit in parts)
    unit = "min" if seconds >= 3599.5 else "s"
    assert abs(total - seconds) <= sizes[unit] / 2 + 1e-9


@given(st.floats(0, 1))
def test_a_chance_is_never_said_to_be_smaller_than_it_was_measured(p: float) -> None:
    said = chance(p)
    if said.startswith("<"):
        assert p < 0.001
    else:
        assert float(said) == pytest.approx(p, rel=0.06, abs=0.0006)
        assert 0 <= float(said) <= 1


@given(st.floats(-1e9, 1e9))
def test_numbers_have_a_true_minus(value: float) -> None:
    for written in (significant(value), count(value), signed(value, 1)):
        assert "-" not in written
        assert float(written.replace("−", "-").replace(",", "")) == pytest.approx(
            value, rel=1e-3, abs=0.5
        )


def test_things_are_counted() -> None:
    assert [times(n, "network") for n in (0, 1, 1200)] == [
        "0 networks",
        "1 network",
        "1,200 networks",
    ]
    assert times(2, "series", "series") == "2 series"
