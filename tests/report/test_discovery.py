"""What the page of a discovery says, and that it says what it can of any result."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from isotropy.report import discovery_page, search_page
from tests.report import examples
from tests.report.documents import Document

Json = dict[str, Any]


def text_of(result: Json, images: Json | None = None) -> str:
    return Document(discovery_page(result, images)).text


def test_the_answer_comes_first_and_all_parts_follow() -> None:
    page = Document(discovery_page(examples.many_result(), examples.images()))
    assert page.headings == [
        "Which symmetries does digits-turned have?",
        "Verdicts",
        "What is left open",
        "Your data, and the same moved",
        "Does the data look the same when it is moved?",
        "What building it in gains",
        "Accuracy against size",
        "In which layers it pays",
        "Layer by layer",
        "Use the model",
        "What was run",
        "Words used here",
    ]
    assert page.text.index("Build in quarter turns") < page.text.index("Verdicts")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "Build in quarter turns"),
        ({"verdict": "harmless"}, "Quarter turns can be built in at no cost"),
        ({"verdict": "build_in_permuted"}, "Build in quarter turns, with labels exchanged"),
        ({"meaning": "mirror left-right"}, "Build in the mirror left-right"),
        ({"candidate": "C1", "group": "C1", "order": 1},
         "No symmetry is recommended; 1 candidate could not be decided"),
    ],
)  # fmt: skip
def test_the_answer_in_a_line(change: Json, said: str) -> None:
    result = examples.image_result()
    result["recommended"] |= change
    assert said in text_of(result)


def test_when_nothing_is_open_no_symmetry_is_said_to_be_none() -> None:
    result = examples.nothing_result()
    result["candidates"] = [c for c in result["candidates"] if c["verdict"] != "cannot_tell"]
    assert "No symmetry to build in" in text_of(result)


@pytest.mark.parametrize(
    "said",
    [
        "Test accuracy 97.0% 93.3% without symmetry 95% interval 95.2% to 98.3%",
        "Gain over no symmetry +4.1 points 95% interval +3.5 to +4.7",
        "Parameters 5,062 5,234 without symmetry",
        "Took 41 s 63 networks trained",
        "a quarter turn the same 50.7% 0.61 1 1,437",
        "conv2 Conv2d 2,304 9,216 0.032 stride 2 leaves one pixel over at size 8",
        "To decide it: about 12 more pairs, or three times as many samples",
        "dropped after 3 pairs",
        "1,150 for training, 378 for choosing, 269 for the test at the end",
        "63 networks of 70 planned",
        "C4, over no symmetry, equally many parameters: +4.1 points, 95% interval +3.5 to +4.7",
        "Run again with the same seed, this gives the same result.",
    ],
)
def test_numbers_stand_with_what_they_are(said: str) -> None:
    assert said in text_of(examples.image_result())


def test_exchanged_labels_are_told_in_words() -> None:
    said = text_of(examples.exchange_result())
    assert said.count("a half turn: 6 and 9 change places (the other 8 stay)") == 2


def test_a_budget_is_said_to_make_results_depend_on_the_machine() -> None:
    said = text_of(examples.regression_result())
    assert "budget 2 min (kept)" in said
    assert "A time budget makes the result depend on how fast the machine is" in said
    assert "mean squared error" in said


def test_the_audit_shows_the_columns_that_hold_anything() -> None:
    result = examples.image_result()
    for row in result["audit"]:
        row["error"] = None
    said = text_of(result)
    assert "all weights note conv1" in said
    assert "Errors near 1e-7" not in said
    for row in result["audit"]:
        row.pop("note", None)
    assert "all weights conv1" in text_of(result)


def test_shares_are_drawn_as_shares_however_little_is_known() -> None:
    result = examples.image_result()
    result["candidates"][2]["interval"] = [-0.4, 1.6]
    said = text_of(result)
    assert "C4, tied, equally many parameters: 97.1% (0.0% to 100.0%)" in said


def test_what_is_not_tied_is_not_compared_with_itself() -> None:
    assert "without symmetry 95% interval" not in text_of(examples.nothing_result())


# ---- any result ----------------------------------------------------------------------------------

ODD: list[Any] = [None, True, -1, 0, 3.7, float("nan"), float("inf"), 1e300, "", "<b>", [], [[]],
                  [None, "x", 2], {}, {"a": None}]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every part of a result is."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def replaced(result: Json, path: tuple[Any, ...], value: Any) -> Json:
    """The result with something else in one place."""
    found = copy.deepcopy(result)
    at: Any = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return found


def mutated(result: Json, count: int) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Some of all places, each with something that does not belong there."""
    draws = random.Random(0)
    all_ = [path for path in places(result) if path != ("format",)]
    for path in draws.sample(all_, min(count, len(all_))):
        yield path, draws.choice(ODD)


SMALL = examples.exchange_result() | {"layers": examples.layers_part()}
SMALL_SEARCH = examples.evolve_result(2, 2)
SMALL_MIX = examples.mix_result(3)


CHANGES = [
    *((discovery_page, SMALL, *change) for change in mutated(SMALL, 60)),
    *((search_page, SMALL_SEARCH, *change) for change in mutated(SMALL_SEARCH, 40)),
    *((search_page, SMALL_MIX, *change) for change in mutated(SMALL_MIX, 20)),
]


@pytest.mark.parametrize(("page", "whole", "path", "value"), CHANGES)
def test_a_part_of_another_kind_is_left_out(
    page: Callable[[Json], str], whole: Json, path: tuple[Any, ...], value: Any
) -> None:
    assert Document(page(replaced(whole, path, value))).headings


@pytest.mark.parametrize("key", sorted(SMALL))
def test_a_missing_part_is_left_out(key: str) -> None:
    page = discovery_page({k: v for k, v in SMALL.items() if k != key}, examples.images())
    assert Document(page).headings


def test_numbers_of_arrays_are_numbers() -> None:
    result = examples.image_result()
    result["recommended"]["test"]["score"] = float(np.float64(0.5))
    assert "Test accuracy 50.0%" in text_of(result)
