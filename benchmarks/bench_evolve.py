"""Evolution: two workers against one on the same small search, with the same networks in the end.

Prediction: n networks of a generation take ⌈n / 2⌉ trainings of the longest instead of n. The first
generation has 3 networks and the second 14 (an even number, so that none waits alone), of about a
second each: (3 + 14) / (2 + 7) = 1.89 at best, of which 1.7 has to be left. Writing and reading a
network takes about 0.05 s: with trainings of a quarter of a second (epochs=2) only 1.68 was left.
It needs two idle cores.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

import isotropy as iso
from benchmarks.timing import Timing, interleave

TARGETS = {"two workers": 1 / 1.7}
GENERATIONS = 2


def search(workers: int) -> Callable[[], None]:
    """A whole search of two generations; starting loky's processes is in the warm-up."""
    digits = iso.data.load("digits").train.subset(range(1200))

    def run() -> None:
        torch.manual_seed(0)
        network = iso.models.make("cnn", (1, 8, 8), 10, width=32)
        with TemporaryDirectory() as folder:
            iso.search.evolve(
                network,
                digits,
                group="D4",
                generations=GENERATIONS,
                parents=3,
                epochs=8.0,
                workers=workers,
                out=Path(folder) / "run",
            )

    return run


def run() -> list[Timing]:
    return interleave({"one worker": search(1), "two workers": search(2)}, rounds=3, warm_up=1)
