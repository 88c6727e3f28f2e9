"""Moving every sample by a random element of a group, and its target as the group moves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isotropy.data import DataSet
from isotropy.errors import InputError
from isotropy.groups.action import Action, Group
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.named import as_group
from isotropy.nn.layer_groups import ActionSpec, input_action, on_this_input
from isotropy.nn.transform import move, turn_grid


@dataclass(frozen=True)
class Augmentation:
    """A group that moves samples, and what it does to their targets.

    Args:
        inputs: the action on the inputs' channels; their grid turns as the group says.
        targets: the action on labels or on columns of targets, if it changes them.
        dense: targets are maps that turn with the picture.
    """

    inputs: Action
    targets: Action | None = None
    dense: bool = False

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

    def draw(self, count: int, draws: np.random.Generator) -> NDArray[np.int64]:
        """The numbers of so many elements, each as likely as any other."""
        return draws.integers(len(self.inputs.test_elements), size=count)

    def moved(self, x: Tensor, y: Tensor, drawn: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Every sample moved by the element that was drawn for it."""
        numbers = torch.from_numpy(drawn).to(x.device)
        x, y = x.clone(), y.clone()
        for number, element in enumerate(self.inputs.test_elements[1:], start=1):
            chosen = torch.nonzero(numbers == number).flatten()
            if len(chosen):
                x[chosen] = move(x[chosen], self.inputs, element)
                y[chosen] = self.move_targets(y[chosen], element)
        return x, y

    def move_targets(self, y: Tensor, element: str) -> Tensor:
        """Targets of samples that an element moves."""
        if self.dense:
            y = turn_grid(y, self.inputs.group, element, tuple(range(1, y.ndim)))
        if self.targets is None:
            return y
        if y.is_floating_point():
            return self.targets.apply(element, y, 1)
        labels = torch.from_numpy(self.targets.of(element).target).to(y.device)
        return labels[y]

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
