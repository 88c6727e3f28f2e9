"""A symmetry that data may have: a group, what it does to inputs, and what to targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log

import numpy as np
from torch import Tensor

from isotropy.data.moves import rolled
from isotropy.groups.action import Action, Group
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.signed import Signed, rings
from isotropy.nn.transform import move

SHIFT = "shift"


@dataclass(frozen=True, eq=False)
class Symmetry:
    """A candidate: networks are tied under it, inputs and labels are tested for it.

    Args:
        group: what layers are tied under.
        inputs: its action on the inputs' channels, beside the turning of their grid; or, for the
            view "entries", on all entries of an input.
        meaning: what it is, in words.
        labels: its action on classes or on columns of targets; None if it leaves them alone.
        view: "grid" for convolutional networks, "entries" for those that see a vector.
        shift: all cyclic shifts of the grid are symmetries too.
        size: the logarithm of its order, where the group is not listed.
    """

    group: Group
    inputs: Action
    meaning: str
    labels: Action | None = None
    view: str = "grid"
    shift: bool = False
    size: float = 0.0

    @property
    def name(self) -> str:
        """The group's name; where labels move, with what it does to them."""
        return self.group.name if self.labels is None else f"{self.group.name} {self.labels_text}"

    @property
    def labels_text(self) -> str:
        """What the generators do to the labels, briefly: exchanges, and signs that change."""
        assert self.labels is not None
        moves = [f"{g}: {_briefly(p)}" for g, p in self.labels.moves.items() if not p.is_identity]
        return f"[{', '.join(moves)}]"

    @property
    def is_trivial(self) -> bool:
        """Whether it is no symmetry at all."""
        return not self.group.generators and not self.shift

    @property
    def log_order(self) -> float:
        """How large it is."""
        own = log(self.group.order) if isinstance(self.group, FiniteGroup) else self.size
        return own + (self.size if self.shift else 0.0)

    @property
    def elements(self) -> tuple[str, ...]:
        """The names of all elements, or of the generators where they are not listed."""
        own = self.group
        listed = own.elements if isinstance(own, FiniteGroup) else own.generators
        return (*listed, SHIFT) if self.shift else listed

    @property
    def fields(self) -> str:
        """What hidden channels carry, for `iso.equivariant`."""
        return "regular" if isinstance(self.group, FiniteGroup) else "input"

    @property
    def field_size(self) -> int:
        """Hidden widths are multiples of this."""
        return self.group.order if isinstance(self.group, FiniteGroup) else self.group.size

    @property
    def output(self) -> str | Mapping[str, Signed]:
        """What the output does, for `iso.equivariant`."""
        return "invariant" if self.labels is None else dict(self.labels.moves)

    @property
    def tested(self) -> tuple[str, ...]:
        """The elements whose moved inputs must look like the inputs, one of each inverse pair."""
        shifts = (SHIFT,) if self.shift else ()
        if not self._is_small:
            return (*self.group.generators, *shifts)
        assert isinstance(self.group, FiniteGroup)
        known: list[int] = [0]
        for i in range(self.group.order):
            if self.group.inverse(i) not in known:
                known.append(i)
        return (*(self.group.elements[i] for i in known[1:]), *shifts)

    @property
    def _is_small(self) -> bool:
        return isinstance(self.group, FiniteGroup) and self.view == "grid" and self.group.order <= 8

    def move(self, x: Tensor, element: str) -> Tensor:
        """A batch of inputs moved by an element; for shifts each by an amount of its own."""
        if element == SHIFT:
            amounts = np.random.default_rng(len(x)).integers(1, x.shape[-1], size=len(x))
            return rolled(x, amounts)
        if self.view == "grid":
            return move(x, self.inputs, element)
        return self.inputs.apply(element, x.flatten(1), 1).reshape(x.shape)

    def permuting(self, labels: Action | None) -> Symmetry:
        """The same symmetry with another action on the targets."""
        moved = None if labels is None or labels.is_trivial else labels
        return replace(self, labels=moved)


def _briefly(p: Signed) -> str:
    """A signed permutation as its rings, and the coordinates whose sign changes.

    >>> _briefly(Signed(np.array([0, 2, 1]))), _briefly(Signed.read(-np.eye(1)))
    ('1↔2', '−0')
    """
    said = [
        "↔".join(map(str, ring)) if len(ring) == 2 else "→".join(map(str, [*ring, ring[0]]))
        for ring in rings(p.target)
    ]
    return " ".join([*said, *(f"−{i}" for i in np.flatnonzero(p.flips))])
