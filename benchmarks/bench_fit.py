"""An epoch of `training.fit` beside a bare PyTorch loop on the same model and data.

Prediction: the steps are the same. What the loop adds to each (the rate, the clock, a sum of
losses, a word to the watches) is some 20 µs of Python against milliseconds of convolutions, and
that data lie on the device as floats saves as much; so the ratio is 1 within noise. The target is
a throughput of 0.97 of the bare loop's, which is a time of 1.03.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

import isotropy as iso
from benchmarks.timing import Timing, interleave
from isotropy.data import DataSet, from_arrays
from isotropy.training import Settings

SAMPLES, BATCH = 2048, 64
SETTINGS = Settings(epochs=1, batch_size=BATCH, schedule="constant", warmup=0.0)
TARGETS = {"fit, plain": 1.03, "fit, D4": 1.03}


def run() -> list[Timing]:
    pictures = np.random.default_rng(0).normal(size=(SAMPLES, 1, 28, 28)).astype(np.float32)
    data = from_arrays(pictures, np.arange(SAMPLES) % 10)
    x, _ = data.batch(range(2))
    plain = iso.models.make("cnn", data.shape, 10, 16)
    found: list[Timing] = []
    for name, model in (("plain", plain), ("D4", iso.equivariant(plain, "D4", x))):
        both = {f"bare loop, {name}": bare_loop(model, data), f"fit, {name}": fitting(model, data)}
        found += interleave(both, rounds=9, warm_up=1)
    return found


def bare_loop(model: nn.Module, data: DataSet) -> Callable[[], None]:
    """An epoch as people write it, on tensors that lie in memory."""
    x, y = data.batch(range(len(data)))

    def epoch() -> None:
        optimizer = torch.optim.AdamW(model.parameters(), lr=SETTINGS.lr, fused=True)
        model.train()
        for indices in torch.randperm(len(x)).split(BATCH):
            loss = nn.functional.cross_entropy(model(x[indices]), y[indices])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return epoch


def fitting(model: nn.Module, data: DataSet) -> Callable[[], None]:
    """The same by `fit`."""

    def epoch() -> None:
        iso.training.fit(model, data, settings=SETTINGS)

    return epoch
