"""Names beside points, where they cover neither points nor each other."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from isotropy.report.charts.scale import Number
from isotropy.report.charts.svg import join, line, shortened, text, text_width

HIGH = 12.0
MOST = 40
"""Names that are placed; a chart of a thousand points names those that matter."""

Box = tuple[Number, Number, Number, Number]
_DODGES = (0.0, -14.0, 14.0, -28.0, 28.0, -42.0, 42.0)


def place_labels(places: Sequence[tuple[Number, Number, str, bool]], width: Number) -> Markup:
    """Names of points (x, y, name, whether it matters), those that matter first.

    A name for which there is no free place is left out: pointing at the point still tells it.
    """
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y, _, _ in places]
    named = sorted((p for p in places if p[2]), key=lambda p: not p[3])[:MOST]
    parts: list[Markup] = []
    for x, y, name, strong in named:
        short = shortened(name, 130)
        found = _free(x, y, text_width(short), taken, width)
        if found is None:
            continue
        left, base = found
        taken.append(_box(left, base, text_width(short)))
        if abs(base - 4 - y) > 10:
            near = left - 2 if left > x else left + text_width(short) + 2
            parts.append(line(x, y, near, base - 4, "leader"))
        parts.append(text(left, base, short, "name strong" if strong else "name"))
    return join(parts)


def _box(left: Number, base: Number, wide: Number) -> Box:
    return left, base - HIGH + 1, left + wide, base + 2


def _free(
    x: Number, y: Number, wide: Number, taken: Sequence[Box], width: Number
) -> tuple[Number, Number] | None:
    """Where a name starts and its base line, or None."""
    for dodge in _DODGES:
        for left in (x + 10, x - 10 - wide):
            base = y + 4 + dodge
            box = _box(left, base, wide)
            if box[0] < 0 or box[2] > width or base < HIGH:
                continue
            if not any(_overlap(box, other) for other in taken):
                return left, base
    return None


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
