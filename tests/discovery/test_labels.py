"""Exchanges of labels: what is proposed is an action, is what was planted, and is confirmed."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotropy.discovery.labels import (
    MOST_VARIANTS,
    Answers,
    _holds,
    as_action,
    label_variants,
    proposed_permutation,
)
from isotropy.evidence import Symmetry, candidates_for
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.signed import Signed
from tests.evidence.kinds import data_of

MARGIN = 0.01


def candidate(name: str) -> Symmetry:
    return candidates_for(data_of("square picture"), [name])[0]


def group_of(symmetry: Symmetry) -> FiniteGroup:
    assert isinstance(symmetry.group, FiniteGroup)
    return symmetry.group


def answers(symmetry: Symmetry, classes: int, images: Any, right: float, seed: int) -> Answers:
    """Of a network that is right so often, also about samples moved by every generator, whose
    labels are exchanged then; wrong answers are any labels."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(classes, size=400)

    def said(truth: Any) -> Any:
        wrong = draw.random(400) > right
        return np.where(wrong, draw.integers(classes, size=400), truth)

    moved = {g: said(np.asarray(images[g])[labels]) for g in group_of(symmetry).generators}
    return Answers(labels, {"": said(labels), **moved}, classes)


SWAP, PAIRS, RING = [1, 0, 2, 3, 4], [1, 0, 3, 2, 4], [1, 2, 3, 0, 4]
STILL = [0, 1, 2, 3, 4]
PLANTED: dict[str, tuple[str, dict[str, list[int]]]] = {
    "a mirror": ("D1", {"s": SWAP}),
    "a half turn, two pairs": ("C2", {"r2": PAIRS}),
    "a quarter turn, a ring": ("C4", {"r": RING}),
    "a quarter turn, a pair": ("C4", {"r": SWAP}),
    "only the mirror of all": ("D4", {"r": STILL, "s": SWAP}),
}


@pytest.mark.parametrize(("name", "images"), PLANTED.values(), ids=PLANTED)
@pytest.mark.parametrize("right", [1.0, 0.8])
def test_what_was_planted_is_found_and_sure(
    name: str, images: dict[str, list[int]], right: float
) -> None:
    symmetry = candidate(name)
    assert set(images) == set(symmetry.group.generators)
    first, second = (answers(symmetry, 5, images, right, seed) for seed in (1, 2))
    best, *others = label_variants(symmetry, first, second, MARGIN)
    assert best.sure
    assert best.symmetry.labels is not None
    assert {g: list(p.target) for g, p in best.symmetry.labels.moves.items()} == images
    assert others == []


@pytest.mark.parametrize("name", ["C2", "D1", "C4", "D4"])
@pytest.mark.parametrize("classes", [2, 4, 10])
def test_where_labels_stay_no_exchange_is_proposed(name: str, classes: int) -> None:
    symmetry = candidate(name)
    images = {g: range(classes) for g in symmetry.group.generators}
    first, second = (answers(symmetry, classes, images, 0.9, seed) for seed in (3, 4))
    assert label_variants(symmetry, first, second, MARGIN) == []


@settings(max_examples=20)
@given(st.integers(0, 2**31), st.sampled_from(["D1", "C4"]), st.integers(2, 12))
def test_chance_makes_no_exchange_sure(seed: int, name: str, classes: int) -> None:
    symmetry = candidate(name)
    draw = np.random.default_rng(seed)

    def guesses() -> Answers:
        said = {e: draw.integers(classes, size=60) for e in ("", *symmetry.group.generators)}
        return Answers(draw.integers(classes, size=60), said, classes)

    found = label_variants(symmetry, guesses(), guesses(), MARGIN)
    assert sum(variant.sure for variant in found) <= 1  # once in a hundred, and both rounds agree


# -- few classes: all permutations --------------------------------------------------------------


@settings(max_examples=25)
@given(st.integers(0, 2**31), st.sampled_from(["C2", "D1", "C4", "D2"]), st.integers(2, 4))
def test_of_few_classes_every_action_that_holds_is_proposed(
    seed: int, name: str, classes: int
) -> None:
    """Against all pairs of permutations, tried as maps of the whole group."""
    symmetry = candidate(name)
    group = group_of(symmetry)
    draw = np.random.default_rng(seed)
    said = {e: draw.integers(classes, size=30) for e in ("", *group.generators)}
    both = Answers(draw.integers(classes, size=30), said, classes)
    expected = set()
    every = [np.array(p) for p in permutations(range(classes))]
    for moves in product(every, repeat=len(group.generators)):
        if is_action(group, moves) and any((m != np.arange(classes)).any() for m in moves):
            action = as_action(group, [Signed(m) for m in moves], classes)
            assert action is not None
            if _holds(action, both, MARGIN):
                expected.add(tuple(tuple(m.tolist()) for m in moves))
    found = label_variants(symmetry, both, both, MARGIN)
    images = [tuple(tuple(p.target.tolist()) for p in moves_of(v.symmetry)) for v in found]
    assert len(set(images)) == len(images) == min(len(expected), MOST_VARIANTS)
    assert set(images) <= expected


def moves_of(symmetry: Symmetry) -> Any:
    assert symmetry.labels is not None
    return symmetry.labels.moves.values()


def is_action(group: FiniteGroup, moves: Any) -> bool:
    """Whether images of the generators extend to all elements, by trying out all products."""
    size = len(moves[0])
    known = {0: np.arange(size)}
    frontier = [0]
    while frontier:
        at = frontier.pop()
        for g, move in zip(group.generators, moves, strict=True):
            after = int(group.table[group.index(g), at])
            image = move[known[at]]
            if after in known:
                if not np.array_equal(known[after], image):
                    return False
            else:
                known[after] = image
                frontier.append(after)
    return True


# -- many classes: the Hungarian method ---------------------------------------------------------


@given(st.integers(2, 6), st.integers(2, 4), st.integers(0, 2**31))
def test_a_proposal_has_an_order_that_divides(classes: int, order: int, seed: int) -> None:
    confusion = np.random.default_rng(seed).integers(0, 20, size=(classes, classes))
    images = proposed_permutation(confusion, order)
    power = np.arange(classes)
    for _ in range(order):
        power = images[power]
    assert sorted(images) == list(range(classes))
    assert power.tolist() == list(range(classes))


@given(st.integers(3, 5), st.sampled_from([2, 4]), st.integers(0, 2**31))
def test_a_clear_exchange_is_that_of_brute_force(classes: int, order: int, seed: int) -> None:
    """The permutation of that order that most answers agree with, among all of them."""
    draw = np.random.default_rng(seed)
    of_order = [p for p in map(np.array, permutations(range(classes))) if divides(p, order)]
    planted = of_order[draw.integers(len(of_order))]
    confusion = draw.integers(0, 4, size=(classes, classes))
    confusion[np.arange(classes), planted] += 40
    agreed = [int(confusion[np.arange(classes), p].sum()) for p in of_order]
    best = of_order[int(np.argmax(agreed))]
    assert proposed_permutation(confusion, order).tolist() == best.tolist() == planted.tolist()


def divides(images: Any, order: int) -> bool:
    power = np.arange(len(images))
    for _ in range(order):
        power = images[power]
    return np.array_equal(power, np.arange(len(images)))


def test_answers_of_some_samples() -> None:
    said = {"": np.array([0, 1, 1]), "s": np.array([1, 0, 1])}
    few = Answers(np.array([0, 1, 1]), said, 2).only(np.array([True, False, True]))
    assert few.confusion("s").tolist() == [[0, 1], [0, 1]]
    assert few.right("s", np.array([1, 0])) == 0.5
    assert few.right("", np.array([0, 1])) == 1.0


def test_groups_that_are_not_listed_exchange_nothing() -> None:
    (every,) = candidates_for(data_of("vector"), ["permute all"])
    none = Answers(np.zeros(3, np.int64), {"": np.zeros(3, np.int64)}, 2)
    assert label_variants(every, none, none, MARGIN) == []
    assert not isinstance(every.group, FiniteGroup)
