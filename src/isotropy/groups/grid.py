"""How groups act on the points of grids: signals, images, volumes, and kernels on them."""

from __future__ import annotations

import numpy as np

from isotropy.errors import InputError
from isotropy.groups.action import Action, Group
from isotropy.groups.finite import FiniteGroup, IntArray
from isotropy.groups.signed import Signed


def grid(group: Group, shape: tuple[int, ...]) -> Action:
    """The action on the points of a grid, numbered row by row, about the grid's centre.

    A group whose matrices have more axes than the grid must keep the grid's axes to themselves
    (a mirror acts on a signal; a quarter turn does not); a grid with more axes than the matrices
    is turned in its last axes.

    Args:
        group: a group with matrices.
        shape: the grid's size along every axis.

    >>> import isotropy as iso
    >>> grid(iso.group("C4"), (2, 2)).of("r")
    (2 0 3 1)
    """
    if not isinstance(group, FiniteGroup) or group.matrices is None:
        raise InputError(
            f"{group.name} does not act exactly on a pixel grid (only quarter turns and mirrors "
            "do); give an action, or choose among the subgroups of D4, O and Oh"
        )
    moves = {g: _points(group, g, shape) for g in group.generators}
    return Action.known(group, moves, int(np.prod(shape)))


def axis_matrix(group: FiniteGroup, element: str, dimensions: int) -> IntArray:
    """The element's signed permutation matrix on the last `dimensions` array axes."""
    assert group.matrices is not None
    matrix = group.matrices[group.index(element)]
    own = matrix.shape[0]
    if dimensions >= own:
        full = np.eye(dimensions, dtype=np.int64)
        full[dimensions - own :, dimensions - own :] = matrix
        return full
    if matrix[: own - dimensions, own - dimensions :].any():
        raise InputError(
            f"element {element} of {group.name} needs {own} axes, but there are {dimensions}"
        )
    return np.asarray(matrix[own - dimensions :, own - dimensions :])


def moved_axes(group: Group, dimensions: int) -> frozenset[int]:
    """The axes of a grid that some element mirrors or exchanges."""
    if not isinstance(group, FiniteGroup) or group.matrices is None:
        return frozenset()
    still = np.eye(dimensions, dtype=np.int64)
    moved = [axis_matrix(group, g, dimensions) != still for g in group.generators]
    return frozenset(int(i) for m in moved for i in np.flatnonzero(m.any(axis=0)))


def _points(group: FiniteGroup, element: str, shape: tuple[int, ...]) -> Signed:
    matrix = axis_matrix(group, element, len(shape))
    sizes = np.array(shape)
    image_sizes = np.abs(matrix) @ sizes
    if not np.array_equal(image_sizes, sizes):
        raise InputError(
            f"element {element} of {group.name} exchanges axes of different lengths: the grid "
            f"{'×'.join(map(str, shape))} must be square"
        )
    # twice the coordinates about the centre: whole numbers for odd and even sizes
    points = np.indices(shape).reshape(len(shape), -1)
    centred = 2 * points - (sizes[:, None] - 1)
    moved = (matrix @ centred + (sizes[:, None] - 1)) // 2
    return Signed(np.ravel_multi_index(tuple(moved), shape).astype(np.int64))
