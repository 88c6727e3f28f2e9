"""Turns by small angles and shifts of pictures: tested on the inputs, reported, never tied.

Angles off 90° interpolate, and shifts push pixels out of the picture, so a moved picture would be
told by its blur or its border. Hence both sides are treated alike: one is turned by half the angle
one way, the other by as much the other way, and only the disk that no corner enters is kept; of a
shift both sides keep windows of one size, at different places.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import radians

import torch
from torch import Tensor

from isotropy.data.moves import turned


@dataclass(frozen=True)
class SmallMove:
    """A move that is reported only.

    Args:
        name: what it is called.
        note: what to say beside it.
        degrees: an angle to turn by.
        pixels: how far to shift to the right.
    """

    name: str
    note: str
    degrees: float = 0.0
    pixels: int = 0

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether pictures (channels, height, width) are large enough to see it."""
        return min(shape[1:]) >= 8

    def __call__(self, still: Tensor, moved: Tensor) -> tuple[Tensor, Tensor]:
        """Both sides as they are compared: (n, channels, height, width) each."""
        if self.pixels:
            end = still.shape[-1] - self.pixels
            return still[..., :end], moved[..., self.pixels :]
        half = self.degrees / 2
        return turned_in_disk(still, -half), turned_in_disk(moved, half)


_TURNS = "both sides interpolate; convolutions cannot be tied under it exactly"
_SHIFTS = "convolutions have it already, up to borders"

SMALL_MOVES = (
    SmallMove("turn by 15°", _TURNS, degrees=15.0),
    SmallMove("turn by 45°", _TURNS, degrees=45.0),
    SmallMove("shift by 1 pixel", _SHIFTS, pixels=1),
    SmallMove("shift by 2 pixels", _SHIFTS, pixels=2),
)


def turned_in_disk(x: Tensor, degrees: float) -> Tensor:
    """Pictures turned counter-clockwise about their centres, with nothing outside of a disk.

    Args:
        x: (n, channels, height, width).
        degrees: the angle.

    >>> turned_in_disk(torch.ones(1, 1, 5, 5), 30.0)[0, 0, 2].tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    angles = x.new_full((len(x),), radians(degrees))
    pieces = zip(torch.split(x, 256), torch.split(angles, 256), strict=True)
    return torch.cat([turned(*piece) for piece in pieces]) * disk(*x.shape[2:]).to(x)


def disk(height: int, width: int) -> Tensor:
    """1 within the largest disk about the centre, else 0."""
    rows = torch.arange(height) - (height - 1) / 2
    columns = torch.arange(width) - (width - 1) / 2
    radius = min(height, width) / 2
    return ((rows[:, None] ** 2 + columns[None] ** 2) <= radius**2).float()
