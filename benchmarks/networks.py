"""The 8-layer network of 001 at D4's width."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

import isotropy as iso

IMAGE = 28


def backbone(width: int = 128, layers: int = 8) -> nn.Module:
    """Kernel 5, batch norm, ReLU; average pooling after layers 2, 4 and 6; width doubles at 4.

    The last pooling has kernel 3, which fits its 7×7 pixels and so keeps the network exact.
    """
    parts: list[nn.Module] = []
    channels = 1
    for layer in range(layers):
        out = width if layer < 4 else 2 * width
        parts += [nn.Conv2d(channels, out, 5, padding=2), nn.BatchNorm2d(out), nn.ReLU()]
        if layer in (2, 4, 6):
            parts.append(nn.AvgPool2d(3 if layer == 6 else 2, 2))
        channels = out
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10)]
    return nn.Sequential(*parts, *head)


def tied_backbone(group: str, width: int = 128) -> nn.Module:
    """The same, tied."""
    return iso.equivariant(backbone(width), group, torch.zeros(1, 1, IMAGE, IMAGE))


def training_step(model: nn.Module, x: Tensor, y: Tensor) -> Callable[[], None]:
    """Forward, backward and one step of SGD."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def batch(size: int) -> tuple[Tensor, Tensor]:
    """Random pictures and labels."""
    torch.manual_seed(0)
    return torch.randn(size, 1, IMAGE, IMAGE), torch.randint(10, (size,))
