"""The 8-layer D4 network and its building, beside escnn's (in its own environment, see README)."""

from __future__ import annotations

import importlib.util
from typing import Any

import torch
from torch import nn

from benchmarks.networks import IMAGE, backbone, batch, tied_backbone, training_step
from benchmarks.timing import Timing, interleave

TARGETS: dict[str, float] = {}


def run() -> list[Timing]:
    if importlib.util.find_spec("escnn") is None:
        print("  skipped: escnn is not installed here; benchmarks/README.md says how to make room")
        return []
    x, y = batch(64)
    found = interleave(
        {
            "plain, batch 64": training_step(backbone(), x, y),
            "isotropy, batch 64": training_step(tied_backbone("D4"), x, y),
            "escnn, batch 64": training_step(escnn_backbone(), x, y),
        },
        rounds=7,
    )
    return found + interleave(
        {
            "build plain": backbone,
            "build isotropy": lambda: tied_backbone("D4"),
            "build escnn": escnn_backbone,
        },
        rounds=5,
        warm_up=1,
    )


class _Escnn(nn.Module):
    """The backbone in escnn's own layers, without its band limit."""

    def __init__(self, body: Any, head: nn.Module, kind: Any) -> None:
        super().__init__()
        self.body, self.head, self.kind = body, head, kind

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        from escnn import nn as enn

        out: torch.Tensor = self.head(self.body(enn.GeometricTensor(x, self.kind)).tensor)
        return out


def escnn_backbone(width: int = 128, layers: int = 8) -> nn.Module:
    """001's network, regular fields of D4 throughout; `width` expanded channels."""
    from escnn import gspaces
    from escnn import nn as enn

    space = gspaces.flipRot2dOnR2(N=4)
    kind = start = enn.FieldType(space, [space.trivial_repr])
    parts = []
    for layer in range(layers):
        fields = (width if layer < 4 else 2 * width) // 8
        out = enn.FieldType(space, [space.regular_repr] * fields)
        parts += [
            enn.R2Conv(kind, out, kernel_size=5, padding=2, frequencies_cutoff=4.0),
            enn.InnerBatchNorm(out),
            enn.ReLU(out),
        ]
        if layer in (2, 4, 6):
            parts.append(enn.PointwiseAvgPool(out, 3 if layer == 6 else 2, 2))
        kind = out
    parts.append(enn.GroupPooling(kind))
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * width // 8, 10))
    example = torch.zeros(1, 1, IMAGE, IMAGE)
    model = _Escnn(enn.SequentialModule(*parts), head, start)
    model(example)
    return model
