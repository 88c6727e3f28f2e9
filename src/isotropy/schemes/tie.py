"""How a group acts on a layer's weight and bias: on output, input and kernel at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isotropy.errors import InputError
from isotropy.groups.action import Action, Group, trivial
from isotropy.groups.grid import grid
from isotropy.groups.signed import Signed
from isotropy.schemes.partition import Partition


@dataclass(frozen=True, eq=False)
class Tie:
    """The actions that tie a linear or convolutional layer's weight.

    Args:
        out: the action on the layer's output channels.
        inp: the action on its input channels.
        kernel: the kernel's size along every axis; () for a linear layer.
        blocks: a convolution's `groups`.
        transposed: whether the weight is stored (in, out / blocks, kernel).

    >>> import isotropy as iso
    >>> from isotropy.groups import regular, trivial
    >>> d4 = iso.group("D4")
    >>> Tie(regular(d4, fields=4), trivial(d4, 3), (3, 3)).weight(d4).count  # of 32 x 3 x 3 x 3
    108
    """

    out: Action
    inp: Action
    kernel: tuple[int, ...] = ()
    blocks: int = 1
    transposed: bool = False

    def __post_init__(self) -> None:
        if min(self.kernel, default=1) < 1:
            raise InputError(f"kernel sizes must be at least 1, not {self.kernel}")
        if self.blocks < 1:
            raise InputError(f"groups must be at least 1, not {self.blocks}")
        for action, what in ((self.out, "output"), (self.inp, "input")):
            if action.size % self.blocks:
                raise InputError(
                    f"groups={self.blocks} does not divide the {action.size} {what} channels"
                )

    @property
    def group(self) -> Group:
        """The group whose fields the layer's channels carry."""
        return self.out.group

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the weight."""
        rows, columns = self._axes
        return (rows.size, columns.size // self.blocks, *self.kernel)

    @property
    def _axes(self) -> tuple[Action, Action]:
        return (self.inp, self.out) if self.transposed else (self.out, self.inp)

    def weight(self, group: Group) -> Partition:
        """The weight's partition under a subgroup."""
        rows, columns = (action.restrict(group) for action in self._axes)
        kernel = kernel_action(group, self.kernel)
        if self.blocks == 1:
            return Partition.of_pairs(rows, columns * kernel, self.shape)
        pairs = _block_pairs(rows, columns, self.blocks)
        return Partition.of_pairs(pairs, kernel, self.shape)

    def bias(self, group: Group) -> Partition:
        """The bias's partition under a subgroup."""
        return vector_partition(self.out, group)


def kernel_action(group: Group, kernel: tuple[int, ...]) -> Action:
    """The action on a kernel's pixels; a single pixel stays where it is under any group.

    >>> import isotropy as iso
    >>> kernel_action(iso.group("D1"), (1, 3)).of("s")
    (2 1 0)
    """
    if int(np.prod(kernel)) == 1:
        return trivial(group, 1)
    return grid(group, kernel)


def vector_partition(
    action: Action, group: Group, shape: tuple[int, ...] | None = None
) -> Partition:
    """The partition of a vector (or of an array of this shape) that an action moves.

    >>> import isotropy as iso
    >>> from isotropy.groups import regular
    >>> c2 = iso.group("C2")
    >>> vector_partition(regular(c2, fields=2), c2).labels.tolist()
    [0, 0, 1, 1]
    """
    own = action.restrict(group)
    return Partition.of_pairs(trivial(group, 1), own, shape or (own.size,))


def _block_pairs(rows: Action, columns: Action, blocks: int) -> Action:
    """On pairs (row, column in the row's block), for convolutions with `groups`."""
    per_row, per_column = rows.size // blocks, columns.size // blocks
    row = np.repeat(np.arange(rows.size), per_column)
    column = (row // per_row) * per_column + np.tile(np.arange(per_column), rows.size)
    moves = {}
    for g in rows.group.generators:
        r, c = rows.moves[g], columns.moves[g]
        if not np.array_equal(r.target[row] // per_row, c.target[column] // per_column):
            raise InputError(
                f"{rows.group.name} does not keep the {blocks} blocks of a convolution with "
                f"groups={blocks} together; every block must hold whole fields, or be one channel "
                "in and one out (depthwise)"
            )
        flips = r.flips[row] ^ c.flips[column]
        sign = np.where(flips, -1, 1).astype(np.int8) if flips.any() else None
        moves[g] = Signed(r.target[row] * per_column + c.target[column] % per_column, sign)
    return Action.known(rows.group, moves, row.size)
