"""What layers with parameters do to the meaning of a tensor's dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.modules.instancenorm import _InstanceNorm
from torch.nn.utils import parametrize

from isotropy.errors import NotSupportedError
from isotropy.groups.action import Action, regular, trivial
from isotropy.nn.activation import PReLU
from isotropy.nn.batchnorm import TrackingNorm
from isotropy.nn.conv import _Conv
from isotropy.nn.dropout import FieldDropout
from isotropy.nn.linear import Linear, Weighted
from isotropy.nn.norm import GroupNorm, LayerNorm, Norm
from isotropy.nn.pool import GroupPool
from isotropy.nn.tied import TiedModule
from isotropy.nn.trace.space import (
    Axis,
    Batch,
    Channels,
    Flat,
    Layout,
    One,
    Space,
    describe,
    flat_size,
)

if TYPE_CHECKING:
    from isotropy.nn.trace.tracer import Tracer

CONVOLUTIONS = (_ConvNd, _Conv)
WEIGHT_LAYERS = (*CONVOLUTIONS, nn.Linear, Linear)
CHANNEL_NORMS = (_BatchNorm, _InstanceNorm, nn.GroupNorm, TrackingNorm, GroupNorm)
_ATOMIC = (
    *WEIGHT_LAYERS,
    *CHANNEL_NORMS,
    nn.LayerNorm,
    nn.PReLU,
    _DropoutNd,
    TiedModule,
    GroupPool,
)

REFUSED: dict[type[nn.Module], str] = {
    nn.PixelShuffle: "it turns channels into pixels in an order that no turn of the picture keeps; "
    "use Upsample and a convolution",
    nn.PixelUnshuffle: "it turns pixels into channels in an order that no turn of the picture "
    "keeps; use a strided convolution or pooling",
    nn.MultiheadAttention: "attention is not supported; only convolutional and linear networks are",
    nn.Transformer: "attention is not supported; only convolutional and linear networks are",
    nn.TransformerEncoderLayer: "attention is not supported; only convolutional and linear "
    "networks are",
    nn.RNNBase: "recurrent layers are not supported",
    nn.RNNCellBase: "recurrent layers are not supported",
    nn.Embedding: "embeddings look up integers, on which no group acts here",
    nn.Bilinear: "bilinear layers are not supported",
    nn.ChannelShuffle: "it moves channels in an order that does not keep fields together",
    nn.LocalResponseNorm: "it mixes neighbouring channels, which breaks fields",
    nn.Fold: "fold and unfold are not supported; use convolutions",
    nn.Unfold: "fold and unfold are not supported; use convolutions",
    nn.SyncBatchNorm: "its statistics over several processes would not be shared by a tied norm; "
    "use BatchNorm",
    torch.jit.ScriptModule: "it is compiled by TorchScript; pass the model it was made from",
}
# what weight norm, spectral norm and pruning (in torch's older form) leave on a module
_MAKERS_OF_WEIGHTS = ("weight_g", "weight_orig", "bias_orig")


def is_atomic(module: nn.Module) -> bool:
    """Whether a module is followed as a whole."""
    return isinstance(module, _ATOMIC)


def refuse_module(path: str, module: nn.Module) -> None:
    """Refuse modules that cannot be made equivariant, with the reason."""
    for kind, reason in REFUSED.items():
        if isinstance(module, kind):
            raise NotSupportedError(f"{path} ({type(module).__name__}): {reason}")
    if type(module).__name__ == "OptimizedModule":
        raise NotSupportedError(
            f"{path} was compiled by torch.compile; pass the model itself (its _orig_mod), and "
            "compile what comes back"
        )
    if parametrize.is_parametrized(module) or any(hasattr(module, n) for n in _MAKERS_OF_WEIGHTS):
        raise NotSupportedError(
            f"{path} ({type(module).__name__}): its weight is parametrised (weight or spectral "
            "norm, or pruning); remove the parametrisation first"
        )


def refuse_hooks(path: str, module: nn.Module, what: str) -> None:
    """Refuse to put another module in the place of one with hooks, which would be lost."""
    if module._forward_hooks or module._forward_pre_hooks or module._backward_hooks:
        raise NotSupportedError(
            f"{path} ({type(module).__name__}): it has hooks, which {what} would not have; remove "
            "them first"
        )


def torch_class(module: nn.Module) -> type:
    """Torch's own class, for the user's subclasses of it too."""
    return next(kind for kind in type(module).__mro__ if kind.__module__.startswith("torch.nn"))


def refuse_own_forward(path: str, module: nn.Module) -> None:
    """Refuse subclasses of torch's layers that compute something else: a tied twin would not."""
    kind = torch_class(module)
    if type(module).forward is not kind.forward:  # type: ignore[attr-defined]
        raise NotSupportedError(
            f"{path} ({type(module).__name__}): it is a subclass of {kind.__name__} with a forward "
            "of its own; put what it does beside the layer into a module around it"
        )


def is_weighted(module: nn.Module) -> bool:
    """Whether a module is a layer with numbers of its own, which tying would replace."""
    return is_atomic(module) and any(True for _ in module.parameters())


def layer_layout(tracer: Tracer, name: str, module: nn.Module, layout: Layout, x: Tensor) -> Layout:
    """The layout of a layer's output; spaces are made and unified on the way."""
    if isinstance(module, CONVOLUTIONS):
        return _convolution(tracer, name, module, layout)
    if isinstance(module, (nn.Linear, Linear)):
        return _linear(tracer, name, module, layout)
    if isinstance(module, (nn.LayerNorm, LayerNorm)):
        return _layer_norm(name, module, layout, x)
    if isinstance(module, GroupPool):
        return _group_pool(name, module, layout)
    if isinstance(module, (_DropoutNd, FieldDropout)):
        return layout
    space = _channels_at(name, layout, 1)
    mark_unsigned(layout, name)
    if isinstance(module, (Norm, PReLU)):
        _bind(space, module.channels, name, layout[1])
    return layout


def _bind(space: Space, action: Action, name: str, dim: object = None) -> None:
    """A tied layer knows what acts on its channels."""
    if isinstance(dim, Flat):
        return  # the action is that of channels and pixels together; the space has its own
    known = Space(action.size, name)
    known.action = action
    root = space.root()
    if root.is_free or root.action is not None:
        space.unify(known, name)


def _convolution(tracer: Tracer, name: str, module: Any, layout: Layout) -> Layout:
    dimensions = len(module.kernel_size)
    grid = layout[2:]
    fitting = all(isinstance(d, (Axis, One)) for d in grid) and len(grid) == dimensions
    if not fitting or not isinstance(layout[0], Batch) or not isinstance(layout[1], Channels):
        raise NotSupportedError(
            f"{name}: a convolution needs (batch, channels, *grid), not {describe(layout)}"
        )
    inside, outside = _spaces(tracer, module, name, module.in_channels, module.out_channels)
    layout[1].space.unify(inside, name)
    if isinstance(module, _Conv):
        _bind_tie(module, inside, outside, name)
    elif module.groups > 1 and module.groups == module.in_channels:
        _depthwise(inside, outside, module, name)
    return (layout[0], Channels(outside), *(Axis(i) for i in range(dimensions)))


def _depthwise(inside: Space, outside: Space, module: Any, name: str) -> None:
    """One filter (or several) for each channel: what comes out moves as what goes in."""
    times = module.out_channels // module.in_channels
    if times == 1:
        outside.unify(inside, name)
    elif outside.root().is_free:
        outside.root().copies = (inside, times)


def _linear(tracer: Tracer, name: str, module: Any, layout: Layout) -> Layout:
    last = layout[-1]
    if not isinstance(last, (Channels, Flat)):
        raise NotSupportedError(
            f"{name}: mixes the {describe((last,))} dimension of {describe(layout)}; a linear "
            "layer must act on channels or on a flattened feature map"
        )
    inside, outside = _spaces(tracer, module, name, module.in_features, module.out_features)
    if isinstance(last, Channels):
        last.space.unify(inside, name)
    elif flat_size(last.space, last.shape) == inside.size and inside.root().is_free:
        inside.root().product = (last.space, last.shape)
    if isinstance(module, Linear):
        _bind_tie(module, inside, outside, name)
    return (*layout[:-1], Channels(outside))


def _bind_tie(module: Weighted, inside: Space, outside: Space, name: str) -> None:
    tie = module.tie
    if tie is None:
        return
    if inside.root().product is None:
        _bind(inside, tie.inp, name)
    _bind(outside, tie.out, name)


def _spaces(
    tracer: Tracer, module: nn.Module, name: str, inside: int, outside: int
) -> tuple[Space, ...]:
    """The layer's own spaces, the same every time it is called."""
    if module not in tracer.spaces:
        tracer.spaces[module] = (Space(inside, name), Space(outside, name))
    return tracer.spaces[module]


def _layer_norm(name: str, module: Any, layout: Layout, x: Tensor) -> Layout:
    shape = tuple(module.normalized_shape if isinstance(module, nn.LayerNorm) else module.shape)
    tail = layout[-len(shape) :]
    whole = isinstance(tail[0], (Channels, Flat)) and all(isinstance(d, Axis) for d in tail[1:])
    if not whole or tuple(x.shape[-len(shape) :]) != shape:
        raise NotSupportedError(
            f"{name}: LayerNorm must cover the channels, not {describe(tail)} of {describe(layout)}"
        )
    mark_unsigned(layout, name)
    if isinstance(module, LayerNorm) and len(shape) == 1 and isinstance(tail[0], Channels):
        _bind(tail[0].space, module.channels, name)
    return layout


def _group_pool(name: str, module: GroupPool, layout: Layout) -> Layout:
    space = _channels_at(name, layout, 1)
    fields = space.size // module.group.order
    _bind(space, regular(module.group, fields), name)
    out = Space(fields, name)
    out.action = trivial(module.group, fields)
    return (layout[0], Channels(out), *layout[2:])


def _channels_at(name: str, layout: Layout, position: int) -> Space:
    dim = layout[position] if len(layout) > position else None
    if not isinstance(dim, (Channels, Flat)):
        raise NotSupportedError(
            f"{name}: needs channels as the second dimension, not {describe(layout)}"
        )
    return dim.space


def mark_unsigned(layout: Layout, name: str) -> None:
    """Remember that channels went through something that does not commute with sign changes."""
    for dim in layout:
        if isinstance(dim, (Channels, Flat)):
            root = dim.space.root()
            root.unsigned_for = root.unsigned_for or name
