"""Measuring in float64 what was written for other types of numbers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_CASTS = ("to", "float", "half", "bfloat16", "type", "type_as")


class StayInFloat64(TorchFunctionMode):
    """While this lasts, a forward that casts its tensors to another float type gets float64.

    Models written with `x.float() / 255` or `softmax(x, dtype=torch.float32)` can then be measured
    to float64's rounding, and on weights that are float64.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        first = args[0] if args else None
        if not isinstance(first, Tensor):
            return func(*args, **kwargs)
        if first.dtype == torch.float64 and _is_lower(kwargs.get("dtype")):
            kwargs["dtype"] = torch.float64
        out = func(*args, **kwargs)
        is_cast = getattr(func, "__name__", "") in _CASTS
        if not is_cast or not isinstance(out, Tensor) or not _is_lower(out.dtype):
            return out
        return first.to(out.device) if first.dtype == torch.float64 else out.double()


def _is_lower(dtype: Any) -> bool:
    is_float = isinstance(dtype, torch.dtype) and dtype.is_floating_point
    return is_float and dtype != torch.float64
