"""Turns by any angle and shifts of pictures, both sides treated alike."""

from __future__ import annotations

import pytest
import torch

from isotropy.evidence.small_moves import SMALL_MOVES, SmallMove, disk, turned_in_disk

TURNS = [move for move in SMALL_MOVES if move.degrees]
SHIFTS = [move for move in SMALL_MOVES if move.pixels]


@pytest.mark.parametrize("size", [5, 8, 9, 16])
@pytest.mark.parametrize("quarters", [1, 2, 3, -1])
def test_quarter_turns_are_those_of_the_grid_inside_the_disk(size: int, quarters: int) -> None:
    x = torch.randn(3, 2, size, size, dtype=torch.float64)
    expected = torch.rot90(x, quarters, (2, 3)) * disk(size, size)
    torch.testing.assert_close(turned_in_disk(x, 90.0 * quarters), expected, atol=1e-6, rtol=0)


def smooth(height: int, width: int) -> torch.Tensor:
    """A broad bump beside the centre."""
    rows = (torch.arange(height) - height / 2 + 0.5)[:, None] - 3
    columns = (torch.arange(width) - width / 2 + 0.5)[None] - 1
    return torch.exp(-(rows**2 + columns**2) / 40)[None, None]


@pytest.mark.parametrize("shape", [(24, 24), (24, 30), (31, 25)], ids=str)
def test_half_the_angle_twice_is_the_whole(shape: tuple[int, int]) -> None:
    x = smooth(*shape)
    inner = disk(*shape) * (smooth(*shape)[0, 0] > 0.3)
    twice, once = turned_in_disk(turned_in_disk(x, 15.0), 15.0), turned_in_disk(x, 30.0)
    assert float(((twice - once) * inner).abs().max()) < 0.02


def test_angles_are_counter_clockwise_in_pixels_on_any_grid() -> None:
    """What is to the right of the centre goes up, as far as it was to the right."""
    x = torch.zeros(1, 1, 21, 31)
    x[0, 0, 10, 15 + 6] = 1.0
    assert float(turned_in_disk(x, 90.0)[0, 0, 10 - 6, 15]) == pytest.approx(1, abs=1e-4)


def test_nothing_is_left_outside_the_disk() -> None:
    x = torch.ones(1, 1, 12, 16)
    outside = disk(12, 16) == 0
    assert float(turned_in_disk(x, 15.0)[0, 0][outside].abs().max()) == 0
    assert outside[0, 0]


@pytest.mark.parametrize("move", TURNS, ids=lambda move: move.name)
def test_sides_of_a_turn_are_each_other_turned(move: SmallMove) -> None:
    """Both are turned by half the angle, so neither is more blurred: mirrored pictures, moved
    one way, are the mirror image of pictures moved the other way."""
    x = torch.rand(4, 1, 16, 16)
    still, moved = move(x, x.flip(-1))
    torch.testing.assert_close(still.flip(-1), moved, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("move", SHIFTS, ids=lambda move: move.name)
def test_sides_of_a_shift_are_windows_of_one_size(move: SmallMove) -> None:
    x = torch.rand(4, 2, 9, 12)
    still, moved = move(x, x)
    assert still.shape == moved.shape == (4, 2, 9, 12 - move.pixels)
    torch.testing.assert_close(still[..., move.pixels :], moved[..., : -move.pixels])


@pytest.mark.parametrize(("shape", "fits"), [((1, 8, 8), True), ((1, 7, 20), False)])
def test_small_pictures_are_not_asked(shape: tuple[int, ...], fits: bool) -> None:
    assert all(move.fits(shape) is fits for move in SMALL_MOVES)
