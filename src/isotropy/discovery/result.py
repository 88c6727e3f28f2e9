"""All that a discovery found, as JSON in the format isotropy-discovery-1 (see isotropy.report)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp
from statistics import NormalDist
from typing import Any

import numpy as np

from isotropy.data import DataSet, Splits
from isotropy.discovery.contender import Contender
from isotropy.discovery.inputs import InputTest, Move
from isotropy.discovery.last import Shipped
from isotropy.discovery.plan import Plan
from isotropy.discovery.race import Race
from isotropy.discovery.trial import AUGMENTED, TIED, UNTIED, WIDE
from isotropy.discovery.verdict import CANNOT_TELL, Rules, recommend, verdict
from isotropy.discovery.words import element_words, needed, reason, recommendation
from isotropy.evidence.gain import Gain, common_spread, paired_gain
from isotropy.evidence.symmetry import Symmetry
from isotropy.groups.finite import FiniteGroup
from isotropy.report.numbers import Unit
from isotropy.runs import describe_data, machine, versions

FORMAT = "isotropy-discovery-1"
MOST_LISTED = 48  # elements of a group whose label permutations are listed


@dataclass(frozen=True)
class Findings:
    """Everything the result is made of.

    Args:
        race: the networks and their scores.
        tests: of the inputs.
        moves: what was tested there.
        whole: all data.
        compared: those that networks were compared on.
        plan: what counts as a difference.
        rules: the same, with whether anything was learned.
        chosen: what is recommended.
        shipped: the last networks, by name: "recommended" and "untied".
        shortened: what a budget took from them, in words.
        started: when.
        facts: of the run: command, seed, budget.
        audit: of the recommended network.
        layers: how much each of them uses which group.
    """

    race: Race
    tests: tuple[InputTest, ...]
    moves: tuple[Move, ...]
    whole: Splits
    compared: DataSet
    plan: Plan
    rules: Rules
    chosen: Contender | None
    shipped: dict[str, Shipped]
    shortened: str
    started: float
    facts: dict[str, Any]
    audit: list[dict[str, Any]] = field(default_factory=list)
    layers: dict[str, Any] = field(default_factory=dict)


def has_learned(race: Race, data: DataSet, plan: Plan) -> bool:
    """Whether some network predicts better than one that does not look at the inputs.

    Where none was trained twice nobody can say so, and the gains that are missing say the rest.
    """
    chance = chance_score(data, race.study.metric)
    every = [race.scores(UNTIED), *(race.scores(TIED, c.name) for c in race.contenders)]
    arms = [scores for scores in every if len(scores) >= 2]
    if not arms:
        return True
    level, resolution = 1 - 0.05 / len(arms), 1 / race.study.sizes[1]
    for number, scores in enumerate(arms):
        over = [score - chance for score in scores]
        others = arms[:number] + arms[number + 1 :]
        # two scores say next to nothing of their own variance
        expected = common_spread(others) if len(scores) < 3 else None
        if paired_gain(over, plan.test_share, resolution, level, expected).low > 0:
            return True
    return False


def chance_score(data: DataSet, metric: str) -> float:
    """What a network scores that gives the same answer to every sample."""
    if metric == "r2":
        return 0.0
    counts = np.bincount(data.targets, minlength=len(data.classes))
    if metric == "balanced_accuracy":
        return 1 / int((counts > 0).sum())
    return float(counts.max() / counts.sum())


def chosen_of(race: Race, rules: Rules) -> Contender | None:
    """The contender that is recommended."""
    standing = recommend(race.standings(), rules)
    return next((c for c in race.contenders if standing and c.name == standing.name), None)


def to_json(found: Findings) -> dict[str, Any]:
    """The whole result."""
    race = found.race
    rows = [_row(found, one) for one in race.contenders]
    return {
        "format": FORMAT,
        "version": versions()["isotropy"],
        "metric": race.study.metric,
        "alpha": round(1 - found.plan.confidence, 6),
        "margin": found.plan.margin,
        "data": _data(found),
        "recommended": _recommended(found, rows),
        "candidates": rows,
        "baseline": _arm(race, UNTIED, ""),
        "inputs": [_input(test, found.moves) for test in found.tests],
        "audit": found.audit,
        "layers": found.layers,
        "undecided": _undecided(found, rows),
        "time": _time(found),
        "run": _run(found),
        "model": {},
    }


def _data(found: Findings) -> dict[str, Any]:
    described = describe_data(found.whole)
    train, validation = found.race.study.sizes
    tested = next(iter(found.shipped.values()), None)
    notes = [described["note"]] if described["note"] else []
    if len(found.compared) > train + validation:
        notes.append(f"Networks were compared on {train + validation:,} of the samples.")
    return {
        **{key: described[key] for key in ("name", "kind", "task", "shape", "classes")},
        "n": described["samples"],
        "n_train": train,
        "n_validation": validation,
        "n_test": tested.samples if tested else 0,
        "fingerprint": described["fingerprint"],
        "notes": notes,
    }


# -- candidates ---------------------------------------------------------------------------------


def _row(found: Findings, one: Contender) -> dict[str, Any]:
    race, standing = found.race, found.race.standing(one)
    recommended = one is found.chosen
    judged = verdict(standing, found.rules, recommended)
    row: dict[str, Any] = {
        "name": one.name,
        "group": one.symmetry.group.name,
        "order": group_order(one.symmetry),
        "meaning": meaning(one.symmetry, race.study.classes),
        "elements": list(one.symmetry.elements),
        "verdict": judged,
        "reason": reason(
            judged,
            standing,
            found.plan,
            race.study.metric,
            _seen(found, one.symmetry),
            found.rules.learned,
            one.failed,
        ),
        "seen": _seen(found, one.symmetry),
        "dropped_after": one.dropped_after,
        **_arm(race, TIED, one.name),
        "gain": gain_json(standing.gain),
        "gain_width": _with_size(race, race.gain(WIDE, one.name), WIDE, one.name),
        "gain_augmented": gain_json(race.gain(TIED, one.name, AUGMENTED, one.name)),
        "augmented": _arm(race, AUGMENTED, one.name),
    }
    if judged == CANNOT_TELL:
        short = any(key.endswith(f"/{TIED}/{one.name}") for key in race.cut_short)
        samples = sum(race.study.sizes)
        row["needed"] = needed(standing, found.plan, samples, found.rules.learned, short)
    if one.symmetry.labels is not None:
        row["labels"] = label_permutations(one.symmetry)
    return {key: value for key, value in row.items() if value is not None}


def _seen(found: Findings, symmetry: Symmetry) -> list[str]:
    rejected = {test.name for test in found.tests if test.rejected and not test.reported_only}
    return [element_words(e, symmetry) for e in symmetry.elements if e in rejected]


def group_order(symmetry: Symmetry) -> int | None:
    """How many elements there are, where they are listed."""
    return round(exp(symmetry.log_order)) if isinstance(symmetry.group, FiniteGroup) else None


def meaning(symmetry: Symmetry, classes: Sequence[str]) -> str:
    """What it is; where signs of targets change, that too."""
    if symmetry.labels is None:
        return symmetry.meaning
    if symmetry.labels.is_signed:
        signed = [g for g, p in symmetry.labels.moves.items() if p.flips.any()]
        columns = sorted(
            {int(i) for g in signed for i in np.flatnonzero(symmetry.labels.of(g).flips)}
        )
        named = ", ".join(classes[i] if i < len(classes) else str(i) for i in columns)
        return f"{symmetry.meaning}, with {named} changing sign"
    return symmetry.meaning


def label_permutations(symmetry: Symmetry) -> dict[str, list[int]]:
    """For every element the label that each label becomes; signs as negative numbers from −1."""
    if symmetry.labels is None:
        return {}
    found = {}
    for element in symmetry.labels.test_elements[:MOST_LISTED]:
        p = symmetry.labels.of(element)
        target = [int(v) for v in p.target]
        if p.flips.any():
            target = [-t - 1 if flip else t for t, flip in zip(target, p.flips, strict=True)]
        if element != "e":
            found[element] = target
    return found


def _arm(race: Race, arm: str, name: str) -> dict[str, Any]:
    """Mean score and size of the networks of an arm."""
    scores = race.scores(arm, name)
    if not scores:
        return {}
    size = race.parameters(arm, name)
    found: dict[str, Any] = {"score": float(np.mean(scores)), "parameters": size}
    if len(scores) > 1:
        plan, resolution = race.study.plan, 1 / race.study.sizes[1]
        spread = paired_gain(scores, plan.test_share, resolution, plan.confidence)
        found["interval"] = _within([spread.low, spread.high], race.study.metric)
    return found


def _within(interval: list[float], metric: str) -> list[float]:
    """An interval without what scores of this metric cannot be."""
    least = -np.inf if metric == "r2" else 0.0
    return [float(min(max(end, least), 1.0)) for end in interval]


def gain_json(gain: Gain | None) -> dict[str, Any] | None:
    """A gain as the report reads it."""
    if gain is None:
        return None
    return {
        "mean": gain.mean,
        "low": gain.low,
        "high": gain.high,
        "pairs": gain.pairs,
        "differences": list(gain.differences),
    }


def _with_size(race: Race, gain: Gain | None, arm: str, name: str) -> dict[str, Any] | None:
    found = gain_json(gain)
    if found is None:
        return None
    return {**found, "parameters": race.parameters(arm, name)}


# -- the recommendation -------------------------------------------------------------------------


def _recommended(found: Findings, rows: list[dict[str, Any]]) -> dict[str, Any]:
    race, chosen = found.race, found.chosen
    standing = None if chosen is None else race.standing(chosen)
    seen = chosen is not None and chosen.rejected
    open_ = [r for r in rows if r["verdict"] == CANNOT_TELL and not r["seen"] and "gain" in r]
    said = recommendation(
        chosen,
        standing,
        Unit(race.study.metric),
        found.rules.learned,
        seen,
        compared=sum("gain" in row for row in rows),
        left_open=len(open_),
        confidence=found.plan.confidence,
    )
    if chosen is None:
        base = {"candidate": "C1", "group": "C1", "order": 1, "meaning": "no symmetry"}
    else:
        row = next(row for row in rows if row["name"] == chosen.name)
        kept = ("group", "order", "meaning", "elements", "verdict", "labels")
        base = {"candidate": chosen.name, **{k: row[k] for k in kept if k in row}}
    return {**base, "words": said, "test": _test(found)}


def _test(found: Findings) -> dict[str, Any]:
    """The one look at the test data."""
    own = found.shipped.get("recommended")
    if own is None:
        return {}
    plain = found.shipped.get("untied")
    width = NormalDist().inv_cdf((1 + found.plan.confidence) / 2)
    return {
        "score": own.score,
        "interval": _within(
            [own.score - width * own.error, own.score + width * own.error], found.race.study.metric
        ),
        "n": own.samples,
        "baseline_score": None if plain is None else plain.score,
    }


# -- the rest -----------------------------------------------------------------------------------


def _input(test: InputTest, moves: Sequence[Move]) -> dict[str, Any]:
    symmetry = next((m.symmetry for m in moves if m.name == test.name), None)
    return {
        "name": test.name,
        "words": element_words(test.name, symmetry),
        "statistic": test.told_apart,
        "p": test.p,
        "p_holm": test.p_holm,
        "n": test.samples,
        "rejected": test.rejected,
        "reported_only": test.reported_only,
        "note": test.note,
    }


def _undecided(found: Findings, rows: list[dict[str, Any]]) -> list[str]:
    said = [
        f"{row['name']} ({row['meaning']}): {row.get('needed', '')}"
        for row in rows
        if row["verdict"] == CANNOT_TELL
    ]
    if found.race.cut_short:
        said.append(
            f"The budget ended {len(found.race.cut_short)} networks before the plan was done."
        )
    return [*said, found.shortened] if found.shortened else said


def _time(found: Findings) -> dict[str, Any]:
    spent, budget = time.time() - found.started, found.facts.get("budget")
    outcomes = list(found.race.ledger.known.values())
    trained = len(outcomes) + len({one.key for one in found.shipped.values()})
    return {
        "seconds": spent,
        "budget": budget,
        "kept": None if budget is None else bool(spent <= 1.1 * budget),
        "networks": trained,
        "planned": trained + len(found.race.cut_short),
        "per_network": float(np.mean([o.seconds for o in outcomes])) if outcomes else None,
    }


def _run(found: Findings) -> dict[str, Any]:
    return {
        "command": found.facts.get("command", ""),
        "seed": found.facts["seed"],
        "started": time.strftime("%Y-%m-%d %H:%M", time.localtime(found.started)),
        "machine": machine(),
        "versions": versions(),
        "resume": found.facts.get("resume"),
        "deterministic": found.facts.get("budget") is None,
    }
