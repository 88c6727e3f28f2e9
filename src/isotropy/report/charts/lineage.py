"""Sizes of networks over generations, joined to those they came from (001, Figure 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from isotropy.report.charts.frame import axis_below, axis_left, legend, reach, shape, tick_room
from isotropy.report.charts.scale import Number, Scale, finite, fitted
from isotropy.report.charts.svg import drawing, element, line, mark, rectangle

BINS = 6


@dataclass(frozen=True)
class Individual:
    """One network of a search; `parent` names another."""

    name: str
    parent: str
    generation: Number | None
    size: Number | None
    quality: Number | None
    tip: str = ""
    selected: bool = True
    best: bool = False


def lineage(
    individuals: Sequence[Individual],
    *,
    title: str,
    description: str = "",
    x_axis: str = "generation",
    y_axis: str = "parameters",
    quality: tuple[str, str] = ("worst", "best"),
    width: Number = 720,
    height: Number = 420,
) -> Markup:
    """Sizes over generations, coloured by quality, with lines to parents; nothing if none is known.

    Args:
        individuals: those without a generation or a size are left out.
        title: what the chart shows.
        description: the same in a sentence or two.
        x_axis: what is counted from left to right.
        y_axis: what is counted upwards, by its logarithm.
        quality: what to write at both ends of the colours.
        width: in pixels.
        height: in pixels, without the key.

    >>> first = Individual("0", "", 0, 100, 0.5)
    >>> lineage([first, Individual("1", "0", 1, 200, 0.6)], title="x").count("descent")
    1
    """
    known = [i for i in individuals if _known(i)]
    key, top = legend(_entries(known, quality), width)
    top += 30
    y = fitted([i.size for i in known], top + height - 80, top, log=True)
    if y is None:
        return Markup("")
    left = tick_room(y)
    x = _generations(known, left, width - 12)
    axes = [
        axis_below(x, y.stop, y.start, x_axis, 8 if width >= 480 else 4),
        axis_left(y, left, width - 12, y_axis),
    ]
    places = {i.name: (x(i.generation or 0), y(i.size or 0)) for i in known}
    bins = _bins(known)
    faint_first = sorted(known, key=lambda i: (i.best, i.selected))
    edges = [e for i in faint_first for e in _edge(i, places, bins)]
    dots = [_dot(i, places, bins) for i in sorted(faint_first, key=lambda i: i.generation or 0)]
    return drawing(width, y.start + 44, title, description, [key, *axes, *edges, *dots], "lineage")


def _known(individual: Individual) -> bool:
    size = individual.size
    return finite(individual.generation) and finite(size) and (size or 0) > 0


def _generations(known: Sequence[Individual], start: Number, stop: Number) -> Scale:
    values = [float(i.generation or 0) for i in known]
    low, high = min(values), max(values)
    return Scale(low - 0.3, max(high, low + 1) + 0.3, start, stop)


def _bins(known: Sequence[Individual]) -> dict[str, int]:
    """The colour of each: equal steps between the worst and the best that was selected."""
    rated = {i.name: i.quality for i in known if i.quality is not None and finite(i.quality)}
    chosen = [rated[i.name] for i in known if i.selected and i.name in rated] or [*rated.values()]
    if not chosen:
        return {}
    low, high = min(chosen), max(chosen)
    span = (high - low) or 1.0
    steps = {name: int((value - low) / span * BINS) for name, value in rated.items()}
    return {name: min(max(step, 0), BINS - 1) for name, step in steps.items()}


def _entries(known: Sequence[Individual], quality: tuple[str, str]) -> list[tuple[Markup, str]]:
    if not any(finite(i.quality) for i in known):
        return []
    swatches = [rectangle(2.6 * i, -6, 2.7, 12, f"quality-{i}") for i in range(BINS)]
    ramp = element("g", *swatches)
    entries = [(ramp, f"{quality[0]} … {quality[1]}")]
    if any(not i.selected for i in known):
        entries.append((shape("circle", 8, 0, 2.5, "tried"), "tried, not kept"))
    if any(i.best for i in known):
        entries.append((shape("diamond", 8, 0, 5.5, "best quality-5"), "best"))
    return entries


def _tone(individual: Individual, bins: dict[str, int]) -> str:
    if not individual.selected:
        return "tried"
    return f"quality-{bins[individual.name]}" if individual.name in bins else "quality-none"


def _edge(
    individual: Individual, places: dict[str, tuple[Number, Number]], bins: dict[str, int]
) -> list[Markup]:
    if individual.parent not in places or individual.parent == individual.name:
        return []
    ends = (*places[individual.parent], *places[individual.name])
    return [line(*ends, f"descent {_tone(individual, bins)}")]


def _dot(
    individual: Individual, places: dict[str, tuple[Number, Number]], bins: dict[str, int]
) -> Markup:
    x, y = places[individual.name]
    if individual.best:
        dot = shape("diamond", x, y, 6.5, f"best {_tone(individual, bins)}")
    else:
        size = 4.5 if individual.selected else 2.5
        dot = shape("circle", x, y, size, _tone(individual, bins))
    return mark(individual.tip or individual.name, dot, reach(x, y))
