"""The networks that candidates are compared with: small, of one architecture, exactly tied.

A candidate's network has as many free parameters as the untied one, not as many channels: else a
symmetry is mistaken for a smaller capacity.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor, nn

from isotropy.evidence.symmetry import Symmetry
from isotropy.models.grid import Grid
from isotropy.models.mlp import plain_mlp
from isotropy.nn.cost import count_parameters, nearest_multiple
from isotropy.nn.equivariant import equivariant

Factory = Callable[[int], nn.Module]

FULL = 8  # pixels that a picture is brought to by strided convolutions first
BINS = 8  # places along a signal that the untied network tells apart
GRID_WIDTH, ENTRIES_WIDTH = 16, 48


@dataclass(frozen=True)
class Probe:
    """Makes the plain and tied networks of one kind of data.

    Args:
        shape: of a sample: (channels, *grid) or (features,).
        outputs: numbers per sample.
        view: "grid" for convolutional networks, "entries" for those that see a vector.
        factory: the user's own model by width, instead of the built-in ones.
        width: of the untied network; by default a small one.
    """

    shape: tuple[int, ...]
    outputs: int
    view: str = "grid"
    factory: Factory | None = None
    width: int | None = None

    @property
    def first_width(self) -> int:
        """The width of the untied network."""
        return self.width or (ENTRIES_WIDTH if self.view == "entries" else GRID_WIDTH)

    def plain(self, width: int | None = None, shift: bool = False) -> nn.Module:
        """An untied network; with `shift` of an architecture that shifts leave alone."""
        wide = width or self.first_width
        if self.factory is not None:
            return self.factory(wide)
        if self.view == "entries":
            return plain_mlp((prod(self.shape),), self.outputs, wide)
        if len(self.shape) == 2:
            return signal_network(self.shape, self.outputs, wide, shift)
        return grid_network(self.shape, self.outputs, wide)

    def tied(self, symmetry: Symmetry, width: int, check: bool = False) -> nn.Module:
        """A network of a width, tied under the candidate."""
        net = self.plain(width, symmetry.shift)
        if not symmetry.group.generators:
            return net
        return equivariant(
            net,
            symmetry.group,
            self.example,
            symmetry.output,
            action=symmetry.inputs,
            fields=symmetry.fields,
            check=check,
        )

    @property
    def example(self) -> Tensor:
        """A batch to run a network on once."""
        shape = (prod(self.shape),) if self.view == "entries" else self.shape
        return torch.zeros(2, *shape)

    def matched_width(self, symmetry: Symmetry) -> int:
        """The width at which the tied network trains as many numbers as the untied one."""
        with torch.random.fork_rng(devices=[]):
            return nearest_multiple(
                lambda width: count_parameters(self.tied(symmetry, width)),
                count_parameters(self.plain()),
                symmetry.field_size,
                self.first_width * symmetry.field_size**0.5,
            )

    def equal_width(self, symmetry: Symmetry) -> int:
        """The width of the untied network, rounded up to whole fields."""
        size = symmetry.field_size
        return -(-self.first_width // size) * size


def grid_network(shape: tuple[int, ...], outputs: int, width: int) -> nn.Sequential:
    """A small network for pictures and volumes, exact under whatever keeps their grid.

    Convolutions of stride 2 bring a large grid to at most 8 pixels first. A kernel of 4, or of 5
    where the size is odd, then meets the grid at both ends alike.

    Args:
        shape: (channels, *grid).
        outputs: numbers per sample.
        width: channels of the first half; the second has twice as many.
    """
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    channels, grid, stems = shape[0], Grid(shape[1:]), 0
    while max(grid.sizes) > FULL and grid.least > 3:
        stems += 1
        layers[f"stem{stems}"] = _halving(grid, channels, width)
        channels, grid = width, grid.halved()
    layers["block1"] = grid.conv_block(channels, width)
    if grid.least >= 4:
        layers["pool"], grid = grid.max_pool(), grid.halved()
    layers["block2"] = grid.conv_block(width, 2 * width)
    layers["head"] = grid.mean_head(2 * width, outputs)
    return nn.Sequential(layers)


def _halving(grid: Grid, inp: int, out: int) -> nn.Sequential:
    kernel = tuple(4 + size % 2 for size in grid.sizes)
    conv = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[grid.axes - 1]
    return nn.Sequential(
        OrderedDict(
            conv=conv(inp, out, kernel, stride=2, padding=1, bias=False),  # type: ignore[arg-type]
            norm=grid.norm(out),
            relu=nn.ReLU(),
        )
    )


def signal_network(shape: tuple[int, ...], outputs: int, width: int, shift: bool) -> nn.Sequential:
    """A small network for signals: circular convolutions, then the largest values.

    What tells classes of signals apart often takes up a small part of them; in a mean over all of
    a signal it drowned, and networks that shifts leave alone stayed behind for no fault of theirs.

    Args:
        shape: (channels, length).
        outputs: numbers per sample.
        width: channels of the first half; the second has twice as many.
        shift: of the whole signal, after which cyclic shifts change nothing; else of pieces of
            it, which a linear layer tells apart.
    """
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    channels = shape[0]
    for number, (out, dilation) in enumerate(((width, 1), (width, 2), (2 * width, 4)), start=1):
        reach = min(dilation, max((shape[1] - 1) // 2, 1))
        layers[f"block{number}"] = nn.Sequential(
            OrderedDict(
                conv=nn.Conv1d(
                    channels,
                    out,
                    5,
                    padding=2 * reach,
                    dilation=reach,
                    padding_mode="circular",
                    bias=False,
                ),
                norm=nn.BatchNorm1d(out),
                relu=nn.ReLU(),
            )
        )
        channels = out
    bins = 1 if shift else min(BINS, shape[1])
    layers["pool"], layers["flatten"] = nn.AdaptiveMaxPool1d(bins), nn.Flatten()
    layers["head"] = nn.Linear(bins * channels, outputs)
    return nn.Sequential(layers)
