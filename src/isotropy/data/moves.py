"""Ways to move samples at random, drawn for every sample once: by a group, by angles, by shifts.

What was drawn is kept, not what came of it: samples are moved when they are asked for, the same
way each time, so they may be pictures in files that are never all decoded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from isotropy.data.samples import Hash, IntArray, Samples
from isotropy.groups.action import Action
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.signed import Signed
from isotropy.nn.transform import turn_grid


class Drawn(ABC):
    """What was drawn for every sample.

    Args:
        numbers: one number, or one for every axis, for each sample.
    """

    mixes: bool = False
    """Whether values are interpolated, and not only moved."""

    negates: bool = False
    """Whether values may change their sign."""

    def __init__(self, numbers: NDArray[Any]) -> None:
        self.numbers = numbers

    @property
    def meaning(self) -> str:
        """What the numbers stand for, as far as it is not the same for all of a class."""
        return type(self).__name__

    @abstractmethod
    def move(self, x: Tensor, which: IntArray) -> Tensor:
        """Samples moved, each as was drawn for its number."""

    @abstractmethod
    def move_maps(self, maps: Tensor, which: IntArray) -> Tensor:
        """The same for maps of class numbers, of shape (batch, *grid)."""

    def move_targets(self, y: Tensor, which: IntArray) -> Tensor:  # noqa: ARG002
        """The same for class numbers or columns of numbers; they stay, if nothing else is said."""
        return y


class ByGroup(Drawn):
    """Every sample by an element of a group.

    Args:
        numbers: of the elements, in the group's order.
        inputs: what the group does to channels, beside turning the grid.
        targets: what it does to labels or columns of targets, if it changes them.
    """

    def __init__(self, numbers: IntArray, inputs: Action, targets: Action | None = None) -> None:
        super().__init__(numbers)
        self.inputs = inputs
        self.targets = targets
        self.negates = inputs.is_signed

    @property
    def meaning(self) -> str:
        """Which element does what."""
        return f"{self.inputs.group} {self.inputs.moves}"

    def move(self, x: Tensor, which: IntArray) -> Tensor:
        def moved(part: Tensor, number: int) -> Tensor:
            return self._turned(self._element(number, self.inputs).apply(part, 1), number, 2)

        return self._each(x, which, moved)

    def move_maps(self, maps: Tensor, which: IntArray) -> Tensor:
        return self._each(maps, which, lambda part, number: self._turned(part, number, 1))

    def move_targets(self, y: Tensor, which: IntArray) -> Tensor:
        targets = self.targets
        if targets is None:
            return y

        def moved(part: Tensor, number: int) -> Tensor:
            element = self._element(number, targets)
            if part.is_floating_point():
                return element.apply(part, 1)
            return torch.from_numpy(element.target).to(part.device)[part]

        return self._each(y, which, moved)

    def _element(self, number: int, action: Action) -> Signed:
        """What an element does to channels, entries, labels or columns."""
        return action.of(self._name(number))

    def _turned(self, x: Tensor, number: int, first: int) -> Tensor:
        """The grid as an element turns it; its axes are all dimensions from the given one on."""
        return turn_grid(x, self.inputs.group, self._name(number), tuple(range(first, x.ndim)))

    def _name(self, number: int) -> str:
        group = self.inputs.group
        assert isinstance(group, FiniteGroup)
        return group.elements[number]

    def _each(self, x: Tensor, which: IntArray, change: Callable[[Tensor, int], Tensor]) -> Tensor:
        """The samples of every number but 0, which moves nothing, changed as it says."""
        x, drawn = x.clone(), self.numbers[which]
        for number in np.unique(drawn[drawn > 0]):
            chosen = torch.from_numpy(np.flatnonzero(drawn == number)).to(x.device)
            x[chosen] = change(x[chosen], int(number))
        return x


class ByProduct(ByGroup):
    """Every sample by a product of generators, for groups too large to list; no grid turns.

    The numbers are seeds of the products; 0 moves nothing.
    """

    def _element(self, number: int, action: Action) -> Signed:
        return random_product(action, np.random.default_rng(number))

    def _turned(self, x: Tensor, number: int, first: int) -> Tensor:  # noqa: ARG002
        return x


def random_product(action: Action, draws: np.random.Generator) -> Signed:
    """A product of the generators and their inverses in random order, many times over.

    The same draws give the same element, whatever the group acts on.
    """
    moves = [action.of(g) for g in action.group.generators]
    moves += [p.inverse() for p in moves]
    element = Signed.identity(action.size)
    for _ in range(4):
        for number in draws.permutation(len(moves)):
            if draws.random() < 0.5:
                element = moves[number] @ element
    return element


class ByAngle(Drawn):
    """Every picture turned about its centre by an angle in radians, counter-clockwise as seen."""

    mixes = True

    def move(self, x: Tensor, which: IntArray) -> Tensor:
        return turned(x, torch.from_numpy(self.numbers[which]))

    def move_maps(self, maps: Tensor, which: IntArray) -> Tensor:
        angles = torch.from_numpy(self.numbers[which])
        return turned(maps[:, None].double(), angles, "nearest")[:, 0].to(maps.dtype)


class ByShift(Drawn):
    """Every sample shifted along the axes of its grid; what leaves at one end enters at the other.

    Cyclic, since nothing is lost, no value has to be invented, and shifts are a group so.
    """

    def move(self, x: Tensor, which: IntArray) -> Tensor:
        for axis, amounts in enumerate(self.numbers[which].T, start=2):
            x = rolled(x, amounts, axis)
        return x

    def move_maps(self, maps: Tensor, which: IntArray) -> Tensor:
        return self.move(maps[:, None], which)[:, 0]


def turned(
    x: Float[Tensor, "batch channels height width"],
    radians: Float[Tensor, " batch"],
    mode: str = "bilinear",
) -> Float[Tensor, "batch channels height width"]:
    """Pictures turned about their centres, counter-clockwise; what comes from beyond the edge is 0.

    Args:
        x: the pictures.
        radians: the angle for each of them.
        mode: "bilinear", or "nearest" for maps of class numbers.

    >>> quarter = torch.tensor([torch.pi / 2])
    >>> x = torch.arange(9.0).reshape(1, 1, 3, 3)
    >>> torch.allclose(turned(x, quarter), torch.rot90(x, 1, (2, 3)), atol=1e-5)
    True
    """
    height, width = x.shape[2:]
    cos, sin = torch.cos(radians), torch.sin(radians)
    # where each pixel of the result comes from; torch's coordinates run from -1 to 1 on both axes,
    # x to the right and y downwards
    from_x = torch.stack([cos, -sin * height / width, torch.zeros_like(cos)], -1)
    from_y = torch.stack([sin * width / height, cos, torch.zeros_like(cos)], -1)
    back = torch.stack([from_x, from_y], 1).to(x.dtype)
    places = F.affine_grid(back, list(x.shape), align_corners=False)
    return F.grid_sample(x, places, mode=mode, align_corners=False)


def rolled(x: Tensor, amounts: NDArray[np.int64], axis: int = -1) -> Tensor:
    """Every sample shifted cyclically along an axis by its own amount.

    >>> rolled(torch.arange(6).reshape(2, 1, 3), np.array([0, 1])).tolist()
    [[[0, 1, 2]], [[5, 3, 4]]]
    """
    length = x.shape[axis]
    places = (np.arange(length) - amounts[:, None]) % length
    shape = [len(x), *[1] * (x.ndim - 1)]
    shape[axis] = length
    return x.gather(axis, torch.from_numpy(places).to(x.device).view(shape).expand(x.shape))


class Moved(Samples):
    """Samples that are moved when they are asked for, always the same way.

    Args:
        whole: the samples.
        drawn: how each of them is moved.
    """

    costly = True

    def __init__(self, whole: Samples, drawn: Drawn) -> None:
        self.whole = whole
        self.drawn = drawn
        self.shape = whole.shape
        self.rounds = drawn.mixes and whole.dtype.kind in "bui"
        keeps = self.rounds or not (drawn.mixes or drawn.negates)
        self.dtype = whole.dtype if keeps else np.dtype(np.float32)

    def __len__(self) -> int:
        return len(self.whole)

    def take(self, indices: IntArray) -> Float[Tensor, "batch *shape"]:
        x = self.drawn.move(self.whole.take(indices), indices)
        return x.round_() if self.rounds else x

    def digest(self, into: Hash) -> None:
        self.whole.digest(into)
        into.update(self.drawn.meaning.encode())
        into.update(np.ascontiguousarray(self.drawn.numbers).data)
