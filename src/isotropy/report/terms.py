"""The words that a page uses, explained to somebody who has never heard of them."""

from __future__ import annotations

from isotropy.report.context import Context
from isotropy.report.read import Result, rows, words

Terms = list[tuple[str, str]]

BUILT_IN = (
    "Built in (tied)",
    "The network's numbers are shared so that its answer cannot depend on how the input was moved. "
    "It has less to learn, and what it learns of one position it knows of all.",
)

EVOLVING = [
    (
        "Relaxing",
        "Letting go of part of a layer's symmetry. The layer gets more numbers of its own, set so "
        "that at first it computes what it computed before.",
    ),
    (
        "Front",
        "The networks that no other betters in both respects: none has a smaller error with as "
        "few parameters.",
    ),
]
MIXING = [
    (
        "Mixture",
        "A layer that is the weighted sum of layers tied to several groups. When the search is "
        "over it is folded into one ordinary layer.",
    ),
]


def discovery_terms(result: Result, context: Context) -> Terms:
    """The words of a discovery's page."""
    return [
        (
            "Symmetry",
            "A change after which data look as likely as before and mean the same, or something "
            "else that is known: a turn, a mirror image, a swap of columns.",
        ),
        *_groups(result),
        BUILT_IN,
        (
            "Labels exchanged",
            "The change turns one label into another, always in the same way: a mirror turns "
            "“left” into “right”. The network is built to answer so.",
        ),
        (
            "Equally many parameters",
            "A network with a symmetry is made wider until it has as many numbers to learn as the "
            "one without. Otherwise the smaller one would lose for its size alone.",
        ),
        (
            "Turned training data",
            "The common alternative to building a symmetry in: show an ordinary network the data "
            "in all positions and let it learn that they are the same.",
        ),
        interval_term(context.level),
        (
            "p",
            "How often chance alone would show a difference as large as the one seen. “Corrected” "
            "means that it allows for several symmetries having been tested at once.",
        ),
        (
            "Margin",
            "A difference in score that was said, before the run, not to matter.",
        ),
    ]


def search_terms(result: Result, context: Context) -> Terms:
    """The words of a search's page."""
    method = MIXING if words(result.get("method")) == "mix" else EVOLVING
    return [
        (
            "Group",
            "A set of changes, such as turns and mirror images, that belong together. A layer tied "
            "to a group treats its input in all these positions alike. C1 is no change at all: an "
            "ordinary layer.",
        ),
        BUILT_IN,
        *method,
        ("Parameters", "The numbers that a network has to learn."),
        (
            "Validation and test",
            "Networks are chosen by their error on the validation samples. The test samples are "
            "looked at only after that.",
        ),
        interval_term(context.level),
    ]


def interval_term(level: str) -> tuple[str, str]:
    """What an interval is."""
    return (
        f"{level} interval",
        "The range that the true value is in, as far as the runs can tell: of a hundred intervals "
        f"made in this way about {level.rstrip('%')} hold it.",
    )


def _groups(result: Result) -> Terms:
    """The names of the candidates' groups, those that stand for one thing."""
    meanings: dict[str, set[str]] = {}
    for row in rows(result, "candidates"):
        if words(row.get("group")) and words(row.get("meaning")):
            meanings.setdefault(words(row.get("group")), set()).add(words(row.get("meaning")))
    told = [f"{name}: {meaning}" for name, (meaning, *more) in meanings.items() if not more]
    return [("Names of groups", "; ".join(told) + ".")] if told else []
