"""Notes on tensors while a model is traced: what their dimensions mean, whether they train."""

from __future__ import annotations

from torch import Tensor, nn

from isotropy.nn.trace.space import Layout

LAYOUT = "_isotropy_layout"
TRAINED = "_isotropy_trained"
MIXED = "_isotropy_mixed"


def layout_of(value: object) -> Layout | None:
    """What the dimensions of a traced tensor mean, or None."""
    return getattr(value, LAYOUT, None) if isinstance(value, Tensor) else None


def is_mixed(value: object) -> bool:
    """Whether a tensor is a number made from a whole batch."""
    return getattr(value, MIXED, False) is True


def is_trained(value: object) -> bool:
    """Whether a tensor is a parameter, or was made from one by operations outside layers."""
    return isinstance(value, nn.Parameter) or getattr(value, TRAINED, False) is True
