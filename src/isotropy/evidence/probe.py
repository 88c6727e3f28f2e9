"""The networks that candidates are compared with: small, of one architecture, exactly tied.

A candidate's network has as many free parameters as the untied one, not as many channels: else a
symmetry is mistaken for a smaller capacity.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod

import torch
from torch import Tensor, nn

from isotropy.errors import InputError, IsotropyError
from isotropy.evidence.symmetry import Symmetry
from isotropy.models.grid import Grid
from isotropy.models.mlp import plain_mlp
from isotropy.nn.cost import nearest_multiple
from isotropy.nn.equivariant import equivariant

Factory = Callable[[int], nn.Module]

FULL = 16  # pixels that a picture is brought to by strided convolutions first
BINS = 8  # places along a signal that the untied network tells apart
GRID_WIDTH, ENTRIES_WIDTH = 16, 48


@dataclass(frozen=True)
class Probe:
    """Makes the plain and tied networks of one kind of data.

    Args:
        shape: of a sample: (channels, *grid) or (features,).
        outputs: numbers per sample.
        factory: the user's own model by width, instead of the built-in ones.
        width: of the untied network.
    """

    shape: tuple[int, ...]
    outputs: int
    factory: Factory | None = None
    width: int | None = None

    def plain(self, symmetry: Symmetry, width: int) -> nn.Module:
        """An untied network of a width, of the candidate's architecture."""
        if symmetry.view == "entries":
            return plain_mlp((prod(self.shape),), self.outputs, width)
        if self.factory is not None:
            return self.factory(width)
        if len(self.shape) == 2:
            return signal_network(self.shape, self.outputs, width, symmetry.shift)
        return grid_network(self.shape, self.outputs, width)

    def tied(self, symmetry: Symmetry, width: int, check: bool = False) -> nn.Module:
        """A network of a width, tied under the candidate."""
        net = self.plain(symmetry, width)
        if not symmetry.group.generators:
            return net
        return equivariant(
            net,
            symmetry.group,
            self.example(symmetry),
            symmetry.output,
            action=symmetry.inputs,
            fields=symmetry.fields,
            check=check,
        )

    def example(self, symmetry: Symmetry) -> Tensor:
        """A batch to run a network on once."""
        shape = (prod(self.shape),) if symmetry.view == "entries" else self.shape
        return torch.zeros(2, *shape)

    def first_width(self, symmetry: Symmetry) -> int:
        """The width of the untied network."""
        usual = ENTRIES_WIDTH if symmetry.view == "entries" else GRID_WIDTH
        return self.width or usual

    def matched_width(self, symmetry: Symmetry) -> int:
        """The width at which the tied network trains as many numbers as the untied one."""
        plain = replace_group(symmetry)
        with torch.random.fork_rng(devices=[]):
            target = count(self.plain(plain, self.first_width(symmetry)))
            guess = self.first_width(symmetry) * symmetry.field_size**0.5
            return nearest_multiple(
                lambda width: count(self.tied(symmetry, width)),
                target,
                symmetry.field_size,
                guess,
            )

    def equal_width(self, symmetry: Symmetry) -> int:
        """The width of the untied network, rounded up to whole fields."""
        size = symmetry.field_size
        return -(-self.first_width(symmetry) // size) * size


def count(model: nn.Module) -> int:
    """Numbers that are trained."""
    return sum(p.numel() for p in model.parameters())
