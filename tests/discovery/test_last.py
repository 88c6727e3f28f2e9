"""The network for use: it takes samples as they are, and says what scaling by hand would give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from isotropy.data import DataSet, from_arrays
from isotropy.discovery.last import with_scaling
from isotropy.discovery.plan import Plan
from isotropy.discovery.study import Study
from isotropy.evidence.candidates import candidates_for
from isotropy.evidence.probe import Probe
from isotropy.evidence.symmetry import Symmetry
from isotropy.groups.action import permuting
from isotropy.groups.finite import FiniteGroup

WIDTH = 16
SHAPES = {"nf": (4,), "ncl": (2, 12), "nchw": (2, 6, 6)}


def off_centre(layout: str, columns: int) -> DataSet:
    """Numbers far from mean 0 and deviation 1, inputs and targets."""
    draws = np.random.default_rng(0)
    X, y = draws.normal(size=(20, *SHAPES[layout])), draws.normal(size=(20, columns))
    return from_arrays(3 * X + 1, 5 * y + 2, layout=layout, task="regression")


def with_signs(symmetry: Symmetry, columns: int) -> Iterator[Symmetry]:
    """A candidate, and the same where the last or every column of targets changes sign."""
    yield symmetry
    if not isinstance(symmetry.group, FiniteGroup) or symmetry.group.order > 2:
        return
    for signs in {(1,) * (columns - 1) + (-1,), (-1,) * columns}:
        moves = {g: np.diag(signs) for g in symmetry.group.generators}
        yield symmetry.permuting(permuting(symmetry.group, moves, "targets", columns))


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("layout", SHAPES)
@torch.no_grad()
def test_scales_as_by_hand(layout: str, columns: int) -> None:
    data = off_centre(layout, columns)
    x = data.samples.take(np.arange(len(data)))
    for candidate in candidates_for(data):
        for symmetry in with_signs(candidate, columns):
            probe = Probe(data.shape, data.outputs, symmetry.view)
            train = Study(Path(), data.task, data.classes, probe, Plan(), 0).scaled(data, symmetry)
            net = probe.tied(symmetry, WIDTH).eval()
            assert train.scaling is not None
            assert train.target_scaling is not None
            expected = train.target_scaling.undo(net(train.scaling.apply(x)))
            found = with_scaling(net, probe, symmetry, WIDTH, train)(x)
            assert torch.allclose(found, expected, rtol=1e-4, atol=1e-4), symmetry.name
