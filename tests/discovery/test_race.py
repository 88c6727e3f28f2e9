"""The race: what is trained in which order, who is dropped, what a budget cuts, what is resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from isotropy.discovery import race as module
from isotropy.discovery.clock import Clock
from isotropy.discovery.plan import Plan
from isotropy.discovery.trial import Outcome
from isotropy.errors import InputError, TrainingError
from tests.discovery.studies import Scripted, by_candidate, crosses, named, race_of, study_of

PLAN = Plan(rounds=3, more_rounds=5, first_rounds=2, shown_rounds=2, settling_rounds=3)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Networks whose scores are made up."""

    def use(*arguments: Any) -> Scripted:
        script = Scripted(*arguments)
        monkeypatch.setattr(module, "run_trial", script)
        return script

    return use


def test_rounds_come_in_order_and_every_network_once(tmp_path: Path, scripted: Any) -> None:
    script = scripted(by_candidate({"C2": 0.03, "C4": 0.08}))
    data = crosses()
    race = race_of(study_of(tmp_path, data, PLAN), named(data, "C2", "C4"), tmp_path)
    race.run()
    assert script.asked[:6] == [
        *("0/untied/", "0/tied/C2", "0/tied/C4"),
        *("1/untied/", "1/tied/C2", "1/tied/C4"),
    ]
    assert len(set(script.asked)) == len(script.asked)
    assert set(script.asked) == set(race.ledger.known)
    assert {f"{r}/augmented/C4" for r in (0, 1)} <= set(script.asked)
    assert {f"{r}/wide/C4" for r in (0, 1)} <= set(script.asked)
    assert race.cut_short == []
    gain = race.gain("tied", "C4")
    assert gain is not None
    assert gain.mean == pytest.approx(0.08, abs=0.01)
    assert race.parameters("tied", "C4") == 100


def test_those_who_lose_clearly_are_not_trained_on(tmp_path: Path, scripted: Any) -> None:
    script = scripted(by_candidate({"C2": 0.08, "D1": -0.2, "C4": 0.081}))
    data = crosses()
    candidates = named(data, "C2", "D1", "C4")
    race = race_of(study_of(tmp_path, data, PLAN), candidates, tmp_path)
    race.run()
    assert {c.name: c.dropped_after for c in race.contenders} == {"C2": None, "D1": 2, "C4": None}
    assert [k for k in script.asked if k.endswith("D1")] == ["0/tied/D1", "1/tied/D1"]


def test_those_that_can_be_seen_go_last_and_race_only_if_they_gain(
    tmp_path: Path, scripted: Any
) -> None:
    script = scripted(by_candidate({"C2": 0.0, "D1": 0.05, "C4": 0.004}))
    data = crosses()
    candidates = named(data, "C2", "D1", "C4")
    race = race_of(study_of(tmp_path, data, PLAN), candidates, tmp_path, ("C2", "D1"))
    race.run()
    assert script.asked[1:4] == ["0/tied/C4", "0/tied/C2", "0/tied/D1"]
    dropped = {c.name: c.dropped_after for c in race.contenders}
    assert dropped == {"C2": 2, "D1": None, "C4": None}


def test_doubt_is_looked_at_closer_and_clarity_is_not(tmp_path: Path, scripted: Any) -> None:
    data = crosses(1200)  # so many that a score has small steps
    rounds = {}
    for name, noise in (("clear", 0.0005), ("doubtful", 0.08)):
        script = scripted(by_candidate({"C2": 0.05, "C4": 0.02}, noise))
        folder = tmp_path / name
        folder.mkdir()
        race = race_of(study_of(folder, data, PLAN), named(data, "C2", "C4"), folder)
        race.run()
        rounds[name] = 1 + max(int(key.split("/")[0]) for key in script.asked)
    assert rounds == {"clear": 3, "doubtful": 5}


def test_an_exchange_of_labels_races_like_any_other(tmp_path: Path, scripted: Any) -> None:
    script = scripted(by_candidate({"C2": -0.2, "C2 [r2: 0↔1]": 0.06}), {"r2": [1, 0]})
    data = crosses()
    race = race_of(study_of(tmp_path, data, PLAN), named(data, "C2"), tmp_path)
    race.run()
    added = race.contenders[-1]
    assert added.symmetry.labels is not None
    assert added.exchanges_surely
    assert f"0/tied/{added.name}" in script.asked
    standing = race.standing(added)
    assert standing.permuted
    assert standing.gain is not None


def test_a_ledger_that_knows_everything_leaves_nothing_to_train(
    tmp_path: Path, scripted: Any
) -> None:
    """Exchanges are found again from the answers that were kept."""
    data = crosses()
    study = study_of(tmp_path, data, PLAN)
    scores = by_candidate({"C2": 0.02, "C2 [r2: 0↔1]": 0.06})
    scripted(scores, {"r2": [1, 0]})
    first = race_of(study, named(data, "C2"), tmp_path)
    first.run()
    again = scripted(scores, {"r2": [1, 0]})
    second = race_of(study, named(data, "C2"), tmp_path)
    second.run()
    assert again.asked == []
    assert second.standings() == first.standings()


@pytest.mark.parametrize("kept", [0, 1, 4, 9])
def test_stopped_anywhere_it_goes_on_to_the_same_end(
    kept: int, tmp_path: Path, scripted: Any
) -> None:
    data = crosses()
    study = study_of(tmp_path, data, PLAN)
    scores = by_candidate({"C2": 0.05, "C4": 0.045, "D1": -0.1}, 0.01)
    script = scripted(scores)
    whole = race_of(study, named(data, "C2", "C4", "D1"), tmp_path)
    whole.run()
    lines = (tmp_path / "trials.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "trials.jsonl").write_text("".join(lines[:kept]) + '{"key": "cut')
    rest = scripted(scores)
    resumed = race_of(study, named(data, "C2", "C4", "D1"), tmp_path)
    resumed.run()
    assert rest.asked == script.asked[kept:]
    assert resumed.standings() == whole.standings()


def test_later_rounds_are_not_known_where_earlier_ones_decide(
    tmp_path: Path, scripted: Any
) -> None:
    """A candidate that leads at first and then loses is dropped neither at once nor on resuming."""
    data = crosses()
    study = study_of(tmp_path, data, PLAN)
    scripted(lambda trial: 0.8 + (0.0 if not trial.candidate else 0.1 if trial.round < 2 else -0.3))
    races = []
    for _ in range(2):
        race = race_of(study, named(data, "C2"), tmp_path)
        race.run()
        races.append(race)
    whole, resumed = races
    assert [c.dropped_after for c in whole.contenders] == [None]
    assert resumed.standings() == whole.standings()


def test_a_budget_cuts_the_list_and_says_what(
    tmp_path: Path, scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every network takes a second of a made-up clock; two seconds are kept for what follows."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    scores = by_candidate({"C2": 0.05, "C4": 0.045})

    def passing(trial: Any) -> float:
        now[0] += 1.0
        return scores(trial)

    script = scripted(passing)
    data = crosses()
    candidates = named(data, "C2", "C4")
    race = race_of(
        study_of(tmp_path, data, PLAN), candidates, tmp_path, clock=Clock(10.0, 1), reserve=1.0
    )
    for one in race.contenders:
        one.units = one.wide_units = 1.0
    race.run()
    assert now[0] <= 10
    assert 6 <= len(script.asked) <= 9
    assert race.cut_short
    assert not set(race.cut_short) & set(script.asked)


def test_a_candidate_that_cannot_be_trained_is_out_and_says_why(
    tmp_path: Path, scripted: Any
) -> None:
    def failing(trial: Any) -> float:
        if trial.candidate == "C4":
            raise InputError("it does not fit")
        return 0.8

    script = scripted(failing)
    data = crosses()
    race = race_of(study_of(tmp_path, data, PLAN), named(data, "C2", "C4"), tmp_path)
    race.run()
    failed = race.contenders[1]
    assert (failed.name, failed.failed) == ("C4", "it does not fit")
    assert race.standing(failed).gain is None
    assert script.asked.count("0/tied/C4") == 1
    assert "2/tied/C2" in script.asked


def test_without_the_untied_network_there_is_no_race(tmp_path: Path, scripted: Any) -> None:
    def failing(trial: Any) -> float:
        raise InputError("no data" if not trial.candidate else "other")

    scripted(failing)
    data = crosses()
    race = race_of(study_of(tmp_path, data, PLAN), named(data, "C2"), tmp_path)
    with pytest.raises(TrainingError, match="the untied network: no data"):
        race.run()


def test_scores_of_rounds_that_are_missing(tmp_path: Path, scripted: Any) -> None:
    """A budget may leave out the first round of an arm; the others still count."""
    scripted(by_candidate({}))
    data = crosses()
    race = race_of(study_of(tmp_path, data, PLAN), named(data, "C2"), tmp_path)
    for number in (1, 2):
        race.ledger.add(Outcome(f"{number}/tied/C2", 0.7, 55, 1.0))
        race.ledger.add(Outcome(f"{number}/untied/", 0.6, 60, 1.0))
    assert race.scores("tied", "C2") == [0.7, 0.7]
    assert race.parameters("tied", "C2") == 55
    gain = race.gain("tied", "C2")
    assert gain is not None
    assert gain.differences == pytest.approx((0.1, 0.1))
    assert race.gain("wide", "C2") is None


def test_after_a_budget_ended_nothing_is_trained_that_is_only_shown(
    tmp_path: Path, scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def passing(trial: Any) -> float:
        now[0] += 1.0
        return by_candidate({"C2": 0.05})(trial)

    script = scripted(passing)
    data = crosses()
    race = race_of(study_of(tmp_path, data, PLAN), named(data, "C2"), tmp_path, clock=Clock(5.0, 1))
    race.run()
    assert race.cut_short
    assert len(race.cut_short) == len(set(race.cut_short))
    assert {key.split("/")[1] for key in script.asked} == {"untied", "tied"}


def test_a_network_that_is_only_shown_may_fail(tmp_path: Path, scripted: Any) -> None:
    def failing(trial: Any) -> float:
        if trial.arm == "wide":
            raise InputError("it does not fit")
        return by_candidate({"C2": 0.05})(trial)

    scripted(failing)
    data = crosses()
    race = race_of(study_of(tmp_path, data, PLAN), named(data, "C2"), tmp_path)
    race.run()
    (one,) = race.contenders
    assert not one.failed
    assert race.standing(one).gain is not None
