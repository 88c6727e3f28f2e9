"""Symmetries and exchanges of labels in words."""

from __future__ import annotations

from typing import Any

import pytest

from isotropy.groups import group
from isotropy.report.symmetry import (
    VERDICTS,
    element_words,
    exchanges,
    recommended,
    verdict_of,
)


@pytest.mark.parametrize("values", [[0, 0], [1, 2], [0, 2]])
def test_what_is_no_permutation_is_left_out(values: list[int]) -> None:
    assert exchanges({"r2": values}, ["a", "b"], [], "image") == []


@pytest.mark.parametrize(
    ("targets", "sentence", "rest"),
    [
        ([1, 0, 2], "a half turn: a and b change places", "the other one stays"),
        ([1, 2, 0], "a half turn: a → b → c → a", ""),
        ([0, 1, 2], "a half turn: every label stays", ""),
        ([-1, 1, 2], "a half turn: a changes its sign", "the other 2 stay"),
        ([-2, -1, 2], "a half turn: a and b change places; a changes its sign; b changes its sign",
         "the other one stays"),
    ],
)  # fmt: skip
def test_exchanges_in_words(targets: list[int], sentence: str, rest: str) -> None:
    (found,) = exchanges({"r2": targets}, ["a", "b", "c"], [], "image")
    assert (found.sentence, found.rest) == (sentence, rest)


def test_many_exchanges_are_counted() -> None:
    swaps = [label ^ 1 for label in range(40)]
    (found,) = exchanges({"r2": swaps}, [], [], "image")
    assert found.sentence.endswith("10 and 11 change places; and 14 more")


@pytest.mark.parametrize(
    "labels", [None, [1, 0], {"r": "10"}, {"r": [1, 1]}, {"r": [True, 0]}, {"r": [0.5]}]
)
def test_what_is_no_exchange_is_left_out(labels: Any) -> None:
    assert exchanges(labels, [], [], "image") == []


@pytest.mark.parametrize("name", group("D4").elements)
def test_every_move_of_a_picture_has_words(name: str) -> None:
    assert element_words(name) != name


def test_words_of_a_run_go_first_and_other_data_have_no_pictures_words() -> None:
    told = [{"name": "r", "words": "a turn of the wheel"}]
    assert element_words("r", told) == "a turn of the wheel"
    assert element_words("r", [], "signal") == "r"
    assert element_words("e", [], "signal") == "as it is"


@pytest.mark.parametrize("value", [None, "surely", 3, ["build_in"]])
def test_an_unknown_verdict_is_none(value: Any) -> None:
    assert verdict_of(value).word == "Not judged"


def test_verdicts_differ_in_word_and_sign() -> None:
    assert len({v.word for v in VERDICTS.values()}) == len({v.sign for v in VERDICTS.values()}) == 5


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        ({"group": "C4"}, "C4"),
        ({"candidate": "C2 [(6 9)]", "group": "C2"}, "C2 [(6 9)]"),
        ({"group": "C1"}, ""),
        ({"group": "S3", "order": 1}, ""),
        ({}, ""),
    ],
)
def test_no_symmetry_is_no_recommendation(choice: dict[str, Any], name: str) -> None:
    assert recommended({"recommended": choice})[0] == name
