"""What all charts promise: nothing of nothing, marks for numbers, texts as they are, all inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from isotropy.report.charts import (
    Estimate,
    Individual,
    Panel,
    Point,
    Row,
    Share,
    areas,
    intervals,
    lineage,
    scatter,
    shares,
    spark,
)
from isotropy.report.charts.frame import legend
from isotropy.report.charts.scale import finite
from isotropy.report.charts.svg import clean

WIDTHS = (340, 880)
NAMES = st.one_of(
    st.text(max_size=12), st.sampled_from(["<script>alert(1)</script>", "C4", "x" * 200])
)
VALUES = st.one_of(st.none(), st.floats(), st.floats(0.01, 100), st.integers(-5, 5))


@dataclass(frozen=True)
class Case:
    """A chart, data for it, and the tips of the marks that it must have."""

    draw: Callable[..., Markup]
    data: st.SearchStrategy[list[Any]]
    tips: Callable[[list[Any]], list[str]]
    make: Callable[[list[Any]], list[Any]] = list


def tips_of_rows(rows: list[Row]) -> list[str]:
    return [e.tip or row.name for row in rows for e in row.estimates if finite(e.value)]


def tips_of_points(points: list[Point]) -> list[str]:
    return [p.tip or p.name for p in points if finite(p.y) and finite(p.x) and (p.x or 0) > 1e-90]


def tips_of_individuals(individuals: list[Individual]) -> list[str]:
    return [
        i.tip or i.name
        for i in individuals
        if finite(i.generation) and finite(i.size) and (i.size or 0) > 1e-90
    ]


ROWS = st.lists(
    st.tuples(
        NAMES,
        st.lists(st.tuples(VALUES, VALUES, VALUES, NAMES, st.text(max_size=5)), max_size=3),
        st.booleans(),
    ),
    max_size=4,
)


def rows(drawn_: list[tuple[str, list[tuple[Any, ...]], bool]]) -> list[Row]:
    """Made outside of the strategy: checking a tuple's type draws at random."""
    return [
        Row(name, tuple(Estimate(*e, series=i) for i, e in enumerate(held)), strong=strong)
        for name, held, strong in drawn_
    ]


SIZES = st.one_of(
    st.none(), st.just(0), st.just(-3.0), st.floats(1e-80, 1e80), st.integers(1, 10**9)
)
POINTS = st.lists(
    st.builds(
        Point, x=SIZES, y=VALUES, name=NAMES, tip=NAMES, low=VALUES, high=VALUES,
        series=st.integers(0, 3), strong=st.booleans(), link=st.sampled_from(["", "a"]),
    ),
    max_size=8,
)  # fmt: skip
INDIVIDUALS = st.lists(
    st.builds(
        Individual, name=st.sampled_from("abcdefgh"), parent=st.sampled_from(["", "a", "b"]),
        generation=st.one_of(st.none(), st.integers(0, 5)), size=SIZES, quality=VALUES, tip=NAMES,
        selected=st.booleans(), best=st.booleans(),
    ),
    max_size=8,
    unique_by=lambda individual: individual.name,
)  # fmt: skip

CASES = {
    "intervals": Case(intervals, ROWS, tips_of_rows, rows),
    "scatter": Case(scatter, POINTS, tips_of_points),
    "lineage": Case(lineage, INDIVIDUALS, tips_of_individuals),
}
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "intervals": [
        {},
        {"sides": ("worse", "better"), "band": 0.5, "band_name": "b"},
    ],
    "scatter": [{}, {"front": True, "series": ["a", "b", "<c>"]}],
    "lineage": [{}],
}


@pytest.mark.parametrize("name", CASES)
@given(data=st.data(), width=st.sampled_from(WIDTHS))
@settings(max_examples=40)
def test_a_chart_of_anything_is_whole(name: str, data: st.DataObject, width: int) -> None:
    case = CASES[name]
    given_ = case.make(data.draw(case.data))
    options = data.draw(st.sampled_from(OPTIONS[name]))
    chart = case.draw(given_, title="a < b", width=width, **options)
    tips = sorted(blank(tip) for tip in case.tips(given_))
    assert bool(chart) == bool(tips)
    if chart:
        root = ElementTree.fromstring(chart)
        assert sorted(blank(tip) for tip in tips_in(root)) == tips
        assert outside(root) == []


def blank(value: str) -> str:
    """As XML reads line ends."""
    return clean(value).replace("\r\n", "\n").replace("\r", "\n")


def tips_in(root: ElementTree.Element) -> Iterator[str]:
    for group in root.iter("g"):
        if "mark" in group.get("class", "").split():
            yield group[0].text or ""


def outside(root: ElementTree.Element) -> list[str]:
    """What is drawn beyond the chart's edges; the unseen discs that catch pointers may be."""
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    found = []
    for node in drawn(root):
        for x, y in corners(node):
            if not (-1 <= x <= width + 1 and -1 <= y <= height + 1):
                found.append(ElementTree.tostring(node, encoding="unicode"))
    return found


def drawn(root: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """All shapes and texts but those that are moved as a whole, as the symbols of a key are."""
    for child in root:
        if child.get("transform") is None and "reach" not in child.get("class", ""):
            yield child
            yield from drawn(child)


def corners(node: ElementTree.Element) -> Iterator[tuple[float, float]]:
    at = {key: float(value) for key, value in node.attrib.items() if key in NUMBERS}
    if node.tag == "circle":
        yield at["cx"], at["cy"]
    elif node.tag == "rect":
        yield from ((at["x"], at["y"]), (at["x"] + at["width"], at["y"] + at["height"]))
    elif node.tag == "line":
        yield from ((at["x1"], at["y1"]), (at["x2"], at["y2"]))
    elif node.tag == "text":
        yield at["x"], at["y"]
    elif node.tag in ("polygon", "polyline"):
        for pair in node.get("points", "").split():
            x, y = pair.split(",")
            yield float(x), float(y)


NUMBERS = ("cx", "cy", "x", "y", "x1", "y1", "x2", "y2", "width", "height")


@pytest.mark.parametrize("draw", [intervals, scatter, lineage, areas, shares, spark])
def test_of_nothing_there_is_no_chart(draw: Callable[..., Markup]) -> None:
    assert draw([], title="nothing") == ""


@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=5), max_size=4), st.sampled_from(WIDTHS))
@settings(max_examples=40)
def test_a_bar_is_divided_in_proportion(parts: list[dict[str, float]], width: int) -> None:
    given_ = [
        Share(f"row {i}", {n: v for n, v in p.items() if v is not None})
        for i, p in enumerate(parts)
    ]
    kept = [{n: v for n, v in row.parts.items() if finite(v) and v > 0} for row in given_]
    chart = shares(given_, title="t", width=width)
    assert bool(chart) == any(kept)
    if chart:
        root = ElementTree.fromstring(chart)
        wide = [float(bar.get("width", 0)) for bar in bars(root)]
        told = [True for row in kept for value in row.values() if value / sum(row.values()) > 0]
        assert len(wide) == len(told)
        assert sum(wide) == pytest.approx(sum(map(bool, kept)) * total_width(root), abs=1)
        assert outside(root) == []


def bars(root: ElementTree.Element) -> Iterator[ElementTree.Element]:
    for group in root.iter("g"):
        if group.get("class") == "mark":
            yield from group.iter("rect")


def total_width(root: ElementTree.Element) -> float:
    """From where the first bar begins to the right edge."""
    return float(root.get("width", 0)) - min(float(bar.get("x", 0)) for bar in bars(root))


TIMES = (0.0, 1.0, 2.5)


@given(
    st.lists(st.lists(st.floats(0, 10), min_size=3, max_size=3).map(tuple), min_size=1, max_size=5),
    st.sampled_from(WIDTHS),
)
@settings(max_examples=40)
def test_areas_are_stacked_without_gaps_up_to_the_whole(
    parts: list[tuple[float, ...]], width: int
) -> None:
    panel = Panel("<layer>", TIMES, {f"g{i}": p for i, p in enumerate(parts)})
    root = ElementTree.fromstring(areas([panel], title="t", width=width, height=100))
    bands = [
        [pair.split(",") for pair in p.get("points", "").split()] for p in root.iter("polygon")
    ]
    below = bands[0][3:][::-1]
    for band in bands:
        lower = band[3:][::-1]
        assert lower == below
        below = band[:3]
    if all(sum(at) > 0 for at in zip(*parts, strict=True)):
        heights = [
            float(b[1]) - float(t[1]) for b, t in zip(bands[0][3:][::-1], below, strict=True)
        ]
        assert heights == pytest.approx([100] * 3, abs=0.02)
    assert outside(root) == []


@pytest.mark.parametrize(
    "panel",
    [
        Panel("no times", (), {"a": ()}),
        Panel("another length", (0.0, 1.0), {"a": (1.0,)}),
        Panel("no number", (0.0,), {"a": (float("nan"),)}),
        Panel("no parts", (0.0,), {}),
    ],
)
def test_a_panel_that_does_not_fit_is_left_out(panel: Panel) -> None:
    assert areas([panel], title="t") == ""


@given(st.lists(VALUES.filter(lambda v: v is not None), max_size=30))
@settings(max_examples=40)
def test_a_signal_is_broken_where_it_is_no_number(values: list[float]) -> None:
    chart = spark(values, title="signal")
    assert bool(chart) == any(finite(v) for v in values)
    if chart:
        root = ElementTree.fromstring(chart)
        runs = (
            1
            + sum(not finite(a) and finite(b) for a, b in pairwise(values))
            - (not finite(values[0]))
        )
        assert len(list(root.iter("polyline"))) == runs
        assert outside(root) == []


def test_a_long_signal_is_drawn_with_as_many_points_as_can_be_seen() -> None:
    root = ElementTree.fromstring(spark([float(i % 7) for i in range(10_000)], title="long"))
    (line,) = root.iter("polyline")
    assert 200 <= len(line.get("points", "").split()) <= 400


def test_a_key_needs_no_more_room_than_there_is() -> None:
    entries = [(Markup("<g></g>"), "a name of some length") for _ in range(7)]
    narrow, high = legend(entries, 340)
    wide, low = legend(entries, 880)
    assert high > low
    assert narrow.count("<text") == wide.count("<text") == 7
    assert legend([], 340) == ("", 0.0)


def test_the_front_goes_down_in_steps() -> None:
    points = [Point(10, 5, strong=True), Point(20, 3, strong=True), Point(15, 9)]
    root = ElementTree.fromstring(scatter(points, title="t", front=True))
    (front,) = [line for line in root.iter("polyline") if line.get("class") == "front"]
    (x0, y0), (x1, y1), (x2, y2) = (
        map(float, pair.split(",")) for pair in front.get("points", "").split()
    )
    assert x0 < x1 == x2
    assert y0 == y1 < y2


def test_children_are_joined_to_their_parents_and_better_ones_look_better() -> None:
    family = [
        Individual("0", "", 0, 100, 0.1),
        Individual("1", "0", 1, 100, 0.9, best=True),
        Individual("2", "0", 1, 200, 0.5, selected=False),
        Individual("3", "gone", 1, 300, None),
    ]
    root = ElementTree.fromstring(lineage(family, title="t"))
    joined = [line for line in root.iter("line") if "descent" in line.get("class", "")]
    assert len(joined) == 2
    tones = {
        group[0].text: group[1].get("class")
        for group in root.iter("g")
        if group.get("class") == "mark"
    }
    assert tones == {"0": "quality-0", "1": "best quality-5", "2": "tried", "3": "quality-none"}
