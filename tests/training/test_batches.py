"""Batches: every sample once an epoch, the same however they are loaded, begun or shared out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from isotropy.data import DataSet, Samples, from_arrays
from isotropy.data.samples import Hash, IntArray
from isotropy.training import Augmentation, Batches
from isotropy.training.batches import AHEAD, ahead, in_order, resident
from tests.training.problems import pictures

CPU = torch.device("cpu")


def numbered(count: int) -> DataSet:
    """Samples whose first value and whose target is their number."""
    X = np.zeros((count, 2), dtype=np.float32)
    X[:, 0] = np.arange(count)
    return from_arrays(X, np.arange(count, dtype=float))


def numbers(batches: Iterator[tuple[int, Tensor, Tensor]]) -> list[list[int]]:
    found = []
    for _, x, y in batches:
        assert torch.equal(x[:, :1], y)
        found.append(y[:, 0].int().tolist())
    return found


@given(st.integers(4, 40), st.integers(1, 50), st.integers(0, 3))
def test_an_epoch_has_every_sample_once_in_batches_of_one_size(
    count: int, size: int, epoch: int
) -> None:
    batches = Batches(numbered(count), size, 0, CPU)
    found = numbers(batches.epoch(epoch))
    assert sorted(chain(*found)) == list(range(count))
    sizes = [len(batch) for batch in found]
    assert len(sizes) == batches.steps
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1


def test_epochs_and_seeds_have_their_own_order() -> None:
    orders = [
        tuple(chain(*numbers(Batches(numbered(30), 7, seed, CPU).epoch(epoch))))
        for seed in (0, 1)
        for epoch in (0, 1)
    ]
    assert len(set(orders)) == 4


@given(st.integers(0, 5))
def test_an_epoch_can_be_begun_at_any_step(start: int) -> None:
    data = pictures(20)
    whole, rest = (
        list(Batches(data, 4, 0, CPU, Augmentation.by("D4", data)).epoch(2, first))
        for first in (0, start)
    )
    for (size, x, y), (other_size, other_x, other_y) in zip(whole[start:], rest, strict=True):
        assert size == other_size
        assert torch.equal(x, other_x)
        assert torch.equal(y, other_y)


@given(st.integers(8, 40), st.integers(2, 16), st.integers(1, 4))
def test_processes_share_every_batch_out(count: int, size: int, world: int) -> None:
    data = pictures(count)
    move = Augmentation.by("D4", data)
    alone = list(Batches(data, size, 0, CPU, move).epoch(1))
    shares = [list(Batches(data, size, 0, CPU, move, r, world).epoch(1)) for r in range(world)]
    for step, (whole, x, y) in enumerate(alone):
        mine = [share[step] for share in shares]
        assert {size for size, _, _ in mine} == {whole} == {len(y)}
        assert torch.equal(torch.cat([part for _, part, _ in mine]), x)
        assert torch.equal(torch.cat([part for _, _, part in mine]), y)


# -- loading ------------------------------------------------------------------------------------


class Slow(Samples):
    """Samples that are costly to load; knows how many batches are held at once."""

    costly = True
    shape = (1,)

    def __init__(self, count: int) -> None:
        self.count, self.loaded = count, 0

    def __len__(self) -> int:
        return self.count

    def take(self, indices: IntArray) -> Tensor:
        self.loaded += 1
        return torch.from_numpy(indices.astype(np.float32))[:, None]

    def digest(self, into: Hash) -> None:
        into.update(b"slow")


def slow(count: int) -> tuple[DataSet, Slow]:
    samples = Slow(count)
    return DataSet(samples, np.zeros((count, 1)), "regression", ("y",)), samples


def test_loading_ahead_keeps_the_order_and_goes_no_further_than_it_has_to() -> None:
    data, samples = slow(60)
    order = [np.arange(i, i + 3) for i in range(0, 60, 3)][::-1]
    for used, (batch, (x, _)) in enumerate(zip(order, ahead(data, order, CPU), strict=True)):
        assert x[:, 0].int().tolist() == batch.tolist()
        assert samples.loaded <= used + AHEAD + 2


def test_loading_ahead_ends_when_nobody_asks_any_more() -> None:
    data, samples = slow(300)
    loading = ahead(data, [np.array([i]) for i in range(300)], CPU)
    next(loading)
    loading.close()
    assert samples.loaded < 20


def test_what_goes_wrong_while_loading_is_raised() -> None:
    data, _ = slow(8)
    with pytest.raises(IndexError):
        list(ahead(data, [np.array([0]), np.array([99])], CPU))


def test_resident_or_not_batches_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pictures(20)
    near = list(Batches(data, 6, 0, CPU).epoch(0))
    monkeypatch.setattr("isotropy.training.batches.resident", lambda *_: None)
    far = list(Batches(data, 6, 0, CPU).epoch(0))
    for (_, x, y), (_, other_x, other_y) in zip(near, far, strict=True):
        assert torch.equal(x, other_x)
        assert torch.equal(y, other_y)


@pytest.mark.parametrize(("limit", "is_kept"), [(2880, True), (2879, False)])
def test_only_what_is_small_is_resident(limit: int, is_kept: bool) -> None:
    data = pictures(20)  # of 36 values in 4 bytes
    found = resident(data, CPU, limit)
    assert (found is not None) == is_kept
    if found is not None:
        assert torch.equal(found[0], data.batch(range(20))[0])


def test_in_order_is_in_order() -> None:
    found = [y[:, 0].int().tolist() for _, y in in_order(numbered(10), 4, CPU)]
    assert found == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
