"""Steps down the lattice of subgroups: those of the definition, and those a guide speaks for."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import pytest

import isotropy as iso
from isotropy.errors import InputError
from isotropy.search.steps import (
    Step,
    allowed_groups,
    guided_steps,
    possible_steps,
    steps_down,
)
from tests.turns import SUBGROUPS

D4 = iso.group("D4")
PAPER = ["C1", "D1", "C2", "D2", "C4", "D4"]


def names(groups: object) -> list[str]:
    return [str(group) for group in groups]  # type: ignore[attr-defined]


def test_the_paper_is_the_default() -> None:
    assert sorted(names(allowed_groups(D4))) == sorted(PAPER)
    assert names(allowed_groups(iso.group("C4"))) == ["C1", "C2", "C4"]


@pytest.mark.parametrize("chosen", [["C1"], ["C2", "C1"], list(SUBGROUPS), ["D1d", "C4", "D4"]])
def test_smallest_first_with_the_whole_one(chosen: list[str]) -> None:
    found = names(allowed_groups(D4, chosen))
    assert set(found) == {*chosen, "D4"}
    for one, other in combinations(found, 2):
        assert not set(SUBGROUPS[other]) < set(SUBGROUPS[one])


@pytest.mark.parametrize("size", [2, 4, 10])
def test_steps_down_are_those_with_nothing_between(size: int) -> None:
    for chosen in list(combinations(SUBGROUPS, size))[:60]:
        allowed = allowed_groups(D4, chosen) if set(chosen) != {"D4"} else ()
        for now in allowed:
            inside = {n for n in names(allowed) if set(SUBGROUPS[n]) < set(SUBGROUPS[str(now)])}
            expected = {
                n for n in inside if not any(set(SUBGROUPS[n]) < set(SUBGROUPS[m]) for m in inside)
            }
            assert set(names(steps_down(now, allowed))) == expected


def test_only_the_last_layer_goes_ahead() -> None:
    """Of three layers with groups that fall along the network, against the rule in words."""
    allowed = allowed_groups(D4)
    for chain in product(PAPER, repeat=3):
        falls = all(set(SUBGROUPS[b]) <= set(SUBGROUPS[a]) for a, b in pairwise(chain))
        if not falls:
            continue
        groups = {layer: iso.group(name) for layer, name in zip("abc", chain, strict=True)}
        found = {(step.layer, str(step.group)) for step in possible_steps(groups, allowed)}
        expected = {("c", str(g)) for g in steps_down(groups["c"], allowed)}
        expected |= {("a", chain[1])} - {("a", chain[0])}
        expected |= {("b", chain[2])} - {("b", chain[1])}
        assert found == expected


def test_a_guide_orders_and_drops() -> None:
    groups = {"a": D4, "b": D4}
    steps = [Step("a", iso.group("C4")), Step("b", iso.group("D2")), Step("b", iso.group("C4"))]
    even = dict.fromkeys(PAPER, 1 / 6)
    turns = {**dict.fromkeys(PAPER, 0.0), "C4": 1.0}
    found = guided_steps(steps, groups, {"a": even, "b": turns})
    assert found == [steps[2], steps[0]]  # the clearest first; all alike are no reason against
    assert guided_steps(steps, groups, {}) == steps  # no opinion
    assert guided_steps(steps, groups, {"b": turns}, most=1) == [steps[2]]
    whole = {**dict.fromkeys(PAPER, 0.0), "D4": 1.0}
    assert guided_steps(steps, groups, {"a": whole, "b": whole}) == []


BAD = [
    (D4, ["C3"], "C3 is no subgroup of D4"),
    (D4, ["D4"], "nothing can be relaxed"),
    (iso.group("C1"), None, "nothing can be relaxed"),
]


@pytest.mark.parametrize(("whole", "chosen", "message"), BAD)
def test_bad_input(whole: object, chosen: list[str] | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        allowed_groups(whole, chosen)  # type: ignore[arg-type]
