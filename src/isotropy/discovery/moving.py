"""Samples moved at random by a candidate: shifts and groups too large to list included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from isotropy.evidence.symmetry import Symmetry, rolled
from isotropy.groups.action import Action
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.signed import Signed
from isotropy.training import Augmentation

DRAWN = 16  # elements of a group that is not listed that are drawn for every batch


@dataclass(frozen=True)
class RandomMoves(Augmentation):
    """Moves by elements of a candidate's group, then shifts, where it has them.

    Args:
        symmetry: the candidate.
    """

    symmetry: Symmetry | None = None

    def __call__(self, x: Tensor, y: Tensor, draws: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Move every sample."""
        symmetry = self.symmetry
        assert symmetry is not None
        if isinstance(symmetry.group, FiniteGroup):
            x, y = super().__call__(x, y, draws)
        else:
            x = _moved(x, symmetry.inputs, draws)
        if not symmetry.shift:
            return x, y
        return rolled(x, draws.integers(x.shape[-1], size=len(x))), y


def augmentation_of(symmetry: Symmetry) -> Augmentation:
    """What moves samples and their targets as the candidate does."""
    return RandomMoves(symmetry.inputs, symmetry.labels, False, symmetry)


def _moved(x: Tensor, action: Action, draws: np.random.Generator) -> Tensor:
    """Each sample by one of some random elements of a group that is not listed."""
    parts = draws.integers(DRAWN, size=len(x))
    moved = x.clone()
    for number in range(DRAWN):
        chosen = torch.from_numpy(np.flatnonzero(parts == number)).to(x.device)
        if len(chosen):
            back = torch.from_numpy(random_element(action, draws).inverse().target).to(x.device)
            moved[chosen] = x[chosen].index_select(1, back)
    return moved


def random_element(action: Action, draws: np.random.Generator) -> Signed:
    """A product of the generators and their inverses in random order, many times over."""
    moves = list(action.moves.values())
    moves += [p.inverse() for p in moves]
    element = Signed.identity(action.size)
    for _ in range(4):
        for number in draws.permutation(len(moves)):
            if draws.random() < 0.5:
                element = moves[number] @ element
    return element
