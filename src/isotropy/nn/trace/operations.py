"""What operations on tensors do to the meaning of their dimensions, one rule for each kind.

A rule gets an `Operation` and returns the layout of its result. Operations are known by name, so
`x.relu_()`, `torch.relu(x)` and `F.relu(x)` are one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor

from isotropy.errors import NotSupportedError
from isotropy.nn.trace.layers import mark_unsigned
from isotropy.nn.trace.names import (
    ALONG,
    BINARY,
    COMPARE,
    CONSTANT,
    LIKE,
    LINEAR,
    ODD,
    PERMUTE,
    POINTWISE,
    REDUCE,
    RESHAPE,
    SCALING,
    SELECT,
    SPATIAL,
)
from isotropy.nn.trace.operation import Operation, name_of, refusal
from isotropy.nn.trace.shapes import combine, reshaped
from isotropy.nn.trace.side_by_side import cat, split
from isotropy.nn.trace.space import Axis, Batch, Channels, Dim, Flat, Layout, One, Space, describe
from isotropy.nn.trace.tags import LAYOUT, MIXED, is_mixed, is_trained, layout_of

if TYPE_CHECKING:
    from isotropy.nn.trace.tracer import Tracer

Rule = Callable[["Operation"], Any]


def follow(tracer: Tracer, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an operation on traced tensors and give its result a layout."""
    name = name_of(func)
    if name in CONSTANT:
        return func(*args, **kwargs)
    rule = _RULES.get(name)
    before = (tracer.copies(args), tracer.copies(kwargs)) if rule is not None else None
    out = func(*args, **kwargs)
    if not _holds_tensor(out):
        return out
    if rule is None or before is None:
        raise NotSupportedError(refusal(tracer, name))
    operation = Operation(tracer, name, args, kwargs, out)
    layout = rule(operation)
    if layout is None:
        setattr(out, MIXED, True)
        return out
    if isinstance(out, tuple | list):
        for piece, own in zip(out, layout, strict=False):
            setattr(piece, LAYOUT, own)
        return out
    in_place = _shares_memory(out, args)
    tracer.record(operation.where, func, *before, out, layout, in_place)
    return out


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(isinstance(v, Tensor) for v in value)
    return isinstance(value, Tensor)


def _shares_memory(out: Tensor, args: tuple[Any, ...]) -> bool:
    """Whether the result is a view of the first argument, or that argument itself, changed."""
    first = args[0] if args else None
    if not isinstance(first, Tensor):
        return False
    return out.untyped_storage().data_ptr() == first.untyped_storage().data_ptr()


# -- one channel, one pixel at a time -------------------------------------------------------


def _odd(op: Operation) -> Layout:
    return op.layout


def _pointwise(op: Operation) -> Layout:
    if isinstance(op.argument(1, "other"), Tensor):
        return _binary(op)
    mark_unsigned(op.layout, op.where)
    return op.layout


def _binary(op: Operation) -> Layout:
    first, second = op.x, op.argument(1, "other")
    if layout_of(first) is None:
        first, second = second, first
    return _beside(op, op.layout_of(first), first.shape, second)


def _beside(op: Operation, layout: Layout, shape: Sequence[int], other: Any) -> Layout:
    """The layout of the result once one more tensor or number has come in, entry by entry."""
    theirs = layout_of(other)
    if theirs is not None:
        if op.name not in LINEAR:
            mark_unsigned(layout, op.where)
        return combine(layout, shape, theirs, other.shape, op.where)
    if is_mixed(other):
        op.refuse("mixes the samples of a batch")
    if not isinstance(other, Tensor) or other.numel() == 1:
        if op.name not in SCALING:
            mark_unsigned(layout, op.where)
        return layout
    if is_trained(other):
        op.refuse(
            f"a parameter of shape {tuple(other.shape)} acts on single channels or pixels; only "
            "torch.nn layers can be tied (a depthwise 1×1 convolution scales single channels)"
        )
    mark_unsigned(layout, op.where)
    if op.out.ndim != len(layout):
        op.refuse(f"a constant of shape {tuple(other.shape)} adds dimensions")
    op.tracer.constants.append((op.where, other, layout[len(layout) - other.ndim :]))
    return layout


def _select(op: Operation) -> Layout:
    """One of two, entry by entry: torch.where(chosen, x, y), x.masked_fill(chosen, y)."""
    given = [*op.args, *op.kwargs.values()]
    if len(given) < 3:
        op.refuse("how many entries it finds depends on the data")
    largest, *rest = sorted(given, key=_entries, reverse=True)
    layout = op.layout_of(largest)
    mark_unsigned(layout, op.where)
    for other in rest:
        layout = _beside(op, layout, largest.shape, other)
    return layout


def _entries(value: Any) -> int:
    """How many entries a tensor that is followed has; 0 for anything else."""
    return value.numel() if layout_of(value) is not None else 0


def _like(op: Operation) -> Layout:
    """One number everywhere, as zeros_like(x) has it."""
    if op.name != "zeros_like":
        mark_unsigned(op.layout, op.where)
    return op.layout


def _along(op: Operation) -> Layout:
    mark_unsigned(op.layout, op.where)
    return op.layout


# -- space ----------------------------------------------------------------------------------


def _spatial(op: Operation) -> Layout:
    layout = op.layout
    if not all(isinstance(d, Axis | One) for d in layout[2:]):
        op.refuse(f"needs (batch, channels, *grid), not {describe(layout)}")
    if isinstance(op.out, tuple):
        op.refuse("return_indices is not supported")
    if not op.name.startswith(("avg", "adaptive_avg", "interpolate", "upsample")):
        mark_unsigned(layout, op.where)
    return (*layout[:2], *(Axis(i) for i in range(len(layout) - 2)))


def _pad(op: Operation) -> Layout:
    layout = op.layout
    widths = op.argument(1, "pad", ())
    for back, (low, high) in enumerate(zip(widths[::2], widths[1::2], strict=True)):
        dim = layout[len(layout) - 1 - back]
        if (low or high) and not isinstance(dim, Axis | One):
            op.refuse(f"only the grid can be padded, not {describe((dim,))}")
    return layout


# -- shape ----------------------------------------------------------------------------------


def _reshape(op: Operation) -> Layout:
    return reshaped(op.layout, op.x.shape, op.out.shape, op.tracer.dimensions, op.where)


def _permute(op: Operation) -> Layout:
    layout = op.layout
    return tuple(layout[i] for i in _order(op, len(layout)))


def _order(op: Operation, n: int) -> list[int]:
    """Where each dimension of the result comes from."""
    order = list(range(n))
    if op.name == "permute":
        given = op.args[1:] if len(op.args) > 2 else op.argument(1, "dims", ())
        return [int(d) % n for d in given]
    if op.name in ("movedim", "moveaxis"):
        source, target = ([d] if isinstance(d, int) else list(d) for d in op.args[1:3])
        back = {t % n: s % n for s, t in zip(source, target, strict=True)}
        rest = iter(i for i in range(n) if i not in back.values())
        return [back[i] if i in back else next(rest) for i in range(n)]
    a, b = int(op.argument(1, "dim0")) % n, int(op.argument(2, "dim1")) % n
    order[a], order[b] = order[b], order[a]
    return order


def _expand(op: Operation) -> Layout:
    layout, shape = op.layout, op.x.shape
    if op.name == "expand_as":
        other = layout_of(op.args[1])
        if other is not None:
            return combine(layout, shape, other, op.args[1].shape, op.where)
    grown = [i for i in range(len(layout)) if op.out.shape[i - len(layout)] != shape[i]]
    grown = [i for i in grown if not isinstance(layout[i], Axis)]  # those keep their meaning
    present = {d.number for d in layout if isinstance(d, Axis)}
    axes = [Axis(i) for i in range(op.tracer.dimensions) if i not in present]
    if op.out.ndim != len(layout) or len(grown) > len(axes):
        op.refuse(f"what {describe(layout)} is expanded to is not understood")
    named = dict(zip(grown, axes[len(axes) - len(grown) :], strict=True))
    return tuple(named.get(i, d) for i, d in enumerate(layout))


def _getitem(op: Operation) -> Layout:
    """Parts of the grid, which are measured later; of the rest everything, and new dimensions."""
    layout = op.layout
    index = op.args[1] if isinstance(op.args[1], tuple) else (op.args[1],)
    if any(i is Ellipsis for i in index):
        at = next(k for k, i in enumerate(index) if i is Ellipsis)
        taken = sum(i is not None for i in index) - 1
        fill = (slice(None),) * (len(layout) - taken)
        index = (*index[:at], *fill, *index[at + 1 :])
    for i, size, dim in _beside_dimensions(index, op.x.shape, layout):
        if not (_takes_all(i, size) or (isinstance(i, slice) and isinstance(dim, Axis))):
            op.refuse(
                f"indexing takes out some of {describe(layout)}; only the grid can be cut, and "
                "other dimensions keep their meaning as a whole (use chunk or split for channels)"
            )
    dims = iter(layout)
    head = [(i, One() if i is None else next(dims)) for i in index]
    return (*(d for i, d in head if not isinstance(i, int)), *dims)


def _beside_dimensions(
    index: tuple[Any, ...], shape: Sequence[int], layout: Layout
) -> list[tuple[Any, int, Dim]]:
    """Every index with the dimension it is for, and its size; new dimensions have size 1."""
    known = zip(shape, layout, strict=True)
    return [(i, *((1, One()) if i is None else next(known))) for i in index]


def _takes_all(index: Any, size: int) -> bool:
    """Whether an index leaves nothing of a dimension out."""
    if isinstance(index, int):
        return size == 1
    return index is None or (isinstance(index, slice) and len(range(*index.indices(size))) == size)


# -- reductions -----------------------------------------------------------------------------


def _reduce(op: Operation) -> Layout | list[Layout] | None:
    if isinstance(op.argument(1, "other"), Tensor):
        return _binary(op)
    layout = op.layout
    mark_unsigned(layout, op.where)
    given = op.argument(2 if op.name == "norm" else 1, "dim", op.kwargs.get("axis"))
    given = range(len(layout)) if given is None else given
    gone = {int(d) % len(layout) for d in ([given] if isinstance(given, int) else given)}
    if len(gone) == len(layout):
        return None  # a number: the model looks at its data
    if any(isinstance(layout[d], Batch) for d in gone):
        op.refuse("mixes the samples of a batch")
    value = op.out[0] if isinstance(op.out, tuple) else op.out
    reduced = _reduced(layout, gone, value.ndim == len(layout), op.where)
    return [reduced, reduced] if isinstance(op.out, tuple) else reduced


def _reduced(layout: Layout, gone: set[int], keep: bool, where: str) -> Layout:
    result: list[Dim] = []
    for i, dim in enumerate(layout):
        if i not in gone:
            result.append(dim)
        elif keep:
            result.append(_one_left(dim, where))
    return tuple(result)


def _one_left(dim: Dim, where: str) -> Dim:
    """What a reduced dimension stands for if it is kept: channels become one invariant channel."""
    if isinstance(dim, Channels | Flat):
        return Channels(Space(1, where))
    return One()


_RULES: dict[str, Rule] = {
    **dict.fromkeys(ODD.split(), _odd),
    **dict.fromkeys(POINTWISE.split(), _pointwise),
    **dict.fromkeys(COMPARE.split(), _pointwise),
    **dict.fromkeys(BINARY.split(), _binary),
    **dict.fromkeys(SELECT.split(), _select),
    **dict.fromkeys(LIKE.split(), _like),
    **dict.fromkeys(SPATIAL.split(), _spatial),
    **dict.fromkeys(REDUCE.split(), _reduce),
    **dict.fromkeys(ALONG.split(), _along),
    **dict.fromkeys(RESHAPE.split(), _reshape),
    **dict.fromkeys(PERMUTE.split(), _permute),
    **dict.fromkeys(("expand", "expand_as"), _expand),
    **dict.fromkeys(("cat", "concat", "concatenate"), cat),
    **dict.fromkeys(("chunk", "split", "tensor_split"), split),
    "pad": _pad,
    "getitem": _getitem,
}
