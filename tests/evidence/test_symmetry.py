"""A candidate: what it is called, how large it is, what it holds; columns and what moves them."""

from __future__ import annotations

from math import factorial, log
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from isotropy.errors import InputError
from isotropy.evidence import candidates_for
from isotropy.evidence.columns import (
    MOST_LISTED,
    _count,
    exchanges,
    from_moves,
    vector_symmetries,
)
from isotropy.evidence.symmetry import SHIFT, rolled
from isotropy.groups.action import permuting
from isotropy.groups.construct import from_permutations
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.permutation import PermutationGroup
from tests.evidence.kinds import data_of

PERMUTATIONS = st.permutations(range(4))


@settings(max_examples=40)
@given(st.lists(PERMUTATIONS, min_size=1, max_size=3), st.data())
def test_generated_elements_are_counted_with_their_signs(moves: Any, data: Any) -> None:
    signs = [data.draw(st.lists(st.sampled_from([1, -1]), min_size=4, max_size=4)) for _ in moves]
    matrices = {
        f"g{i}": np.eye(4, dtype=int)[list(p)].T * np.array(sign)
        for i, (p, sign) in enumerate(zip(moves, signs, strict=True))
    }
    found = {np.eye(4, dtype=int).tobytes()}
    frontier = [np.eye(4, dtype=int)]
    while frontier:
        products = [m @ element for element in frontier for m in matrices.values()]
        frontier = [p for p in products if p.tobytes() not in found]
        found |= {p.tobytes() for p in frontier}
    assert _count(PermutationGroup(matrices), 1000) == len(found)


@given(st.lists(PERMUTATIONS, min_size=1, max_size=3))
def test_listed_or_not_a_group_does_what_its_generators_do(moves: Any) -> None:
    named = {f"g{i}": list(p) for i, p in enumerate(moves)}
    if all(p == [0, 1, 2, 3] for p in named.values()):
        with pytest.raises(InputError, match="leave everything where it is"):
            from_moves(named, "own", "own")
        return
    symmetry = from_moves(named, "own", "own")
    order = from_permutations(named).order
    assert symmetry.log_order == pytest.approx(log(order))
    assert isinstance(symmetry.group, FiniteGroup) == (order <= MOST_LISTED)
    assert symmetry.fields == ("regular" if order <= MOST_LISTED else "input")
    x = torch.randn(2, 4)
    for g in symmetry.group.generators:
        if g in named:
            expected = torch.empty_like(x)
            expected[:, named[g]] = x  # what is at i goes to p[i]
            torch.testing.assert_close(symmetry.move(x, g), expected)


@pytest.mark.parametrize("count", range(2, 12))
def test_permutations_of_all_columns_are_as_many_as_there_are(count: int) -> None:
    symmetry = exchanges([list(range(count))], 1, count)
    assert symmetry.log_order == pytest.approx(log(factorial(count)))


def test_change_of_sign_is_always_there() -> None:
    (sign, *_) = vector_symmetries(np.random.default_rng(0).normal(size=(50, 3)))
    x = torch.randn(4, 3)
    torch.testing.assert_close(sign.move(x, "n"), -x)


def test_columns_alike_are_found_at_their_rate() -> None:
    """At most 1 in 100 exchangeable pairs is missed, although each is tested."""
    missed = 0
    for seed in range(200):
        X = np.random.default_rng(seed).normal(size=(100, 2))
        missed += "x0~x1" not in [s.name for s in vector_symmetries(X)]
    assert missed <= 4


# -- names, sizes and parts ---------------------------------------------------------------------


def test_a_name_says_what_happens_to_labels() -> None:
    (mirror,) = candidates_for(data_of("square picture"), ["D1"])
    swapping = permuting(mirror.group, {"s": [1, 0]}, "labels", 2)
    still = permuting(mirror.group, {"s": [0, 1]}, "labels", 2)
    assert mirror.permuting(swapping).name == "D1 [s: 0↔1]"
    assert mirror.permuting(still).labels is None
    assert mirror.permuting(swapping).permuting(None).name == "D1"
    assert mirror.permuting(swapping).output == {"s": mirror.permuting(swapping).labels.moves["s"]}
    assert mirror.output == "invariant"


def test_shifts_count_as_many_as_there_are_places() -> None:
    (shift,) = candidates_for(data_of("signal"), ["shift"])
    assert shift.log_order == pytest.approx(log(40))
    assert shift.tested == (SHIFT,)
    assert not shift.is_trivial


def test_a_shift_moves_every_sample_by_an_amount_of_its_own() -> None:
    (shift,) = candidates_for(data_of("signal"), ["shift"])
    x = torch.randn(30, 2, 40)
    moved = shift.move(x, SHIFT)
    amounts = []
    for own, after in zip(x, moved, strict=True):
        same = [k for k in range(40) if torch.equal(own.roll(k, -1), after)]
        assert len(same) == 1
        amounts += same
    assert 0 not in amounts
    assert len(set(amounts)) > 10


@given(st.integers(1, 8), st.lists(st.integers(-20, 20), min_size=1, max_size=5))
def test_rolled_is_roll_sample_by_sample(length: int, amounts: list[int]) -> None:
    x = torch.arange(float(len(amounts) * 2 * length)).reshape(len(amounts), 2, length)
    moved = rolled(x, np.array(amounts, dtype=np.int64))
    expected = torch.stack([own.roll(k, -1) for own, k in zip(x, amounts, strict=True)])
    torch.testing.assert_close(moved, expected)
