"""In which layers a symmetry helps: mixtures over its subgroups, learned layer by layer (001)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from isotropy.discovery.study import Study
from isotropy.evidence.symmetry import Symmetry
from isotropy.groups.action import Group
from isotropy.groups.finite import FiniteGroup
from isotropy.search.mix import mix
from isotropy.training.seeds import torch_seed

MOST_GROUPS = 6


def can_mix(symmetry: Symmetry) -> bool:
    """Whether layers can choose between its subgroups: its elements are listed."""
    group = symmetry.group
    return isinstance(group, FiniteGroup) and group.order > 1 and not symmetry.shift


def layers_used(study: Study, symmetry: Symmetry, folder: Path) -> dict[str, Any]:
    """How much of each subgroup every layer takes, when it may choose; for the report.

    Args:
        study: the samples, and how networks are made.
        symmetry: what is recommended, one that `can_mix`.
        folder: for a checkpoint, to go on from.
    """
    group = symmetry.group
    assert isinstance(group, FiniteGroup)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_seed(study.seed, "mixture"))
        network = study.probe.plain(study.probe.equal_width(symmetry))
    found = mix(
        network,
        study.scaled(study.data, symmetry),
        groups=chain(group),
        gradients="one",
        epochs=study.plan.settings(study.sizes[0]).epochs,
        output=symmetry.output,
        action=symmetry.inputs,
        seed=study.seed,
        out=folder,
        resume=folder.exists(),
    )
    if found.stopped == "interrupted":
        raise KeyboardInterrupt
    weights = {layer: {g: z[-1] for g, z in by.items()} for layer, by in found.weights.items()}
    return {"order": list(weights), "weights": weights, "words": words(weights, group.name)}


def chain(group: FiniteGroup) -> list[Group]:
    """Groups to mix: no symmetry, subgroups one of each kind, the whole."""
    kinds = list(group.subgroups_up_to_conjugacy())
    ends = [kinds[0], kinds[-1]]
    between = [g for g in kinds if g not in ends]
    return [ends[0], *between[: MOST_GROUPS - 2], ends[1]]


def words(weights: dict[str, dict[str, float]], whole: str) -> str:
    """Which layers take most and least of the whole symmetry."""
    shares = {layer: by.get(whole, 0.0) for layer, by in weights.items()}
    most, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    return (
        f"Left to choose, layer {most} takes the most of {whole} ({shares[most]:.0%}) and layer "
        f"{least} the least ({shares[least]:.0%})."
    )
