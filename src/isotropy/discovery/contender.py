"""A candidate in the race: how wide its networks are, and what they cost beside the untied one."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from isotropy.discovery.trial import AUGMENTED, TIED, UNTIED, WIDE, Trial
from isotropy.evidence.probe import Probe
from isotropy.evidence.symmetry import Symmetry
from isotropy.nn.cost import cost

OVERHEAD = 150_000
"""Multiply-adds that a small network's other work takes as long as, for one sample."""


@dataclass
class Contender:
    """A candidate that networks are tied under.

    Args:
        symmetry: the candidate.
        width: of a tied network that trains as many numbers as the untied one.
        wide: of one as wide as the untied one.
        units: what one sample costs at `width`, in units of the untied network's.
        wide_units: the same at `wide`.
        rejected: moving the inputs by it can be seen.
        exchanges_surely: it exchanges labels, and other samples confirmed it.
        dropped_after: the round after which it was given up.
        failed: why its networks could not be trained.
    """

    symmetry: Symmetry
    width: int
    wide: int
    units: float
    wide_units: float
    rejected: bool = False
    exchanges_surely: bool = False
    dropped_after: int | None = None
    failed: str = ""

    @property
    def name(self) -> str:
        """The candidate's name."""
        return self.symmetry.name

    @property
    def races(self) -> bool:
        """Whether it is compared on."""
        return self.dropped_after is None and not self.failed

    def trial(self, arm: str, number: int) -> Trial:
        """One of its networks."""
        width = {TIED: self.width, WIDE: self.wide}.get(arm, 0)
        return Trial(arm, self.name, number, self.symmetry, width)

    def cost(self, arm: str) -> float:
        """What one of its networks costs, in units of the untied one."""
        return {TIED: self.units, WIDE: self.wide_units, AUGMENTED: 1.3, UNTIED: 1.0}[arm]


def contender(probe: Probe, symmetry: Symmetry, rejected: bool) -> Contender:
    """A candidate with its widths."""
    width, wide = probe.matched_width(symmetry), probe.equal_width(symmetry)
    plain = units(probe, None, 0)
    return Contender(
        symmetry,
        width,
        wide,
        units(probe, symmetry, width) / plain,
        units(probe, symmetry, wide) / plain,
        rejected,
    )


def units(probe: Probe, symmetry: Symmetry | None, width: int) -> float:
    """Multiply-adds of a network for one sample, and what else takes time."""
    with torch.random.fork_rng(devices=[]):
        model = probe.plain() if symmetry is None else probe.tied(symmetry, width)
    return float(cost(model, probe.example).multiply_adds + OVERHEAD)
