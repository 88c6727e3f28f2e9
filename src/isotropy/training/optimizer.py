"""The optimiser, what it may shrink, and how fast it goes at every step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.optim import Optimizer

from isotropy.nn.linear import Weighted
from isotropy.nn.tied import TiedModule
from isotropy.training.settings import Settings

_NORMS = (_NormBase, nn.LayerNorm, nn.GroupNorm)


def make_optimizer(model: nn.Module, settings: Settings) -> Optimizer:
    """The optimiser of the settings, fused where torch has it for these parameters."""
    shrinking = {id(p) for p in _decayed(model)}
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {
            "params": [p for p in trained if id(p) in shrinking],
            "weight_decay": settings.weight_decay,
        },
        {"params": [p for p in trained if id(p) not in shrinking], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    options: dict[str, Any] = {"lr": settings.lr, "fused": _can_fuse(trained)}
    if settings.optimizer == "sgd":
        nesterov = settings.momentum > 0
        return torch.optim.SGD(groups, momentum=settings.momentum, nesterov=nesterov, **options)
    kind = torch.optim.AdamW if settings.optimizer == "adamw" else torch.optim.Adam
    return kind(groups, **options)


def _decayed(model: nn.Module) -> Iterator[Tensor]:
    """Weights that decay: those that multiply features; not biases, scales, shifts, slopes."""
    tied: set[int] = set()
    for module in model.modules():
        if isinstance(module, TiedModule):
            tied |= {id(p) for p in module.parameters()}
            if isinstance(module, Weighted):
                yield from module.scheme.decaying()
    for module in model.modules():
        if not isinstance(module, _NORMS):
            own = module.parameters(recurse=False)
            yield from (p for p in own if p.ndim > 1 and id(p) not in tied)


def _can_fuse(parameters: list[nn.Parameter]) -> bool:
    return all(p.is_floating_point() and p.device.type in ("cpu", "cuda") for p in parameters)


def rate(step: int, steps: int, settings: Settings) -> float:
    """The learning rate of a step: a function of its number alone, so it needs no state.

    >>> [round(rate(i, 10, Settings(lr=1.0, warmup=0.2)), 2) for i in (0, 1, 2, 9)]
    [0.5, 1.0, 1.0, 0.04]
    """
    rising = round(settings.warmup * steps)
    if step < rising:
        return settings.lr * (step + 1) / rising
    done = (step - rising) / max(steps - rising, 1)
    if settings.schedule == "cosine":
        return settings.lr * (1 + math.cos(math.pi * done)) / 2
    if settings.schedule == "linear":
        return settings.lr * (1 - done)
    if settings.schedule == "steps":
        return settings.lr * (1.0 if done < 0.5 else 0.1 if done < 0.75 else 0.01)
    return settings.lr


def set_rate(optimizer: Optimizer, value: float) -> None:
    """Give all parameter groups this learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = value
