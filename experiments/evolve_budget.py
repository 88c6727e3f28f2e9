"""How much less training does an evolution need that gives up early, or asks a mixture first?

On half of the rotated digits of `equinas_small`, three seeds. Plain is Algorithm 1 of paper 001.
Halved gives the worse half of the children up after a quarter, and again after a half of a
generation. Guided trains a mixture first, for 4 epochs, and tries only what its weights speak for.
What counts is the test error of the network with the smallest validation error, against all passes
over the training data together; those of the mixture, which steps twice, count twice. The aim: an
error no worse by 0.5 points for at most half of the passes.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import mean
from typing import Any

import isotropy as iso
from experiments.equinas_small import GROUPS, SETS, error, falling, parts, plain
from isotropy.search.compare import spread

TITLE = "Evolution: error against training"
NAME = "rotmnist"
ASKED = 4
ARMS = {
    "plain": (0, False),
    "halved": (2, False),
    "guided": (0, True),
    "halved and guided": (2, True),
}
SEEDS = (0, 1, 2)
TASKS = {f"{arm}/{seed}": (arm, seed) for arm in ARMS for seed in SEEDS}


def run(task: tuple[str, int], workers: int = 1) -> dict[str, Any]:
    arm, seed = task
    halvings, guided = ARMS[arm]
    sizes, data = SETS[NAME], half(seed)
    assert data.test is not None
    model = plain(data.train, seed)
    guide = asked(model, data, seed) if guided else None
    found = iso.search.evolve(
        model,
        data.train,
        group="D4",
        generations=sizes.epochs,
        parents=5,
        epochs=1.0,
        settings=falling(sizes),
        validation=data.validation,
        guide=guide,
        halvings=halvings,
        workers=workers,
        seed=seed,
    )
    return {
        "error": error(found.model, data.test.scaled_like(found.train)),
        "val_error": found.best.val_error,
        "passes": found.passes + (2 * ASKED if guided else 0),
        "networks": len(found.population) - 1,
        "best": found.best.groups,
    }


def half(seed: int) -> iso.data.Splits:
    """The digits, but half as many to train on."""
    whole = parts(NAME, seed)
    return replace(whole, train=iso.data.split(whole.train, (0.5,), seed=seed)[0])


def asked(model: Any, data: iso.data.Splits, seed: int) -> iso.search.Guide:
    """What a mixture says of every layer."""
    sizes = SETS[NAME]
    settings = replace(iso.search.MIX_AS_001, schedule="cosine", batch_size=sizes.batch)
    return iso.search.mix(
        model,
        data.train,
        groups=GROUPS,
        epochs=ASKED,
        settings=settings,
        validation=data.validation,
        seed=seed,
    ).final


def tables(outcomes: dict[str, Any]) -> list[tuple[list[str], list[list[str]]]]:
    head = ["search", "test error in %", "against plain, in points (95%)", "passes", "of plain"]
    return [(head, [row(arm, outcomes) for arm in ARMS])]


def row(arm: str, outcomes: dict[str, Any]) -> list[str]:
    """One arm, seed by seed against the plain search."""
    both = [s for s in SEEDS if f"{arm}/{s}" in outcomes and f"plain/{s}" in outcomes]
    if not both:
        return [arm, "", "", "", ""]
    mine, theirs = ([outcomes[f"{name}/{s}"] for s in both] for name in (arm, "plain"))
    errors = mean(one["error"] for one in mine)
    passes = mean(one["passes"] for one in mine)
    share = passes / mean(one["passes"] for one in theirs)
    gap = spread([100 * (a["error"] - b["error"]) for a, b in zip(mine, theirs, strict=True)])
    words = f"{gap['mean']:+.2f}"
    if "low" in gap:
        words += f" ({gap['low']:+.2f} to {gap['high']:+.2f})"
    return [arm, f"{100 * errors:.2f}", words, f"{passes:.0f}", f"{share:.2f}"]
