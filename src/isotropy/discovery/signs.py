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
MOST_VARIANTS = 4  # of one candidate; of targets that are noise all hold


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
    found: list[tuple[float, Symmetry]] = []
    for signs in product(_patterns(targets.shape[1]), repeat=len(group.generators)):
        moves = [Signed.read(np.diag(pattern).astype(np.int64)) for pattern in signs]
        action = as_action(group, moves, targets.shape[1])
        if action is None:
            continue
        excess = _excess(signs, group.generators, targets, said, margin)
        if excess is not None:
            found.append((excess, symmetry.permuting(action)))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])[:MOST_VARIANTS]]


def _patterns(columns: int) -> list[Numbers]:
    if columns > MANY_COLUMNS:
        return [np.ones(columns), -np.ones(columns)]
    return [np.array(signs) for signs in product((1.0, -1.0), repeat=columns)]


def _excess(
    signs: tuple[Numbers, ...],
    generators: tuple[str, ...],
    targets: Numbers,
    said: dict[str, Numbers],
    margin: float,
) -> float | None:
    """How much more the network errs on moved samples, with the signs; None if clearly more."""
    worst = -np.inf
    straight = (said[""] - targets) ** 2
    spread = targets.var(0).mean()
    for g, pattern in zip(generators, signs, strict=True):
        more = ((said[g] - pattern * targets) ** 2 - straight).mean(1) / max(spread, 1e-30)
        if more.mean() > margin + SLACK * more.std() / np.sqrt(len(more)):
            return None
        worst = max(worst, float(more.mean()))
    return worst
