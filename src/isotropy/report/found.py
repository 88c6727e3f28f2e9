"""What a search came to: the answer, the group of every layer, and what it was asked to do."""

from __future__ import annotations

from markupsafe import Markup

from isotropy.report.baselines import method_words
from isotropy.report.context import Context
from isotropy.report.facts import Facts, known, plain
from isotropy.report.figure import Table, table
from isotropy.report.headline import Fact, Headline
from isotropy.report.numbers import count, duration, significant, times
from isotropy.report.read import Result, interval, items, number, part, rows, texts, words


def search_headline(result: Result, context: Context) -> Headline:
    """The answer of a search: whether it helped, where that is known, else what it found."""
    answer, sentence, tone = _helped(result, context) or _found(result, context)
    return Headline(
        answer, tone, "", Markup(""), (sentence,) * bool(sentence), (), _facts(result, context)
    )


def _helped(result: Result, context: Context) -> tuple[str, str, str] | None:
    """Never without an interval over seeds: one run says nothing of the method."""
    helped = part(result, "helped")
    gain, over = part(helped, "gain"), words(helped.get("over"), "the best baseline")
    mean, between = number(gain.get("mean")), interval([gain.get("low"), gain.get("high")])
    if mean is None or between is None:
        return None
    runs = number(gain.get("runs"))
    paired = f" in {times(int(runs), 'pair')} of runs" if runs is not None else ""
    way = "smaller" if mean >= 0 else "larger"
    sentence = (
        f"Its {context.unit.name} is {way} than that of {over} by "
        f"{context.unit.gain(abs(mean)).lstrip('+')}{paired}; {context.level} interval of the gain "
        f"{context.unit.gains(between)}."
    )
    if between[0] > 0:
        return "The search helped", sentence, "build_in"
    if between[1] < 0:
        return "The search did not help", sentence, "hurts"
    return "Whether the search helped cannot be told", sentence, "cannot_tell"


def _found(result: Result, context: Context) -> tuple[str, str, str]:
    found = part(result, "found")
    error, size = number(found.get("val_error")), number(found.get("parameters"))
    if error is None:
        return f"What the {method_words(result)} found", "", "none"
    sized = f" with {count(size)} parameters" if size is not None else ""
    answer = f"Found: validation {context.unit.name} {context.unit.score(error)}{sized}"
    return answer, _beside_strongest(result, context), "none"


def _beside_strongest(result: Result, context: Context) -> str:
    """One run's test error next to the best baseline's, so that nobody overlooks it."""
    over, unit = words(result.get("strongest")), context.unit
    own = number(part(part(result, "found"), "test_error").get("mean"))
    theirs = [row for row in rows(result, "baselines") if row.get("name") == over]
    other = number(part(theirs[0], "test_error").get("mean")) if theirs else None
    if own is None or other is None:
        return ""
    return (
        f"Of the baselines {over} had the smallest validation {unit.name}: its test {unit.name} is "
        f"{unit.score(other)}, that of the search {unit.score(own)}. One run cannot tell whether "
        "searching pays."
    )


def _facts(result: Result, context: Context) -> tuple[Fact, ...]:
    found, unit = part(result, "found"), context.unit
    morphism = number(result.get("max_morphism_error"))
    facts = [_test_fact(found, context)]
    if (error := number(found.get("val_error"))) is not None:
        facts.append(Fact(f"Validation {unit.name}", unit.score(error), ("of the network chosen",)))
    if (size := number(found.get("parameters"))) is not None:
        facts.append(Fact("Parameters", count(size)))
    if morphism is not None:
        note = "largest difference between a child's answers and its parent's at birth, relative"
        facts.append(Fact("Change by relaxing", significant(morphism, 2), (note,)))
    if (seconds := number(result.get("seconds"))) is not None:
        facts.append(Fact("Took", duration(seconds), _trained(result)))
    return tuple(fact for fact in facts if fact is not None)


def _test_fact(found: Result, context: Context) -> Fact | None:
    errors, unit = part(found, "test_error"), context.unit
    mean, runs = number(errors.get("mean")), number(errors.get("runs"))
    if mean is None:
        return None
    between = interval([errors.get("low"), errors.get("high")])
    notes = [] if between is None else [f"{context.level} interval {unit.scores(between)}"]
    notes += [] if runs is None else [times(int(runs), "run")]
    individuals = part(found, "individuals")
    if (other := number(individuals.get("mean"))) is not None:
        notes.append(f"{unit.score(other)} over the last population of this run")
    return Fact(f"Test {unit.name}", unit.score(mean), tuple(notes))


def _trained(result: Result) -> tuple[str, ...]:
    trials = number(result.get("trials"))
    return () if trials is None else (f"{times(int(trials), 'network')} trained",)


def layers_table(result: Result) -> Table | None:
    """The group of every layer of the network that was found, and what it stands for."""
    from isotropy.groups import MEANINGS

    groups = part(part(result, "found"), "groups")
    if not groups:
        return None
    order = [layer for layer in texts(part(result, "model"), "layers") if layer in groups]
    order += [layer for layer in groups if layer not in order]
    named = [(layer, words(groups[layer])) for layer in order]
    listed = [(layer, name, MEANINGS.get(name, "")) for layer, name in named]
    return table(["layer", "group", "what it is"], listed)


def search_facts(result: Result) -> Facts:
    """What the search was asked to do, and how long it took."""
    passes = number(result.get("passes"))
    seconds, beside = number(result.get("seconds")), number(result.get("baseline_seconds"))
    return known(
        ("method", method_words(result)),
        ("model", words(part(result, "model").get("name"))),
        ("largest group", words(result.get("group"))),
        ("groups of a layer", ", ".join(map(words, items(result, "groups")))),
        *[(str(k).replace("_", " "), plain(v)) for k, v in part(result, "settings").items()],
        ("networks", ", ".join([*_trained(result), *_cut_short(result)])),
        ("passes over the data", f"{passes:,.4g}" if passes is not None else ""),
        ("time", duration(seconds) if seconds is not None else ""),
        ("time of baselines", duration(beside) if beside is not None else ""),
    )


def _cut_short(result: Result) -> list[str]:
    """How many networks were not trained to the end, and how many could not be made."""
    kinds = {"stopped_early": "stopped early", "failed": "failed"}
    population = rows(result, "population")
    counted = {word: sum(row.get(k) is True for row in population) for k, word in kinds.items()}
    return [f"{number_} {word}" for word, number_ in counted.items() if number_]
