"""Augmentation: every sample is moved by one element, and its target by the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

import isotropy as iso
from isotropy.data import DataSet, from_arrays
from isotropy.errors import InputError
from isotropy.evidence.pictures import signal_group
from isotropy.groups import PermutationGroup
from isotropy.groups.action import natural, permuting, trivial
from isotropy.nn.transform import move, turn_grid
from isotropy.training import Augmentation, Batches
from tests.training.problems import maps, pictures, vectors

D4, C4, C2 = (iso.group(name) for name in ("D4", "C4", "C2"))
TURNS = permuting(C4, {"r": [1, 2, 3, 0]}, size=4)
COLUMNS = permuting(C4, {"r": [1, 2, 3, 0]}, "target columns", 4)


def labelled() -> DataSet:
    return pictures(64, classes=4)


def columned() -> DataSet:
    draws = np.random.default_rng(0)
    return from_arrays(draws.normal(size=(64, 1, 5, 5)), draws.normal(size=(64, 4)))


def entries() -> DataSet:
    return vectors(64)


CASES: dict[str, Callable[[], tuple[DataSet, Augmentation]]] = {
    "labels stay": lambda: (labelled(), Augmentation.by("D4", labelled())),
    "labels move": lambda: (labelled(), Augmentation.by("C4", labelled(), targets=TURNS)),
    "columns move": lambda: (columned(), Augmentation.by("C4", columned(), targets=COLUMNS)),
    "maps turn": lambda: (maps(64), Augmentation.by("D4", maps(64))),
    "maps turn, labels move": lambda: (
        maps(64),
        Augmentation.by("C4", maps(64), targets=permuting(C4, {"r": [1, 0]}, size=2)),
    ),
    "entries move": lambda: (entries(), Augmentation.by("C4", entries(), {"r": [1, 2, 3, 0]})),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[DataSet, Augmentation]:
    return CASES[request.param]()


def moved_target(augmentation: Augmentation, y: Tensor, element: str) -> Tensor:
    """One target as an element moves it, by definition."""
    if augmentation.dense:
        y = turn_grid(y[None], augmentation.inputs.group, element, (1, 2))[0]
    if augmentation.targets is None:
        return y
    if y.is_floating_point():
        return augmentation.targets.apply(element, y[None], 1)[0]
    # class c becomes the place to which the one-hot vector of c goes
    one_hot = torch.nn.functional.one_hot(y, augmentation.targets.size).double()
    return augmentation.targets.apply(element, one_hot, one_hot.ndim - 1).argmax(-1)


def test_samples_and_targets_move_by_one_element(case: tuple[DataSet, Augmentation]) -> None:
    data, augmentation = case
    x, y = data.batch(range(len(data)))
    kept = x.clone(), y.clone()
    new_x, new_y = augmentation(x, y, np.random.default_rng(0))
    seen = set()
    for before, target, after, new_target in zip(x, y, new_x, new_y, strict=True):
        elements = augmentation.inputs.test_elements
        found = [
            e for e in elements if torch.equal(move(before[None], augmentation.inputs, e)[0], after)
        ]
        assert len(found) == 1
        assert torch.equal(moved_target(augmentation, target, found[0]), new_target)
        seen.add(found[0])
    assert len(seen) == augmentation.inputs.group.order
    assert torch.equal(x, kept[0])
    assert torch.equal(y, kept[1])


def test_the_same_draws_move_the_same_way(case: tuple[DataSet, Augmentation]) -> None:
    data, augmentation = case
    x, y = data.batch(range(len(data)))
    first, again = (augmentation(x, y, np.random.default_rng(3)) for _ in range(2))
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])


# -- groups that are not listed, and shifts -----------------------------------------------------

SHUFFLES = PermutationGroup({"swap": [1, 0, 2, 3, 4], "turn": [1, 2, 3, 4, 0]}, "S5")


def drawn_over_an_epoch(data: DataSet, augmentation: Augmentation) -> tuple[Tensor, Tensor]:
    """What training sees of an epoch: samples and targets."""
    batches = Batches(data, 40, 0, torch.device("cpu"), augmentation).epoch(0)
    _, x, y = zip(*batches, strict=True)
    return torch.cat(x), torch.cat(y)


def test_groups_known_by_generators_move_by_their_products() -> None:
    """Samples that are their own targets stay so, and far more than the generators occur."""
    x = np.array([np.roll(np.arange(5.0), i) for i in range(400)])
    action = natural(SHUFFLES)
    moved, targets = drawn_over_an_epoch(from_arrays(x, x), Augmentation(action, action))
    assert torch.equal(moved, targets)
    assert torch.equal(moved.sort(1).values, torch.arange(5.0).expand(400, 5))
    assert len({tuple(row) for row in moved.tolist()}) > 60  # of 120


def test_products_keep_signs() -> None:
    flip = PermutationGroup({"flip": [[-1, 0], [0, 1]], "swap": [[0, 1], [1, 0]]}, "signed")
    x = np.array([[1.0, 2.0], [2.0, 1.0]] * 200)
    moved, _ = drawn_over_an_epoch(from_arrays(x, [0, 1] * 200), Augmentation(natural(flip)))
    assert len({tuple(row) for row in moved.tolist()}) == 8


def test_classes_follow_products() -> None:
    data = from_arrays(np.eye(5)[np.arange(400) % 5], np.arange(400) % 5)
    action = natural(SHUFFLES)
    moved, labels = drawn_over_an_epoch(data, Augmentation(action, action))
    assert torch.equal(moved.argmax(1), labels)


@pytest.mark.parametrize("group", ["C1", "reversed"])
def test_signals_are_shifted(group: str) -> None:
    """By any amount, each by its own, after they are moved by the group."""
    length = 7
    own = signal_group().subgroup(["f"]) if group == "reversed" else iso.group("C1")
    ramp = np.arange(length, dtype=np.float64)
    data = from_arrays(np.array([ramp, np.roll(ramp, 1)] * 200), [0, 1] * 200, layout="nl")
    moved, _ = drawn_over_an_epoch(data, Augmentation(trivial(own, 1), shift=True))
    ways = [ramp, ramp[::-1]][: own.order]
    expected = {tuple(np.roll(way, by)) for way in ways for by in range(length)}
    assert {tuple(row) for row in moved[:, 0].tolist()} == expected


# -- averaging ----------------------------------------------------------------------------------


def some_labels(x: Tensor) -> Tensor:
    """Four numbers for every picture, without any symmetry."""
    torch.manual_seed(0)
    return x.flatten(1) @ torch.randn(x[0].numel(), 4, dtype=x.dtype)


def some_maps(x: Tensor) -> Tensor:
    """Two maps of every picture, without any symmetry."""
    torch.manual_seed(0)
    places = torch.randn(2, *x.shape[2:], dtype=x.dtype)
    return x * places + places


@pytest.mark.parametrize(
    ("function", "augmentation"),
    [
        (some_labels, Augmentation.by("D4", labelled())),
        (some_labels, Augmentation.by("C4", labelled(), targets=TURNS)),
        (some_maps, Augmentation.by("D4", maps())),
    ],
    ids=["invariant", "labels", "maps"],
)
def test_the_average_of_any_function_is_equivariant(
    function: Callable[[Tensor], Tensor], augmentation: Augmentation
) -> None:
    x = torch.randn(3, 1, 6, 6, dtype=torch.float64)

    def averaged(value: Tensor) -> Tensor:
        return augmentation.average(function, value)

    for element in augmentation.inputs.group.elements:
        expected = averaged(x)
        if augmentation.targets is not None:
            expected = augmentation.targets.apply(element, expected, 1)
        grid = tuple(range(2, expected.ndim))
        expected = turn_grid(expected, augmentation.inputs.group, element, grid)
        torch.testing.assert_close(averaged(move(x, augmentation.inputs, element)), expected)
    assert not torch.allclose(averaged(x), function(x))


def test_an_equivariant_function_is_its_own_average() -> None:
    x = torch.randn(3, 1, 6, 6, dtype=torch.float64)
    augmentation = Augmentation.by("D4", labelled())
    torch.testing.assert_close(augmentation.average(lambda v: v.mean((2, 3)), x), x.mean((2, 3)))


# -- what does not fit --------------------------------------------------------------------------

UNFIT = [
    ("C4", lambda: from_arrays(np.random.default_rng(0).normal(size=(8, 1, 5, 6)), [0, 1] * 4)),
    ("C4", entries),
    ("nonsense", labelled),
]


@pytest.mark.parametrize(("group", "make"), UNFIT)
def test_refused(group: str, make: Callable[[], DataSet]) -> None:
    with pytest.raises(InputError):
        Augmentation.by(group, make())
