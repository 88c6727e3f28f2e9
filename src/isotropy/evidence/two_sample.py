"""Does moved data look like data? A classifier two-sample test, exact at any sample size.

Half of the samples stay as they are, the other half are moved; each is used on one side only. A
classifier is asked which is which, of samples that it has not learned from (Lopez-Paz & Oquab
2017). If moving changes nothing, any labelling of the sides is as likely as any other, so its
p-value is its rank among relabelled data.

The classifier is kernel ridge regression. What it says of held-out samples is a fixed matrix times
the labels, so it can be trained anew under thousands of labellings by one product, and the
permutation test is exact although folds share their training samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isotropy.errors import InputError
from isotropy.evidence.features import views

Numbers = NDArray[np.float64]

FOLDS = 5
RIDGES = (1e-2, 1.0)  # relative to the number of samples: a supple classifier and a stiff one
MOST = 800  # samples; more cost time with their cube
FEWEST = 10


@dataclass(frozen=True)
class TwoSample:
    """What came of a test.

    Args:
        p: the chance of being told apart so well, or better, if moving changes nothing.
        told_apart: the part of the held-out samples whose side the best classifier found; half is
            chance.
        samples: how many there were, both sides together.
    """

    p: float
    told_apart: float
    samples: int


def two_sample(still: Tensor, moved: Tensor, seed: int, permutations: int = 999) -> TwoSample:
    """Test whether two sets of samples are alike.

    Args:
        still: samples as they are, (n, ...).
        moved: other samples, moved, (m, ...).
        seed: of folds and permutations.
        permutations: how many labellings the true one is ranked among; p is at least
            1 / (permutations + 1).

    >>> import torch
    >>> x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
    >>> two_sample(x[:100], x[100:] + 1, seed=0).p
    0.001
    """
    total = len(still) + len(moved)
    if min(len(still), len(moved)) < FEWEST:
        raise InputError(
            f"a two-sample test needs {FEWEST} samples on either side, not {len(still)} and "
            f"{len(moved)}"
        )
    draw = np.random.default_rng(np.random.SeedSequence(seed))
    side = np.where(np.arange(total) < len(still), -1.0, 1.0)
    labels = np.stack([side, *(draw.permutation(side) for _ in range(permutations))], axis=1)
    folds = draw.permutation(np.arange(total) % FOLDS)
    agreement, told_apart = [], []
    for features in views(torch.cat([still, moved])):
        for said in classifiers(kernel(features), folds, labels):
            agreement.append((said * labels).mean(0))
            told_apart.append(float((np.sign(said[:, 0]) == side).mean()))
    strength = _strongest(np.stack(agreement))
    p = float((strength >= strength[0] - 1e-12 * abs(strength[0])).mean())  # with all ties
    return TwoSample(p, max(told_apart), total)


def classifiers(kernel: Numbers, folds: NDArray[np.int64], labels: Numbers) -> Sequence[Numbers]:
    """What every classifier says of held-out samples, after training on each labelling.

    Args:
        kernel: (samples, samples).
        folds: the number of each sample's fold.
        labels: (samples, labellings).

    Returns:
        For every strength of the ridge (samples, labellings).
    """
    centred = labels - labels.mean(0)
    found = [np.empty_like(labels) for _ in RIDGES]
    for fold in range(FOLDS):
        out, inside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        values, vectors = np.linalg.eigh(kernel[np.ix_(inside, inside)])
        across = kernel[np.ix_(out, inside)] @ vectors
        projected = vectors.T @ centred[inside]
        for said, ridge in zip(found, RIDGES, strict=True):
            shrinking = 1 / (np.maximum(values, 0) + ridge * len(inside))
            said[out] = (across * shrinking) @ projected
    return found


def kernel(features: Numbers) -> Numbers:
    """A Gaussian of the distances, as wide as half of them, and the inner product beside it.

    Args:
        features: (samples, features), each of deviation 1.
    """
    inner = features @ features.T
    squares = np.diag(inner)
    distance = np.maximum(squares[:, None] + squares[None] - 2 * inner, 0)
    width = np.median(distance[np.triu_indices(len(distance), 1)])
    near = np.exp(-distance / max(float(width), 1e-12))
    return np.asarray(near + inner / features.shape[1])


def _strongest(agreement: Numbers) -> Numbers:
    """For every labelling its largest agreement, each classifier's in its own units.

    Units come from all labellings alike, the true one among them, so ranks stay exact.
    """
    spread = agreement.std(1, keepdims=True)
    centred = agreement - agreement.mean(1, keepdims=True)
    return np.asarray((centred / np.maximum(spread, 1e-300)).max(0))


def holm(p: Sequence[float]) -> list[float]:
    """P-values corrected for their number, so that any wrong rejection is as rare as one was.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    highest = 0.0
    for place, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p) - place) * p[i]))
        corrected[i] = highest
    return [float(value) for value in corrected]
