"""Changes of sign of what is to be predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isotropy.discovery.signs import sign_variants
from isotropy.evidence import Symmetry, candidates_for
from tests.evidence.kinds import data_of

MARGIN = 0.01


def candidate(kind: str, name: str) -> Symmetry:
    return candidates_for(data_of(kind), [name])[0]


def answers(targets: Any, signs: dict[str, Any], noise: float) -> dict[str, Any]:
    """Of a network that errs by so much, also about moved samples, whose targets turn."""
    draw = np.random.default_rng(0)
    turned = {"": np.ones(targets.shape[1]), **{g: np.array(s, float) for g, s in signs.items()}}
    return {g: s * targets + noise * draw.normal(size=targets.shape) for g, s in turned.items()}


CASES: dict[str, tuple[str, str, dict[str, list[int]]]] = {
    "reversal, one number": ("signal", "reversal", {"f": [-1]}),
    "sign, one of two": ("signal", "sign", {"n": [-1, 1]}),
    "both generators": ("signal", "reversal + sign", {"f": [-1], "n": [-1]}),
    "a quarter turn": ("square picture", "C4", {"r": [-1]}),
    "a mirror of all": ("square picture", "D4", {"r": [1], "s": [-1]}),
    "many columns together": ("signal", "reversal", {"f": [-1, -1, -1, -1]}),
}


@pytest.mark.parametrize(("kind", "name", "signs"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_what_was_planted_is_the_one_that_is_found(
    kind: str, name: str, signs: dict[str, list[int]], noise: float
) -> None:
    columns = len(next(iter(signs.values())))
    targets = np.random.default_rng(1).normal(size=(300, columns)) + 0.3
    (found,) = sign_variants(candidate(kind, name), targets, answers(targets, signs, noise), MARGIN)
    assert found.labels is not None
    flips = {g: np.where(p.flips, -1, 1).tolist() for g, p in found.labels.moves.items()}
    assert flips == signs


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_units_do_not_matter(scale: float) -> None:
    targets = scale * np.random.default_rng(1).normal(size=(200, 1))
    said = answers(targets, {"f": [-1]}, 0.1 * scale)
    assert len(sign_variants(candidate("signal", "reversal"), targets, said, MARGIN)) == 1


def test_where_nothing_turns_nothing_is_found() -> None:
    targets = np.random.default_rng(1).normal(size=(300, 2))
    for name in ("reversal", "sign", "reversal + sign"):
        symmetry = candidate("signal", name)
        said = answers(targets, {g: [1, 1] for g in symmetry.group.generators}, 0.3)
        assert sign_variants(symmetry, targets, said, MARGIN) == []


def test_signs_that_are_no_action_are_not_proposed() -> None:
    """Three turns by a third bring everything back, so none can change a sign."""
    (third,) = candidates_for(data_of("vector"), {"third": [1, 2, 0, 3, 4]})
    targets = np.random.default_rng(1).normal(size=(300, 1))
    said = answers(targets, {"third": [-1]}, 0.0)
    assert sign_variants(third, targets, said, MARGIN) == []


def test_groups_that_are_not_listed_turn_nothing() -> None:
    every = candidate("vector", "permute all")
    assert sign_variants(every, np.zeros((9, 1)), {"": np.zeros((9, 1))}, MARGIN) == []
