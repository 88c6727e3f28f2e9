"""Does a symmetry change the sign of what is to be predicted? The same question, in regression."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from isotropy.discovery.labels import SLACK, as_action
from isotropy.evidence.symmetry import Symmetry
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.signed import Signed

Numbers = NDArray[np.float64]

MANY_COLUMNS = 3  # up to so many columns change sign each by itself, more all together


def sign_variants(
    symmetry: Symmetry, targets: Numbers, said: dict[str, Numbers], margin: float
) -> list[Symmetry]:
    """The changes of sign that a candidate may make of the targets.

    Args:
        symmetry: the candidate.
        targets: (samples, columns).
        said: by element what an untied network gives for samples moved by it; "" is of none.
        margin: a difference in score that does not matter.
    """
    group = symmetry.group
    if not isinstance(group, FiniteGroup) or not group.generators:
        return []
    found = []
    for signs in product(_patterns(targets.shape[1]), repeat=len(group.generators)):
        moves = [Signed.read(np.diag(pattern).astype(np.int64)) for pattern in signs]
        action = as_action(group, moves, targets.shape[1])
        if action is not None and _holds(signs, group.generators, targets, said, margin):
            found.append(symmetry.permuting(action))
    return found


def _patterns(columns: int) -> list[Numbers]:
    if columns > MANY_COLUMNS:
        return [np.ones(columns), -np.ones(columns)]
    return [np.array(signs) for signs in product((1.0, -1.0), repeat=columns)]


def _holds(
    signs: tuple[Numbers, ...],
    generators: tuple[str, ...],
    targets: Numbers,
    said: dict[str, Numbers],
    margin: float,
) -> bool:
    """Whether the network errs on moved samples, with the signs, no more than on others."""
    straight = (said[""] - targets) ** 2
    spread = targets.var(0).mean()
    for g, pattern in zip(generators, signs, strict=True):
        more = ((said[g] - pattern * targets) ** 2 - straight).mean(1) / max(spread, 1e-30)
        if more.mean() > margin + SLACK * more.std() / np.sqrt(len(more)):
            return False
    return True
