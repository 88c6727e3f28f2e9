"""What D4 does to pictures and fields, written down a second time without isotropy.

Tests hold isotropy against these few lines: an element is turned by `torch.rot90` and `flip`, and
products are read off from a picture without symmetry.
"""

from __future__ import annotations

import torch
from torch import Tensor

ELEMENTS = ("e", "r", "r2", "r3", "s", "sr", "sr2", "sr3")
SUBGROUPS = {
    "C1": ("e",),
    "C2": ("e", "r2"),
    "C4": ("e", "r", "r2", "r3"),
    "D1": ("e", "s"),
    "D1v": ("e", "sr2"),
    "D1d": ("e", "sr3"),
    "D1a": ("e", "sr"),
    "D2": ("e", "r2", "s", "sr2"),
    "D2d": ("e", "r2", "sr", "sr3"),
    "D4": ELEMENTS,
}


def split(element: str) -> tuple[bool, int]:
    """Whether an element mirrors left and right, and how many quarter turns it makes before."""
    mirrors, _, turns = element.partition("r")
    return mirrors == "s", (int(turns or 1) if "r" in element else 0)


def turn(x: Tensor, element: str) -> Tensor:
    """A picture (the last two axes) turned counter-clockwise, then mirrored if it must be."""
    mirrors, quarters = split(element)
    turned = torch.rot90(x, quarters, (-2, -1))
    return turned.flip(-1) if mirrors else turned


def move(element: str, offset: tuple[int, int]) -> tuple[int, int]:
    """Where (rows down, columns right) from the centre goes to."""
    mirrors, quarters = split(element)
    row, column = offset
    for _ in range(quarters):
        row, column = -column, row
    return (row, -column) if mirrors else (row, column)


_LOPSIDED = torch.arange(9).view(3, 3)
_NAMES = {tuple(turn(_LOPSIDED, g).flatten().tolist()): g for g in ELEMENTS}


def times(g: str, h: str) -> str:
    """The element that does h, then g."""
    return _NAMES[tuple(turn(turn(_LOPSIDED, h), g).flatten().tolist())]


def inverse(g: str) -> str:
    """The element that undoes g."""
    return next(h for h in ELEMENTS if times(g, h) == "e")


def turn_fields(x: Tensor, element: str, elements: tuple[str, ...] = ELEMENTS) -> Tensor:
    """Regular fields moved: the picture of h, turned, becomes that of g h."""
    fields = x.unflatten(1, (-1, len(elements)))
    order = [elements.index(times(inverse(element), h)) for h in elements]
    return turn(fields[:, :, order], element).flatten(1, 2)


def pixel_permutation(element: str, size: int) -> list[int]:
    """The image of every pixel of a square picture, as a list of numbers row by row."""
    numbers = torch.arange(size * size).view(size, size)
    return turn(numbers, element).flatten().argsort().tolist()


def right_cosets(subgroup: tuple[str, ...], group: tuple[str, ...]) -> tuple[str, ...]:
    """R, one r for every coset G'r of a subgroup G' of G, the neutral element among them."""
    found: list[str] = []
    covered: set[str] = set()
    for r in group:
        if r not in covered:
            found.append(r)
            covered |= {times(h, r) for h in subgroup}
    return tuple(found)


def distance(a: Tensor, b: Tensor) -> float:
    """The largest difference, beside the largest entry."""
    assert a.shape == b.shape
    a, b = a.detach(), b.detach()
    return float((a - b).abs().max() / b.abs().max().clamp(min=1e-300))
