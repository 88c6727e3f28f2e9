"""How a search by evolution went: who came from whom, and what error is to be had at what size."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby, pairwise

from isotropy.report.charts import Individual, Point, lineage, scatter
from isotropy.report.context import Context
from isotropy.report.figure import Figure, Table, drawn, figure, table
from isotropy.report.numbers import NONE, count
from isotropy.report.read import Result, items, number, part, rows, words

KINDS = ("tried in the last generation", "kept")


def lineage_figure(result: Result, context: Context) -> Figure | None:
    """Sizes of all networks over generations, coloured by error (001, Figures 1 and 4)."""
    best = words(result.get("best"))
    tried = [row for row in rows(result, "population") if number(row.get("val_error")) is not None]
    kept = [row for row in tried if row.get("selected") is True]
    known = [error for row in kept if (error := number(row.get("val_error"))) is not None]
    ends = (
        context.unit.score(max(known, default=None)),
        context.unit.score(min(known, default=None)),
    )
    return drawn(
        figure(
            lineage,
            [_individual(row, best, context) for row in tried],
            table(
                ["generation", "network", "from", context.unit.name, "parameters", "groups"],
                [_described(row, context) for row in kept],
                numeric=[0, 3, 4],
            ),
            title="Sizes of the networks over generations",
            description="Every network of the search by its generation, from left to right, and "
            "its number of parameters, upwards by its logarithm, joined to the one it came from; "
            f"colours tell the {context.unit.name}.",
            quality=(f"{context.unit.name} {ends[0]}", ends[1]),
        )
    )


def _individual(row: Result, best: str, context: Context) -> Individual:
    name, error = words(row.get("id")), number(row.get("val_error"))
    return Individual(
        name=name,
        parent=words(row.get("parent")),
        generation=number(row.get("generation")),
        size=number(row.get("parameters")),
        quality=_quality(error),
        tip=_tip(row, context),
        selected=row.get("selected") is True,
        best=bool(name) and name == best,
    )


def _quality(error: float | None) -> float | None:
    """Errors shrink by factors while networks train: equal factors are equal steps in colour."""
    return None if error is None else -math.log(max(error, 1e-6))


def _tip(row: Result, context: Context) -> str:
    generation, name, parent, error, size, groups = _described(row, context)
    born = f", from {parent}" if parent else ""
    said = f"network {name} of generation {generation}{born}: {context.unit.name} {error}, "
    return said + f"{size} parameters" + (f"; {groups}" if groups else "")


def _described(row: Result, context: Context) -> tuple[str, ...]:
    return (
        words(row.get("generation")),
        words(row.get("id")),
        words(row.get("parent")),
        context.unit.score(number(row.get("val_error"))),
        count(number(row.get("parameters"))),
        groups_in_words(part(row, "groups")),
    )


def groups_in_words(groups: Result) -> str:
    """Groups layer by layer, neighbours with the same one together.

    >>> groups_in_words({"conv0": "D4", "conv1": "D4", "conv2": "C4", "head": "C1"})
    'conv0 to conv1 D4, conv2 C4, head C1'
    """
    told = []
    for name, run in groupby(groups.items(), lambda pair: words(pair[1])):
        layers = [str(layer) for layer, _ in run]
        span = layers[0] if len(layers) == 1 else f"{layers[0]} to {layers[-1]}"
        told.append(f"{span} {name}")
    return ", ".join(told)


def front_figure(result: Result, context: Context) -> Figure | None:
    """Errors against parameters in the last generation, and the front of those none betters."""
    tried = rows(result, "population")
    last = max((number(row.get("generation")) or 0 for row in tried), default=0)
    front = {words(id_) for id_ in items(result, "front")}
    shown = [row for row in tried if (number(row.get("generation")) or 0) == last]
    points = [_point(row, front, context) for row in shown]
    return drawn(
        figure(
            scatter,
            points,
            table(
                ["network", "parameters", context.unit.name, "groups"],
                [_front_row(row, context) for row in shown if words(row.get("id")) in front],
                numeric=[1, 2],
            ),
            title=f"Validation {context.unit.name} against parameters",
            description="The networks of the last generation; a line joins those that no other "
            f"betters both in {context.unit.name} and in parameters.",
            x_axis="parameters",
            y_axis=f"validation {context.unit.axis}",
            series=KINDS,
            front=True,
        )
    )


def _point(row: Result, front: set[str], context: Context) -> Point:
    name = words(row.get("id"))
    return Point(
        x=number(row.get("parameters")),
        y=context.unit.shown(number(row.get("val_error"))),
        name=name if name in front else "",
        tip=_tip(row, context),
        series=int(row.get("selected") is True),
        strong=name in front,
    )


def _front_row(row: Result, context: Context) -> tuple[str, ...]:
    _, name, _, error, size, groups = _described(row, context)
    return name, size, error, groups


def course_table(result: Result, context: Context) -> Table | None:
    """The best network's forebears from the first one on that let go of something, and itself."""
    descent = list(_descent(result))
    told = [(row, _let_go(before, row)) for before, row in descent]
    kept = [pair for pair in told[1:-1] if pair[1]]
    listed = [
        (
            words(row.get("generation")),
            changes or ("the first one" if row is told[0][0] else "nothing more"),
            context.unit.score(number(row.get("val_error"))),
            count(number(row.get("parameters"))),
            words(row.get("id")),
        )
        for row, changes in [*told[:1], *kept, *told[1:][-1:]]
    ]
    if len(listed) < 2:
        return None
    head = ["generation", "relaxed", f"validation {context.unit.name}", "parameters", "network"]
    return table(head, listed, numeric=[2, 3, 4])


def _descent(result: Result) -> Iterator[tuple[Result, Result]]:
    """Parent and child down to the best; a circle, which no search makes, ends it."""
    named = {words(row.get("id")): row for row in rows(result, "population")}
    line: list[Result] = []
    at = words(result.get("best"))
    while at in named:
        row = named.pop(at)
        line.append(row)
        at = words(row.get("parent"))
    line.append({})
    line.reverse()
    yield from pairwise(line)


def _let_go(parent: Result, child: Result) -> str:
    """What a network has relaxed, in words; nothing for the first one."""
    before, after = part(parent, "groups"), part(child, "groups")
    changes = {
        layer: f"{words(before[layer], NONE)} → {words(group)}"
        for layer, group in after.items()
        if layer in before and group != before[layer]
    }
    return groups_in_words(changes)
