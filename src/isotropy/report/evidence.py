"""What was measured besides gains: the test of the inputs, the layers, the audit."""

from __future__ import annotations

from isotropy.report.charts import Share, shares
from isotropy.report.context import Context
from isotropy.report.figure import Figure, Table, drawn, figure, table
from isotropy.report.numbers import NONE, chance, count, significant
from isotropy.report.read import Result, items, number, part, rows, words


def inputs_table(context: Context) -> Table | None:
    """Whether the data looks the same when it is moved, by each element that was tested."""
    if not context.inputs:
        return None
    listed = [
        (
            words(row.get("words")) or words(row.get("name")),
            _looks(row),
            _statistic(number(row.get("statistic"))),
            chance(number(row.get("p"))),
            chance(number(row.get("p_holm"))),
            count(number(row.get("n"))),
            words(row.get("note")),
        )
        for row in context.inputs
    ]
    head = ["moved by", "looks", "told apart", "p", "p, corrected", "samples", "note"]
    kept = len(head) if any(row[-1] for row in listed) else len(head) - 1
    return table(head[:kept], [row[:kept] for row in listed], numeric=[2, 3, 4, 5])


def _looks(row: Result) -> str:
    known = isinstance(row.get("rejected"), bool)
    looks = ("different" if row["rejected"] else "the same") if known else NONE
    return f"{looks} (reported only)" if row.get("reported_only") is True else looks


def _statistic(value: float | None) -> str:
    """How often an original and its twin were told apart: half is chance."""
    if value is None:
        return NONE
    return f"{100 * value:.1f}%" if 0 <= value <= 1 else significant(value)


def layers_figure(result: Result) -> Figure | None:
    """How much each layer uses each group, where the run searched layer by layer."""
    layers = part(result, "layers")
    weights = part(layers, "weights")
    order = [words(name) for name in items(layers, "order")] or [str(name) for name in weights]
    listed = []
    for layer in order:
        used = {str(g): number(z) for g, z in part(weights, layer).items()}
        listed.append(Share(layer, {g: z for g, z in used.items() if z is not None}))
    told = [(s.name, group, f"{z:.0%}") for s in listed for group, z in s.parts.items()]
    return drawn(
        figure(
            shares,
            listed,
            table(["layer", "group", "share"], told, numeric=[2]),
            title="Which group each layer uses",
            description="A bar for each layer, from the input on, divided by groups.",
        )
    )


def audit_table(result: Result) -> Table | None:
    """The recommended network layer by layer: what is tied, and how exactly it holds."""
    listed = [
        (
            words(row.get("layer")),
            words(row.get("kind")),
            count(number(row.get("free"))),
            count(number(row.get("total"))),
            _error(number(row.get("error"))),
            words(row.get("note")),
        )
        for row in rows(result, "audit")
    ]
    if not listed:
        return None
    head = ["layer", "kind", "free weights", "all weights", "error", "note"]
    empty = {NONE, ""}
    kept = [i for i in range(len(head)) if i < 4 or any(row[i] not in empty for row in listed)]
    return table(
        [head[i] for i in kept],
        [[row[i] for i in kept] for row in listed],
        numeric=[place for place, i in enumerate(kept) if i in (2, 3, 4)],
    )


def _error(value: float | None) -> str:
    return NONE if value is None else significant(value, 2)
