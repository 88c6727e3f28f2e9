"""Groups on the points of grids, against torch's and numpy's own turns and flips."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor

import isotropy as iso
from isotropy.groups import PermutationGroup, grid
from tests.groups.oracles import assert_action

D4 = iso.group("D4")

TURNED: dict[str, Callable[[Tensor], Tensor]] = {
    "e": lambda x: x,
    "r": lambda x: torch.rot90(x, 1, (-2, -1)),
    "r2": lambda x: torch.rot90(x, 2, (-2, -1)),
    "r3": lambda x: torch.rot90(x, 3, (-2, -1)),
    "s": lambda x: x.flip(-1),
    "sr": lambda x: torch.rot90(x, 1, (-2, -1)).flip(-1),
    "sr2": lambda x: x.flip(-2),
    "sr3": lambda x: x.transpose(-2, -1),
}


def moved(group: iso.FiniteGroup, element: str, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The last axes of x moved by the grid's action."""
    flat = x.reshape(*x.shape[: x.ndim - len(shape)], -1)
    return grid(group, shape).apply(element, flat).reshape(x.shape)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("element", D4.elements)
def test_d4_on_squares(element: str, size: int) -> None:
    """As torch.rot90, flip and transpose, on even and odd squares."""
    x = torch.arange(2 * size * size).reshape(2, size, size)
    assert torch.equal(moved(D4, element, x, (size, size)), TURNED[element](x))


@pytest.mark.parametrize("subgroup", D4.subgroups(), ids=str)
@pytest.mark.parametrize("size", [2, 3])
def test_subgroups_of_d4_on_squares(subgroup: iso.FiniteGroup, size: int) -> None:
    """Every element of every subgroup does what it does in D4."""
    x = torch.arange(size * size).reshape(size, size)
    assert_action(grid(subgroup, (size, size)))
    for element in subgroup.elements:
        assert torch.equal(moved(subgroup, element, x, (size, size)), TURNED[element](x))


@pytest.mark.parametrize("name", ["C1", "C2", "D1", "D1v", "D2"])
@pytest.mark.parametrize("shape", [(2, 3), (5, 2), (1, 4), (3, 3)])
def test_groups_without_quarter_turns(name: str, shape: tuple[int, int]) -> None:
    """Half turns and mirrors along the axes also act on oblongs."""
    group = iso.group(name)
    x = torch.arange(shape[0] * shape[1]).reshape(shape)
    for element in group.elements:
        assert torch.equal(moved(group, element, x, shape), TURNED[element](x))


@pytest.mark.parametrize("size", [1, 2, 5, 6])
@pytest.mark.parametrize(
    ("name", "reversing"),
    [("D1", {"s"}), ("C2", {"r2"}), ("D1v", set()), ("D2", {"s", "r2"}), ("C1", set())],
)
def test_signals(name: str, reversing: set[str], size: int) -> None:
    """On a signal, the last axis of a picture: mirrored left-right, untouched by up-down."""
    group = iso.group(name)
    x = torch.arange(size)
    assert_action(grid(group, (size,)))
    for element in group.elements:
        expected = x.flip(0) if element in reversing else x
        assert torch.equal(moved(group, element, x, (size,)), expected)


@pytest.mark.parametrize("element", D4.elements)
def test_more_axes_than_the_group_has(element: str) -> None:
    """The last axes are turned, the others (depth, time) left alone."""
    x = torch.arange(4 * 3 * 3).reshape(4, 3, 3)
    assert torch.equal(moved(D4, element, x, (4, 3, 3)), TURNED[element](x))


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("name", ["O", "Oh"])
def test_the_cube_on_voxels(name: str, size: int) -> None:
    """As numpy's transpose and flip: output axis a is input axis j, reversed where M[a, j] = -1."""
    group = iso.group(name)
    assert group.matrices is not None
    x = np.arange(size**3).reshape(size, size, size)
    for element, matrix in zip(group.elements, group.matrices, strict=True):
        expected = x.transpose(np.abs(matrix).argmax(axis=1))
        expected = np.flip(expected, np.flatnonzero(matrix.sum(axis=1) < 0).tolist())
        found = moved(group, element, torch.from_numpy(x), x.shape)
        assert np.array_equal(found.numpy(), expected)


@pytest.mark.parametrize(("name", "order"), [("O", 24), ("Oh", 48)])
def test_the_cube_has_all_its_symmetries(name: str, order: int) -> None:
    """All signed permutation matrices of three axes; the rotations are those of determinant 1."""
    matrices = iso.group(name).matrices
    assert matrices is not None
    assert len(matrices) == order == len(np.unique(matrices, axis=0))
    assert set(np.rint(np.linalg.det(matrices)).astype(int)) == ({1} if name == "O" else {1, -1})


def test_names_of_the_cubes_elements() -> None:
    """The letters are the axes that d, r, c are sent to, with their signs."""
    group = iso.group("Oh")
    assert group.matrices is not None
    for element, matrix in zip(group.elements[1:], group.matrices[1:], strict=True):
        letters = re.findall("-?[drc]", element)
        for axis, letter in enumerate(letters):
            image = np.zeros(3, dtype=int)
            image["drc".index(letter[-1])] = -1 if letter[0] == "-" else 1
            assert (matrix[:, axis] == image).all()


def test_a_quarter_turn_of_a_volume() -> None:
    """About the depth axis: depth stays, and rows and columns turn as in a picture."""
    x = torch.arange(27).reshape(3, 3, 3)
    assert torch.equal(moved(iso.group("O"), "dc-r", x, (3, 3, 3)), TURNED["r"](x))


def test_mirrors_of_the_cube_on_boxes() -> None:
    """The reversals of single axes act on boxes of any shape, and so does what they generate."""
    flips = iso.group("Oh").subgroup(["-drc", "d-rc", "dr-c"])
    assert flips.order == 8
    x = np.arange(24).reshape(2, 3, 4)
    for signs in product((1, -1), repeat=3):
        element = "".join("-" * (s < 0) + a for s, a in zip(signs, "drc", strict=True))
        element = "e" if element == "drc" else element
        expected = np.flip(x, [a for a in range(3) if signs[a] < 0])
        assert np.array_equal(moved(flips, element, torch.from_numpy(x), (2, 3, 4)), expected)


@pytest.mark.parametrize(
    ("group", "shape", "message"),
    [
        ("C4", (2, 3), "element r of C4 exchanges axes of different lengths: the grid 2×3 must be"),
        ("D1d", (4, 5), "element sr3 of D1d exchanges axes of different lengths: the grid 4×5"),
        ("D4", (3, 3, 2), "the grid 3×3×2 must be square"),
        ("O", (3, 3, 2), "the grid 3×3×2 must be square"),
        ("C4", (4,), "element r of C4 needs 2 axes, but there are 1"),
        ("D1a", (4,), "element sr of D1a needs 2 axes, but there are 1"),
        ("O", (4, 4), "of O needs 3 axes, but there are 2"),
        ("C8", (4, 4), "C8 does not act exactly on a pixel grid (only quarter turns and mirrors"),
        ("S3", (4, 4), "choose among the subgroups of D4, O and Oh"),
    ],
)
def test_refusals(group: str, shape: tuple[int, ...], message: str) -> None:
    """Oblongs under quarter turns, too few axes, groups that do not act on pixels."""
    with pytest.raises(iso.InputError, match=re.escape(message)):
        grid(iso.group(group), shape)


def test_permutation_groups_do_not_act_on_pixels() -> None:
    """Nor a group of which only generators are known."""
    with pytest.raises(iso.InputError, match="shuffle does not act exactly on a pixel grid"):
        grid(PermutationGroup([[1, 0]], "shuffle"), (2, 2))
