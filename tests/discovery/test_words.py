"""Sentences: what is said follows from the numbers, and every verdict has its own."""

from __future__ import annotations

import pytest

from isotropy.discovery.plan import Plan
from isotropy.discovery.verdict import Standing
from isotropy.discovery.words import needed, reason, recommendation
from isotropy.evidence import Gain
from isotropy.report.numbers import Unit

PLAN = Plan()


def standing(mean: float, half: float) -> Standing:
    return Standing("C4", 1.4, Gain(mean, mean - half, mean + half, (mean,) * 3))


REASONS = {
    "build_in": (standing(0.05, 0.01), [], "Tying gains +5.0 points (+4.0 to +6.0)"),
    "build_in_permuted": (standing(0.05, 0.01), [], "with these labels exchanged gains +5.0"),
    "hurts": (standing(-0.05, 0.01), ["a quarter turn"], "Tying loses: −5.0 points (−6.0 to −4.0)"),
    "harmless": (standing(0.001, 0.01), [], "a loss above 3.0 points is ruled out"),
    "cannot_tell": (standing(0.01, 0.09), [], "The interval is too wide to tell"),
}


@pytest.mark.parametrize("verdict", REASONS)
def test_reasons(verdict: str) -> None:
    one, seen, words = REASONS[verdict]
    said = reason(verdict, one, PLAN, "accuracy", seen, learned=True)
    assert words in said
    assert said.endswith(".")
    assert ("Moved data can be told from the data: a quarter turn." in said) is bool(seen)


def test_numbers_of_a_regression_are_no_points() -> None:
    said = reason("build_in", standing(0.05, 0.01), PLAN, "r2", [], learned=True)
    assert "+0.05" in said
    assert "points" not in said


def test_what_stands_in_the_way_is_said_first() -> None:
    none = Standing("C4", 1.4, None)
    assert "There was no time" in reason("cannot_tell", none, PLAN, "accuracy", [], learned=True)
    failed = reason("cannot_tell", none, PLAN, "accuracy", [], True, failed="it is too narrow")
    assert failed == "Its network could not be trained: it is too narrow."
    blind = reason("cannot_tell", standing(0.5, 0.1), PLAN, "accuracy", [], learned=False)
    assert "No network predicts the targets better than chance" in blind


@pytest.mark.parametrize(
    ("one", "learned", "cut_short", "words"),
    [
        (standing(0.0, 0.06), True, False, "About 4,000 samples instead of 1,000"),
        (standing(0.0, 0.03), True, False, "About 1,500 samples instead of 1,000"),
        (standing(0.0, 0.06), True, True, "More time"),
        (Standing("C4", 1.4, None), True, False, "More time"),
        (standing(0.0, 0.06), False, False, "Labels that depend on the inputs"),
    ],
)
def test_what_would_be_needed(one: Standing, learned: bool, cut_short: bool, words: str) -> None:
    assert words in needed(one, PLAN, 1000, learned, cut_short)


def test_nothing_recommended_is_said_as_such() -> None:
    (said,) = recommendation(None, None, Unit("accuracy"), learned=True, seen=False)
    assert "A network without symmetry is as good" in said
    (said,) = recommendation(None, None, Unit("accuracy"), True, False, left_open=2)
    assert said == "No symmetry is known to help; 2 candidates are left open."
    (said,) = recommendation(None, None, Unit("accuracy"), True, False, compared=0)
    assert said == "There was no time to compare any candidate often enough."
    (said,) = recommendation(None, None, Unit("accuracy"), learned=False, seen=False)
    assert "nothing can be said of labels" in said
