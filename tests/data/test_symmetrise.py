"""Symmetrised sets: what was drawn is what was done, to samples and to their targets."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage
from torch import Tensor

import isotropy as iso
from isotropy.data import ArraySamples, DataSet, Move, Splits, from_arrays, load, symmetrised
from isotropy.data.moves import ByAngle, ByGroup, ByShift, Drawn, Moved, rolled, turned
from isotropy.data.samples import frozen
from isotropy.groups.action import trivial
from tests.turns import turn

D4 = iso.group("D4")
DRAWS = np.random.default_rng(2)
PIXELS = DRAWS.integers(0, 256, size=(40, 3, 6, 6)).astype(np.uint8)
LABELS = np.arange(40) % 4


def everything(data: DataSet) -> tuple[Tensor, Tensor]:
    """All samples and targets."""
    return data.batch(np.arange(len(data)))


def pictures(task: str = "classification") -> DataSet:
    """Forty small pictures with targets for a task."""
    targets: Any = {
        "classification": LABELS,
        "regression": DRAWS.normal(size=(40, 2)),
        "dense": DRAWS.integers(0, 3, size=(40, 6, 6)),
    }[task]
    return from_arrays(PIXELS, targets)


def which_element(before: Tensor, after: Tensor, names: tuple[str, ...] = D4.elements) -> str:
    """The element of D4 that was at work, found by trying all."""
    (found,) = [name for name in names if torch.equal(turn(before, name), after)]
    return found


# --- by groups -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["C2", "C4", "D1", "D1v", "D1d", "D1a", "D2", "D2d", "D4"])
def test_every_sample_is_moved_by_an_element(name: str) -> None:
    """All of the group's elements occur, and no others."""
    data = pictures()
    moved = symmetrised(data, name, seed=1)
    before, after = everything(data)[0], everything(moved)[0]
    found = [which_element(x, y) for x, y in zip(before, after, strict=True)]
    assert set(found) == set(iso.group(name).elements)
    assert moved.targets.tolist() == data.targets.tolist()


def test_elements_are_drawn_uniformly() -> None:
    data = from_arrays(np.arange(8000 * 4).reshape(8000, 2, 2).astype(float), [0, 1] * 4000)
    x, y = everything(data)[0], everything(symmetrised(data, "D4"))[0]
    shares = [torch.all((turn(x, g) == y).flatten(1), 1).float().mean() for g in D4.elements]
    assert np.allclose(shares, 1 / 8, atol=4 * np.sqrt(1 / 8 / 8000))


def test_a_chance_is_that_of_being_moved_at_all() -> None:
    """Half of half: with D1@0.5 a quarter is mirrored."""
    data = from_arrays(np.arange(8000 * 4).reshape(8000, 2, 2).astype(float), [0, 1] * 4000)
    x, y = everything(data)[0], everything(symmetrised(data, "D1@0.5"))[0]
    assert abs((x != y).flatten(1).any(1).float().mean() - 0.25) < 4 * np.sqrt(3 / 16 / 8000)


LABEL_MOVES = {"r": [1, 2, 3, 0], "s": [0, 3, 2, 1]}


def test_labels_follow_the_elements() -> None:
    """Each sample's label is what its own element makes of it; an action of the whole group."""
    data = pictures()
    moved = symmetrised(data, "D4", labels=LABEL_MOVES)
    action = iso.groups.permuting(D4, LABEL_MOVES)
    for i, (x, y) in enumerate(zip(everything(data)[0], everything(moved)[0], strict=True)):
        element = which_element(x, y)
        assert moved.targets[i] == action.of(element).target[data.targets[i]]
    assert moved.origin["moves_labels"] == {"r": "(1 2 3 0)", "s": "(0 3 2 1)"}


def test_exchanged_classes_hold_both_kinds() -> None:
    """A planted exchange: mirrored zeros are called one, and mirrored ones zero."""
    upright = np.zeros((200, 4, 4)) + DRAWS.random((200, 1, 1))
    upright[::2, :, 0] = 5  # class 0: a bar on the left; class 1: one below
    upright[1::2, 3, :] = 5
    data = from_arrays(upright, [0, 1] * 100)
    x, y = everything(symmetrised(data, "C2", labels={"r2": [1, 0]}))
    left, right, above, below = (
        (x[:, 0].flatten(1) == 5).long() @ _bar(side) == 4 for side in range(4)
    )
    assert torch.equal(y == 0, left | above)
    assert torch.equal(y == 1, below | right)
    assert min(map(int, (left.sum(), right.sum(), above.sum(), below.sum()))) > 20


def _bar(side: int) -> Tensor:
    """Which pixels lie on the left, right, upper or lower side."""
    bar = torch.zeros(4, 4, dtype=torch.bool)
    bar[[(slice(None), 0), (slice(None), 3), (0,), (3,)][side]] = True
    return bar.flatten().to(torch.int64)


def test_columns_of_targets_turn_like_vectors() -> None:
    """A direction (down, right) as target turns with its picture."""
    data = pictures("regression")
    matrices = {g: D4.matrices[D4.index(g)] for g in ("r", "s")}  # type: ignore[index]
    moved = symmetrised(data, "D4", labels=matrices)
    for i, (x, y) in enumerate(zip(everything(data)[0], everything(moved)[0], strict=True)):
        matrix = D4.matrices[D4.index(which_element(x, y))]  # type: ignore[index]
        assert np.allclose(moved.targets[i], matrix @ data.targets[i])


def test_maps_move_with_their_pictures() -> None:
    data = pictures("dense")
    moved = symmetrised(data, "D4", labels={"s": [1, 0, 2]})
    swap = torch.tensor([1, 0, 2])
    for i, (x, y) in enumerate(zip(everything(data)[0], everything(moved)[0], strict=True)):
        element = which_element(x, y)
        expected = turn(torch.from_numpy(data.targets[i]), element)
        expected = swap[expected] if "s" in element else expected
        assert np.array_equal(moved.targets[i], expected.numpy())


def test_entries_of_vectors() -> None:
    """Groups act on vectors as they are told to, signs included."""
    X = DRAWS.normal(size=(60, 3)).astype(np.float32)
    data = from_arrays(X, [0, 1] * 30)
    cycle = symmetrised(data, "C3", action={"r": [1, 2, 0]})
    found = {
        shift
        for x, y in zip(X, everything(cycle)[0].numpy(), strict=True)
        for shift in range(3)
        if np.array_equal(np.roll(x, shift), y)
    }
    assert found == {0, 1, 2}
    negated = symmetrised(data, "C2", action={"r2": -np.eye(3, dtype=int)})
    signs = everything(negated)[0].numpy() / X
    assert np.array_equal(signs, np.repeat(signs[:, :1], 3, 1))
    assert set(signs[:, 0]) == {1, -1}


def test_signed_actions_make_room_for_signs() -> None:
    """Unsigned whole numbers that are negated do not wrap around."""
    data = from_arrays(PIXELS, LABELS, layout="nchw")
    moved = symmetrised(data, "C2", action={"r2": -np.eye(3, dtype=int)})
    assert everything(moved)[0].min() < 0
    assert moved.samples.dtype == np.float32


def test_volumes_and_signals() -> None:
    cubes = from_arrays(DRAWS.normal(size=(50, 1, 3, 3, 3)), [0, 1] * 25)
    moved = symmetrised(cubes, "Oh")
    assert torch.equal(
        everything(moved)[0].flatten(1).sort(1)[0], everything(cubes)[0].flatten(1).sort(1)[0]
    )
    signals = from_arrays(DRAWS.normal(size=(50, 9)), [0, 1] * 25, layout="nl")
    x, y = everything(signals)[0], everything(symmetrised(signals, "D1"))[0]
    mirrored = torch.all((x.flip(-1) == y).flatten(1), 1)
    assert torch.equal(torch.where(mirrored[:, None, None], x.flip(-1), x), y)
    assert 10 < mirrored.sum() < 40


# --- by angles -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 5, 8])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_quarter_turns_are_exact(size: int, mode: str) -> None:
    """The same direction as the element r, for odd and even sizes."""
    x = torch.from_numpy(DRAWS.normal(size=(4, 2, size, size)))
    angles = torch.arange(4, dtype=torch.float64) * torch.pi / 2
    found = turned(x, angles, mode)
    for turns in range(4):
        expected = torch.rot90(x[turns], turns, (1, 2))
        assert torch.allclose(found[turns], expected, atol=1e-12)


@pytest.mark.parametrize("shape", [(7, 7), (6, 9), (12, 5)])
@pytest.mark.parametrize(("mode", "order"), [("bilinear", 1), ("nearest", 0)])
def test_any_angle_is_as_by_scipy(shape: tuple[int, int], mode: str, order: int) -> None:
    """About the centre, zeros beyond the edge, on squares and oblongs."""
    x = DRAWS.normal(size=(5, 1, *shape))
    angles = DRAWS.uniform(-np.pi, np.pi, size=5)
    found = turned(torch.from_numpy(x), torch.from_numpy(angles), mode).numpy()
    centre = (np.array(shape) - 1) / 2
    for i, angle in enumerate(angles):
        cos, sin = np.cos(angle), np.sin(angle)
        back = np.array([[cos, sin], [-sin, cos]])  # rows count downwards
        expected = ndimage.affine_transform(
            x[i, 0], back, centre - back @ centre, order=order, mode="grid-constant"
        )
        assert np.allclose(found[i, 0], expected, atol=1e-9)


def test_angles_are_drawn_between_their_limits() -> None:
    """As they come back from what was drawn; by default all around."""
    data = pictures()
    for text, most in (("rotation(30)", 30.0), ("rotation", 180.0)):
        samples = Moved(data.samples, _drawn(text, data))
        angles = np.rad2deg(samples.drawn.numbers)
        assert np.abs(angles).max() <= most
        assert angles.min() < -0.7 * most
        assert angles.max() > 0.7 * most


def _drawn(text: str, data: DataSet) -> Drawn:
    from isotropy.data.symmetrise import _draw

    return _draw(Move.read(text), data, None, None, np.random.default_rng(0))


def test_whole_numbers_stay_whole() -> None:
    """So that a symmetrised set can be kept as small as it came."""
    moved = symmetrised(pictures(), "rotation, rotation")
    x = everything(moved)[0]
    assert moved.samples.dtype == np.uint8
    assert torch.equal(x, x.round())
    assert x.max() <= 255
    assert symmetrised(from_arrays(PIXELS / 255, LABELS), "rotation").samples.dtype == np.float32


def test_maps_turn_by_the_same_angles() -> None:
    """Seen on pictures that show their own map."""
    maps = np.zeros((20, 9, 9), dtype=np.int64)
    maps[:, 2:7, 2:5] = DRAWS.integers(1, 3, size=(20, 5, 3))
    data = from_arrays(maps.astype(np.float64), maps, task="dense")
    moved = symmetrised(data, "rotation(40)")
    x, y = everything(moved)
    assert set(np.unique(y)) <= {0, 1, 2}
    flat = (x[:, 0] - x[:, 0].round()).abs() < 1e-3  # where interpolation mixes nothing
    inside = flat & (x[:, 0] > 0.5)
    assert (x[:, 0].round()[inside] == y[inside]).float().mean() > 0.95


# --- by shifts -------------------------------------------------------------------------------


@given(st.lists(st.integers(-20, 20), min_size=3, max_size=3), st.integers(2, 4))
def test_rolling_is_as_by_numpy(amounts: list[int], axis: int) -> None:
    x = torch.arange(3 * 2 * 4 * 5 * 3).reshape(3, 2, 4, 5, 3)
    found = rolled(x, np.array(amounts), axis)
    for i, amount in enumerate(amounts):
        assert np.array_equal(found[i].numpy(), np.roll(x[i].numpy(), amount, axis - 1))


@pytest.mark.parametrize("shape", [(9,), (4, 5), (3, 4, 5)])
def test_shifts_along_every_axis(shape: tuple[int, ...]) -> None:
    """By as many positions as were drawn; maps of classes go along."""
    layout = {1: "nl", 2: "nhw", 3: "ndhw"}[len(shape)]
    X = DRAWS.normal(size=(30, *shape))
    data = from_arrays(X, [0, 1] * 15, layout=layout)
    shift = _drawn("shift(2)", data)
    assert set(np.unique(shift.numbers)) == {-2, -1, 0, 1, 2}
    x = Moved(data.samples, shift).take(np.arange(30))
    axes = tuple(range(len(shape)))
    for i in range(30):
        assert np.allclose(x[i, 0], np.roll(X[i], shift.numbers[i], axes).astype(np.float32))
    anywhere = _drawn("shift", data).numbers
    assert all(set(np.unique(anywhere[:, a])) == set(range(n)) for a, n in enumerate(shape))
    maps = torch.from_numpy((X > 0).astype(np.int64))
    moved = shift.move_maps(maps, np.arange(30))
    assert torch.equal(moved, (x[:, 0] > 0).long())


# --- drawn once ------------------------------------------------------------------------------

TEXTS = ["C4", "D4@0.5", "rotation", "shift(1)", "D1, rotation(20)@0.5, shift"]


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_seed_draws_the_same(text: str) -> None:
    data = pictures()
    first, again, other = (symmetrised(data, text, seed=s) for s in (4, 4, 5))
    assert first.fingerprint() == again.fingerprint() != other.fingerprint()
    assert torch.equal(everything(first)[0], everything(first)[0])


@pytest.mark.parametrize("text", TEXTS)
def test_kept_and_asked_for_are_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too large for memory is moved when it is asked for, in whatever order."""
    data = pictures()
    kept = symmetrised(data, text)
    monkeypatch.setattr("isotropy.data.symmetrise.frozen", lambda samples: samples)
    asked = symmetrised(data, text)
    assert isinstance(kept.samples, ArraySamples)
    assert isinstance(asked.samples, Moved)
    assert asked.samples.costly
    assert asked.samples.dtype == kept.samples.dtype
    order = DRAWS.permutation(40)
    assert torch.equal(kept.batch(order)[0], asked.batch(order)[0])
    assert torch.equal(kept.subset(order).batch([3])[0], asked.subset(order).batch([3])[0])


def test_fingerprints_of_what_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other draws and other groups are other data, also before they are made."""
    monkeypatch.setattr("isotropy.data.symmetrise.frozen", lambda samples: samples)
    asked = [("C4", 0), ("C4", 1), ("D2", 0), ("D2d", 0), ("rotation", 0), ("shift", 0)]
    found = [symmetrised(pictures(), text, seed=seed).fingerprint() for text, seed in asked]
    assert len(set(found)) == len(asked)


def test_freezing_stops_at_its_limit() -> None:
    samples = Moved(pictures().samples, ByShift(np.zeros((40, 2), dtype=np.int64)))
    assert isinstance(frozen(samples, 40 * 3 * 36), ArraySamples)
    assert frozen(samples, 40 * 3 * 36 - 1) is samples


def test_parts_get_draws_of_their_own() -> None:
    """Training data are the same with test data or without; test data are moved otherwise."""
    data = pictures()
    whole = symmetrised(Splits(data, data, data), "C4")
    prints = [part.fingerprint() for part in whole.parts()]
    assert len(set(prints)) == 3
    assert symmetrised(data, "C4").fingerprint() == prints[0]
    assert symmetrised(Splits(data, validation=data), "C4").test is None


def test_groups_are_moves() -> None:
    """By name, as themselves, and as moves; also groups without a name."""
    data = pictures()
    found = [symmetrised(data, move) for move in ("C4", iso.group("C4"), [Move(iso.group("C4"))])]
    assert len({moved.fingerprint() for moved in found}) == 1
    own = D4.subgroup(["s"], "mine")
    assert symmetrised(data, own).name == "data by mine"


def test_moves_in_turn() -> None:
    """Several moves are made one after the other, each with draws of its own."""
    data = pictures()
    both = symmetrised(data, ["D1", Move("shift", 1.0)], seed=2)
    first = symmetrised(data, "D1", seed=2)
    x, y = everything(first)[0], everything(both)[0]
    for before, after in zip(x, y, strict=True):
        assert any(
            torch.equal(before.roll((a, b), (1, 2)), after) for a in (-1, 0, 1) for b in (-1, 0, 1)
        )


def test_it_is_said_what_was_done() -> None:
    found = symmetrised(load("digits"), "C4, shift(2)@0.5", seed=7).train
    assert found.name == "digits by C4, shift(2)@0.5"
    assert found.origin["moves"] == "C4, shift(2)@0.5"
    assert found.origin["note"] == ("every sample was moved at random by C4, shift(2)@0.5, seed 7")
    again = symmetrised(found, "D1").origin["note"]
    assert again.endswith("seed 7; every sample was moved at random by D1, seed 0")


# --- how moves are written -------------------------------------------------------------------


@given(
    st.sampled_from(["C4", "D1v", "Oh", "rotation", "shift"]),
    st.none() | st.integers(1, 90).map(float),
    st.sampled_from([1.0, 0.5, 0.125]),
)
def test_written_and_read(by: str, amount: float | None, chance: float) -> None:
    move = Move(by, amount if by in ("rotation", "shift") else None, chance)
    assert Move.read(str(move)) == move
    assert Move.read(f"  {str(move).replace('(', ' ( ').replace('@', ' @ ')} ") == move


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ("C5x", "unknown group 'C5x'"),
        ("", "moves: '' is none; write a group, rotation or shift"),
        ("C4,,D1", "moves: '' is none"),
        ("rotation(thirty)", "moves: 'rotation(thirty)' is none"),
        ("C4@often", "moves: 'C4@often' is none"),
        ("4C", "moves: '4C' is none"),
        ("C4(2)", "moves: C4 takes no amount"),
        ("C4@0", "chance must be above 0 and at most 1, not 0.0"),
        ("C4@1.5", "chance must be above 0 and at most 1, not 1.5"),
        ("rotation(0)", "amount must be positive, not 0.0"),
        ("rotation(nan)", "amount must be positive, not nan"),
        ("shift(1.5)", "amount of a shift must be a whole number, not 1.5"),
        ([], "moves: there is none"),
        ("C8", "C8 does not act exactly on a pixel grid"),
        ("S3", "S3 does not act exactly on a pixel grid"),
    ],
)
def test_moves_that_are_none(moves: Any, message: str) -> None:
    with pytest.raises(iso.InputError, match=re.escape(message)):
        symmetrised(pictures(), moves)


OBLONG = from_arrays(np.random.default_rng(0).random((8, 4, 6)), [0, 1] * 4)
VECTORS = from_arrays(np.random.default_rng(0).random((8, 4)), [0, 1] * 4)
CASES: list[tuple[Callable[[], object], str]] = [
    (lambda: symmetrised(OBLONG, "C4"), "exchanges axes of different lengths"),
    (lambda: symmetrised(VECTORS, "rotation"), "rotation is of pictures, but a sample is a vector"),
    (lambda: symmetrised(VECTORS, "shift"), "shift is along the axes of a grid"),
    (lambda: symmetrised(VECTORS, "C4"), "action: say how the group permutes the entries"),
    (lambda: symmetrised(OBLONG, "shift", labels={"s": [1, 0]}), "give one group among the moves"),
    (lambda: symmetrised(OBLONG, "D1, C2", labels={"s": [1, 0]}), "give one group among the moves"),
    (lambda: symmetrised(OBLONG, "D1", labels={"s": [1, 0, 2]}), "must all have one size"),
    (
        lambda: symmetrised(OBLONG, "D1", labels={"s": -np.eye(2, dtype=int)}),
        "classes have no signs",
    ),
    (lambda: symmetrised(pictures(), "C2", labels={"r2": [1, 2, 3, 0]}), "are no action of C2"),
    (lambda: symmetrised(pictures(), "C2", labels={"q": [1, 0, 2, 3]}), "q"),
]


@pytest.mark.parametrize(("call", "message"), CASES)
def test_refusals(call: Callable[[], object], message: str) -> None:
    with pytest.raises(iso.InputError, match=message):
        call()


def test_a_drawn_move_says_what_it_is() -> None:
    """Of two groups with the same numbers each has its own meaning."""
    numbers = np.zeros(4, dtype=np.int64)
    said = [ByGroup(numbers, trivial(iso.group(name), 1)).meaning for name in ("C4", "D2", "D2d")]
    said += [ByAngle(numbers * 1.0).meaning, ByShift(numbers).meaning]
    assert len(set(said)) == 5
