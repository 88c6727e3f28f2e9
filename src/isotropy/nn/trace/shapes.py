"""Layouts of reshaped and of broadcast tensors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from isotropy.errors import NotSupportedError
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
    describe,
    grid_shape,
)
from isotropy.schemes import kernel_action

Shape = Sequence[int]


def combine(a: Layout, a_shape: Shape, b: Layout, b_shape: Shape, where: str) -> Layout:
    """The layout of two tensors broadcast together; their channels become one space."""
    size = max(len(a), len(b))
    padding_a: Layout = (One(),) * (size - len(a))
    padding_b: Layout = (One(),) * (size - len(b))
    sizes_a = (*[1] * (size - len(a)), *a_shape)
    sizes_b = (*[1] * (size - len(b)), *b_shape)
    pairs = zip((*padding_a, *a), sizes_a, (*padding_b, *b), sizes_b, strict=True)
    return tuple(_pair(d, n, e, m, where) for d, n, e, m in pairs)


def _pair(a: Dim, n: int, b: Dim, m: int, where: str) -> Dim:
    if isinstance(a, One) or isinstance(b, One):
        return b if isinstance(a, One) else a
    if isinstance(a, Channels) and isinstance(b, Channels):
        if n == m:
            a.space.unify(b.space, where)
        return a if n >= m else b
    if isinstance(a, Flat) and isinstance(b, Flat) and a.shape == b.shape:
        a.space.unify(b.space, where)
        return a
    if type(a) is type(b) and a == b:
        return a
    raise NotSupportedError(f"{where}: combines {describe((a,))} with {describe((b,))}")


def reshaped(layout: Layout, old: Shape, new: Shape, dimensions: int, where: str) -> Layout:
    """The layout after a reshape, worked out from the sizes.

    Known are: dimensions of size one that come and go, flattening channels and grid into one,
    undoing that, and reading one dimension of a linear layer as channels and grid.
    """
    result: list[Dim] = []
    grid = grid_shape(layout, tuple(old))[1]
    for dims, sizes, targets in _blocks(layout, old, new, where):
        result += _reshape_block(dims, sizes, targets, grid, dimensions, where)
    return tuple(result)


def _blocks(
    layout: Layout, old: Shape, new: Shape, where: str
) -> list[tuple[list[Dim], list[int], list[int]]]:
    """Runs of old and new dimensions with equal products; ones of the grid are dropped."""
    kept = [
        (d, n) for d, n in zip(layout, old, strict=True) if n > 1 or isinstance(d, Batch | Channels)
    ]
    blocks: list[tuple[list[Dim], list[int], list[int]]] = []
    targets = list(new)
    while kept or targets:
        dims, sizes, taken = [], [], []
        if kept and not (targets and targets[0] == 1 and kept[0][1] != 1):
            dim, size = kept.pop(0)
            dims.append(dim)
            sizes.append(size)
        if targets:
            taken.append(targets.pop(0))
        while dims and prod(sizes) != prod(taken):
            if prod(sizes) < prod(taken) and kept:
                dim, size = kept.pop(0)
                dims.append(dim)
                sizes.append(size)
            elif targets and prod(sizes) > prod(taken):
                taken.append(targets.pop(0))
            else:
                raise NotSupportedError(f"{where}: {tuple(old)} to {tuple(new)} is not understood")
        blocks.append((dims, sizes, taken))
    return blocks


def _reshape_block(
    dims: list[Dim],
    sizes: list[int],
    targets: list[int],
    grid: Shape,
    dimensions: int,
    where: str,
) -> list[Dim]:
    if not dims:
        return [One() for _ in targets]
    if not targets:
        return []
    first = dims[0]
    if len(dims) == 1 and len(targets) == 1:
        return [first]
    if len(targets) == 1 and isinstance(first, Channels) and _whole_grid(dims[1:], grid):
        return [Flat(first.space, tuple(grid))]
    if len(targets) == 1 and isinstance(first, Channels) and isinstance(dims[-1], Pixels):
        return [Flat(first.space, dims[-1].shape)]
    if len(targets) == 1 and _whole_grid(dims, grid):
        return [Pixels(tuple(grid))]
    if len(dims) == 1 and isinstance(first, Pixels) and targets == list(first.shape):
        return [Axis(i) for i in range(len(targets))]
    if len(dims) == 1 and isinstance(first, Flat) and _opens(first, targets):
        return [Channels(first.space), *(Axis(i) for i in range(len(targets) - 1))]
    if (
        len(dims) == 1
        and isinstance(first, Channels)
        and not grid
        and len(targets) == dimensions + 1
    ):
        return _as_grid(first.space, targets, where)
    raise NotSupportedError(
        f"{where}: turns {describe(tuple(dims))} of sizes {sizes} into sizes {targets}, after "
        "which channels and pixels cannot be told apart"
    )


def _whole_grid(dims: list[Dim], grid: Shape) -> bool:
    """Whether these are all axes of the grid in order, but for those of size one."""
    return [d.number for d in dims if isinstance(d, Axis)] == [
        i for i, size in enumerate(grid) if size > 1
    ] and all(isinstance(d, Axis) for d in dims)


def _opens(flat: Flat, targets: list[int]) -> bool:
    """Whether these are its channels and its grid again (axes of size one at the end may lack)."""
    return len(targets) > 1 and targets == [flat.space.size, *flat.shape][: len(targets)]


def _as_grid(space: Space, targets: list[int], where: str) -> list[Dim]:
    """One dimension of features read as channels on a grid, as a generator's first layer does."""
    root = space.root()
    if root.is_free:
        root.product = (Space(targets[0], where), tuple(targets[1:]))
    elif root.product is None and root.action is not None:
        base = Space(targets[0], where)
        pixels = kernel_action(root.action.group, tuple(targets[1:]))
        base.action = root.action.first_factor(pixels)
        root.product = (base, tuple(targets[1:]))
    if root.product is None or [root.product[0].size, *root.product[1]] != targets:
        raise NotSupportedError(f"{where}: these features already mean something else")
    return [Channels(root.product[0]), *(Axis(i) for i in range(len(targets) - 1))]
