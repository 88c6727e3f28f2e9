"""What charts have around their values: axes with ticks, legends, shapes that differ in form."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from isotropy.report.charts.scale import Number, Scale
from isotropy.report.charts.svg import CHARACTER, element, join, line, path, text, text_width

SHAPES = ("circle", "diamond", "square", "triangle")
REACH = 9.0
"""Pixels around a mark that belong to it for a finger or a mouse."""


def shape(kind: str, x: Number, y: Number, size: Number, class_: str) -> Markup:
    """A small figure; their forms differ, so that colour is never alone."""
    if kind == "circle":
        return element("circle", cx=x, cy=y, r=size, class_=class_)
    if kind == "square":
        side = 0.88 * size
        corners = [(x - side, y - side), (x + side, y - side), (x + side, y + side)]
        return path([*corners, (x - side, y + side)], class_, closed=True)
    if kind == "triangle":
        high = 1.15 * size
        corners = [(x, y - high), (x + high, y + 0.8 * high), (x - high, y + 0.8 * high)]
        return path(corners, class_, closed=True)
    wide = 1.25 * size
    return path([(x, y - wide), (x + wide, y), (x, y + wide), (x - wide, y)], class_, closed=True)


def reach(x: Number, y: Number) -> Markup:
    """An unseen disc that makes a small figure easy to point at."""
    return element("circle", cx=x, cy=y, r=REACH, class_="reach")


def axis_below(scale: Scale, top: Number, bottom: Number, title: str, count: int = 5) -> Markup:
    """Ticks, grid lines and the title of a horizontal axis."""
    parts = []
    for value, label in scale.labels(count):
        x = scale(value)
        parts += [line(x, top, x, bottom, "grid"), text(x, bottom + 16, label, "tick", "middle")]
    middle = (scale.start + scale.stop) / 2
    return join([*parts, text(middle, bottom + 34, title, "axis", "middle")])


def axis_left(scale: Scale, left: Number, right: Number, title: str, count: int = 5) -> Markup:
    """Ticks, grid lines and the title of a vertical axis; the title stands above it, level."""
    parts = []
    for value, label in scale.labels(count):
        y = scale(value)
        parts += [line(left, y, right, y, "grid"), text(left - 8, y + 4, label, "tick", "end")]
    return join([*parts, text(2, min(scale.start, scale.stop) - 12, title, "axis")])


def tick_room(scale: Scale, count: int = 5) -> float:
    """Pixels that the labels of a vertical axis need."""
    return max((text_width(label) for _, label in scale.labels(count)), default=0.0) + 14


def legend(entries: Sequence[tuple[Markup, str]], width: Number) -> tuple[Markup, float]:
    """A key in as many lines as it needs, and its height; symbols are drawn about (8, 0)."""
    x, y, parts = 0.0, 12.0, []
    for symbol, name in entries:
        room = 20 + text_width(name) + 2 * CHARACTER
        if x and x + room > width:
            x, y = 0.0, y + 20
        moved = element("g", symbol, transform=f"translate({x:.1f} {y - 4:.1f})")
        parts += [moved, text(x + 20, y, name, "key")]
        x += room
    return join(parts), y + 8 if entries else 0.0
