"""The answer, before anything else: which symmetry to build in, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from isotropy.report.charts import glyph
from isotropy.report.context import Context
from isotropy.report.numbers import NONE, count, duration, times
from isotropy.report.read import Result, interval, number, part, rows, texts, words
from isotropy.report.symmetry import Exchange, exchanges, noun, recommended, verdict_of

_EXCHANGED = "build_in_permuted"


@dataclass(frozen=True)
class Fact:
    """A number that matters, what it is, and how sure it is."""

    name: str
    value: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Headline:
    """The answer in a line, why in a few, and the numbers; `tone` is its verdict's key."""

    answer: str
    tone: str
    name: str
    glyph: Markup
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
        tone=verdict.key if verdict else "none",
        name=name,
        glyph=glyph(texts(row, "elements")) if context.kind == "image" else Markup(""),
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
    facts = [
        _test_fact(test, bool(row), context),
        _gain_fact(row, context),
        _size_fact(result, row),
    ]
    seconds = number(part(result, "time").get("seconds"))
    networks = number(part(result, "time").get("networks"))
    if seconds is not None:
        notes = () if networks is None else (f"{times(int(networks), 'network')} trained",)
        facts.append(Fact("Took", duration(seconds), notes))
    return [fact for fact in facts if fact is not None]


def _test_fact(test: Result, is_tied: bool, context: Context) -> Fact | None:
    score = number(test.get("score"))
    if score is None:
        return None
    notes = []
    plain = number(test.get("baseline_score"))
    if plain is not None and is_tied:
        notes.append(f"{context.unit.score(plain)} without symmetry")
    between = interval(test.get("interval"))
    if between is not None:
        notes.append(f"{context.level} interval {context.unit.scores(between)}")
    samples = number(test.get("n"))
    if samples is not None:
        notes.append(f"{count(samples)} samples that nothing was chosen by")
    return Fact(f"Test {context.unit.name}", context.unit.score(score), tuple(notes))


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
    return Fact("Gain over no symmetry", context.unit.gain(mean), tuple(notes))


def _size_fact(result: Result, row: Result) -> Fact | None:
    tied, plain = number(row.get("parameters")), part(result, "baseline").get("parameters")
    if tied is None:
        return None
    written = count(number(plain))
    notes = () if written == NONE else (f"{written} without symmetry",)
    return Fact("Parameters", count(tied), notes)
