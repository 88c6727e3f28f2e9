"""Every candidate with its verdict, why, and what would decide it."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from isotropy.report.charts import glyph
from isotropy.report.context import Context
from isotropy.report.numbers import times
from isotropy.report.read import Result, number, part, rows, texts, words
from isotropy.report.symmetry import (
    VERDICTS,
    Exchange,
    Verdict,
    exchanges,
    recommended,
    verdict_of,
)


@dataclass(frozen=True)
class Card:
    """A candidate as the page shows it."""

    name: str
    meaning: str
    glyph: Markup
    verdict: Verdict
    recommended: bool
    gain: str
    between: str
    reason: str
    needed: str
    dropped: str
    exchanges: tuple[Exchange, ...]


def cards(result: Result, context: Context) -> list[Card]:
    """The candidates: the recommended one first, then by verdict, else in their order."""
    chosen, _ = recommended(result)
    found = [_card(row, chosen, context) for row in rows(result, "candidates")]
    order = list(VERDICTS)
    return sorted(found, key=lambda c: (not c.recommended, order.index(c.verdict.key)))


def meanings_of(shown: list[Card]) -> list[Verdict]:
    """The verdicts that occur, to be explained below."""
    occurring = {card.verdict.key for card in shown}
    return [verdict for key, verdict in VERDICTS.items() if key in occurring]


def _card(row: Result, chosen: str, context: Context) -> Card:
    name = words(row.get("name")) or words(row.get("group"), "without a name")
    gain = part(row, "gain")
    low, high = number(gain.get("low")), number(gain.get("high"))
    known = low is not None and high is not None
    dropped = number(row.get("dropped_after"))
    return Card(
        name=name,
        meaning=words(row.get("meaning")),
        glyph=glyph(texts(row, "elements")) if context.kind == "image" else Markup(""),
        verdict=verdict_of(row.get("verdict")),
        recommended=name == chosen,
        gain=context.unit.gain(number(gain.get("mean"))) if gain else "",
        between=context.unit.gains((low or 0.0, high or 0.0)) if known else "",
        reason=words(row.get("reason")),
        needed=words(row.get("needed")),
        dropped="" if dropped is None else f"dropped after {times(int(dropped), 'pair')}",
        exchanges=tuple(
            exchange
            for exchange in exchanges(
                row.get("labels"), context.classes, context.inputs, context.kind
            )
            if exchange.changes
        ),
    )
