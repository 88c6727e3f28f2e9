"""Mixtures over the six groups of 001: a training step, and whole runs of EquiNAS_D.

Prediction for a step at batch 64: 1.08. The convolutions are those of the plain network. The six
kernels of a layer have 2.6 numbers for each of its 7 million weights. Forward they are scaled (29
million floats read or written), spread and added up on the way down to C1 (66 million); backward
costs about 1.5 times that; Adam passes over 11 million numbers more, seven times. In all some 320
million floats, 1.3 GB, 60 ms where memory gives 20 GB/s, on a step of 850 ms; mixed batch norms
pass over the activations twice more (1 %).

A run with two gradients takes two such steps where the plain one takes one, with one gradient one:
2.17 and 1.08 times a plain training, and 0.06 for the partitions of all layers at the beginning,
which is 1 s whatever the length of the run. Narrower networks pay more: at width 32 a step has a
sixteenth of the weights and of the multiply-adds, but as many operations to call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import nn

import isotropy as iso
from benchmarks.networks import IMAGE, backbone, batch
from benchmarks.timing import Timing, interleave
from isotropy.search.mix import GROUPS, PAPER

TARGETS = {"mixed, batch 64": 1.15, "EquiNAS_D, two gradients": 2.3, "EquiNAS_D, one": 1.2}

WIDTH, SAMPLES = 128, 1024


def adam_step(model: nn.Module, size: int) -> Callable[[], None]:
    """Forward, backward and one step of Adam."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    x, y = batch(size)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def steps() -> list[Timing]:
    plain = backbone()
    mixed = iso.mixed(plain, GROUPS, torch.zeros(2, 1, IMAGE, IMAGE), check=False)
    return interleave(
        {"plain, batch 64": adam_step(plain, 64), "mixed, batch 64": adam_step(mixed, 64)},
        rounds=9,
        warm_up=1,
    )


def runs() -> list[Timing]:
    """An epoch each, from the plain network to the trained one, everything included."""
    x, y = batch(SAMPLES)
    data = iso.data.from_arrays(x.numpy(), np.asarray(y))
    small, settings = data.subset(np.arange(32)), replace(PAPER, epochs=1)

    def plain() -> None:
        iso.training.fit(
            backbone(WIDTH), iso.training.standardised(data, nn.Identity()), small, settings
        )

    def mixture(gradients: str) -> Callable[[], object]:
        return lambda: iso.search.mix(
            backbone(WIDTH), data, validation=small, gradients=gradients, epochs=1
        )

    candidates: dict[str, Callable[[], object]] = {
        "plain training": plain,
        "EquiNAS_D, two gradients": mixture("two"),
        "EquiNAS_D, one": mixture("one"),
    }
    return interleave(candidates, rounds=3, warm_up=0)


def run() -> list[Timing]:
    return [*steps(), *runs()]
