"""Whatever a file holds, reading it gives the right kind of thing or nothing."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from isotropy.report.read import interval, items, number, part, rows, texts, words

JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON)
def test_single_values(value: Any) -> None:
    found = number(value)
    assert found is None or (math.isfinite(found) and found == value)
    assert (found is not None) == (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf
    )
    assert isinstance(words(value), str)
    between = interval(value)
    assert between is None or between[0] <= between[1]


@given(JSON)
def test_parts(value: Any) -> None:
    whole = {"a": value}
    assert part(whole, "a") == (value if isinstance(value, dict) else {})
    assert items(whole, "a") == (value if isinstance(value, list) else [])
    assert rows(whole, "a") == [row for row in items(whole, "a") if isinstance(row, dict)]
    assert all(texts(whole, "a"))
    for read in (part, items, rows, texts):
        assert not read(whole, "b")
        assert not read(value, "a") or isinstance(value, dict)


def test_a_number_is_a_text_and_a_truth_value_is_none() -> None:
    assert (words(3), words(True), words(None, "?")) == ("3", "", "?")
