"""What the dimensions of a tensor mean: batch, channels of some space, axes of a grid.

A *space* is a set of channels that every tensor in some part of a network has in common; operations
that act on channels one by one keep it, residual additions make two spaces one, concatenation puts
them side by side. Each weight layer begins a new space. Once the spaces at the network's input and
output are bound to actions, the others are free to carry fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from isotropy.errors import NotSupportedError
from isotropy.groups.action import Action, side_by_side, trivial
from isotropy.schemes import kernel_action


class Space:
    """Channels that mean the same wherever they appear; a node of a union-find forest.

    Args:
        size: number of channels.
        maker: the layer that made them, for messages.
    """

    def __init__(self, size: int, maker: str) -> None:
        self.size = size
        self.maker = maker
        self.action: Action | None = None
        self.parts: list[Space] | None = None
        self.product: tuple[Space, tuple[int, ...]] | None = None
        self.copies: tuple[Space, int] | None = None
        self.unsigned_for: str | None = None
        self._link: Space | None = None

    def root(self) -> Space:
        """The space that stands for all those this one was unified with."""
        node = self
        while node._link is not None:
            node = node._link
        return node

    @property
    def is_free(self) -> bool:
        """Whether nothing says yet what acts on it."""
        return not (self.action or self.parts or self.product or self.copies)

    def unify(self, other: Space, where: str) -> Space:
        """Make two spaces one."""
        a, b = self.root(), other.root()
        if a is b:
            return a
        if a.size != b.size:
            raise NotSupportedError(
                f"{where}: combines {a.size} channels of {a.maker} with {b.size} of {b.maker}"
            )
        if a.is_free and not b.is_free:
            a, b = b, a
        self._settle(a, b, where)
        a.unsigned_for = a.unsigned_for or b.unsigned_for
        b._link = a
        return a

    def _settle(self, a: Space, b: Space, where: str) -> None:
        """Carry what is known of b over to a."""
        if b.is_free:
            return
        if a.parts and b.parts and [p.size for p in a.parts] == [p.size for p in b.parts]:
            for mine, theirs in zip(a.parts, b.parts, strict=True):
                mine.unify(theirs, where)
            return
        if a.action and b.action and a.action.equals(b.action):
            return
        raise NotSupportedError(
            f"{where}: combines the channels of {a.maker} and {b.maker}, which carry different "
            "actions"
        )

    def act(self, default: Callable[[Space], Action]) -> Action:
        """The action on these channels; `default` chooses it for free spaces."""
        node = self.root()
        if node.action is None:
            node.action = node._derive(default)
        return node.action

    def _derive(self, default: Callable[[Space], Action]) -> Action:
        if self.parts:
            return side_by_side([part.act(default) for part in self.parts])
        if self.product:
            base, shape = self.product
            action = base.act(default)
            return action * kernel_action(action.group, shape)
        if self.copies:
            base, times = self.copies
            action = base.act(default)
            return action * trivial(action.group, times)
        return default(self)


@dataclass(frozen=True)
class Batch:
    """Samples; nothing acts across them."""


@dataclass(frozen=True)
class One:
    """A dimension of size one that stands for any other."""


@dataclass(frozen=True)
class Channels:
    """Channels of a space."""

    space: Space


@dataclass(frozen=True)
class Axis:
    """An axis of the grid."""

    number: int


@dataclass(frozen=True)
class Flat:
    """Channels and pixels in one dimension, channel by channel."""

    space: Space
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Pixels:
    """All pixels of the grid in one dimension, row by row."""

    shape: tuple[int, ...]


Dim = Batch | One | Channels | Axis | Flat | Pixels
Layout = tuple[Dim, ...]


def action_of(dim: Dim, default: Callable[[Space], Action]) -> Action | None:
    """The action on one dimension by itself; None for batch, axes and ones."""
    if isinstance(dim, Channels):
        return dim.space.act(default)
    if isinstance(dim, Flat):
        action = dim.space.act(default)
        return action * kernel_action(action.group, dim.shape)
    return None


def describe(layout: Layout) -> str:
    """A layout in words, for messages."""
    return "(" + ", ".join(type(d).__name__.lower() for d in layout) + ")"


def grid_shape(layout: Layout, shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(positions, sizes) of the grid's axes in a tensor, in the axes' own order."""
    axes = sorted((d.number, i) for i, d in enumerate(layout) if isinstance(d, Axis))
    positions = tuple(i for _, i in axes)
    return positions, tuple(shape[i] for i in positions)


def flat_size(space: Space, shape: tuple[int, ...]) -> int:
    """Number of coordinates of a flattened feature map."""
    return space.size * prod(shape)
