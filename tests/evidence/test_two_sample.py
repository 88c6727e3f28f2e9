"""The two-sample test: exact at any size, equal to refitting for every labelling, and it sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from isotropy.errors import InputError
from isotropy.evidence.two_sample import (
    FOLDS,
    RIDGES,
    classifiers,
    holm,
    kernel,
    two_sample,
)

# -- the classifier -----------------------------------------------------------------------------


def refitted(K: Any, folds: Any, labels: Any, ridge: float) -> Any:
    """Kernel ridge regression, fitted anew for every fold and every labelling."""
    said = np.empty_like(labels)
    for column in range(labels.shape[1]):
        centred = labels[:, column] - labels[:, column].mean()
        for fold in range(FOLDS):
            out, inside = folds == fold, folds != fold
            gram = K[np.ix_(inside, inside)] + ridge * inside.sum() * np.eye(inside.sum())
            said[out, column] = K[np.ix_(out, inside)] @ np.linalg.solve(gram, centred[inside])
    return said


@settings(max_examples=15)
@given(st.integers(10, 30), st.integers(1, 6), st.integers(0, 2**31))
def test_one_product_is_as_good_as_refitting(count: int, features: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    K = kernel(draw.normal(size=(count, features)))
    folds = draw.permutation(np.arange(count) % FOLDS)
    labels = draw.choice([-1.0, 1.0], size=(count, 4))
    found = classifiers(K, folds, labels)
    assert len(found) == len(RIDGES)
    for said, ridge in zip(found, RIDGES, strict=True):
        np.testing.assert_allclose(said, refitted(K, folds, labels, ridge), atol=1e-8)


@given(st.integers(0, 2**31))
def test_a_kernel_is_symmetric_and_positive(seed: int) -> None:
    K = kernel(np.random.default_rng(seed).normal(size=(12, 3)))
    np.testing.assert_allclose(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-9


# -- what the p-value is ------------------------------------------------------------------------


def test_p_is_uniform_where_both_sides_are_alike() -> None:
    """20 labellings, so p is 0.05, 0.1, ...; each as likely as any other."""
    found = []
    for seed in range(400):
        x = torch.randn(24, 2, generator=torch.Generator().manual_seed(seed))
        found.append(two_sample(x[:12], x[12:], seed, permutations=19).p)
    counts = np.bincount(np.round(np.array(found) * 20).astype(int), minlength=21)[1:]
    assert counts.sum() == 400
    chi_square = ((counts - 20) ** 2 / 20).sum()
    assert chi_square < 43.8  # 19 degrees of freedom: exceeded once in 1,000
    for level in (0.05, 0.1, 0.5):
        allowed = level + 3.1 * np.sqrt(level * (1 - level) / 400)
        assert (np.array(found) <= level).mean() <= allowed


SHIFTED = {
    "mean": lambda x: x + 0.8,
    "scale": lambda x: 2 * x,
    "dependence": lambda x: torch.cat([x[:, :1], x[:, :1], x[:, 2:]], 1),
}


@pytest.mark.parametrize("moved", SHIFTED.values(), ids=SHIFTED)
def test_a_difference_is_seen(moved: Any) -> None:
    x = torch.randn(240, 3, generator=torch.Generator().manual_seed(1))
    found = two_sample(x[:120], moved(x[120:]), seed=0, permutations=199)
    assert found.p == pytest.approx(1 / 200)
    assert 0.5 < found.told_apart <= 1
    assert found.samples == 240


def test_a_difference_of_pictures_is_seen_wherever_it_is() -> None:
    """Stripes one way and the other: the same values at every pixel, other patterns."""
    phase = torch.rand(120, 1, 1, 1, generator=torch.Generator().manual_seed(0)) * 6.28
    stripes = torch.sin(torch.arange(8.0) * 1.6 + phase).expand(120, 1, 8, 8)
    found = two_sample(stripes[:60], stripes[60:].transpose(2, 3), seed=0, permutations=199)
    assert found.p == pytest.approx(1 / 200)


def test_sides_may_differ_in_size_and_the_seed_decides() -> None:
    x = torch.randn(60, 2)
    first, again = (two_sample(x[:20], x[20:], 3, permutations=49) for _ in range(2))
    assert first == again
    assert two_sample(x[:20], x[20:], 4, permutations=49).p != first.p


def test_samples_that_are_all_the_same_tell_nothing() -> None:
    x = torch.ones(40, 1, 4, 4)
    assert two_sample(x[:20], x[20:], 0, permutations=19).p > 0.05


@pytest.mark.parametrize(("still", "moved"), [(9, 50), (50, 9), (0, 0)])
def test_too_few_are_refused(still: int, moved: int) -> None:
    with pytest.raises(InputError, match="needs 10 samples on either side"):
        two_sample(torch.zeros(still, 2), torch.zeros(moved, 2), 0)


# -- several tests ------------------------------------------------------------------------------


def stepwise(p: list[float], level: float) -> list[bool]:
    """Holm's procedure as he states it: go up the ordered p-values until one is too large."""
    rejected = [False] * len(p)
    for place, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if (len(p) - place) * p[i] > level:
            break
        rejected[i] = True
    return rejected


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.999))
def test_holm_rejects_what_the_procedure_rejects(p: list[float], level: float) -> None:
    assert [value <= level for value in holm(p)] == stepwise(p, level)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_never_makes_smaller(p: list[float]) -> None:
    corrected = holm(p)
    assert all(own <= found <= 1 for own, found in zip(p, corrected, strict=True))
    assert [x for _, x in sorted(zip(p, corrected, strict=True))] == sorted(corrected)
