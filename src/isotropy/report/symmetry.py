"""Symmetries and verdicts in words: what elements do, what labels they exchange."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from isotropy.groups import ELEMENT_MEANINGS
from isotropy.groups.signed import rings
from isotropy.report.read import Result, number, part, rows, words


@dataclass(frozen=True)
class Verdict:
    """A verdict as the page shows it: a word and a sign; `key` names its colour."""

    key: str
    sign: str
    word: str
    meaning: str


VERDICTS = {
    verdict.key: verdict
    for verdict in (
        Verdict("build_in", "✓", "Build in", "The network gains by knowing this symmetry."),
        Verdict(
            "build_in_permuted",
            "⇄",
            "Build in, labels exchanged",
            "The network gains by knowing that this symmetry turns some labels into others.",
        ),
        Verdict(
            "harmless", "○", "Harmless", "Building it in costs nothing and gains nothing for sure."
        ),
        Verdict(
            "hurts", "✕", "Hurts", "The network is worse when it is forced to have this symmetry."
        ),
        Verdict("cannot_tell", "?", "Cannot tell", "What was run does not decide it."),
    )
}
MOST_TOLD = 6
"""Changes of labels that are listed one by one."""

UNKNOWN = Verdict("cannot_tell", "?", "Not judged", "No verdict was given.")


def verdict_of(value: Any) -> Verdict:
    """A verdict by its name."""
    return VERDICTS.get(value, UNKNOWN) if isinstance(value, str) else UNKNOWN


def element_words(name: str, inputs: Sequence[Result] = (), kind: str = "image") -> str:
    """What an element does: as the run says, else as is known of pictures, else its name.

    >>> element_words("r2"), element_words("s"), element_words("swap", [{"name": "swap"}])
    ('a half turn', 'mirror left-right', 'swap')
    """
    for row in inputs:
        if row.get("name") == name and words(row.get("words")):
            return words(row.get("words"))
    if name == "e" or kind == "image":
        return ELEMENT_MEANINGS.get(name, name)
    return name


def noun(meaning: str) -> str:
    """A symmetry as the object of a sentence.

    >>> noun("quarter turns"), noun("mirror left-right")
    ('quarter turns', 'the mirror left-right')
    """
    singular = meaning.startswith(("mirror ", "reversal", "sign change"))
    return f"the {meaning}" if singular else meaning


@dataclass(frozen=True)
class Exchange:
    """What one element does to the labels: rings of labels, each sent to the next; signs."""

    element: str
    does: str
    cycles: tuple[tuple[str, ...], ...]
    still: int
    negated: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether it does anything to the labels."""
        return bool(self.cycles or self.negated)

    @property
    def rest(self) -> str:
        """What becomes of the labels that are in no ring."""
        if not self.changes or not self.still:
            return ""
        return "the other one stays" if self.still == 1 else f"the other {self.still} stay"

    @property
    def sentence(self) -> str:
        """The same in words."""
        if not self.changes:
            return f"{self.does}: every label stays"
        changes = [*map(_told, self.cycles), *(f"{name} changes its sign" for name in self.negated)]
        told = changes[:MOST_TOLD]
        more = len(changes) - len(told)
        listed = "; ".join(told) + (f"; and {more} more" if more else "")
        return f"{self.does}: {listed}"


def _told(cycle: tuple[str, ...]) -> str:
    if len(cycle) == 2:
        return f"{cycle[0]} and {cycle[1]} change places"
    return " → ".join((*cycle, cycle[0]))


def exchanges(
    permutations: Any, classes: Sequence[str], inputs: Sequence[Result], kind: str
) -> list[Exchange]:
    """What each element does to the labels; elements without a proper permutation are left out."""
    if not isinstance(permutations, Mapping):
        return []
    found = []
    for element, values in permutations.items():
        targets = _whole_numbers(values)
        permutation = [_unsigned(target) for target in targets]
        if sorted(permutation) != list(range(len(permutation))):
            continue
        exchanged = rings(permutation)
        named = tuple(tuple(_class(classes, i) for i in ring) for ring in exchanged)
        negated = [i for i, target in enumerate(targets) if target < 0]
        still = len(targets) - len({*negated, *(i for ring in exchanged for i in ring)})
        does = element_words(str(element), inputs, kind)
        signs = tuple(_class(classes, i) for i in negated)
        found.append(Exchange(str(element), does, named, still, signs))
    return found


def _whole_numbers(values: Any) -> list[int]:
    """A list of whole numbers, or one that is no permutation."""
    if not isinstance(values, Sequence) or not all(type(value) is int for value in values):
        return [-1, -1]
    return list(values)


def _unsigned(target: int) -> int:
    """The label that a label becomes; one whose sign changes is written as −1 − itself."""
    return -1 - target if target < 0 else target


def _class(classes: Sequence[str], place: int) -> str:
    return classes[place] if place < len(classes) else str(place)


def candidate_of(result: Result, name: str) -> Result:
    """A candidate by its name; empty if it was none."""
    found = [row for row in rows(result, "candidates") if words(row.get("name")) == name]
    return found[0] if found else {}


def recommended(result: Result) -> tuple[str, Result]:
    """The name and the row of the symmetry to build in; no name if there is none."""
    choice = part(result, "recommended")
    name = words(choice.get("candidate")) or words(choice.get("group"))
    row = candidate_of(result, name)
    order = number(choice.get("order")) or number(row.get("order"))
    if not name or name == "C1" or order == 1:
        return "", {}
    return name, {**row, **{k: v for k, v in choice.items() if v is not None}}
