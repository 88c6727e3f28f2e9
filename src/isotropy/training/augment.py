"""Moving every sample by a random element of a group, and its target as the group moves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from isotropy.data import DataSet
from isotropy.data.moves import ByGroup, ByProduct, ByShift, Drawn
from isotropy.data.samples import IntArray
from isotropy.errors import InputError
from isotropy.groups.action import Action, Group
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.named import as_group
from isotropy.nn.layer_groups import ActionSpec, input_action, on_this_input
from isotropy.nn.transform import move, turn_grid

FAR = 2**31  # far beyond any signal's length, so that all shifts are equally likely
PRODUCTS = 16  # elements of a group that is not listed that are drawn for every batch


@dataclass(frozen=True)
class Augmentation:
    """A group that moves samples, and what it does to their targets.

    Args:
        inputs: the action on the inputs' channels; their grid turns as the group says.
        targets: the action on labels or on columns of targets, if it changes them.
        dense: targets are maps that turn with the picture.
        shift: samples are signals, and are shifted cyclically by any amount as well.

    >>> import torch
    >>> from isotropy.data import load
    >>> data = load("digits").train
    >>> x, y = data.batch(range(100))
    >>> moved, labels = Augmentation.by("C4", data)(x, y, np.random.default_rng(0))
    >>> torch.equal(labels, y), torch.equal(moved, x), torch.equal(moved.sum((2, 3)), x.sum((2, 3)))
    (True, False, True)
    """

    inputs: Action
    targets: Action | None = None
    dense: bool = False
    shift: bool = False

    @classmethod
    def by(
        cls,
        group: Group | str,
        data: DataSet,
        action: ActionSpec | None = None,
        targets: Action | None = None,
    ) -> Augmentation:
        """What a group does to the samples of a data set."""
        own = as_group(group)
        example, _ = data.batch([0])
        own = on_this_input(own, example, action)
        if not isinstance(own, FiniteGroup):
            raise InputError(
                f"augment: the elements of {own.name} are not listed, so none is drawn"
            )
        return cls(input_action(own, example, action), targets, data.task == "dense")

    def __call__(self, x: Tensor, y: Tensor, draws: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Move every sample by an element of its own."""
        return self.moved(x, y, self.draw(len(x), draws))

    def draw(self, count: int, draws: np.random.Generator) -> IntArray:
        """A row for every sample: the number of its element, and how far it is shifted."""
        amounts = np.zeros(count, np.int64)
        elements = self._elements(count, draws)
        if self.shift:
            amounts = draws.integers(FAR, size=count)
        return np.stack([elements, amounts], 1)

    def _elements(self, count: int, draws: np.random.Generator) -> IntArray:
        """Each element as likely as any other; of groups that are not listed some products."""
        group = self.inputs.group
        if isinstance(group, FiniteGroup):
            return draws.integers(group.order, size=count)
        products = draws.integers(1, FAR, size=PRODUCTS)
        return products[draws.integers(PRODUCTS, size=count)]

    def moved(self, x: Tensor, y: Tensor, drawn: IntArray) -> tuple[Tensor, Tensor]:
        """Every sample moved as was drawn for it."""
        everyone = np.arange(len(x))
        for step in self._steps(drawn):
            x, y = step.move(x, everyone), step.move_targets(y, everyone)
            if self.dense:
                y = step.move_maps(y, everyone)
        return x, y

    def _steps(self, drawn: IntArray) -> list[Drawn]:
        listed = isinstance(self.inputs.group, FiniteGroup)
        kind = ByGroup if listed else ByProduct
        steps: list[Drawn] = [kind(drawn[:, 0], self.inputs, self.targets)]
        return [*steps, ByShift(drawn[:, 1:])] if self.shift else steps

    def average(self, outputs: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        """The mean of a function's outputs over the group, each moved back."""
        group = self.inputs.group
        assert isinstance(group, FiniteGroup)
        total: Tensor | None = None
        for i, element in enumerate(group.elements):
            back = group.elements[group.inverse(i)]
            y = outputs(move(x, self.inputs, element))
            if self.targets is not None:
                y = self.targets.apply(back, y, 1)
            y = turn_grid(y, group, back, tuple(range(2, y.ndim)))
            total = y if total is None else total + y
        assert total is not None
        return total / group.order
