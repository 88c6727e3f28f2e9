"""What is asked of a discovery: data, candidates and how much may be done, checked at the door."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

import torch
from torch import nn

from isotropy.data import Splits, load
from isotropy.discovery.clock import seconds_of
from isotropy.discovery.enough import shortage
from isotropy.discovery.layers import can_mix
from isotropy.discovery.plan import Plan
from isotropy.errors import InputError
from isotropy.evidence.candidates import Candidates, candidates_for
from isotropy.evidence.probe import Factory, Probe
from isotropy.evidence.symmetry import Symmetry

METHODS = ("race", "mix")


@dataclass(frozen=True)
class Asked:
    """What is asked of a discovery, checked.

    Args:
        data: all of it.
        candidates: the symmetries.
        budget: seconds, or None.
        seed: of everything.
        plan: how much is done.
        model: makes the user's own network by width, or None.
        width: of the untied network, or None.
        method: "race", or "mix" to ask as well in which layers the recommended symmetry helps.
    """

    data: Splits
    candidates: tuple[Symmetry, ...]
    budget: float | None
    seed: int
    plan: Plan
    model: Factory | None
    width: int | None
    method: str = "race"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InputError(f"method must be one of {METHODS}, not {self.method!r}")
        if len({symmetry.view for symmetry in self.candidates}) > 1:
            raise InputError(
                "candidates: permutations of entries need another network than symmetries of the "
                "grid; ask for them apart"
            )
        for symmetry in self.candidates:
            if self.method == "mix" and not can_mix(symmetry):
                raise InputError(
                    f"method: mix needs symmetries whose elements are listed, and {symmetry.name} "
                    "is not; name those to ask about"
                )
        data = self.data.train
        if data.task == "dense":
            raise InputError("discover: needs one label or some numbers for each sample, not maps")
        lacking = shortage(data)
        if lacking:
            raise InputError(lacking)
        if self.model is not None:
            self.probe.plain()  # a model that cannot be made is told before a run is begun

    @property
    def probe(self) -> Probe:
        """What makes the networks."""
        data = self.data.train
        return Probe(data.shape, data.outputs, self.candidates[0].view, self.model, self.width)

    def config(self) -> dict[str, Any]:
        """What a resumed run must have in common with the one it goes on with."""
        return {
            "candidates": [f"{s.name} {_moves(s, self.data)}" for s in self.candidates],
            "model": _layout(self.probe.plain()),
            "budget": self.budget,
            "seed": self.seed,
            "width": self.width,
            "method": self.method,
            **{f"plan_{key}": value for key, value in asdict(self.plan).items()},
        }


def _moves(symmetry: Symmetry, data: Splits) -> str:
    """What tells a candidate from another of the same name: where it moves entries."""
    size = prod(data.train.shape)
    whole = torch.arange(1, size + 1, dtype=torch.float64).view(1, *data.train.shape)
    seen = whole.flatten(1) if symmetry.view == "entries" else whole
    found = hashlib.sha256()
    for element in symmetry.group.generators:
        found.update(symmetry.move(seen, element).contiguous().numpy().tobytes())
    return found.hexdigest()[:12]


def _layout(model: nn.Module) -> str:
    """What tells a network from another: the shapes of its numbers."""
    shapes = [(name, tuple(value.shape)) for name, value in model.state_dict().items()]
    return hashlib.sha256(f"{type(model).__qualname__} {shapes}".encode()).hexdigest()[:12]


def ask(
    source: Any,
    candidates: Candidates | None = None,
    budget: float | str | None = None,
    seed: int = 0,
    plan: Plan | None = None,
    model: Factory | None = None,
    width: int | None = None,
    blocks: int = 1,
    method: str = "race",
    **reading: Any,
) -> Asked:
    """Check what is asked.

    Args:
        source: whatever `iso.data.load` reads.
        candidates: see `candidates_for`.
        budget: a time.
        seed: of everything.
        plan: how much is done.
        model: makes the user's own network by width.
        width: of the untied network.
        blocks: of vectors, how many columns move together.
        method: "race" or "mix".
        reading: further options of `iso.data.load`.
    """
    data = load(source, seed=seed, **reading)
    listed = tuple(candidates_for(data.train, candidates, blocks))
    return Asked(data, listed, seconds_of(budget), seed, plan or Plan(), model, width, method)
