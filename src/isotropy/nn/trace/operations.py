"""What operations on tensors do to the meaning of their dimensions, one rule for each kind.

A rule gets the tracer, the operation's name, its arguments and its result, and returns the
result's layout. Operations are known by name, so `x.relu_()`, `torch.relu(x)` and `F.relu(x)` are
one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from isotropy.errors import NotSupportedError
from isotropy.nn.trace.layers import mark_unsigned
from isotropy.nn.trace.shapes import combine, reshaped
from isotropy.nn.trace.space import Axis, Batch, Channels, Flat, Layout, One, Space, describe

if TYPE_CHECKING:
    from isotropy.nn.trace.tracer import Tracer

Rule = Callable[["Tracer", str, tuple[Any, ...], dict[str, Any], Any], Any]

_ODD = (
    "neg clone contiguous detach to float double half bfloat16 type cpu cuda tanh softsign "
    "hardshrink softshrink tanhshrink sin asinh atan erf dropout alpha_dropout feature_dropout "
    "dropout1d dropout2d dropout3d feature_alpha_dropout requires_grad positive sign"
)
_POINTWISE = (
    "relu relu6 leaky_relu prelu elu selu celu gelu silu mish sigmoid hardsigmoid hardswish "
    "softplus logsigmoid exp log log1p sqrt rsqrt abs square pow clamp clamp_min clamp_max clip "
    "hardtanh threshold cos reciprocal rrelu expm1 cosh sinh logit nan_to_num"
)
_BINARY = (
    "add sub rsub subtract mul multiply div divide true_divide maximum minimum fmax fmin radd rmul "
    "rdiv rtruediv truediv iadd imul isub rpow atan2"
)
_SPATIAL = (
    "max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d "
    "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d "
    "adaptive_max_pool3d lp_pool1d lp_pool2d lp_pool3d interpolate upsample"
)
_REDUCE = "mean sum amax amin std var norm logsumexp prod max min median"
_ALONG = "softmax log_softmax normalize softmin"
_RESHAPE = "view reshape flatten unflatten squeeze unsqueeze view_as reshape_as"
_PERMUTE = "permute transpose movedim swapaxes swapdims moveaxis"

REASONS: dict[str, str] = {
    "pixel_shuffle": "it turns channels into pixels in an order that no turn of the picture keeps",
    "pixel_unshuffle": "it turns pixels into channels in an order no turn of the picture keeps",
    "scaled_dot_product_attention": "attention is not supported",
    "multi_head_attention_forward": "attention is not supported",
    "matmul": "a product of tensors mixes channels or pixels (attention?)",
    "bmm": "a product of tensors mixes channels or pixels (attention?)",
    "einsum": "a product of tensors mixes channels or pixels (attention?)",
    "roll": "a shift along an axis has no place in a turned picture",
    "grid_sample": "it interpolates at fixed places",
    "local_response_norm": "it mixes neighbouring channels, which breaks fields",
}
_WEIGHTED = "conv linear batch_norm layer_norm group_norm instance_norm prelu bilinear embedding"


def follow(tracer: Tracer, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an operation on traced tensors and give its result a layout."""
    name = getattr(func, "__name__", str(func)).strip("_")
    rule = _RULES.get(name)
    if rule is None:
        out = func(*args, **kwargs)
        if _holds_tensor(out):
            raise NotSupportedError(_refusal(tracer, name))
        return out
    before = (tracer.copies(args), tracer.copies(kwargs))
    out = func(*args, **kwargs)
    if not _holds_tensor(out):
        return out
    layout = rule(tracer, name, args, kwargs, out)
    if isinstance(out, tuple | list):
        for piece, own in zip(out, layout, strict=False):
            piece._isotropy_layout = own
        return out
    tracer.record(f"{name} in {tracer.where}", func, *before, out, layout)
    return out


def _refusal(tracer: Tracer, name: str) -> str:
    weighted = any(name.startswith(kind) for kind in _WEIGHTED.split())
    reason = REASONS.get(name, "no rule says what this operation does to channels and pixels")
    if weighted:
        reason = "a weight used outside a layer cannot be tied; use the torch.nn layer"
    return f"{tracer.where}: {name} cannot be made equivariant: {reason}"


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(isinstance(v, Tensor) for v in value)
    return isinstance(value, Tensor)


def _layout(value: Any) -> Layout | None:
    return getattr(value, "_isotropy_layout", None)


def _argument(
    args: tuple[Any, ...], kwargs: dict[str, Any], place: int, name: str, default: Any
) -> Any:
    if len(args) > place:
        return args[place]
    return kwargs.get(name, default)


# -- one channel, one pixel at a time -------------------------------------------------------


def _odd(tracer: Tracer, name: str, args: Any, kwargs: Any, out: Any) -> Layout:
    return _require(tracer, name, args[0])


def _pointwise(tracer: Tracer, name: str, args: Any, kwargs: Any, out: Any) -> Layout:
    if len(args) > 1 and isinstance(args[1], Tensor):
        return _binary(tracer, name, args, kwargs, out)
    layout = _require(tracer, name, args[0])
    mark_unsigned(layout, f"{name} in {tracer.where}")
    return layout


def _require(tracer: Tracer, name: str, value: Any) -> Layout:
    layout = _layout(value)
    if layout is None:
        raise NotSupportedError(_refusal(tracer, name))
    return layout


def _binary(tracer: Tracer, name: str, args: Any, kwargs: Any, out: Any) -> Layout:
    first, second = args[0], args[1]
    if _layout(first) is None:
        first, second = second, first
    layout = _require(tracer, name, first)
    where = f"{name} in {tracer.where}"
    other = _layout(second)
    if other is not None:
        if name not in ("add", "sub", "iadd", "isub", "radd", "subtract"):
            mark_unsigned(layout, where)
        return combine(layout, first.shape, other, second.shape, where)
    if not isinstance(second, Tensor) or second.numel() == 1:
        if name not in ("mul", "multiply", "div", "divide", "true_divide", "imul", "rmul"):
            mark_unsigned(layout, where)
        return layout
    if isinstance(second, nn.Parameter):
        raise NotSupportedError(
            f"{where}: a parameter of shape {tuple(second.shape)} acts on single channels or "
            "pixels; only torch.nn layers can be tied"
        )
    mark_unsigned(layout, where)
    tracer.constants.append((where, second, layout[len(layout) - second.ndim :]))
    return layout if out.ndim == len(layout) else _refuse_shape(tracer, name, layout)


def _refuse_shape(tracer: Tracer, name: str, layout: Layout) -> Layout:
    raise NotSupportedError(f"{tracer.where}: {name} on {describe(layout)} is not supported")


def _along(tracer: Tracer, name: str, args: Any, kwargs: Any, out: Any) -> Layout:
    layout = _require(tracer, name, args[0])
    mark_unsigned(layout, f"{name} in {tracer.where}")
    return layout


# -- space ----------------------------------------------------------------------------------


def _spatial(tracer: Tracer, name: str, args: Any, kwargs: Any, out: Any) -> Any:
    layout = _require(tracer, name, args[0])
    if not all(isinstance(d, Axis | One) for d in layout[2:]):
        return _refuse_shape(tracer, name, layout)
    if isinstance(out, tuple):
        raise NotSupportedError(f"{tracer.where}: {name} with return_indices is not supported")
    if not name.startswith(("avg", "adaptive_avg", "interpolate", "upsample")):
        mark_unsigned(layout, f"{name} in {tracer.where}")
    return (*layout[:2], *(Axis(i) for i in range(len(layout) - 2)))


def _pad(tracer: Tracer, name: str, args: Any, kwargs: Any, out: Any) -> Layout:
    layout = _require(tracer, name, args[0])
    widths = _argument(args, kwargs, 1, "pad", ())
    for back, (low, high) in enumerate(zip(widths[::2], widths[1::2], strict=True)):
        dim = layout[len(layout) - 1 - back]
        if (low or high) and not isinstance(dim, Axis | One):
            return _refuse_shape(tracer, name, layout)
    return layout


# -- shape ----------------------------------------------------------------------------------


def _reshape(tracer: Tracer, name: str, args: Any, kwargs: Any, out: Any) -> Layout:
    layout = _require(tracer, name, args[0])
    where = f"{name} in {tracer.where}"
    return reshaped(layout, args[0].shape, out.shape, tracer.dimensions, where)


def _permute(tracer: Tracer, name: str, args: Any, kwargs: Any, out: Any) -> Layout:
    layout = _require(tracer, name, args[0])
    n = len(layout)
    order = list(range(n))
    if name == "permute":
        given = args[1:] if len(args) > 2 else _argument(args, kwargs, 1, "dims", ())
        order = [int(d) % n for d in given]
    elif name in ("movedim", "moveaxis"):
        source, target = ([d] if isinstance(d, int) else list(d) for d in args[1:3])
        rest = iter(i for i in range(n) if i not in [s % n for s in source])
        back = {t % n: s % n for s, t in zip(source, target, strict=True)}
        order = [back[i] if i in back else next(rest) for i in range(n)]
    else:
        a, b = (int(d) % n for d in (args[1], args[2]))
        order[a], order[b] = order[b], order[a]
    return tuple(layout[i] for i in order)


def _expand(tracer: Tracer, name: str, args: Any, kwargs: Any, out: Any) -> Layout:
    layout = _require(tracer, name, args[0])
    if name == "expand_as":
        other = _layout(args[1])
        if other is not None:
            return combine(layout, args[0].shape, other, args[1].shape, f"{name} in {tracer.where}")
    grown = [i for i in range(len(layout)) if out.shape[i - len(layout)] != args[0].shape[i]]
    axes = _missing_axes(layout, tracer.dimensions)
    if out.ndim != len(layout) or len(grown) > len(axes):
        return _refuse_shape(tracer, name, layout)
    named = dict(zip(grown, axes[len(axes) - len(grown) :], strict=True))
    return tuple(named.get(i, d) for i, d in enumerate(layout))


def _missing_axes(layout: Layout, dimensions: int) -> list[Axis]:
    present = {d.number for d in layout if isinstance(d, Axis)}
    return [Axis(i) for i in range(dimensions) if i not in present]


def _getitem(tracer: Tracer, name: str, args: Any, kwargs: Any, out: Any) -> Layout:
    """Only new dimensions of size one, and everything of the others."""
    layout = _require(tracer, name, args[0])
    index = args[1] if isinstance(args[1], tuple) else (args[1],)
    if Ellipsis in index:
        at = index.index(Ellipsis)
        taken = sum(i is not None for i in index) - 1
        fill = (slice(None),) * (len(layout) - taken)
        index = (*index[:at], *fill, *index[at + 1 :])
    if not all(i is None or i == slice(None) for i in index):
        raise NotSupportedError(
            f"{tracer.where}: indexing takes out some of {describe(layout)}; only whole dimensions "
            "keep their meaning (use chunk or split for channels)"
        )
    dims = iter(layout)
    head = [One() if i is None else next(dims) for i in index]
    return (*head, *dims)


def _cat(tracer: Tracer, name: str, args: Any, kwargs: Any, out: Any) -> Layout:
    tensors = list(args[0] if args else kwargs["tensors"])
    where = f"{name} in {tracer.where}"
    layouts = [_require(tracer, name, t) for t in tensors]
    first = layouts[0]
    dim = int(_argument(args, kwargs, 1, "dim", 0)) % len(first)
    pieces = [layout[dim] for layout in layouts]
    if not all(isinstance(p, Channels) for p in pieces):
        raise NotSupportedError(
            f"{where}: concatenates along {describe((first[dim],))}; only channels can be"
        )
    joined = Space(int(out.shape[dim]), where)
    joined.parts = [p.space for p in pieces if isinstance(p, Channels)]
    return (*first[:dim], Channels(joined), *first[dim + 1 :])


def _split(tracer: Tracer, name: str, args: Any, kwargs: Any, out: Any) -> list[Layout]:
    layout = _require(tracer, name, args[0])
    dim = int(_argument(args, kwargs, 2, "dim", 0)) % len(layout)
    whole = layout[dim]
    where = f"{name} in {tracer.where}"
    if not isinstance(whole, Channels):
        raise NotSupportedError(f"{where}: only channels can be split, not {describe(layout)}")
    sizes = [int(piece.shape[dim]) for piece in out]
    root = whole.space.root()
    if root.is_free:
        root.parts = [Space(size, where) for size in sizes]
    if root.parts is None or [p.size for p in root.parts] != sizes:
        raise NotSupportedError(f"{where}: the channels are already divided in another way")
    return [(*layout[:dim], Channels(part), *layout[dim + 1 :]) for part in root.parts]


# -- reductions -----------------------------------------------------------------------------


def _reduce(tracer: Tracer, name: str, args: Any, kwargs: Any, out: Any) -> Any:
    layout = _require(tracer, name, args[0])
    if len(args) > 1 and isinstance(args[1], Tensor):
        return _binary(tracer, name, args, kwargs, out)
    where = f"{name} in {tracer.where}"
    mark_unsigned(layout, where)
    place = 2 if name == "norm" else 1
    given = _argument(args, kwargs, place, "dim", kwargs.get("axis"))
    given = range(len(layout)) if given is None else given
    gone = {int(d) % len(layout) for d in ([given] if isinstance(given, int) else given)}
    if any(isinstance(layout[d], Batch) for d in gone):
        raise NotSupportedError(f"{where}: mixes the samples of a batch")
    value = out[0] if isinstance(out, tuple) else out
    keep = value.ndim == len(layout)
    reduced = _reduced(layout, gone, keep, where)
    return [reduced, reduced] if isinstance(out, tuple) else reduced


def _reduced(layout: Layout, gone: set[int], keep: bool, where: str) -> Layout:
    result = []
    for i, dim in enumerate(layout):
        if i not in gone:
            result.append(dim)
        elif keep:
            result.append(_one_left(dim, where))
    return tuple(result)


def _one_left(dim: Any, where: str) -> Any:
    """What a reduced dimension stands for if it is kept: channels become one invariant channel."""
    if isinstance(dim, Channels | Flat):
        return Channels(Space(1, where))
    return dim if isinstance(dim, Axis) else One()


_RULES: dict[str, Rule] = {
    **dict.fromkeys(_ODD.split(), _odd),
    **dict.fromkeys(_POINTWISE.split(), _pointwise),
    **dict.fromkeys(_BINARY.split(), _binary),
    **dict.fromkeys(_SPATIAL.split(), _spatial),
    **dict.fromkeys(_REDUCE.split(), _reduce),
    **dict.fromkeys(_ALONG.split(), _along),
    **dict.fromkeys(_RESHAPE.split(), _reshape),
    **dict.fromkeys(_PERMUTE.split(), _permute),
    **dict.fromkeys(("expand", "expand_as"), _expand),
    **dict.fromkeys(("cat", "concat", "concatenate"), _cat),
    **dict.fromkeys(("chunk", "split", "tensor_split"), _split),
    "pad": _pad,
    "getitem": _getitem,
}
