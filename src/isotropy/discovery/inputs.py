"""The first question: does moved data look like data? One test for every move."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np
from torch import Tensor

from isotropy.discovery.study import Study, inputs_of
from isotropy.evidence.small_moves import SMALL_MOVES, SmallMove
from isotropy.evidence.symmetry import Symmetry
from isotropy.evidence.two_sample import FEWEST, MOST, holm, two_sample
from isotropy.training.seeds import torch_seed


@dataclass(frozen=True)
class Move:
    """A move to test: an element of a candidate, or one that is only reported.

    Args:
        name: the element's, or what the move is called.
        symmetry: the candidate whose element it is.
        small: the move by a small angle or distance, if it is one.
    """

    name: str
    symmetry: Symmetry | None = None
    small: SmallMove | None = None

    def __call__(self, still: Tensor, moved: Tensor) -> tuple[Tensor, Tensor]:
        """Both sides as they are compared."""
        if self.small is not None:
            return self.small(still, moved)
        assert self.symmetry is not None
        return still, self.symmetry.move(moved, self.name)


@dataclass(frozen=True)
class InputTest:
    """What came of one.

    Args:
        key: what it is filed under.
        name: of the move.
        p: of the test by itself.
        told_apart: the part of samples whose side was found.
        samples: how many were used.
        seconds: the time it took.
        p_holm: corrected for the number of moves that decide something.
        rejected: moved samples look different.
        reported_only: no candidate depends on it.
        note: what else to say.
    """

    key: str
    name: str
    p: float
    told_apart: float
    samples: int
    seconds: float
    p_holm: float = 1.0
    rejected: bool = False
    reported_only: bool = False
    note: str = field(default="", compare=False)


MOST_MOVES = 12  # of one candidate; an exchange of any two of many columns has hundreds


def _tested(symmetry: Symmetry) -> list[str]:
    """The elements that are tested: all, or some evenly among many."""
    elements = list(symmetry.tested)
    return elements[:: -(-len(elements) // MOST_MOVES)] if elements else []


def moves_of(candidates: Sequence[Symmetry], kind: str, shape: tuple[int, ...]) -> list[Move]:
    """Moves of some candidates, each once, and the small ones of pictures."""
    found: dict[str, Move] = {}
    for symmetry in reversed(candidates):  # the largest knows most elements
        for element in _tested(symmetry):
            found.setdefault(element, Move(element, symmetry))
    ordered = [found[e] for c in candidates for e in _tested(c)]
    moves = list(dict.fromkeys(ordered))
    if kind == "image" and candidates[0].view == "grid":
        moves += [Move(s.name, small=s) for s in SMALL_MOVES if s.fits(shape)]
    return moves


def run_move(job: tuple[Study, Move, int]) -> InputTest:
    """Test one move; a function of its argument alone, for any process."""
    study, move, permutations = job
    start = time.monotonic()
    x = inputs_of(study.data, MOST, torch_seed(study.seed, "inputs", move.name))
    order = np.random.default_rng(torch_seed(study.seed, "sides", move.name)).permutation(len(x))
    half = len(x) // 2
    still, moved = move(x[order[:half]], x[order[half:]])
    seed = torch_seed(study.seed, "two-sample", move.name)
    found = two_sample(still, moved, seed, permutations)
    seconds = time.monotonic() - start
    return InputTest(
        f"inputs/{move.name}", move.name, found.p, found.told_apart, found.samples, seconds
    )


def permutations_for(moves: int, alpha: float) -> int:
    """So many that the smallest p-value can be significant after correction, twice over."""
    return max(999, ceil(2 * moves / alpha) - 1)


def enough_samples(samples: int) -> bool:
    """Whether there are enough for a test at all."""
    return samples // 2 >= FEWEST


def judged(
    tests: Sequence[InputTest], moves: Sequence[Move], alpha: float
) -> tuple[InputTest, ...]:
    """The tests with corrected p-values and what they decide, in the order of the moves."""
    known = {test.name: test for test in tests}
    deciding = [known[m.name] for m in moves if m.small is None and m.name in known]
    corrected = holm([test.p for test in deciding]) if deciding else []
    found = [
        replace(test, p_holm=p, rejected=p < alpha)
        for test, p in zip(deciding, corrected, strict=True)
    ]
    for m in moves:
        if m.small is not None and m.name in known:
            test = known[m.name]
            found.append(
                replace(
                    test,
                    p_holm=test.p,
                    rejected=test.p < alpha,
                    reported_only=True,
                    note=m.small.note,
                )
            )
    return tuple(found)
