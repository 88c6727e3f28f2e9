"""The test error of a search beside those of other ways to a network (001, Figures 3 and 5)."""

from __future__ import annotations

from isotropy.report.charts import Estimate, Row, intervals
from isotropy.report.context import Context
from isotropy.report.figure import Figure, drawn, figure, table
from isotropy.report.numbers import count, times
from isotropy.report.read import Result, interval, items, number, part, rows, words

SPREADS = ("over seeds", "over the last population of this run")
METHODS = {"evolve": "search by evolution", "mix": "search by mixture"}


def method_words(result: Result) -> str:
    """What the search is called among the others."""
    method = words(result.get("method"))
    return METHODS.get(method, method or "search")


def baselines_figure(result: Result, context: Context) -> Figure | None:
    """Test errors with intervals, the search first, the others from the smallest on."""
    found = part(result, "found")
    others = [row for row in rows(result, "baselines") if _mean(row) is not None]
    others.sort(key=lambda row: _mean(row) or 0.0)
    listed = [_row(method_words(result), found, context, searched=True)]
    listed += [_row(words(row.get("name")), row, context) for row in others]
    told = [_told(method_words(result), found, context)]
    told += [_told(words(row.get("name")), row, context) for row in others]
    spreads = SPREADS if number(part(found, "individuals").get("mean")) is not None else SPREADS[:1]
    return drawn(
        figure(
            intervals,
            listed,
            table(
                [
                    "way",
                    f"test {context.unit.name}",
                    f"{context.level} interval",
                    "runs",
                    "parameters",
                ],
                told,
                numeric=[1, 2, 3, 4],
            ),
            title=f"Test {context.unit.name} of the search and of other ways",
            description=f"Test {context.unit.axis}, with {context.level} intervals.",
            axis=f"test {context.unit.axis}",
            series=spreads,
        )
    )


def _mean(row: Result) -> float | None:
    return number(part(row, "test_error").get("mean"))


def _row(name: str, row: Result, context: Context, searched: bool = False) -> Row:
    keys = ("test_error", "individuals") if searched else ("test_error",)
    estimates = [
        _estimate(name, part(row, key), place, context)
        for place, key in enumerate(keys)
        if number(part(row, key).get("mean")) is not None
    ]
    return Row(name, tuple(estimates), tone="found" if searched else "", strong=searched)


def _estimate(name: str, errors: Result, series: int, context: Context) -> Estimate:
    unit, between = context.unit, interval([errors.get("low"), errors.get("high")])
    mean, runs = number(errors.get("mean")), number(errors.get("runs"))
    said = [f"{name}, {SPREADS[series]}: {unit.score(mean)}"]
    if between:
        said.append(f"{context.level} interval {unit.scores(between)}")
    if runs is not None:
        said.append(times(int(runs), "network" if series else "run"))
    low, high = between or (None, None)
    return Estimate(
        unit.shown(mean),
        unit.shown(low),
        unit.shown(high),
        tip=", ".join(said),
        words=unit.score(mean),
        series=series,
        single=tuple(
            unit.shown(value) or 0.0
            for value in map(number, items(errors, "single"))
            if value is not None
        ),
    )


def _told(name: str, row: Result, context: Context) -> tuple[str, ...]:
    errors = part(row, "test_error")
    return (
        name,
        context.unit.score(_mean(row)),
        context.unit.scores(interval([errors.get("low"), errors.get("high")])),
        count(number(errors.get("runs"))),
        count(number(row.get("parameters"))),
    )
