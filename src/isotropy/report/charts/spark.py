"""A signal as a small line."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from isotropy.report.charts.scale import Number, Scale, finite
from isotropy.report.charts.svg import drawing, line, path

MOST = 400
"""Points that are drawn: a small picture shows no more."""


def spark(
    values: Sequence[Number],
    *,
    title: str,
    limits: tuple[Number, Number] | None = None,
    width: Number = 150,
    height: Number = 64,
) -> Markup:
    """A signal from left to right; where it is no number the line is broken.

    Args:
        values: at equal steps.
        title: what it is, for those who do not see it.
        limits: what bottom and top stand for, so that several can be compared; by default the
            signal's own smallest and largest value.
        width: in pixels.
        height: in pixels.

    >>> spark([0.0, 1.0, 0.5], title="a signal").count("<polyline")
    1
    """
    values = values[:: max(1, -(-len(values) // MOST))]
    known = [v for v in values if finite(v)]
    if not known:
        return Markup("")
    low, high = limits if limits is not None else (min(known), max(known))
    if not low < high:
        low, high = low - max(abs(low), 1.0), low + max(abs(low), 1.0)
    x = Scale(0, max(len(values) - 1, 1), 3, width - 3)
    y = Scale(low, high, height - 4, 4)
    runs: list[list[tuple[Number, Number]]] = [[]]
    for place, value in enumerate(values):
        if finite(value):
            runs[-1].append((x(place), y(min(max(value, low), high))))
        elif runs[-1]:
            runs.append([])
    drawn = [path(run, "signal") for run in runs if run]
    zero = [line(0, y(0.0), width, y(0.0), "grid")] if low < 0 < high else []
    return drawing(width, height, title, "", [*zero, *drawn], "spark")
