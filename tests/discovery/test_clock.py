"""Budgets: how they are written, and what they allow."""

from __future__ import annotations

from typing import Any

import pytest

from isotropy.discovery.clock import Clock, seconds_of
from isotropy.discovery.progress import Lines, Progress
from isotropy.errors import InputError

TIMES = {
    "90s": 90,
    "90": 90,
    90.0: 90,
    1.5: 1.5,
    "2m": 120,
    "2 min": 120,
    " 1.5h ": 5400,
    None: None,
}


@pytest.mark.parametrize(("given", "seconds"), TIMES.items())
def test_times(given: Any, seconds: float) -> None:
    assert seconds_of(given) == seconds


def test_no_budget_is_none() -> None:
    assert seconds_of(None) is None


@pytest.mark.parametrize(
    "given", ["", "0", "0s", "-3", -3, "soon", "2d", "1m30", "nan", "inf", "1e3"]
)
def test_what_is_no_time(given: Any) -> None:
    with pytest.raises(InputError, match="budget must be a time, as 90s, 2m or 1h, not"):
        seconds_of(given)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A time that passes when the test says so."""
    at = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: at[0])
    return at


def test_it_learns_how_long_a_unit_takes(now: list[float]) -> None:
    clock = Clock(100.0, workers=2)
    assert (clock.seconds(5.0), clock.forecast(5.0)) == (0, 0)
    clock.learn(2.0, 6.0)
    clock.learn(1.0, 3.0)
    assert clock.seconds(5.0) == 15
    assert clock.forecast(5.0) == 7.5  # both workers share what is planned
    now[0] += 40
    assert (clock.spent, clock.left) == (40, 60)


@pytest.mark.parametrize(
    ("budget", "spent", "reserve", "allowed"),
    [
        (None, 1000000000.0, 1000000000.0, True),
        (100.0, 0.0, 0.0, True),
        (100.0, 85.0, 0.0, True),
        (100.0, 95.0, 0.0, False),
        (100.0, 85.0, 10.0, False),  # 2 units of 5 s for this one, and 10 s afterwards
        (100.0, 70.0, 10.0, True),
        (100.0, 120.0, 0.0, False),
    ],
)
def test_something_is_begun_if_it_and_what_must_follow_fit(
    budget: float | None, spent: float, reserve: float, allowed: bool, now: list[float]
) -> None:
    clock = Clock(budget, workers=2)
    clock.learn(1.0, 5.0)
    now[0] += spent
    assert clock.allows(2.0, reserve) is allowed


def test_time_left_is_told_and_never_more_than_the_budget(now: list[float]) -> None:
    progress = Progress()
    progress.start(Clock(30.0, workers=1))
    progress.plan([1.0] * 10)
    assert progress.left == 0  # nothing is known yet
    assert progress.clock is not None
    progress.clock.learn(1.0, 2.0)
    progress.done(1.0)
    assert progress.left == 18
    now[0] += 20
    assert progress.left == 10
    now[0] += 20
    assert progress.left == 0


def test_lines_name_every_part_and_the_time_left(
    now: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Lines(every=10.0)
    clock = Clock(None, workers=1)
    lines.start(clock)
    lines.stage("comparing")
    lines.plan([1.0] * 10)
    clock.learn(1.0, 30.0)
    lines.done(1.0)
    now[0] += 11
    lines.done(1.0)
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("comparing")
    assert "0:11  comparing, about 4:00 left" in second
