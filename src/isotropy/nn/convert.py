"""From a plain layer to its tied twin, one function for each kind of layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.modules.instancenorm import _InstanceNorm

from isotropy.errors import NotSupportedError
from isotropy.groups.action import Group
from isotropy.nn import conv as tied_conv
from isotropy.nn.activation import PReLU
from isotropy.nn.batchnorm import BatchNorm, InstanceNorm, TrackingNorm
from isotropy.nn.dropout import FieldDropout
from isotropy.nn.fields import Fields
from isotropy.nn.geometry import conv_windows, is_transposed
from isotropy.nn.linear import Linear, Weighted
from isotropy.nn.norm import GroupNorm, LayerNorm
from isotropy.nn.tied import TiedModule
from isotropy.nn.trace import (
    Call,
    Channels,
    Dim,
    Flat,
    layout_of,
    torch_class,
)
from isotropy.schemes import OrbitScheme, Scheme, kernel_action


@dataclass(frozen=True)
class Recipe:
    """How layers are converted.

    Args:
        group: the group this layer is tied under.
        fields: the actions on all channels.
        weights: "fresh", "project" or "lift".
        orthonormal: see `OrbitScheme`.
        exact: replace strides that do not fit.
    """

    group: Group
    fields: Fields
    weights: str
    orthonormal: bool
    exact: bool


def convert(call: Call, recipe: Recipe) -> TiedModule | None:
    """The tied twin of a layer, or None if it needs none."""
    module, x = call.target, call.args[0]
    layout = layout_of(x) or ()
    if isinstance(module, _ConvNd):
        return _convolution(module, layout[1], call.layout[1], x, recipe)
    if isinstance(module, nn.Linear):
        return _linear(module, layout[-1], call.layout[-1], recipe)
    if isinstance(module, _BatchNorm):
        return _tracking(BatchNorm, module, layout[1], x, recipe)
    if isinstance(module, _InstanceNorm):
        return _tracking(InstanceNorm, module, layout[1], x, recipe)
    if isinstance(module, nn.GroupNorm):
        return _group_norm(module, layout[1], recipe)
    if isinstance(module, nn.LayerNorm):
        return _layer_norm(module, layout, recipe)
    if isinstance(module, nn.PReLU):
        return _prelu(module, layout[1], recipe)
    if isinstance(module, _DropoutNd) and len(layout) > 1:
        return _dropout(module, layout, recipe)
    return None


# -- weights --------------------------------------------------------------------------------


def _convolution(module: _ConvNd, inside: Dim, outside: Dim, x: Tensor, recipe: Recipe) -> Weighted:
    _refuse_asymmetric(module)
    kind: type[tied_conv._Conv] = getattr(tied_conv, torch_class(module).__name__)
    depthwise = module.groups == module.in_channels and module.groups > 1
    inp, out = recipe.fields.act(inside), recipe.fields.act(outside)
    settings: dict[str, object] = {
        "stride": module.stride,
        "padding": module.padding,
        "dilation": module.dilation,
        "padding_mode": module.padding_mode,
    }
    if is_transposed(module):
        settings["output_padding"] = module.output_padding
    layer = kind.tied(
        out,
        inp,
        tuple(module.kernel_size),
        bias=module.bias is not None,
        groups=inp.size if depthwise else module.groups,
        group=recipe.group,
        orthonormal=recipe.orthonormal,
        **settings,
    )
    _give_weights(layer, module, inside, outside, recipe)
    if recipe.exact and not is_transposed(module):
        left = tuple(w.left_over for w in conv_windows(module, x))
        layer.left_over = left if any(left) else None
    return layer


def _refuse_asymmetric(module: _ConvNd) -> None:
    pairs = zip(module.kernel_size, module.dilation, strict=True)
    if module.padding == "same" and any((d * (k - 1)) % 2 for k, d in pairs):
        raise NotSupportedError(
            'asymmetric padding: "same" with an even kernel pads one side more than the other; '
            "use an odd kernel"
        )
    if any(module.output_padding):
        raise NotSupportedError(
            "asymmetric padding: output_padding enlarges one side only; choose kernel, stride and "
            "padding that need none (as kernel 2, stride 2 or kernel 4, stride 2, padding 1)"
        )


def _linear(module: nn.Linear, inside: Dim, outside: Dim, recipe: Recipe) -> Linear:
    layer = Linear.tied(
        recipe.fields.act(outside),
        recipe.fields.act(inside),
        bias=module.bias is not None,
        group=recipe.group,
        orthonormal=recipe.orthonormal,
    )
    _give_weights(layer, module, inside, outside, recipe)
    return layer


@torch.no_grad()
def _give_weights(layer: Weighted, module: Any, inside: Dim, outside: Dim, recipe: Recipe) -> None:
    weight, bias = module.weight, module.bias
    layer.to(weight.device, weight.dtype)
    assert isinstance(layer.scheme, OrbitScheme)
    pairs = [(layer.scheme, weight)]
    if isinstance(layer.bias_scheme, OrbitScheme) and isinstance(bias, Tensor):
        pairs.append((layer.bias_scheme, bias))
    for scheme, value in pairs:
        if recipe.weights == "fresh":
            size = torch.linalg.vector_norm(value, dtype=torch.float64)
            scheme.reset(float(size) / max(value.numel(), 1) ** 0.5)
        elif recipe.weights == "project":
            scheme.project_(value)
        else:
            _lift(scheme, value, layer, inside, outside, recipe)
        for parameter in scheme.parameters():
            parameter.requires_grad_(value.requires_grad)


def _lift(
    scheme: OrbitScheme, value: Tensor, layer: Weighted, inside: Dim, outside: Dim, recipe: Recipe
) -> None:
    """Put the plain weight on the neutral element's copy, and sum over the group.

    The copy of element g then computes g N(g⁻¹ x); what is not lifted takes the mean over copies.
    """
    tie = layer.tie
    assert tie is not None
    order = recipe.group.order  # type: ignore[union-attr]
    out, inp = recipe.fields.embed(outside), recipe.fields.embed(inside)
    spread = value.new_zeros(scheme.shape, dtype=torch.float64)
    if value.ndim == 1:
        spread[torch.from_numpy(out)] = value.double()
    else:
        rows, columns = (inp, out) if tie.transposed else (out, inp)
        columns = columns[: value.shape[1]]  # within a block; blocks are alike
        spread[np.ix_(rows, columns)] = value.double()
    scheme.project_(spread, factor=float(order if recipe.fields.is_lifted(outside) else 1))


# -- norms and the like ---------------------------------------------------------------------


def _tracking(
    kind: type[BatchNorm] | type[InstanceNorm], module: Any, dim: Dim, x: Tensor, recipe: Recipe
) -> TrackingNorm:
    layer = kind(
        recipe.fields.act(dim),
        x.ndim - 2,
        group=recipe.group,
        eps=module.eps,
        momentum=module.momentum,
        affine=module.affine,
        track_running_stats=module.track_running_stats,
    )
    like = module.weight if module.weight is not None else module.running_mean
    if like is not None:
        layer.to(like.device, like.dtype)
    _give_channels(layer.weight_scheme, module.weight, dim, recipe)
    _give_channels(layer.bias_scheme, module.bias, dim, recipe)
    if recipe.weights != "fresh" and layer.running_mean is not None:
        for name in ("running_mean", "running_var"):
            scratch = OrbitScheme(layer.partitions(recipe.group)["weight_scheme"])
            _give_channels(scratch, getattr(module, name), dim, recipe)
            getattr(layer, name).copy_(scratch.psi.detach())
    return layer


@torch.no_grad()
def _give_channels(scheme: Scheme | None, value: Tensor | None, dim: Dim, recipe: Recipe) -> None:
    """One number a channel: the mean over orbits, or spread over a lifted channel's copies."""
    if scheme is None or value is None:
        return
    assert isinstance(scheme, OrbitScheme)
    scheme.to(value.device, value.dtype)
    flat = value.reshape(-1)
    if recipe.weights != "lift":
        scheme.project_(flat.view(scheme.shape))
    else:
        classes = scheme.partition.labels.ravel()[recipe.fields.embed(dim)]
        scheme.psi[torch.from_numpy(classes).long()] = flat.to(scheme.psi)
    scheme.psi.requires_grad_(value.requires_grad)


def _refuse_lift(module: nn.Module, recipe: Recipe) -> None:
    if recipe.weights == "lift":
        raise NotSupportedError(
            f'{type(module).__name__} mixes channels in its statistics, so weights="lift" has no '
            "exact form for it"
        )


def _group_norm(module: nn.GroupNorm, dim: Dim, recipe: Recipe) -> GroupNorm:
    _refuse_lift(module, recipe)
    layer = GroupNorm(
        module.num_groups,
        recipe.fields.act(dim),
        group=recipe.group,
        eps=module.eps,
        affine=module.affine,
    )
    _give_channels(layer.weight_scheme, module.weight, dim, recipe)
    _give_channels(layer.bias_scheme, module.bias, dim, recipe)
    return layer


def _layer_norm(module: nn.LayerNorm, layout: tuple[Dim, ...], recipe: Recipe) -> LayerNorm:
    _refuse_lift(module, recipe)
    shape = tuple(module.normalized_shape)
    first = layout[-len(shape)]
    action = recipe.fields.act(first)
    if len(shape) > 1:
        action = action * kernel_action(action.group, shape[1:])
    layer = LayerNorm(
        action,
        shape,
        group=recipe.group,
        eps=module.eps,
        elementwise_affine=module.elementwise_affine,
        bias=module.bias is not None,
    )
    _give_channels(layer.weight_scheme, module.weight, first, recipe)
    _give_channels(layer.bias_scheme, module.bias, first, recipe)
    return layer


def _prelu(module: nn.PReLU, dim: Dim, recipe: Recipe) -> PReLU | None:
    if module.num_parameters == 1:
        return None
    layer = PReLU(recipe.fields.act(dim), group=recipe.group)
    _give_channels(layer.weight_scheme, module.weight, dim, recipe)
    return layer


def _dropout(module: _DropoutNd, layout: tuple[Dim, ...], recipe: Recipe) -> FieldDropout | None:
    """Dropout of channels becomes dropout of fields; single pixels may go as they did."""
    dim = layout[1]
    if type(module) is nn.Dropout and len(layout) > 2:
        return None
    kinds = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)
    if type(module) not in kinds or not isinstance(dim, Channels | Flat):
        return None
    return FieldDropout(recipe.fields.act(dim), module.p, len(layout) - 2, group=recipe.group)
