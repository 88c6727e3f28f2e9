"""Checks of what callers pass in, the same for all functions on networks."""

from __future__ import annotations

import copy
from itertools import chain

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from isotropy.errors import InputError


def require_module(model: object, name: str = "model") -> nn.Module:
    """The argument, if it is a module whose parameters have their sizes."""
    if not isinstance(model, nn.Module):
        raise InputError(f"{name} must be a torch.nn.Module, not {type(model).__name__}")
    for path, value in chain(model.named_parameters(), model.named_buffers()):
        if is_lazy(value):
            raise InputError(
                f"{name}: {path} belongs to a lazy layer that has not run yet; run the model on a "
                "batch first"
            )
    return model


def independent_copy(model: nn.Module) -> nn.Module:
    """A deep copy; refused for models that hold tensors still in the making."""
    try:
        return copy.deepcopy(model)
    except RuntimeError:
        raise InputError(
            "model: it cannot be copied, for it holds tensors computed from its parameters "
            "(weight norm or pruning?); make those permanent first, as torch's remove functions do"
        ) from None


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
