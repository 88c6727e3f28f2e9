"""What was found, in sentences for people who have never heard of a group."""

from __future__ import annotations

from isotropy.discovery.contender import Contender
from isotropy.discovery.plan import Plan
from isotropy.discovery.verdict import (
    BUILD_IN,
    HARMLESS,
    HURTS,
    PERMUTED,
    Standing,
)
from isotropy.evidence.gain import Gain
from isotropy.evidence.symmetry import SHIFT, Symmetry
from isotropy.groups import ELEMENT_MEANINGS
from isotropy.report.numbers import Unit

_SIGNAL = {"f": "reversal in time", "n": "change of sign", "fn": "reversal and change of sign"}


def element_words(name: str, symmetry: Symmetry | None) -> str:
    """What an element does.

    >>> element_words("r2", None)
    'a half turn'
    """
    if name == SHIFT:
        return "cyclic shifts"
    if symmetry is not None and symmetry.view == "entries":
        return symmetry.meaning if len(symmetry.group.generators) == 1 else name
    return {**ELEMENT_MEANINGS, **_SIGNAL}.get(name, name)


def reason(
    verdict: str,
    standing: Standing,
    plan: Plan,
    metric: str,
    seen: list[str],
    learned: bool,
    failed: str = "",
) -> str:
    """Why a verdict is what it is.

    Args:
        verdict: it.
        standing: what it rests on.
        plan: what counts as a difference.
        metric: what scores are.
        seen: moves of the candidate that can be seen in the inputs, in words.
        learned: networks have found something in the labels.
        failed: why there is no network.
    """
    gain = standing.gain
    if failed:
        return f"Its network could not be trained: {failed}."
    if gain is None:
        return "There was no time to compare it often enough."
    said = _said(verdict, gain, plan, metric, bool(seen))
    if not learned:
        said = "No network predicts the targets better than chance, so gains mean nothing"
    looks = _looks(seen)
    return f"{said}. {looks}" if looks else f"{said}."


def _said(verdict: str, gain: Gain, plan: Plan, metric: str, seen: bool) -> str:
    unit = Unit(metric)
    numbers = f"{unit.gain(gain.mean)} ({unit.gains((gain.low, gain.high))})"
    if verdict == BUILD_IN:
        return f"Tying gains {numbers} at equally many parameters"
    if verdict == PERMUTED:
        return f"Tying with these labels exchanged gains {numbers}"
    if verdict == HURTS:
        return f"Tying loses: {numbers}"
    if verdict == HARMLESS and seen and gain.low > 0:
        return (
            f"Tying gains {numbers}, but not for this symmetry's own sake: a smaller one in it, or "
            "fewer numbers to fit, can gain as much"
        )
    if verdict == HARMLESS:
        loss = unit.gain(-plan.tolerated).removeprefix("−")
        return f"Tying costs nothing that matters: {numbers}; a loss above {loss} is ruled out"
    return f"The interval is too wide to tell: {numbers}"


def _looks(seen: list[str]) -> str:
    if not seen:
        return ""
    return f"Moved data can be told from the data: {', '.join(seen)}."


def needed(standing: Standing, plan: Plan, samples: int, learned: bool, cut_short: bool) -> str:
    """What it would take to tell."""
    if not learned:
        return (
            "Labels that depend on the inputs, or more samples, or a model that finds it (model=)."
        )
    if standing.gain is None or cut_short:
        return "More time: a larger budget, or none."
    error, wanted = standing.gain.error, plan.tolerated
    more = max((error / wanted) ** 2, 1.5)
    return f"About {round(samples * more, -2):,.0f} samples instead of {samples:,}, or more rounds."


def recommendation(
    chosen: Contender | None,
    standing: Standing | None,
    unit: Unit,
    learned: bool,
    seen: bool,
    compared: int = 1,
    left_open: int = 0,
    confidence: float = 0.95,
) -> list[str]:
    """The recommendation in a few sentences.

    Args:
        chosen: what is recommended, or None.
        standing: what is known of it.
        unit: of scores.
        learned: networks have found something in the labels.
        seen: its moves can be seen in the inputs.
        compared: how many candidates have a gain.
        left_open: of those whose moves cannot be seen, how many nothing can be told of.
        confidence: of intervals.
    """
    if not learned:
        return [
            "No network predicts the targets better than chance, so nothing can be said of labels."
        ]
    if chosen is None or standing is None or standing.gain is None:
        if not compared:
            return ["There was no time to compare any candidate often enough."]
        if left_open:
            what = "1 candidate is" if left_open == 1 else f"{left_open} candidates are"
            return [f"No symmetry is known to help; {what} left open."]
        return ["A network without symmetry is as good as any that was compared."]
    gain = standing.gain
    said = [
        f"Networks that have {chosen.symmetry.meaning} built in are at "
        f"{unit.gain(gain.mean)} beside ones without, at equally many parameters "
        f"({unit.gains((gain.low, gain.high))} with {confidence:.0%} confidence, "
        f"{gain.pairs} pairs)."
    ]
    if seen:
        said.append(
            "Moved inputs can be told from the data, yet the gain stands out above all others."
        )
    else:
        said.append("Moved inputs cannot be told from the data.")
    if standing.permuted:
        said.append("Moving an input exchanges labels, and the network knows how.")
    return said
