"""A shared fully connected layer 784→400 under quarter turns beside nn.Linear (002).

On pictures of an odd size the orbits differ in size: the middle stays where it is.

Prediction: 1.5. At batch 64 the product itself is 20 M multiply-adds (0.5 ms with its adjoints);
the gather of 313,600 weights and its adjoint cost about as much again.
"""

from __future__ import annotations

import torch
from torch import nn

import isotropy as iso
from benchmarks.bench_layer import forward_backward
from benchmarks.timing import Timing, interleave
from isotropy.groups import grid
from isotropy.nn import Linear

TARGETS = {
    "C4, batch 64": 1.6,
    "C4, batch 128": 1.6,
    "C4, odd sizes, batch 64": 1.6,
    "C4, odd sizes, batch 128": 1.6,
}


def run() -> list[Timing]:
    c4 = iso.group("C4")
    found: list[Timing] = []
    for what, before, after in (("C4", 28, 20), ("C4, odd sizes", 27, 19)):
        plain = nn.Linear(before**2, after**2)
        tied = Linear.tied(grid(c4, (after, after)), grid(c4, (before, before)))
        for size in (64, 128):
            x = torch.randn(size, before**2)
            found += interleave(
                {
                    f"plain {before}² to {after}², batch {size}": forward_backward(plain, x),
                    f"{what}, batch {size}": forward_backward(tied, x),
                },
                rounds=51,
            )
    return found
