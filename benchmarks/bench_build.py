"""Building the 8-layer D4 network: its layers, and the whole conversion with its own check."""

from __future__ import annotations

import torch

import isotropy as iso
from benchmarks.networks import IMAGE, backbone
from benchmarks.timing import Timing, interleave

TARGETS = {"D4 from plain": 0.1}


def run() -> list[Timing]:
    plain, x = backbone(), torch.zeros(1, 1, IMAGE, IMAGE)
    return interleave(
        {
            "plain": backbone,
            "D4 from plain": lambda: iso.equivariant(plain, "D4", x, check=False),
            "D4 from plain, checked": lambda: iso.equivariant(plain, "D4", x),
        },
        rounds=7,
    )
