"""Parts of wholes, a bar each: which group a layer uses, and how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from isotropy.report.charts.areas import colour, swatch
from isotropy.report.charts.frame import legend
from isotropy.report.charts.scale import Number, finite
from isotropy.report.charts.svg import (
    drawing,
    mark,
    rectangle,
    shortened,
    text,
    text_width,
)

HIGH, STEP = 20.0, 28.0


@dataclass(frozen=True)
class Share:
    """One whole: its name and its parts."""

    name: str
    parts: dict[str, Number]


def shares(
    rows: Sequence[Share],
    *,
    title: str,
    description: str = "",
    order: Sequence[str] = (),
    width: Number = 720,
) -> Markup:
    """Bars of one length, divided; nothing if no row has a part that is a positive number.

    Args:
        rows: from top to bottom.
        title: what the chart shows.
        description: the same in a sentence or two.
        order: the parts from left to right; their place decides their colour.
        width: in pixels.

    >>> shares([Share("conv1", {"C1": 0.25, "C4": 0.75})], title="Use").count('class="mark"')
    2
    """
    kept = [Share(r.name, {n: v for n, v in r.parts.items() if finite(v) and v > 0}) for r in rows]
    kept = [row for row in kept if row.parts]
    if not kept:
        return Markup("")
    order = tuple(order) or tuple(dict.fromkeys(name for r in kept for name in r.parts))
    key, top = legend([(swatch(i), name) for i, name in enumerate(order)], width)
    left = min(0.36 * width, max(text_width(r.name) for r in kept) + 14)
    parts: list[Markup] = [key]
    for number, row in enumerate(kept):
        y = top + 10 + STEP * number
        parts.append(text(0, y + HIGH / 2 + 4, shortened(row.name, left - 10), "name"))
        parts += _bar(row, left, width, y, order)
    return drawing(width, top + 10 + STEP * len(kept), title, description, parts, "shares")


def _bar(row: Share, left: Number, right: Number, y: Number, order: Sequence[str]) -> list[Markup]:
    whole, x, drawn = sum(row.parts.values()), left, []
    for place, name in enumerate(order):
        portion = row.parts.get(name, 0.0) / whole
        if not portion:
            continue
        wide = portion * (right - left)
        shapes = [rectangle(x, y, wide, HIGH, colour(place))]
        if wide > text_width(name) + 8:
            shapes.append(text(x + wide / 2, y + HIGH / 2 + 4, name, "inside", "middle"))
        drawn.append(mark(f"{row.name}, {name}: {portion:.0%}", *shapes))
        x += wide
    return drawn
