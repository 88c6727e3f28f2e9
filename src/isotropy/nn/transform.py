"""Move a tensor by a group element, given what its dimensions mean."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from isotropy.groups.action import Action, Group
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.grid import axis_matrix
from isotropy.nn.trace import Axis, Layout, Pixels, Space, action_of, grid_shape
from isotropy.schemes import kernel_action


def turn_grid(x: Tensor, group: Group, element: str, positions: tuple[int, ...]) -> Tensor:
    """The tensor with its grid axes (given by position) turned and mirrored."""
    if not positions or not isinstance(group, FiniteGroup) or group.matrices is None:
        return x
    matrix = axis_matrix(group, element, len(positions))
    order = list(range(x.ndim))
    flips = []
    for axis, row in enumerate(matrix):
        source = int(abs(row).argmax())
        order[positions[axis]] = positions[source]
        if row[source] < 0:
            flips.append(positions[axis])
    turned = x.permute(order)
    return (turned.flip(flips) if flips else turned).contiguous()


def move(x: Tensor, action: Action, element: str) -> Tensor:
    """A batch moved: its second dimension by the action, its grid (if any) in space."""
    if x.ndim > 1:
        x = action.apply(element, x, 1)
    return turn_grid(x, action.group, element, tuple(range(2, x.ndim)))


def transform(
    x: Tensor,
    layout: Layout,
    group: Group,
    element: str,
    default: Callable[[Space], Action],
    dimensions: int,
) -> Tensor | None:
    """The tensor moved by a group element; None where some axis of the grid is gone."""
    positions, _ = grid_shape(layout, tuple(x.shape))
    missing = {d.number for d in layout if isinstance(d, Axis)} != set(range(dimensions))
    if positions and missing:
        return None
    for i, dim in enumerate(layout):
        if isinstance(dim, Pixels):
            x = kernel_action(group, dim.shape).apply(element, x, i)
            continue
        action = action_of(dim, default)
        if action is not None:
            x = action.restrict(group).apply(element, x, i)
    return turn_grid(x, group, element, positions)


def relative(value: Tensor, expected: Tensor) -> float:
    """‖value - expected‖ / ‖expected‖ in float64; not a number counts as infinite."""
    error = torch.linalg.vector_norm(value.double() - expected.double())
    size = torch.linalg.vector_norm(expected.double())
    ratio = float(error / size) if float(size) > 0 else float(error)
    return ratio if ratio == ratio else float("inf")
