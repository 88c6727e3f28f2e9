"""How a search by mixture went: how much of each group each layer used over time."""

from __future__ import annotations

from isotropy.report.charts import Panel, areas
from isotropy.report.figure import Figure, drawn, figure, table
from isotropy.report.read import Result, items, number, part, texts, words


def weights_figure(result: Result) -> Figure | None:
    """The weights z of all layers over time (001, Figures 2 and 6 to 8)."""
    times = tuple(t for t in map(number, items(result, "times")) if t is not None)
    panels = [_panel(layer, times, part(result, "weights")) for layer in part(result, "weights")]
    groups = _groups(result, panels)
    listed = [
        (panel.name, *(_last(panel.parts.get(group, ())) for group in groups)) for panel in panels
    ]
    return drawn(
        figure(
            areas,
            panels,
            table(["layer", *groups], listed, numeric=range(1, len(groups) + 1)),
            title="How much of each group each layer uses",
            description="A panel for each layer: the shares of the groups, stacked, from the "
            "beginning of the search on the left to its end on the right.",
            axis=words(result.get("time_axis"), "epoch"),
            order=groups,
        )
    )


def _panel(layer: str, times: tuple[float, ...], weights: Result) -> Panel:
    parts = {
        str(group): tuple(
            z for z in map(number, items(part(weights, layer), group)) if z is not None
        )
        for group in part(weights, layer)
    }
    return Panel(str(layer), times, parts)


def _groups(result: Result, panels: list[Panel]) -> list[str]:
    """Those that occur, in the order of the search."""
    used = dict.fromkeys(group for panel in panels for group in panel.parts)
    told = [group for group in texts(result, "groups") if group in used]
    return [*told, *(group for group in used if group not in told)]


def _last(shares: tuple[float, ...]) -> str:
    return f"{shares[-1]:.0%}" if shares else "–"
