"""A shared fully connected layer 784→400 under quarter turns beside nn.Linear (002).

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

TARGETS = {"C4, batch 64": 1.6, "C4, batch 128": 1.6}


def run() -> list[Timing]:
    c4 = iso.group("C4")
    plain = nn.Linear(784, 400)
    tied = Linear.tied(grid(c4, (20, 20)), grid(c4, (28, 28)))
    found: list[Timing] = []
    for size in (64, 128):
        x = torch.randn(size, 784)
        found += interleave(
            {
                f"plain, batch {size}": forward_backward(plain, x),
                f"C4, batch {size}": forward_backward(tied, x),
            },
            rounds=51,
        )
    return found
