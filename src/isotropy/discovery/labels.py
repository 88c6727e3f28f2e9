"""Does a symmetry exchange labels? What an untied network says of moved samples suggests how.

If inputs have a symmetry g under which labels go from y to π(y), then (g x, π(y)) is distributed
as (x, y), so a network is right about moved samples by π exactly as often as about samples as they
are, however good or bad it is. A permutation that fails this is none. One round's network proposes
permutations, and another round's, on samples the first was not asked about, confirms them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import lcm

import numpy as np
from numpy.typing import NDArray

from isotropy.errors import InputError
from isotropy.evidence.symmetry import Symmetry
from isotropy.groups.action import Action, Group, permuting
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.signed import Signed, rings

Ints = NDArray[np.int64]

FEW_CLASSES = 4  # of which all permutations are tried
MOST_VARIANTS = 4  # of one candidate
SURE = 0.01  # chance of calling an exchange sure that is none
SLACK = 3.0  # deviations by which a permutation may be less often right than chance explains


@dataclass(frozen=True)
class Answers:
    """What an untied network said of samples moved by each element, and the truth.

    Args:
        labels: of the samples.
        said: by element the labels given to the samples moved by it; "" is of none.
        classes: how many there are.
    """

    labels: Ints
    said: dict[str, Ints]
    classes: int

    def only(self, kept: NDArray[np.bool_]) -> Answers:
        """Of some of the samples."""
        said = {element: given[kept] for element, given in self.said.items()}
        return Answers(self.labels[kept], said, self.classes)

    def confusion(self, element: str) -> Ints:
        """How often samples of each class (rows), moved, were given each label (columns)."""
        found = np.zeros((self.classes, self.classes), dtype=np.int64)
        np.add.at(found, (self.labels, self.said[element]), 1)
        return found

    def right(self, element: str, images: Ints) -> float:
        """How often a moved sample was given the label that the permutation sends its own to."""
        return float((self.said[element] == images[self.labels]).mean())


@dataclass(frozen=True)
class Variant:
    """A candidate that exchanges labels.

    Args:
        symmetry: the candidate, with its action on the labels.
        sure: that it does rather than leave them alone was confirmed on other samples.
    """

    symmetry: Symmetry
    sure: bool


def label_variants(
    symmetry: Symmetry, proposed: Answers, confirming: Answers, margin: float
) -> list[Variant]:
    """Actions on the labels, other than none, that a candidate may have.

    Args:
        symmetry: the candidate.
        proposed: what the network of one round said; permutations are found in it.
        confirming: the same of another round, on other samples; they are judged by it.
        margin: a difference in score that does not matter.
    """
    if not isinstance(symmetry.group, FiniteGroup) or not symmetry.group.generators:
        return []
    choices = [_choices(symmetry.group, g, proposed) for g in symmetry.group.generators]
    found = []
    for moves in product(*choices):
        action = as_action(symmetry.group, [Signed(m) for m in moves], proposed.classes)
        if action is not None and _holds(action, confirming, margin):
            found.append(Variant(symmetry.permuting(action), is_sure(action, confirming)))
    found.sort(key=lambda variant: -_agreement(variant.symmetry, confirming))
    return found[:MOST_VARIANTS]


def as_action(group: Group, moves: Sequence[Signed], size: int) -> Action | None:
    """What the generators do as an action of the group; None if it is none, or nothing moves."""
    signed = dict(zip(group.generators, moves, strict=True))
    if all(p.is_identity for p in signed.values()):
        return None
    try:
        return permuting(group, signed, "labels", size)
    except InputError:
        return None


def _choices(group: FiniteGroup, generator: str, answers: Answers) -> list[Ints]:
    """The permutations that a generator may make of the labels, the identity first."""
    order = group.order_of(generator)
    if answers.classes <= FEW_CLASSES:
        every = (np.array(p) for p in permutations(range(answers.classes)))
        return [images for images in every if order % _order(images) == 0]
    identity = np.arange(answers.classes)
    matched = proposed_permutation(answers.confusion(generator), order)
    return [identity] if np.array_equal(matched, identity) else [identity, matched]


def proposed_permutation(confusion: Ints, order: int) -> Ints:
    """The permutation that most moved samples agree with, of an order that divides one.

    Rings of labels whose length does not divide it, and those that explain the answers no better
    than no exchange does, are undone.

    >>> proposed_permutation(np.array([[1, 9, 0], [8, 1, 1], [0, 0, 9]]), order=2).tolist()
    [1, 0, 2]
    """
    from scipy.optimize import linear_sum_assignment

    _, columns = linear_sum_assignment(-confusion)
    images = np.arange(len(confusion))
    for ring in rings(columns):
        if order % len(ring) == 0 and _explains(confusion, ring, columns):
            images[ring] = columns[ring]
    return images


def _order(images: Ints) -> int:
    return lcm(*(len(ring) for ring in rings(images)))


def _explains(confusion: Ints, ring: list[int], images: Ints) -> bool:
    """Whether labels of a ring are exchanged more often than they stay, beyond chance."""
    from scipy.stats import binomtest

    moved, still = int(confusion[ring, images[ring]].sum()), int(confusion[ring, ring].sum())
    if moved + still == 0:
        return False
    return bool(binomtest(moved, moved + still, alternative="greater").pvalue < SURE)


def _holds(action: Action, answers: Answers, margin: float) -> bool:
    """Whether the network is right about moved samples about as often as about others."""
    straight = answers.right("", np.arange(answers.classes))
    error = np.sqrt(max(straight * (1 - straight), 0.01) / len(answers.labels))
    least = straight - margin - SLACK * np.sqrt(2) * error
    return all(answers.right(g, p.target) >= least for g, p in action.moves.items())


def is_sure(action: Action, answers: Answers) -> bool:
    """Whether every exchange explains the answers better than none, on these samples."""
    for g, p in action.moves.items():
        confusion = answers.confusion(g)
        if not all(_explains(confusion, ring, p.target) for ring in rings(p.target)):
            return False
    return True


def _agreement(symmetry: Symmetry, answers: Answers) -> float:
    assert symmetry.labels is not None
    moves = symmetry.labels.moves
    return sum(answers.right(g, p.target) for g, p in moves.items()) / len(moves)
