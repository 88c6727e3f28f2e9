"""Checks of what callers pass in, the same for all functions on networks."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from isotropy.errors import InputError, IsotropyError


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


@contextmanager
def running(x: Tensor, name: str = "example") -> Iterator[None]:
    """While the caller's model runs on the argument: what it cannot take is the argument's fault.

    Whatever a forward raises counts: torch's own errors for shapes and types, a TypeError for a
    second argument, an assertion of the model's.
    """
    try:
        yield
    except IsotropyError:
        raise
    except Exception as error:
        said = (str(error).splitlines() or [""])[0]
        kind = "" if isinstance(error, RuntimeError) else f"{type(error).__name__}: "
        raise InputError(
            f"{name}: the model does not run on a batch of shape {tuple(x.shape)} ({kind}{said})"
        ) from None
