"""The letter F in every position of a group."""

from __future__ import annotations

import re

import numpy as np
import pytest

from isotropy.groups import group
from isotropy.groups.named import D4_SUBGROUPS
from isotropy.report.charts import glyph

F = np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0], [1, 0, 0], [1, 0, 0]])
"""The letter in pixels; it has no symmetry."""


@pytest.mark.parametrize("name", D4_SUBGROUPS)
def test_as_many_letters_as_elements_each_in_another_position(name: str) -> None:
    found = glyph(D4_SUBGROUPS[name])
    turned = re.findall(r"matrix\((\S+ \S+ \S+ \S+) ", found)
    assert len(turned) == len(set(turned)) == group(name).order
    assert turned[0] == "1 0 0 1"


@pytest.mark.parametrize(
    ("element", "moved"),
    [
        ("e", F),
        ("r", np.rot90(F)),
        ("r2", np.rot90(F, 2)),
        ("r3", np.rot90(F, 3)),
        ("s", F[:, ::-1]),
        ("sr2", F[::-1]),
        ("sr3", F.T),
    ],
)
def test_a_letter_is_moved_as_pictures_are(element: str, moved: np.ndarray) -> None:
    matrix = re.findall(r"matrix\((\S+) (\S+) (\S+) (\S+) ", glyph([element]))[0]
    a, b, c, d = map(int, matrix)
    assert drawn(a, b, c, d) == pixels(moved)


def pixels(picture: np.ndarray) -> set[tuple[float, float]]:
    """Where ink is, (x, y) about the middle."""
    high, wide = picture.shape
    return {(x - (wide - 1) / 2, y - (high - 1) / 2) for y, x in np.argwhere(picture)}


def drawn(a: int, b: int, c: int, d: int) -> set[tuple[float, float]]:
    """The letter's ink after SVG's matrix(a b c d)."""
    return {(a * x + c * y, b * x + d * y) for x, y in pixels(F)}


@pytest.mark.parametrize("elements", [[], ["e", "swap"], ["e"] * 9])
def test_what_is_no_group_of_pictures_has_none(elements: list[str]) -> None:
    assert glyph(elements) == ""
