"""Turns by small angles and shifts of pictures: tested on the inputs, reported, never tied.

Angles off 90° interpolate, and shifts push pixels out of the picture, so a moved picture would be
told by its blur or its border. Hence both sides are treated alike: one is turned by half the angle
one way, the other by as much the other way, and only the disk that no corner enters is kept; of a
shift both sides keep windows of one size, at different places.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin

import torch
from torch import Tensor
from torch.nn import functional as F


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
        return turned(still, -self.degrees / 2), turned(moved, self.degrees / 2)


_TURNS = "both sides interpolate; convolutions cannot be tied under it exactly"
_SHIFTS = "convolutions have it already, up to borders"

SMALL_MOVES = (
    SmallMove("turn by 15°", _TURNS, degrees=15),
    SmallMove("turn by 45°", _TURNS, degrees=45),
    SmallMove("shift by 1 pixel", _SHIFTS, pixels=1),
    SmallMove("shift by 2 pixels", _SHIFTS, pixels=2),
)


def turned(x: Tensor, degrees: float) -> Tensor:
    """Pictures turned counter-clockwise about their centres, with nothing outside of a disk.

    Args:
        x: (n, channels, height, width).
        degrees: the angle.

    >>> turned(torch.ones(1, 1, 5, 5), 30.0)[0, 0, 2].tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    height, width = x.shape[-2:]
    c, s = cos(radians(degrees)), sin(radians(degrees))
    # grid_sample asks where each pixel comes from, in coordinates from -1 to 1 along each axis
    matrix = x.new_tensor([[c, -s * height / width, 0], [s * width / height, c, 0]])
    grid = F.affine_grid(matrix.expand(1, 2, 3), [1, 1, height, width], align_corners=False)
    parts = [
        F.grid_sample(part, grid.expand(len(part), -1, -1, -1), align_corners=False)
        for part in torch.split(x, 256)
    ]
    return torch.cat(parts) * disk(height, width).to(x)


def disk(height: int, width: int) -> Tensor:
    """1 within the largest disk about the centre, else 0."""
    rows = torch.arange(height) - (height - 1) / 2
    columns = torch.arange(width) - (width - 1) / 2
    radius = min(height, width) / 2
    return ((rows[:, None] ** 2 + columns[None] ** 2) <= radius**2).float()
