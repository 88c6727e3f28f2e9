"""Estimates with intervals, a row each, along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from isotropy.report.charts.frame import SHAPES, axis_below, legend, reach, shape
from isotropy.report.charts.scale import Number, Scale, finite, fitted
from isotropy.report.charts.svg import (
    drawing,
    join,
    line,
    mark,
    rectangle,
    shortened,
    text,
    text_width,
)

STEP = 22.0
GAP = 14.0


@dataclass(frozen=True)
class Estimate:
    """A value with what it may be, the words to show, and which series it belongs to."""

    value: Number | None
    low: Number | None = None
    high: Number | None = None
    tip: str = ""
    words: str = ""
    series: int = 0
    single: tuple[Number, ...] = ()


@dataclass(frozen=True)
class Row:
    """A name and its estimates; `tone` is a class that colours them."""

    name: str
    estimates: tuple[Estimate, ...]
    tone: str = ""
    strong: bool = False


@dataclass(frozen=True)
class _Place:
    """Where a chart of some width puts names, values and words."""

    left: Number
    right: Number
    above: Number
    width: Number


def intervals(
    rows: Sequence[Row],
    *,
    title: str,
    description: str = "",
    axis: str = "",
    series: Sequence[str] = (),
    sides: tuple[str, str] | None = None,
    band: Number | None = None,
    band_name: str = "",
    width: Number = 720,
) -> Markup:
    """Estimates with their intervals; nothing if no value is a number.

    Args:
        rows: from top to bottom.
        title: what the chart shows.
        description: the same in a sentence or two.
        axis: what the horizontal axis counts.
        series: names of the series, for the key.
        sides: what it means to lie left and right of zero; given, zero is marked.
        band: differences below this, either way, are shaded as none.
        band_name: what the shading means.
        width: in pixels; below 480 names stand above their estimates.

    >>> chart = intervals([Row("C4", (Estimate(4.0, 3.0, 5.0),))], title="Gains")
    >>> chart.count("<circle")
    2
    """
    rows = [r for r in rows if any(finite(e.value) for e in r.estimates)]
    place = _place(rows, width)
    key, top = legend(_entries(series, band, band_name), width)
    include = [0.0] if sides else []
    scale = fitted(_numbers(rows), place.left, place.right, include=include)
    if scale is None:
        return Markup("")
    top += 26 if sides else 6
    parts, bottom = _rows(rows, scale, place, top)
    under = [_band(scale, band, top, bottom), axis_below(scale, top, bottom, axis, _count(width))]
    if sides:
        under.append(_sides(scale, sides, top, bottom))
    content = [key, *under, *parts]
    return drawing(width, bottom + 42, title, description, content, "intervals")


def _count(width: Number) -> int:
    return 5 if width >= 480 else 4


def _place(rows: Sequence[Row], width: Number) -> _Place:
    words = max((len(e.words) for r in rows for e in r.estimates), default=0) * 6.8
    if width < 480:
        return _Place(12, width - 12, 18, width)
    longest = max((text_width(r.name) for r in rows), default=0.0)
    return _Place(min(longest + 16, 0.36 * width), width - words - 24, 0, width)


def _numbers(rows: Sequence[Row]) -> list[Number | None]:
    shown = [e for row in rows for e in row.estimates if finite(e.value)]
    return [v for e in shown for v in (e.value, e.low, e.high, *e.single)]


def _entries(
    series: Sequence[str], band: Number | None, band_name: str
) -> list[tuple[Markup, str]]:
    entries = [
        (shape(SHAPES[i % 4], 8, 0, 4.5, f"dot series-{i % 4}"), name)
        for i, name in enumerate(series)
        if len(series) > 1
    ]
    if band is not None and finite(band) and band_name:
        entries.append((rectangle(1, -6, 14, 12, "band"), band_name))
    return entries


def _band(scale: Scale, band: Number | None, top: Number, bottom: Number) -> Markup:
    if band is None or not finite(band) or band <= 0:
        return Markup("")
    low, high = max(-band, scale.low), min(band, scale.high)
    return rectangle(scale(low), top, scale(high) - scale(low), bottom - top, "band")


def _sides(scale: Scale, sides: tuple[str, str], top: Number, bottom: Number) -> Markup:
    zero = scale(0.0)
    parts = [line(zero, top - 4, zero, bottom, "zero")]
    left, right = (f"← {sides[0]}", zero - 8, "end"), (f"{sides[1]} →", zero + 8, "start")
    for words, x, anchor in (left, right):
        room = zero - scale.start if anchor == "end" else scale.stop - zero
        if room > 7 * len(words):
            parts.append(text(x, top - 8, words, "side", anchor))
    return join(parts)


def _rows(
    rows: Sequence[Row], scale: Scale, place: _Place, top: Number
) -> tuple[list[Markup], float]:
    parts: list[Markup] = []
    y = top + GAP / 2
    for row in rows:
        shown = [e for e in row.estimates if finite(e.value)]
        class_ = "name strong" if row.strong else "name"
        if place.above:
            parts.append(text(0, y + 12, shortened(row.name, place.width - 130), class_))
        else:
            middle = y + STEP * len(shown) / 2 + 4
            parts.append(text(0, middle, shortened(row.name, place.left - 12), class_))
        for number, estimate in enumerate(shown):
            centre = y + place.above + STEP * (number + 0.5)
            parts.append(_estimate(row, estimate, scale, centre))
            words_y = y + 12 if place.above and len(shown) == 1 else centre + 4
            if not place.above or len(shown) == 1:
                parts.append(text(place.width, words_y, estimate.words, "value", "end"))
        y += place.above + STEP * len(shown) + GAP
    return parts, y - GAP / 2


def _estimate(row: Row, estimate: Estimate, scale: Scale, y: Number) -> Markup:
    assert estimate.value is not None
    x, shapes = scale(estimate.value), []
    tone = f"series-{estimate.series % 4} {row.tone}".strip()
    low, high = estimate.low, estimate.high
    if low is not None and high is not None and finite(low) and finite(high):
        shapes += _whisker(scale(low), scale(high), y, tone)
    single = [v for v in estimate.single if finite(v)]
    shapes += [shape("circle", scale(v), y, 2.2, "single") for v in single]
    shapes.append(shape(SHAPES[estimate.series % 4], x, y, 4.5, f"dot {tone}"))
    return mark(estimate.tip or row.name, *shapes, reach(x, y))


def _whisker(low: Number, high: Number, y: Number, tone: str) -> list[Markup]:
    ends = [line(x, y - 4, x, y + 4, f"whisker {tone}") for x in (low, high)]
    return [line(low, y, high, y, f"whisker {tone}"), *ends]
