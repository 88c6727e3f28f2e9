"""The batches of every epoch: the same for the same seed, from any step on, on any device.

Small data are brought to the device once, as floats; larger ones batch by batch, ahead of their
use and in other threads where that takes work (decoding pictures).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isotropy.data import DataSet
from isotropy.training.augment import Augmentation
from isotropy.training.seeds import stream

IntArray = NDArray[np.int64]
Batch = tuple[Tensor, Tensor]

RESIDENT_BYTES = 512 * 2**20
AHEAD = 4


class Batches:
    """Batches of a data set in a new order every epoch.

    A step takes `batch_size` samples at most and an epoch every sample once; all its batches have
    the same size up to one, so that no small one is left for the end. With several processes each
    takes its part of every batch.

    Args:
        data: what to draw from.
        batch_size: samples in a batch, over all processes.
        seed: of orders and augmentation.
        device: where batches are wanted.
        augmentation: moves samples at random.
        rank: the number of this process among `world`.
        world: how many processes there are.
        turns: how many orders of the samples go side by side; their batches take turns.

    >>> from isotropy.data import load
    >>> batches = Batches(load("digits").train, 64, seed=0, device=torch.device("cpu"))
    >>> batches.steps, [len(x) for _, x, _ in batches.epoch(0)][:3]
    (29, [62, 62, 62])
    """

    def __init__(
        self,
        data: DataSet,
        batch_size: int,
        seed: int,
        device: torch.device,
        augmentation: Augmentation | None = None,
        rank: int = 0,
        world: int = 1,
        turns: int = 1,
    ) -> None:
        self.data = data
        self.seed = seed
        self.device = device
        self.augmentation = augmentation
        self.rank = rank
        self.world = world
        self.turns = turns
        self.steps = turns * -(-len(data) // batch_size)
        self._resident = resident(data, device)

    def epoch(self, number: int, start: int = 0) -> Iterator[tuple[int, Tensor, Tensor]]:
        """For every step from `start` on: the whole batch's size, and my part of it."""
        whole = self._whole(number)[start:]
        loaded = self._load([self._mine(batch) for batch in whole])
        for step, (batch, (x, y)) in enumerate(zip(whole, loaded, strict=True), start):
            if self.augmentation is not None:
                draws = stream(self.seed, "augmentation", number, step)
                drawn = self.augmentation.draw(len(batch), draws)
                x, y = self.augmentation.moved(x, y, self._mine(drawn))
            yield len(batch), x, y

    def _whole(self, number: int) -> list[IntArray]:
        """The samples of every step of an epoch."""
        cut = []
        for turn in range(self.turns):
            path = (number, turn) if turn else (number,)
            draws = stream(self.seed, "order", *path)
            cut.append(np.array_split(draws.permutation(len(self.data)), self.steps // self.turns))
        return [batch for together in zip(*cut, strict=True) for batch in together]

    def _mine(self, batch: IntArray) -> IntArray:
        return np.array_split(batch, self.world)[self.rank]

    def _load(self, batches: list[IntArray]) -> Iterator[Batch]:
        if self._resident is None:
            return ahead(self.data, batches, self.device)
        x, y = self._resident
        on_device = (torch.from_numpy(batch).to(self.device) for batch in batches)
        return ((x.index_select(0, i), y.index_select(0, i)) for i in on_device)


def resident(data: DataSet, device: torch.device, limit: int = RESIDENT_BYTES) -> Batch | None:
    """All samples as floats on the device, if they are cheap to have there."""
    size = 4 * len(data) * int(np.prod(data.shape))
    if size > limit or (data.samples.costly and size > limit // 8):
        return None
    x = torch.empty(len(data), *data.shape, device=device)
    step = max(len(data) // 16, 256)
    for start in range(0, len(data), step):
        indices = np.arange(start, min(start + step, len(data)))
        x[start : start + step] = data.batch(indices)[0].to(device)
    return x, data.target_batch(np.arange(len(data))).to(device)


def ahead(data: DataSet, batches: list[IntArray], device: torch.device) -> Iterator[Batch]:
    """Batches in order, made in other threads before they are asked for."""
    workers = min(AHEAD, os.cpu_count() or 1) if data.samples.costly else 1
    pinned = device.type == "cuda"

    def make(indices: IntArray) -> Batch:
        x, y = data.batch(indices)
        return (x.pin_memory(), y.pin_memory()) if pinned else (x, y)

    waiting: deque[Future[Batch]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="isotropy-batches")
    try:
        for indices in batches:
            waiting.append(pool.submit(make, indices))
            if len(waiting) > AHEAD:
                yield _to(waiting.popleft().result(), device)
        while waiting:
            yield _to(waiting.popleft().result(), device)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _to(batch: Batch, device: torch.device) -> Batch:
    return batch[0].to(device, non_blocking=True), batch[1].to(device, non_blocking=True)


def in_order(data: DataSet, size: int, device: torch.device) -> Iterator[Batch]:
    """All samples in order, in batches of a size."""
    starts = range(0, len(data), size)
    return ahead(data, [np.arange(s, min(s + size, len(data))) for s in starts], device)
