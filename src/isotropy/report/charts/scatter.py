"""Points in the plane with intervals, joined pairs, and the front of those that none betters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from isotropy.report.charts.frame import (
    SHAPES,
    axis_below,
    axis_left,
    legend,
    reach,
    shape,
    tick_room,
)
from isotropy.report.charts.labels import place_labels
from isotropy.report.charts.scale import Number, Scale, finite, fitted
from isotropy.report.charts.svg import drawing, join, line, mark, path


@dataclass(frozen=True)
class Point:
    """A point, what it is called, and the words to show when it is pointed at.

    Points with one `link` are joined by a line, in their order.
    """

    x: Number | None
    y: Number | None
    name: str = ""
    tip: str = ""
    low: Number | None = None
    high: Number | None = None
    series: int = 0
    strong: bool = False
    link: str = ""


def scatter(
    points: Sequence[Point],
    *,
    title: str,
    description: str = "",
    x_axis: str = "",
    y_axis: str = "",
    series: Sequence[str] = (),
    front: bool = False,
    width: Number = 720,
    height: Number = 400,
) -> Markup:
    """Points by two numbers, the horizontal one by its logarithm; nothing if there are none.

    Args:
        points: those without finite numbers are left out.
        title: what the chart shows.
        description: the same in a sentence or two.
        x_axis: what is counted from left to right.
        y_axis: what is counted upwards.
        series: names of the series, for the key.
        front: whether to join the emphasised points by a line of steps.
        width: in pixels.
        height: in pixels, without the key.

    >>> scatter([Point(100.0, 0.5, "C4")], title="Scores").count('class="mark')
    1
    """
    points = [p for p in points if finite(p.x) and finite(p.y) and (p.x or 0) > 0]
    used = sorted({p.series for p in points})
    key, top = legend([(_symbol(i), series[i]) for i in used if i < len(series)], width)
    top += 30
    y = fitted([v for p in points for v in (p.y, p.low, p.high)], top + height - 80, top)
    if y is None:
        return Markup("")
    left = tick_room(y)
    x = fitted([p.x for p in points], left, width - 12, log=True, margin=0.09)
    if x is None:
        return Markup("")
    axes = [
        axis_below(x, y.stop, y.start, x_axis, 5 if width >= 480 else 3),
        axis_left(y, left, width - 12, y_axis),
    ]
    lines = [*_links(points, x, y), _front(points, x, y) if front else Markup("")]
    dots = [_dot(p, x, y) for p in points]
    names = place_labels([(x(p.x or 0), y(p.y or 0), p.name, p.strong) for p in points], width)
    content = [key, *axes, *lines, *dots, names]
    return drawing(width, y.start + 44, title, description, content, "scatter")


def _symbol(series: int) -> Markup:
    return shape(SHAPES[series % 4], 8, 0, 4.5, f"dot series-{series % 4}")


def _dot(point: Point, x: Scale, y: Scale) -> Markup:
    assert point.x is not None
    assert point.y is not None
    across, up, shapes = x(point.x), y(point.y), []
    tone = f"series-{point.series % 4}{' strong' if point.strong else ''}"
    low, high = point.low, point.high
    if low is not None and high is not None and finite(low) and finite(high):
        shapes.append(line(across, y(low), across, y(high), f"whisker {tone}"))
    size = 5.5 if point.strong else 4.5
    shapes.append(shape(SHAPES[point.series % 4], across, up, size, f"dot {tone}"))
    return mark(point.tip or point.name, *shapes, reach(across, up))


def _links(points: Sequence[Point], x: Scale, y: Scale) -> list[Markup]:
    joined: dict[str, list[tuple[Number, Number]]] = {}
    for point in points:
        if point.link:
            joined.setdefault(point.link, []).append((x(point.x or 0), y(point.y or 0)))
    return [path(ends, "link") for ends in joined.values() if len(ends) > 1]


def _front(points: Sequence[Point], x: Scale, y: Scale) -> Markup:
    """Steps through the emphasised points: what error can be had with so many parameters."""
    corners: list[tuple[Number, Number]] = []
    for point in sorted((p for p in points if p.strong), key=lambda p: (p.x or 0, -(p.y or 0))):
        at = (x(point.x or 0), y(point.y or 0))
        if corners:
            corners.append((at[0], corners[-1][1]))
        corners.append(at)
    return path(corners, "front") if len(corners) > 1 else join([])
