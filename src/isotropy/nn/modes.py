"""Modes (train or eval) of modules: set for a while, or taken over from another model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """While this lasts, the model is in eval mode."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


def copy_modes(source: nn.Module, target: nn.Module) -> None:
    """Put every module of a copy into the mode of the one it stands for, with all inside it."""
    for path, module in source.named_modules():
        target.get_submodule(path).train(module.training)
