"""What tying to each candidate gains, and the scores against the number of parameters."""

from __future__ import annotations

from collections.abc import Iterator

from isotropy.report.charts import Estimate, Point, Row, intervals, scatter
from isotropy.report.context import Context
from isotropy.report.figure import Figure, Table, drawn, figure, table
from isotropy.report.numbers import count, times
from isotropy.report.read import Result, interval, items, number, part, rows, words
from isotropy.report.symmetry import recommended

COMPARISONS = (
    ("gain", "over no symmetry, equally many parameters"),
    ("gain_width", "over no symmetry, equally wide"),
    ("gain_augmented", "over turned training data"),
)
"""The keys of a candidate that hold gains, and what each is a gain over."""

NETWORKS = ("no symmetry", "tied, equally many parameters", "tied, equally wide", "turned data")
_MOVED = 3  # of these, the networks that are as large as the untied one: names would cover them


def gains_figure(result: Result, context: Context) -> Figure | None:
    """Gains with intervals, a row for each candidate; nothing if none was measured."""
    chosen, _ = recommended(result)
    measured = [row for row in rows(result, "candidates") if _keys(row)]
    listed = [
        Row(
            _called(row),
            tuple(_estimate(row, key, place, context) for place, key in _keys(row)),
            strong=words(row.get("name")) == chosen,
        )
        for row in measured
    ]
    margin = number(result.get("margin"))
    used = max((place for row in measured for place, _ in _keys(row)), default=0)
    return drawn(
        figure(
            intervals,
            listed,
            _gains_table(measured, context),
            title="What tying gains",
            description=f"Gains in {context.unit.name} of networks tied to each candidate, with "
            f"{context.level} intervals; the table below holds the same numbers.",
            axis=context.unit.gain_axis,
            series=[name for _, name in COMPARISONS[: used + 1]],
            sides=("tied is worse", "tied is better"),
            band=context.unit.shown(margin),
            band_name="within the margin" if margin else "",
        )
    )


def scores_figure(result: Result, context: Context) -> Figure | None:
    """Scores against parameters of all networks that were compared."""
    chosen, _ = recommended(result)
    points = list(_points(result, chosen, context))
    if len(points) < 2:
        return None
    listed = [(p.tip.split(":")[0], count(p.x), p.tip.split(": ", 1)[-1]) for p in points]
    return drawn(
        figure(
            scatter,
            points,
            table(["network", "parameters", "score"], listed, numeric=[1]),
            title=f"{context.unit.name.capitalize()} against parameters",
            description=f"Each network's {context.unit.name} on validation data, upwards, "
            "against its number of parameters, by its logarithm.",
            x_axis="parameters",
            y_axis=context.unit.axis,
            series=NETWORKS,
        )
    )


def _called(row: Result) -> str:
    """A candidate in words, with its name behind."""
    name, meaning = words(row.get("name")), words(row.get("meaning"))
    return f"{meaning} · {name}" if meaning and meaning != name else name


def _keys(row: Result) -> list[tuple[int, str]]:
    """The comparisons that a candidate has: place among all, and key."""
    numbered = enumerate(key for key, _ in COMPARISONS)
    return [(i, key) for i, key in numbered if number(part(row, key).get("mean")) is not None]


def _between(gain: Result) -> tuple[float, float] | None:
    return interval([gain.get("low"), gain.get("high")])


def _estimate(row: Result, key: str, place: int, context: Context) -> Estimate:
    gain, unit = part(row, key), context.unit
    mean, between = number(gain.get("mean")), _between(gain)
    low, high = between or (None, None)
    pairs = number(gain.get("pairs"))
    said = [f"{words(row.get('name'))}, {COMPARISONS[place][1]}: {unit.gain(mean)}"]
    if between:
        said.append(f"{context.level} interval {unit.gains(between)}")
    if pairs is not None:
        said.append(times(int(pairs), "pair"))
    return Estimate(
        unit.shown(mean),
        unit.shown(low),
        unit.shown(high),
        tip=", ".join(said),
        words=unit.gain(mean, unit=False),
        series=place,
        single=tuple(
            unit.shown(value) or 0.0
            for value in map(number, items(gain, "differences"))
            if value is not None
        ),
    )


def _gains_table(measured: list[Result], context: Context) -> Table:
    listed = []
    for row in measured:
        for place, key in _keys(row):
            gain = part(row, key)
            listed.append(
                (
                    words(row.get("name")),
                    COMPARISONS[place][1],
                    context.unit.gain(number(gain.get("mean"))),
                    context.unit.gains(_between(gain)),
                    count(number(gain.get("pairs"))),
                )
            )
    head = ["candidate", "gain", "mean", f"{context.level} interval", "pairs"]
    return table(head, listed, numeric=[2, 3, 4])


def _points(result: Result, chosen: str, context: Context) -> Iterator[Point]:
    baseline = part(result, "baseline")
    plain = number(baseline.get("score"))
    yield from _point("", baseline, 0, context)
    for row in rows(result, "candidates"):
        name = words(row.get("name"))
        yield from _point(name, row, 1, context, strong=name == chosen)
        wide = part(row, "gain_width")
        gain = number(wide.get("mean"))
        if plain is not None and gain is not None:
            yield from _point(name, {"score": plain + gain, **wide}, 2, context)
        yield from _point(name, part(row, "augmented"), 3, context)


def _possible(between: tuple[float, float] | None, context: Context) -> tuple[float, float] | None:
    """An interval of scores without what no share can be: few runs know little."""
    if between is None or not context.unit.percent:
        return between
    low, high = (min(max(value, 0.0), 1.0) for value in between)
    return low, high


def _point(
    name: str, row: Result, series: int, context: Context, strong: bool = False
) -> Iterator[Point]:
    score, size = number(row.get("score")), number(row.get("parameters"))
    if score is None or size is None or size <= 0:
        return
    unit, between = context.unit, _possible(interval(row.get("interval")), context)
    called = ", ".join(filter(None, (name, NETWORKS[series])))
    said = f"{called}: {unit.score(score)}"
    if between:
        said += f" ({unit.scores(between)})"
    low, high = between or (None, None)
    yield Point(
        x=size,
        y=unit.shown(score),
        name="" if series == _MOVED else name or NETWORKS[0],
        tip=f"{said}, {count(size)} parameters",
        low=unit.shown(low),
        high=unit.shown(high),
        series=series,
        strong=strong,
        link="" if series == _MOVED else name,
    )
