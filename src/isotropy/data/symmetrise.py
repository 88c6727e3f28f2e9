"""Data sets with a symmetry that is known, because it was put there.

Every sample is moved once, at random, and stays so. Moved by a uniformly drawn element of a group
whose labels follow, data have exactly that group for a symmetry, whatever they were before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from isotropy.data.check import pieces
from isotropy.data.dataset import DataSet
from isotropy.data.moves import ByAngle, ByGroup, ByShift, Drawn, Moved
from isotropy.data.samples import frozen
from isotropy.data.splits import Splits
from isotropy.errors import InputError
from isotropy.groups.action import Action, permuting
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.named import as_group
from isotropy.groups.signed import Signed
from isotropy.nn.layer_groups import ActionSpec, input_action, on_this_input

Permutations = Mapping[str, Signed | ArrayLike]

ROTATION, SHIFT = "rotation", "shift"
WRITTEN = re.compile(r"\s*([A-Za-z]\w*)\s*(?:\(\s*([^()]*?)\s*\))?\s*(?:@\s*(\S+?))?\s*")


@dataclass(frozen=True)
class Move:
    """A way to move samples at random.

    Args:
        by: "rotation" (of pictures, by any angle), "shift" (of pictures, volumes and signals,
            cyclic), or a group, by name or itself.
        amount: for a rotation the largest angle in degrees, to both sides; for a shift the most
            positions along every axis; all angles and positions if None.
        chance: that a sample is moved at all. One that is moved by a group gets a uniformly drawn
            element, the identity among them: D1 mirrors half of the samples that it moves.

    >>> Move.read("rotation(30)@0.5")
    Move(by='rotation', amount=30.0, chance=0.5)
    >>> str(Move("D1"))
    'D1'
    """

    by: str | FiniteGroup
    amount: float | None = None
    chance: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.chance <= 1:
            raise InputError(f"chance must be above 0 and at most 1, not {self.chance}")
        if self.amount is not None and self.is_group:
            raise InputError(f"moves: {self._name} takes no amount; a group has its elements")
        if self.amount is not None and not self.amount > 0:
            raise InputError(f"amount must be positive, not {self.amount}")
        if self.by == SHIFT and self.amount is not None and self.amount % 1:
            raise InputError(f"amount of a shift must be a whole number, not {self.amount}")

    @classmethod
    def read(cls, text: str) -> Move:
        """A move as it is written: NAME, NAME(AMOUNT), NAME@CHANCE or NAME(AMOUNT)@CHANCE."""
        found = WRITTEN.fullmatch(text)
        try:
            if found is None:
                raise ValueError
            by, amount, chance = found.groups()
            return cls(by, None if amount is None else float(amount), float(chance or 1))
        except InputError:
            raise
        except ValueError:
            raise InputError(
                f"moves: {text.strip()!r} is none; write a group, rotation or shift, with an "
                "amount and a chance if you like: C4, rotation(30), shift(2)@0.5"
            ) from None

    @property
    def is_group(self) -> bool:
        """Whether samples are moved by elements of a group."""
        return self.by not in (ROTATION, SHIFT)

    @property
    def _name(self) -> str:
        return self.by if isinstance(self.by, str) else self.by.name

    def __str__(self) -> str:
        amount = "" if self.amount is None else f"({self.amount:g})"
        return f"{self._name}{amount}" + ("" if self.chance == 1 else f"@{self.chance:g}")


Written = str | FiniteGroup | Move
"""A move, or what is read as one."""


@overload
def symmetrised(
    data: DataSet,
    moves: Written | Sequence[Written],
    *,
    action: ActionSpec | None = None,
    labels: Permutations | None = None,
    seed: int = 0,
) -> DataSet: ...
@overload
def symmetrised(
    data: Splits,
    moves: Written | Sequence[Written],
    *,
    action: ActionSpec | None = None,
    labels: Permutations | None = None,
    seed: int = 0,
) -> Splits: ...
def symmetrised(
    data: DataSet | Splits,
    moves: Written | Sequence[Written],
    *,
    action: ActionSpec | None = None,
    labels: Permutations | None = None,
    seed: int = 0,
) -> DataSet | Splits:
    """The same data with every sample moved at random, once and for all.

    Maps of dense prediction move with their pictures. Class numbers and columns of numbers stay as
    they are, or are permuted as `labels` says: with {"s": [1, 0, 2]} the mirror s exchanges the
    classes 0 and 1, so both hold pictures of either kind, one upright and the other mirrored.

    Args:
        data: what to move; of `Splits` every part, each by draws of its own.
        moves: one or several, made in this order; groups, or text with commas between them.
        action: what the groups do to the entries of vectors, or to channels.
        labels: how elements of the group permute the labels, or the columns of targets; then one
            of the moves, and only one, must be by a group.
        seed: of all draws.

    >>> from isotropy.data import load
    >>> turned = symmetrised(load("digits"), "C4, shift(1)@0.5", seed=3)
    >>> turned.train.name, len(turned.train)
    ('digits by C4, shift(1)@0.5', 1797)
    """
    made = _moves(moves)
    if labels is not None and sum(move.is_group for move in made) != 1:
        raise InputError("labels say what one group does to them; give one group among the moves")
    if isinstance(data, DataSet):
        return _part(data, made, action, labels, seed, 0)
    train, test, validation = (
        part and _part(part, made, action, labels, seed, number)
        for number, part in enumerate((data.train, data.test, data.validation))
    )
    assert train is not None
    return Splits(train, test, validation)


def _moves(given: Written | Sequence[Written]) -> list[Move]:
    if isinstance(given, str):
        given = given.split(",")
    listed = [given] if isinstance(given, Move | FiniteGroup) else list(given)
    if not listed:
        raise InputError("moves: there is none")
    return [_as_move(move) for move in listed]


def _as_move(given: Written) -> Move:
    if isinstance(given, Move):
        return given
    return Move.read(given) if isinstance(given, str) else Move(given)


def _part(
    data: DataSet,
    moves: Sequence[Move],
    action: ActionSpec | None,
    labels: Permutations | None,
    seed: int,
    part: int,
) -> DataSet:
    samples, targets = data.samples, data.targets
    for number, move in enumerate(moves):
        chance = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(part, number)))
        drawn = _draw(move, data, action, labels, chance)
        samples, targets = Moved(samples, drawn), _moved_targets(targets, drawn, data.task)
    words = ", ".join(map(str, moves))
    return replace(
        data,
        samples=frozen(samples),
        targets=targets,
        name=f"{data.name} by {words}",
        origin={**data.origin, **_origin(data, words, labels, seed)},
    )


def _origin(data: DataSet, words: str, labels: Permutations | None, seed: int) -> dict[str, Any]:
    note = f"every sample was moved at random by {words}, seed {seed}"
    before = str(data.origin.get("note", ""))
    exchanged = {} if labels is None else {e: str(Signed.read(p)) for e, p in labels.items()}
    return {
        "moves": words,
        "moves_seed": seed,
        "note": f"{before}; {note}" if before else note,
        **({"moves_labels": exchanged} if exchanged else {}),
    }


# -- drawing ------------------------------------------------------------------------------------


def _draw(
    move: Move,
    data: DataSet,
    action: ActionSpec | None,
    labels: Permutations | None,
    chance: np.random.Generator,
) -> Drawn:
    count = len(data)
    moved = chance.random(count) < move.chance
    if move.by == ROTATION:
        return ByAngle(_angles(move, data, chance) * moved)
    if move.by == SHIFT:
        return ByShift(_shifts(move, data, chance) * moved[:, None])
    inputs = _inputs(move, data, action)
    assert isinstance(inputs.group, FiniteGroup)
    numbers = chance.integers(inputs.group.order, size=count) * moved
    return ByGroup(numbers, inputs, _targets(inputs.group, data, labels))


def _angles(move: Move, data: DataSet, chance: np.random.Generator) -> NDArray[np.float64]:
    if data.kind != "image":
        raise InputError(f"moves: rotation is of pictures, but a sample is a {data.kind}")
    most = 180.0 if move.amount is None else move.amount
    return np.deg2rad(chance.uniform(-most, most, size=len(data)))


def _shifts(move: Move, data: DataSet, chance: np.random.Generator) -> NDArray[np.int64]:
    grid = data.shape[1:]
    if not grid:
        raise InputError("moves: shift is along the axes of a grid, but a sample is a vector")
    if move.amount is None:
        return chance.integers(grid, size=(len(data), len(grid)))
    most = int(move.amount)
    return chance.integers(-most, most + 1, size=(len(data), len(grid)))


def _inputs(move: Move, data: DataSet, action: ActionSpec | None) -> Action:
    example = data.samples.take(np.array([0]))
    group = on_this_input(as_group(move.by), example, action)
    if not isinstance(group, FiniteGroup):
        raise InputError(f"moves: the elements of {group.name} are not listed, so none is drawn")
    return input_action(group, example, action)


def _targets(group: FiniteGroup, data: DataSet, labels: Permutations | None) -> Action | None:
    if labels is None:
        return None
    found = permuting(group, labels, "labels", data.outputs)
    if found.is_signed and data.task != "regression":
        raise InputError("labels: classes have no signs; give permutations of them")
    return found


def _moved_targets(targets: NDArray[Any], drawn: Drawn, task: str) -> NDArray[Any]:
    """All targets moved, in pieces; maps with their pictures, and what stands in them as labels."""
    moved = np.empty_like(targets)
    for start, piece in pieces(targets):
        which = np.arange(start, start + len(piece))
        y = torch.from_numpy(np.array(piece))
        if task == "dense":
            y = drawn.move_maps(y, which)
        moved[start : start + len(piece)] = drawn.move_targets(y, which).numpy()
    return moved
