"""SVG as text: whatever comes in, XML comes out that says the same."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotropy.report.charts.svg import (
    clean,
    drawing,
    element,
    join,
    mark,
    path,
    rectangle,
    shortened,
    text,
    text_width,
)

TEXTS = st.text(st.characters(codec=None), max_size=40)


def parsed(markup: str) -> ElementTree.Element:
    return ElementTree.fromstring(markup)


@given(TEXTS, TEXTS)
def test_any_text_comes_back_as_it_was(value: str, attribute: str) -> None:
    found = parsed(element("text", value, data_note=attribute))
    assert normal(found.text or "") == normal(clean(value))
    assert blank(found.get("data-note") or "") == blank(clean(attribute))


def normal(value: str) -> str:
    """With line ends as XML reads them."""
    return value.replace("\r\n", "\n").replace("\r", "\n")


def blank(value: str) -> str:
    """With blanks as XML reads them in attributes."""
    return normal(value).translate({ord(c): " " for c in "\n\t"})


@given(TEXTS)
def test_cleaning_leaves_what_a_page_may_hold(value: str) -> None:
    cleaned = clean(value)
    assert len(cleaned) == len(value)
    assert clean(cleaned) == cleaned
    cleaned.encode("utf-8")


def test_markup_is_not_escaped_twice_and_text_is_never_left() -> None:
    inner = element("b", "1 < 2")
    assert str(element("g", inner, "<i>")) == "<g><b>1 &lt; 2</b>&lt;i&gt;</g>"
    assert str(join([inner, "<i>"])) == f"{inner}&lt;i&gt;"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_cannot_be_drawn(value: float) -> None:
    with pytest.raises(ValueError, match="cannot be drawn"):
        element("rect", x=value)


def test_attributes_that_are_none_are_left_out() -> None:
    assert str(element("rect", class_=None, width=2.50)) == '<rect width="2.5"></rect>'


def test_nothing_is_wider_than_less_than_nothing() -> None:
    found = parsed(rectangle(0.0, 0.0, -3.0, 2.0, "bar"))
    assert found.get("width") == "0"


@pytest.mark.parametrize(("closed", "tag"), [(True, "polygon"), (False, "polyline")])
def test_a_path_goes_through_its_points(closed: bool, tag: str) -> None:
    found = parsed(path([(0, 1), (2.345, 3)], "x", closed))
    assert found.tag == tag
    numbers = [float(v) for pair in str(found.get("points")).split() for v in pair.split(",")]
    assert numbers == pytest.approx([0, 1, 2.345, 3], abs=0.006)


def test_a_drawing_says_what_it_shows() -> None:
    found = parsed(drawing(10, 5, "a < b", "more", [mark("tip", text(0, 0, "x"))], "bars"))
    assert found.get("viewBox") == "0 0 10 5"
    assert [child.tag for child in found] == ["title", "desc", "g"]
    assert found[0].text == "a < b"
    assert found[2][0].text == "tip"


@given(TEXTS, st.integers(0, 300))
def test_a_shortened_text_fits_and_begins_alike(value: str, width: int) -> None:
    short = shortened(value, width)
    whole = " ".join(clean(value).split())
    assert text_width(short) <= width or short == "…"
    assert short == whole or whole.startswith(short.removesuffix("…"))


@given(TEXTS)
def test_a_text_that_fits_is_left_alone(value: str) -> None:
    whole = " ".join(clean(value).split())
    assert shortened(value, text_width(whole)) == whole
