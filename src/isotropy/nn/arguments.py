"""Checks of what callers pass in, the same for all functions on networks."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from isotropy.errors import InputError


def require_module(model: object, name: str = "model") -> nn.Module:
    """The argument, if it is a module."""
    if not isinstance(model, nn.Module):
        raise InputError(f"{name} must be a torch.nn.Module, not {type(model).__name__}")
    return model


def require_batch(x: object, name: str = "example") -> Tensor:
    """The argument, if it is a batch of finite floats with at least one sample."""
    if not isinstance(x, Tensor) or x.ndim < 2 or not x.is_floating_point():
        given = f"shape {tuple(x.shape)}, {x.dtype}" if isinstance(x, Tensor) else type(x).__name__
        raise InputError(
            f"{name} must be a float tensor (batch, channels, *grid) or (batch, features), "
            f"not {given}"
        )
    if not x.numel() or not torch.isfinite(x).all():
        raise InputError(f"{name} must hold at least one sample, without NaN or infinite values")
    return x
