"""Channels put side by side, and taken apart again."""

from __future__ import annotations

from isotropy.groups.action import Action
from isotropy.nn.trace.operation import Operation
from isotropy.nn.trace.space import Channels, Flat, Layout, One, Space, describe


def cat(op: Operation) -> Layout:
    """The channels of several tensors, one after another."""
    tensors = list(op.args[0] if op.args else op.kwargs["tensors"])
    layouts = [op.layout_of(t) for t in tensors]
    first = layouts[0]
    dim = int(op.argument(1, "dim", 0)) % len(first)
    pieces = [_piece(op, layout, dim) for layout in layouts]
    joined = Space(int(op.out.shape[dim]), op.where)
    joined.parts = [p.space for p in pieces]
    return (*first[:dim], Channels(joined), *first[dim + 1 :])


def _piece(op: Operation, layout: Layout, dim: int) -> Channels:
    """The channels that a tensor adds; without any, it is a channel itself (unsqueezed, say)."""
    piece = layout[dim]
    if isinstance(piece, One) and not any(isinstance(d, Channels | Flat) for d in layout):
        return Channels(Space(1, op.where))
    if not isinstance(piece, Channels):
        op.refuse(f"concatenates along {describe((piece,))}; only channels can be")
    return piece


def split(op: Operation) -> list[Layout]:
    """Channels divided; the parts are spaces of their own."""
    layout = op.layout
    dim = int(op.argument(2, "dim", 0)) % len(layout)
    whole = layout[dim]
    if not isinstance(whole, Channels):
        op.refuse(f"only channels can be split, not {describe((whole,))} of {describe(layout)}")
    sizes = [int(piece.shape[dim]) for piece in op.out]
    root = whole.space.root()
    if root.is_free:
        root.parts = [Space(size, op.where) for size in sizes]
    elif root.parts is None and root.action is not None:
        root.parts = _bound_parts(root.action, sizes, op.where)
    if root.parts is None or [p.size for p in root.parts] != sizes:
        op.refuse("the channels are already divided in another way")
    return [(*layout[:dim], Channels(part), *layout[dim + 1 :]) for part in root.parts]


def _bound_parts(action: Action, sizes: list[int], where: str) -> list[Space]:
    """The spaces of channels that a known action keeps apart."""
    parts, start = [], 0
    for size in sizes:
        part = Space(size, where)
        part.action = action.part(start, size)
        parts.append(part)
        start += size
    return parts
