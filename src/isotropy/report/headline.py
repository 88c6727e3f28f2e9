"""The answer, before anything else: which symmetry to build in, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass

from isotropy.report.context import Context
from isotropy.report.numbers import NONE, count, duration, times
from isotropy.report.read import Result, interval, number, part, rows, texts, words
from isotropy.report.symmetry import Exchange, Verdict, exchanges, noun, recommended, verdict_of

_EXCHANGED = "build_in_permuted"


@dataclass(frozen=True)
class Fact:
    """A number that matters, what it is, and how sure it is."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Headline:
    """The answer in a line, why in a few, and the numbers behind it."""

    answer: str
    verdict: Verdict | None
    name: str
    elements: tuple[str, ...]
    words: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    facts: tuple[Fact, ...]


def headline(result: Result, context: Context) -> Headline:
    """The answer of a result."""
    name, row = recommended(result)
    verdict = verdict_of(row.get("verdict")) if name else None
    said = texts(part(result, "recommended"), "words")
    return Headline(
        answer=answer(result),
        verdict=verdict,
        name=name,
        elements=tuple(texts(row, "elements")),
        words=tuple(said) or ((verdict.meaning,) if verdict else ()),
        exchanges=tuple(exchanges(row.get("labels"), context.classes, context.inputs, context.kind))
        if verdict and verdict.key == _EXCHANGED
        else (),
        facts=tuple(_facts(result, row, context)),
    )


def answer(result: Result) -> str:
    """The recommendation in a line.

    >>> answer({"recommended": {"group": "C4", "meaning": "quarter turns", "verdict": "build_in"}})
    'Build in quarter turns'
    """
    name, row = recommended(result)
    if name:
        symmetry = noun(words(row.get("meaning")) or name)
        verdict = words(row.get("verdict"))
        if verdict == _EXCHANGED:
            return f"Build in {symmetry}, with labels exchanged"
        if verdict == "harmless":
            return f"{symmetry[:1].upper()}{symmetry[1:]} can be built in at no cost"
        return f"Build in {symmetry}"
    open_ = [c for c in rows(result, "candidates") if c.get("verdict") == "cannot_tell"]
    if open_:
        return f"No symmetry is recommended; {times(len(open_), 'candidate')} could not be decided"
    return "No symmetry to build in"


def _facts(result: Result, row: Result, context: Context) -> list[Fact]:
    test = part(part(result, "recommended"), "test")
    facts = [_test_fact(test, context), _gain_fact(row, context), _size_fact(result, row)]
    seconds = number(part(result, "time").get("seconds"))
    networks = number(part(result, "time").get("networks"))
    if seconds is not None:
        note = times(int(networks), "network") + " trained" if networks is not None else ""
        facts.append(Fact("Took", duration(seconds), note))
    return [fact for fact in facts if fact is not None]


def _test_fact(test: Result, context: Context) -> Fact | None:
    score = number(test.get("score"))
    if score is None:
        return None
    notes = []
    between = interval(test.get("interval"))
    if between is not None:
        notes.append(f"{context.level} interval {context.unit.scores(between)}")
    samples = number(test.get("n"))
    if samples is not None:
        notes.append(f"{count(samples)} samples that nothing was chosen by")
    plain = number(test.get("baseline_score"))
    if plain is not None:
        notes.append(f"without symmetry {context.unit.score(plain)}")
    name = context.unit.name
    return Fact(f"Test {name}", context.unit.score(score), "; ".join(notes))


def _gain_fact(row: Result, context: Context) -> Fact | None:
    gain = part(row, "gain")
    mean = number(gain.get("mean"))
    if mean is None:
        return None
    low, high = number(gain.get("low")), number(gain.get("high"))
    between = None if low is None or high is None else (low, high)
    pairs = number(gain.get("pairs"))
    notes = [] if between is None else [f"{context.level} interval {context.unit.gains(between)}"]
    if pairs is not None:
        notes.append(f"{times(int(pairs), 'pair')} of networks with equally many parameters")
    return Fact("Gain over no symmetry", context.unit.gain(mean), "; ".join(notes))


def _size_fact(result: Result, row: Result) -> Fact | None:
    tied, plain = number(row.get("parameters")), part(result, "baseline").get("parameters")
    if tied is None:
        return None
    written = count(number(plain))
    note = "" if written == NONE else f"the network without symmetry has {written}"
    return Fact("Parameters", count(tied), note)
