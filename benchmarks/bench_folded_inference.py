"""A folded D4 network beside the plain CNN: the same modules, so the ratio must be 1."""

from __future__ import annotations

import torch

import isotropy as iso
from benchmarks.networks import backbone, batch, tied_backbone
from benchmarks.timing import Timing, interleave

TARGETS = {"D4 folded": 1.02, "D4 unfolded": 1.10}


def run() -> list[Timing]:
    plain, tied = backbone().eval(), tied_backbone("D4").eval()
    folded = iso.fold(tied)
    x, _ = batch(64)
    with torch.inference_mode():
        return interleave(
            {
                "plain": lambda: plain(x),
                "D4 folded": lambda: folded(x),
                "D4 unfolded": lambda: tied(x),
            },
            rounds=15,
        )
