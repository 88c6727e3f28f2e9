"""Checks of what models are made from, the same for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

from isotropy.errors import InputError
from isotropy.models.grid import Grid


def require_count(value: object, name: str, least: int = 1) -> int:
    """The argument, if it is a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InputError(f"{name} must be a whole number, at least {least}, not {value!r}")
    return int(value)


def require_shape(example_shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of one example, if it has a dimension and all are positive."""
    shape = tuple(example_shape)
    if not shape:
        raise InputError("example_shape must be (features,) or (channels, *grid), not ()")
    return tuple(require_count(size, f"example_shape {shape}: every size") for size in shape)


def require_grid(model: str, example_shape: Sequence[int], halvings: int = 0) -> tuple[int, Grid]:
    """Channels and grid of one example, if the model can halve the grid as often as it does.

    Args:
        model: its name, for messages.
        example_shape: (channels, *grid), without the batch.
        halvings: how often the grid will be halved.

    >>> require_grid("cnn", (3, 32, 32), halvings=2)
    (3, Grid(sizes=(32, 32)))
    """
    channels, *sizes = require_shape(example_shape)
    if not 1 <= len(sizes) <= 3:
        raise InputError(
            f"example_shape: {model} needs (channels, *grid) with a grid of one to three axes, "
            f"not {(channels, *sizes)}"
        )
    grid, least = Grid(tuple(sizes)), 2**halvings
    if grid.least < least:
        raise InputError(
            f"example_shape: {model} halves the grid {halvings} time(s) and needs at least "
            f"{least} pixels along every axis, not {' × '.join(map(str, sizes))}"
        )
    return channels, grid
