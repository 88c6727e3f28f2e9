"""Running a model once to learn what its tensors mean."""

from isotropy.nn.trace.layers import (
    CONVOLUTIONS,
    WEIGHT_LAYERS,
    is_weighted,
    refuse_hooks,
    refuse_module,
    refuse_own_forward,
    torch_class,
)
from isotropy.nn.trace.space import (
    Axis,
    Batch,
    Channels,
    Dim,
    Flat,
    Layout,
    One,
    Pixels,
    Space,
    action_of,
    grid_shape,
)
from isotropy.nn.trace.tags import layout_of
from isotropy.nn.trace.tracer import Call, Trace, trace

__all__ = [
    "CONVOLUTIONS",
    "WEIGHT_LAYERS",
    "Axis",
    "Batch",
    "Call",
    "Channels",
    "Dim",
    "Flat",
    "Layout",
    "One",
    "Pixels",
    "Space",
    "Trace",
    "action_of",
    "grid_shape",
    "is_weighted",
    "layout_of",
    "refuse_hooks",
    "refuse_module",
    "refuse_own_forward",
    "torch_class",
    "trace",
]
