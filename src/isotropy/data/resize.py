"""Pictures brought to one square size."""

from __future__ import annotations

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from isotropy.data.samples import Hash, IntArray, Samples
from isotropy.errors import InputError


class Resized(Samples):
    """Pictures cut to their central square and brought to a side, bilinear with antialiasing.

    Cutting keeps proportions, which stretching would not: a circle stays one.

    Args:
        whole: the pictures.
        side: height and width of what comes out.
    """

    costly = True

    def __init__(self, whole: Samples, side: int) -> None:
        if len(whole.shape) != 3:
            raise InputError(f"resize is for pictures, not samples of shape {whole.shape}")
        check_side(side)
        self.whole = whole
        self.side = side
        self.shape = (whole.shape[0], side, side)

    def __len__(self) -> int:
        return len(self.whole)

    def take(self, indices: IntArray) -> Float[Tensor, "batch *shape"]:
        return squared(self.whole.take(indices), self.side)

    def digest(self, into: Hash) -> None:
        self.whole.digest(into)
        into.update(f"resize {self.side}".encode())


def check_side(side: int) -> None:
    """Refuse what is no number of pixels."""
    if side < 1:
        raise InputError(f"resize must be a number of pixels, at least 1, not {side}")


def squared(x: Float[Tensor, "batch channels height width"], side: int) -> Tensor:
    """Pictures cut to their central square and brought to a side."""
    height, width = x.shape[2:]
    square = min(height, width)
    top, left = (height - square) // 2, (width - square) // 2
    x = x[..., top : top + square, left : left + square]
    return F.interpolate(x, size=(side, side), mode="bilinear", antialias=True)
