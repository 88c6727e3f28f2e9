"""A training step of the 8-layer D4 network beside the plain CNN of the same width.

Prediction: the convolutions are the same. Tying adds a gather of every weight (about 7 million
entries, 28 MB written) and its adjoint, some 15 ms a step: 1 % of a step at batch 64, 5 % at 8.
"""

from __future__ import annotations

from benchmarks.networks import backbone, batch, tied_backbone, training_step
from benchmarks.timing import Timing, interleave

TARGETS = {"D4, batch 64": 1.05, "D4, batch 8": 1.10}


def run() -> list[Timing]:
    plain, tied = backbone(), tied_backbone("D4")
    found: list[Timing] = []
    for size, rounds in ((64, 7), (8, 15)):
        x, y = batch(size)
        found += interleave(
            {
                f"plain, batch {size}": training_step(plain, x, y),
                f"D4, batch {size}": training_step(tied, x, y),
            },
            rounds,
            warm_up=1,
        )
    return found
