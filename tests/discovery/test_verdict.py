"""From gains to verdicts and one recommendation: tables of cases, and what holds for all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotropy.discovery.verdict import (
    Rules,
    Standing,
    has_lost,
    is_open,
    recommend,
    verdict,
)
from isotropy.evidence import Gain

RULES = Rules(margin=0.01, tolerated=0.03)


def gain(mean: float, half: float) -> Gain:
    return Gain(mean, mean - half, mean + half, (mean, mean))


def standing(mean: float, half: float = 0.005, **more: object) -> Standing:
    return Standing("one", 1.0, gain(mean, half), **more)  # type: ignore[arg-type]


VERDICTS = {
    "gains": (standing(0.05), "build_in"),
    "gains, exchanging labels": (standing(0.05, permuted=True), "build_in_permuted"),
    "gains, though it can be seen": (standing(0.05, rejected=True), "harmless"),
    "may gain": (standing(0.004), "harmless"),
    "no difference": (standing(0.0), "harmless"),
    "loses a little, surely": (standing(-0.008), "harmless"),
    "loses": (standing(-0.05), "hurts"),
    "loses, perhaps": (standing(-0.05, 0.08), "cannot_tell"),
    "too wide": (standing(0.0, 0.08), "cannot_tell"),
    "not compared": (Standing("one", 1.0, None), "cannot_tell"),
}


@pytest.mark.parametrize(("one", "expected"), VERDICTS.values(), ids=VERDICTS)
def test_verdicts(one: Standing, expected: str) -> None:
    assert verdict(one, RULES) == expected


def test_what_is_recommended_and_gains_is_built_in_though_it_can_be_seen() -> None:
    assert verdict(standing(0.05, rejected=True), RULES, recommended=True) == "build_in"


def test_nothing_is_told_where_nothing_was_learned() -> None:
    rules = replace(RULES, learned=False)
    assert verdict(standing(0.05), rules) == "cannot_tell"
    assert recommend([standing(0.05)], rules) is None


def named(name: str, size: float, mean: float, half: float = 0.005, **more: object) -> Standing:
    return Standing(name, size, gain(mean, half), **more)  # type: ignore[arg-type]


RECOMMENDED = {
    "nothing": ([], None),
    "the best": ([named("C2", 0.7, 0.02), named("C4", 1.4, 0.06)], "C4"),
    "the largest near the best": ([named("C4", 1.4, 0.06), named("D4", 2.1, 0.052)], "D4"),
    "not one too far behind": ([named("C4", 1.4, 0.06), named("D4", 2.1, 0.03)], "C4"),
    "a harmless one": ([named("D4", 2.1, -0.004)], "D4"),
    "none that hurts": ([named("D4", 2.1, -0.06)], None),
    "none that may hurt": ([named("D4", 2.1, 0.0, 0.05)], None),
    "none that was given up": ([named("D4", 2.1, 0.0, dropped=True)], None),
    "none that was not compared": ([Standing("D4", 2.1, None)], None),
    "none that can be seen": ([named("D4", 2.1, 0.0, rejected=True)], None),
    "one that can be seen if it stands out": (
        [named("C2", 0.7, 0.0), named("D1", 0.7, 0.1, rejected=True)],
        "D1",
    ),
    "none that can be seen and only leads": (
        [named("C2", 0.7, 0.09), named("D1", 0.7, 0.1, 0.02, rejected=True)],
        "C2",
    ),
}


@pytest.mark.parametrize(("all_", "name"), RECOMMENDED.values(), ids=RECOMMENDED)
def test_recommendations(all_: list[Standing], name: str | None) -> None:
    found = recommend(all_, RULES)
    assert (found.name if found else None) == name


# -- what holds for all -------------------------------------------------------------------------

MEANS, HALVES = st.floats(-0.3, 0.3), st.floats(0.0001, 0.2)


Facts = tuple[tuple[float, float] | None, bool, bool, bool, float]
FLAGS = (st.booleans(), st.booleans(), st.booleans())
FACTS = st.tuples(st.none() | st.tuples(MEANS, HALVES), *FLAGS, st.floats(0.5, 4))


def made(facts: list[Facts]) -> list[Standing]:
    return [
        Standing(f"{i}", size, gain(*own) if own else None, *flags)
        for i, (own, *flags, size) in enumerate(facts)
    ]


@given(st.lists(FACTS, max_size=6), st.booleans())
def test_what_is_recommended_was_compared_and_does_not_lose(
    facts: list[Facts], learned: bool
) -> None:
    all_, rules = made(facts), replace(RULES, learned=learned)
    found = recommend(all_, rules)
    if found is None:
        return
    assert learned
    assert found.gain is not None
    assert not found.dropped
    assert found.gain.mean >= -rules.margin
    assert verdict(found, rules, recommended=True) in ("build_in", "build_in_permuted", "harmless")
    if found.rejected:
        others = [s.gain for s in all_ if s.gain and not s.dropped and not s.rejected]
        assert all(found.gain.low > other.high for other in others)
        assert found.gain.low > 0


@given(st.lists(FACTS, max_size=6), st.permutations(range(6)))
def test_the_order_of_candidates_does_not_matter(facts: list[Facts], order: list[int]) -> None:
    all_ = made(facts)
    first, second = (
        recommend(all_, RULES),
        recommend([all_[i] for i in order if i < len(all_)], RULES),
    )
    assert (first is None) == (second is None)
    if first and second and first.gain and second.gain:
        assert (first.size, first.gain.mean) == (second.size, second.gain.mean)


RANK = ["hurts", "cannot_tell", "harmless", "build_in"]


@given(MEANS, HALVES, st.floats(0, 0.3), st.booleans())
def test_a_larger_gain_is_never_judged_worse(
    mean: float, half: float, more: float, rejected: bool
) -> None:
    first, second = (standing(m, half, rejected=rejected) for m in (mean, mean + more))
    assert RANK.index(verdict(second, RULES)) >= RANK.index(verdict(first, RULES))


@given(MEANS, HALVES, st.floats(1, 5))
def test_a_wider_interval_is_never_judged_more_surely(
    mean: float, half: float, times: float
) -> None:
    """What a wide interval says a narrow one about the same mean says too, or better."""
    narrow, wide = (
        verdict(standing(mean, half), RULES),
        verdict(standing(mean, times * half), RULES),
    )
    assert wide in (narrow, "cannot_tell", "harmless")


@given(FACTS)
def test_none_that_clearly_gains_is_given_up(facts: Facts) -> None:
    (one,) = made([facts])
    if one.gain is not None and one.gain.low > RULES.margin:
        assert not has_lost(one, None, RULES)


LOST = {
    "far below": (standing(-0.06, 0.5), None, True),
    "surely below": (standing(-0.02, 0.005), None, True),
    "perhaps below": (standing(-0.02, 0.05), None, False),
    "far behind the leader": (standing(0.02), gain(0.05, 0.02), True),
    "perhaps behind the leader": (standing(0.02), gain(0.05, 0.06), False),
    "seen, and gains nothing": (standing(0.0, rejected=True), None, True),
    "seen, and gains": (standing(0.05, rejected=True), None, False),
    "not compared": (Standing("one", 1.0, None), gain(0.9, 0.01), False),
}


@pytest.mark.parametrize(("one", "best", "lost"), LOST.values(), ids=LOST)
def test_given_up(one: Standing, best: Gain | None, lost: bool) -> None:
    assert has_lost(one, best, RULES) is lost


OPEN = {
    "nothing": ([], False),
    "clear": ([named("a", 1.0, 0.08), named("b", 1.0, 0.01)], False),
    "near the margin": ([named("a", 1.0, 0.08), named("b", 1.0, 0.069, 0.02)], True),
    "too wide": ([named("a", 1.0, 0.0, 0.1)], True),
    "too wide, but given up": ([named("a", 1.0, 0.0, 0.1, dropped=True)], False),
    "too wide, but seen": ([named("a", 1.0, 0.0, 0.1, rejected=True)], False),
}


@pytest.mark.parametrize(("all_", "open_"), OPEN.values(), ids=OPEN)
def test_open_questions(all_: list[Standing], open_: bool) -> None:
    assert is_open(all_, RULES) is open_
