"""Parts of a whole over time: a small panel of stacked areas each (001, Figures 2, 6-8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from isotropy.report.charts.frame import legend
from isotropy.report.charts.scale import Number, Scale, finite, fitted
from isotropy.report.charts.svg import (
    drawing,
    join,
    line,
    mark,
    path,
    rectangle,
    shortened,
    text,
)

COLOURS = 8


@dataclass(frozen=True)
class Panel:
    """One whole over time: its name, the times, and the parts' shares at each, by part."""

    name: str
    times: tuple[Number, ...]
    parts: dict[str, tuple[Number, ...]]


def areas(
    panels: Sequence[Panel],
    *,
    title: str,
    description: str = "",
    axis: str = "epoch",
    order: Sequence[str] = (),
    width: Number = 720,
    height: Number = 96,
) -> Markup:
    """Panels of stacked shares, side by side as far as there is room; nothing without values.

    Args:
        panels: in order of reading.
        title: what the chart shows.
        description: the same in a sentence or two.
        axis: what the time is.
        order: the parts from bottom to top; their place decides their colour.
        width: of the whole, in pixels.
        height: of one panel.

    >>> panel = Panel("conv1", (0.0, 1.0), {"C1": (0.5, 0.2), "C4": (0.5, 0.8)})
    >>> areas([panel], title="Weights").count("<polygon")
    2
    """
    panels = [p for p in panels if _drawable(p)]
    times = fitted([t for p in panels for t in p.times], 0, 1, margin=0)
    if times is None:
        return Markup("")
    order = tuple(order) or tuple(dict.fromkeys(name for p in panels for name in p.parts))
    key, top = legend([(swatch(i), name) for i, name in enumerate(order)], width)
    columns = max(1, min(len(panels), int(width // 170)))
    gap, each = 18.0, (width - 18.0 * (columns - 1)) / columns
    parts: list[Markup] = [key]
    for number, panel in enumerate(panels):
        x = (number % columns) * (each + gap)
        y = top + 10 + (number // columns) * (height + 48)
        scale = Scale(times.low, times.high, x, x + each)
        parts.append(_panel(panel, scale, y, height, order, axis))
    rows = -(-len(panels) // columns)
    return drawing(width, top + 10 + rows * (height + 48), title, description, parts, "areas")


def colour(place: int) -> str:
    """The class that fills a part; after eight, paler ones begin."""
    return f"part-{place % COLOURS}{' again' if place >= COLOURS else ''}"


def swatch(place: int) -> Markup:
    """A part's colour, for the key."""
    return rectangle(1, -6, 14, 12, colour(place))


def _drawable(panel: Panel) -> bool:
    values = [v for part in panel.parts.values() for v in part]
    fits = all(len(part) == len(panel.times) for part in panel.parts.values())
    return bool(panel.times and values) and fits and all(map(finite, [*values, *panel.times]))


def _panel(
    panel: Panel, x: Scale, top: Number, height: Number, order: Sequence[str], axis: str
) -> Markup:
    bottom = top + 18 + height
    parts = [text(x.start, top + 10, shortened(panel.name, x.stop - x.start), "name")]
    parts += _stack(panel, x, Scale(0, 1, bottom, bottom - height), order)
    parts += [line(x.start, bottom, x.stop, bottom, "base")]
    for time, anchor in ((panel.times[0], "start"), (panel.times[-1], "end")):
        words = f"{axis} {time:g}" if anchor == "start" else f"{time:g}"
        if anchor == "start" or len(panel.times) > 1:
            parts.append(text(x(time), bottom + 14, words, "tick", anchor))
    return join(parts)


def _stack(panel: Panel, x: Scale, y: Scale, order: Sequence[str]) -> list[Markup]:
    """One area after another; a single time is drawn as a flat one over the whole width."""
    single = len(panel.times) == 1
    across = [x.start, x.stop] if single else [x(t) for t in panel.times]
    wholes = [sum(at) or 1.0 for at in zip(*panel.parts.values(), strict=True)]
    below = [0.0] * len(across)
    drawn = []
    for place, name in enumerate(order):
        if name not in panel.parts:
            continue
        portions = [v / w for v, w in zip(panel.parts[name], wholes, strict=True)]
        above = [b + p for b, p in zip(below, portions * 2 if single else portions, strict=True)]
        upper = [(at, y(v)) for at, v in zip(across, above, strict=True)]
        lower = [(at, y(v)) for at, v in zip(across, below, strict=True)]
        tip = f"{panel.name}, {name}: {_course(portions)}"
        drawn.append(mark(tip, path([*upper, *reversed(lower)], colour(place), closed=True)))
        below = above
    return drawn


def _course(portions: Sequence[Number]) -> str:
    first, last = f"{portions[0]:.0%}", f"{portions[-1]:.0%}"
    return last if len(portions) == 1 else f"{first} at first, {last} at last"
