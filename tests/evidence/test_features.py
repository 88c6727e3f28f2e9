"""Features: of one scale, of every shape, and blind to nothing that the test is to see."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from isotropy.evidence.features import COARSE, FAR, answers, shrunk, standardised, views

SHAPES = [(1, 8, 8), (3, 30, 20), (1, 3, 3), (2, 64), (1, 7), (1, 1), (1, 6, 6, 6), (2, 20, 4, 4)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_view_has_a_row_for_a_sample_and_one_scale(shape: tuple[int, ...]) -> None:
    x = 100 + 7 * torch.randn(50, *shape)
    for view in views(x):
        assert len(view) == 50
        assert np.isfinite(view).all()
        np.testing.assert_allclose(view.mean(0), 0, atol=0.05)  # up to what is clipped
        np.testing.assert_allclose(view.std(0), 1, atol=0.05)


def test_columns_are_standardised_and_what_never_changes_is_left_out() -> None:
    x = torch.randn(200, 3) * torch.tensor([1.0, 0.0, 50.0]) + 5
    (view,) = views(x)
    flat = x[:, [0, 2]].double().numpy()
    np.testing.assert_allclose(view, (flat - flat.mean(0)) / flat.std(0), atol=1e-9)


def test_one_value_far_out_does_not_drown_the_others() -> None:
    x = torch.randn(100, 1)
    x[0] = 1e6
    assert np.abs(standardised(x)).max() <= FAR


def test_nothing_that_changes_leaves_one_column_of_zeros() -> None:
    assert standardised(torch.full((5, 4), 3.0)).tolist() == [[0.0]] * 5


@pytest.mark.parametrize("shape", [(1, 40, 9), (2, 500), (1, 9, 9, 9)], ids=str)
def test_large_grids_are_shrunk_to_means(shape: tuple[int, ...]) -> None:
    axes = len(shape) - 1
    x = torch.randn(3, *shape)
    small = shrunk(x, COARSE[axes])
    assert tuple(small.shape[2:]) == tuple(min(s, COARSE[axes]) for s in shape[1:])
    ones = shrunk(torch.ones(3, *shape), COARSE[axes])
    torch.testing.assert_close(ones, torch.ones_like(ones))


@pytest.mark.parametrize("shape", [(2, 32, 32), (1, 128)], ids=str)
def test_a_sample_is_answered_by_itself(shape: tuple[int, ...]) -> None:
    """Samples in another order, or cut into other batches, get the same features."""
    x = torch.randn(140, *shape)
    order = torch.randperm(140)
    torch.testing.assert_close(answers(x[order]), answers(x)[order], atol=1e-5, rtol=1e-5)
