"""The end of a run within a budget: what is kept for it, and what there is time for."""

from __future__ import annotations

from pathlib import Path

import pytest

from isotropy.discovery.clock import Clock
from isotropy.discovery.ending import LAST_SHARE, WRITING, Ending
from isotropy.discovery.race import Race
from isotropy.discovery.trial import Outcome
from tests.discovery.studies import crosses, named, race_of, study_of

RACED = 1000


@pytest.fixture
def race(tmp_path: Path) -> Race:
    """A race in which all networks took a second, those under C4 three."""
    data = crosses()
    found = race_of(study_of(tmp_path, data), named(data, "C2", "C4"), tmp_path)
    for key, seconds in {"untied/": 1.0, "tied/C2": 1.0, "tied/C4": 3.0}.items():
        for number in (0, 1):
            found.ledger.add(Outcome(f"{number}/{key}", 0.8, 100, seconds))
    return found


def ending(budget: float | None, samples: int, workers: int = 2, epochs: int = 4) -> Ending:
    return Ending(Clock(budget, workers), samples, epochs, RACED)


def test_without_a_budget_nothing_is_kept_and_nothing_is_taken_away(race: Race) -> None:
    free = ending(None, 60_000)
    assert free.reserve(race) == 0
    lessons = free.lessons(race, race.contenders[1])
    assert (lessons.samples, lessons.epochs, lessons.units) == (60_000, 4, 240)
    assert lessons.words == ""


@pytest.mark.parametrize(("workers", "seconds"), [(2, 3.0), (1, 3.0 + 1.0)])
def test_time_is_kept_for_the_slowest_that_may_win(
    race: Race, workers: int, seconds: float
) -> None:
    kept = ending(1000.0, samples=2000, workers=workers).reserve(race)
    assert kept == pytest.approx(WRITING + seconds * 2000 * 4 / RACED)


def test_a_rejected_one_will_not_win(race: Race) -> None:
    race.contenders[1].rejected = True
    assert ending(1000.0, 2000).reserve(race) == pytest.approx(WRITING + 2000 * 4 / RACED)


def test_no_more_than_a_share_of_the_budget_is_kept(race: Race) -> None:
    assert ending(100.0, 10**7).reserve(race) == pytest.approx(WRITING + LAST_SHARE * 100)


@pytest.mark.parametrize(
    ("left", "samples", "epochs"),
    [
        (WRITING + 721, 60_000, 4),  # 3 s for every 1,000 samples seen: 720 s for all
        (WRITING + 541, 60_000, 3),
        (WRITING + 181, 60_000, 1),
        (WRITING + 90, 30_000, 1),
        (WRITING, 1000, 1),  # never less than those of the race had
        (-5.0, 1000, 1),
    ],
)
def test_what_the_time_left_allows(
    race: Race, left: float, samples: int, epochs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = ending(1000.0, 60_000)
    monkeypatch.setattr(Clock, "left", left)
    lessons = ended.lessons(race, race.contenders[1])
    assert (lessons.samples, lessons.epochs) == (pytest.approx(samples, abs=1), epochs)


def test_what_was_taken_away_is_said(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = ending(1000.0, 60_000)
    monkeypatch.setattr(Clock, "left", WRITING + 90.0)
    assert ended.lessons(race, race.contenders[1]).words == (
        "The budget left the last two networks time for 1 pass over 30,000 of 60,000 samples "
        "instead of 4 over all."
    )


def test_few_samples_are_not_seen_more_often_than_without_a_budget(race: Race) -> None:
    lessons = ending(1e6, samples=100).lessons(race, race.contenders[1])
    assert (lessons.samples, lessons.epochs, lessons.words) == (100, 4, "")
