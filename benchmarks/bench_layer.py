"""One group convolution, forward and backward, beside the plain one; 128 channels, batch 64.

Prediction: 1.01 or less; a gather of 0.4 million weights (0.2 ms) and its adjoint (0.4 ms) beside
a convolution of 200 ms.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from benchmarks.timing import Timing, interleave
from isotropy.nn import GroupConv2d

TARGETS = {"C4, kernel 3": 1.02, "D4, kernel 3": 1.02, "C4, kernel 5": 1.02, "D4, kernel 5": 1.02}


def forward_backward(layer: nn.Module, x: torch.Tensor) -> Callable[[], None]:
    def step() -> None:
        layer.zero_grad()
        layer(x).square().mean().backward()

    return step


def run() -> list[Timing]:
    x = torch.randn(64, 128, 28, 28)
    found: list[Timing] = []
    for kernel in (3, 5):
        plain = nn.Conv2d(128, 128, kernel, padding=kernel // 2)
        c4 = GroupConv2d(32, 32, kernel, "C4", padding=kernel // 2)
        d4 = GroupConv2d(16, 16, kernel, "D4", padding=kernel // 2)
        found += interleave(
            {
                f"plain, kernel {kernel}": forward_backward(plain, x),
                f"C4, kernel {kernel}": forward_backward(c4, x),
                f"D4, kernel {kernel}": forward_backward(d4, x),
            },
            rounds=9,
        )
    return found
