"""Candidates: which are usual for what, what may be given, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import isotropy as iso
from isotropy.errors import InputError
from isotropy.evidence import Symmetry, candidates_for
from isotropy.groups.finite import FiniteGroup
from tests.evidence.kinds import data_of, usual

VOLUME = ["mirror depth", "mirror row", "mirror column", "C2 depth", "C2 row", "C2 column"]
CUBE = ["half turns", "C4 depth", "C4 row", "C4 column", "mirrors", "O", "Oh"]
SIGNAL = ["reversal", "sign", "reversed sign", "reversal + sign"]

USUAL = {
    "square picture": ["C2", "D1", "D1v", "D1d", "D1a", "C4", "D2", "D2d", "D4"],
    "odd picture": ["C2", "D1", "D1v", "D1d", "D1a", "C4", "D2", "D2d", "D4"],
    "large picture": ["C2", "D1", "D1v", "D1d", "D1a", "C4", "D2", "D2d", "D4"],
    "oblong picture": ["C2", "D1", "D1v", "D2"],
    "signal": [*SIGNAL, "shift", *(f"shift + {name}" for name in SIGNAL)],
    "volume": [*VOLUME, *CUBE],
    "oblong volume": [*VOLUME, "half turns", "mirrors"],
}


@pytest.mark.parametrize(("kind", "names"), USUAL.items(), ids=USUAL)
def test_those_that_are_usual(kind: str, names: list[str]) -> None:
    found = candidates_for(data_of(kind))
    assert {c.name for c in found} == set(names)
    sizes = [c.log_order for c in found]
    assert sizes == sorted(sizes)


ALIKE = np.ones(6)
SCALES: dict[str, tuple[Any, int, list[str]]] = {
    "none alike": (3.0 ** np.arange(4), 1, ["sign"]),
    "a pair": (np.array([1, 9, 1, 40]), 1, ["sign", "x0~x2"]),
    "all of three": (ALIKE[:3], 1, ["sign", "x0~x1", "x0~x2", "x1~x2", "permute all"]),
    "all of six": (ALIKE, 1, ["sign", "permute all"]),
    "blocks of two": (np.array([1, 9] * 2 + [40, 90]), 2, ["sign", "x0~x1"]),
    "one block": (ALIKE, 6, ["sign"]),
}


@pytest.mark.parametrize(("scales", "blocks", "names"), SCALES.values(), ids=SCALES)
def test_columns_that_look_alike_are_exchanged(scales: Any, blocks: int, names: list[str]) -> None:
    X = np.random.default_rng(1).normal(size=(400, len(scales))) * scales
    data = iso.data.from_arrays(X.astype(np.float32), np.arange(400) % 2)
    assert [c.name for c in candidates_for(data, blocks=blocks)] == names


def test_blocks_move_whole() -> None:
    X = np.random.default_rng(0).normal(size=(60, 6)).astype(np.float32)
    data = iso.data.from_arrays(X, np.arange(60) % 2)
    exchange = next(c for c in candidates_for(data, blocks=3) if c.name == "x0~x1")
    moved = exchange.move(torch.arange(6.0)[None], "x0~x1")
    assert moved.tolist() == [[3, 4, 5, 0, 1, 2]]


# -- what is given ------------------------------------------------------------------------------

ROLL = [1, 2, 3, 4, 0]
SWAP = [1, 0, 2, 3, 4]

GIVEN: list[tuple[str, Any, dict[str, int]]] = [
    ("square picture", ["C4"], {"C4": 4}),
    ("square picture", "D4", {"D4": 8}),
    ("square picture", ["D4", "C2"], {"C2": 2, "D4": 8}),
    ("square picture", [iso.group("D2")], {"D2": 4}),
    ("volume", ["O", iso.group("Oh")], {"O": 24, "Oh": 48}),
    ("signal", ["shift + reversal"], {"shift + reversal": 80}),
    ("vector", {"turn": ROLL}, {"turn": 5}),
    ("vector", {"turn": torch.tensor(ROLL)}, {"turn": 5}),
    ("vector", {"both": np.array([ROLL, SWAP])}, {"both": 120}),
    ("vector", {"both": {"a": ROLL, "b": SWAP}}, {"both": 120}),
    ("vector", {"flip": {"n": -np.eye(5, dtype=int)}}, {"flip": 2}),
    ("vector", {"same twice": [ROLL, ROLL, list(range(5))]}, {"same twice": 5}),
]


@pytest.mark.parametrize(("kind", "given", "orders"), GIVEN, ids=lambda value: str(value)[:30])
def test_what_may_be_given(kind: str, given: Any, orders: dict[str, int]) -> None:
    found = candidates_for(data_of(kind), given)
    assert {c.name: round(np.exp(c.log_order)) for c in found} == orders


def test_a_symmetry_is_taken_as_it_is() -> None:
    (own,) = candidates_for(data_of("signal"), ["shift"])
    assert candidates_for(data_of("signal"), [own]) == [own]


def test_pictures_may_be_moved_entry_by_entry() -> None:
    turn = np.rot90(np.arange(81).reshape(9, 9), -1).ravel()  # where each entry goes
    (given,) = candidates_for(data_of("odd picture"), {"turn": turn})
    x = torch.randn(4, 1, 9, 9)
    torch.testing.assert_close(given.move(x, "turn"), torch.rot90(x, 1, (2, 3)))
    assert given.view == "entries"


# -- what is refused ----------------------------------------------------------------------------

REFUSED: list[tuple[str, Any, str]] = [
    ("square picture", [], "candidates: name at least one"),
    ("square picture", ["D5"], "D5 is none that is known for images of shape"),
    ("square picture", ["nope"], "nope is none that is known.*known are C2, D1, .*or give perm"),
    ("square picture", [iso.group("C3")], "C3 is none that is known"),
    ("square picture", ["C4", "C4"], "C4 is there twice"),
    ("square picture", ["C1"], "C1 is no symmetry"),
    ("square picture", ["Oh"], "Oh does not fit images"),
    ("oblong picture", ["C4"], "C4 does not fit images of shape .1, 8, 12."),
    ("oblong volume", ["O"], "O does not fit volumes"),
    ("signal", ["C4"], "C4 does not fit signals"),
    ("signal", ["reversl"], "known are reversal, sign"),
    ("vector", ["C4"], "C4 is none that is known for vectors"),
    ("vector", {"p": [1, 0]}, "p permutes 2 entries, but a sample of shape .5,. has 5"),
    ("vector", {"p": [0, 1, 2, 3, 3]}, "'p' must list the image of every point once"),
    ("vector", {"p": [0.0, 1, 2, 3, 4]}, "p must be whole numbers.*not float64"),
    ("vector", {"p": []}, "p must be whole numbers"),
    ("vector", {"p": np.zeros((2, 2, 5), int)}, "p must be whole numbers"),
    ("vector", {"p": list(range(5))}, "p: the permutations leave everything where it is"),
    ("vector", {"p": {}}, "p"),
    ("vector", {"p": "swap"}, "p must be whole numbers"),
    (
        "vector",
        {"a": {"g": ROLL}, "b": {"g": SWAP}},
        "g is one move of b and another one of a",
    ),
    (
        "vector",
        {"p": {"n": np.diag([-1, 1, 1, 1, 1]), "a": ROLL, "b": SWAP}},
        "signs are handled for groups of at most 16",
    ),
]


@pytest.mark.parametrize(("kind", "given", "words"), REFUSED, ids=lambda value: str(value)[:30])
def test_what_is_refused(kind: str, given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        candidates_for(data_of(kind), given)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("kind", "blocks"), [("vector", 2), ("vector", 0), ("signal", 2)])
def test_blocks_must_divide_columns(kind: str, blocks: int) -> None:
    with pytest.raises(InputError, match="blocks"):
        candidates_for(data_of(kind), blocks=blocks)


# -- what every candidate is --------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "symmetry"), usual(), ids=lambda v: getattr(v, "name", v))
def test_moves_are_an_action_of_the_group(kind: str, symmetry: Symmetry) -> None:
    """Moving by b and then by a is moving by ab; the identity moves nothing."""
    x = data_of(kind).samples.take(np.arange(3))
    group = symmetry.group
    if isinstance(group, FiniteGroup):
        torch.testing.assert_close(symmetry.move(x, group.elements[0]), x)
        for a in group.generators:
            for b in group.generators:
                product = group.elements[group.table[group.index(a), group.index(b)]]
                once = symmetry.move(symmetry.move(x, b), a)
                torch.testing.assert_close(once, symmetry.move(x, product))
    for element in symmetry.tested:
        assert element in symmetry.elements
        moved = symmetry.move(x, element)
        assert moved.shape == x.shape
        torch.testing.assert_close(
            moved.abs().flatten(1).sort().values, x.abs().flatten(1).sort().values
        )


@pytest.mark.parametrize(("kind", "symmetry"), usual(), ids=lambda v: getattr(v, "name", v))
def test_elements_are_tested_once_up_to_inverses(kind: str, symmetry: Symmetry) -> None:
    group, tested = symmetry.group, symmetry.tested
    assert len(set(tested)) == len(tested)
    if symmetry._is_small:
        assert isinstance(group, FiniteGroup)
        inverses = {group.elements[group.inverse(group.index(e))] for e in tested if e != "shift"}
        assert inverses | set(tested) | {"e"} == set(symmetry.elements)
