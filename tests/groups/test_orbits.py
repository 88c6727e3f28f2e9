"""Orbits, of points and of pairs, against union-find; signed ones against the dense projector."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import isotropy as iso
from isotropy.groups import (
    Action,
    FiniteGroup,
    PermutationGroup,
    Signed,
    grid,
    natural,
    orbits_of_pairs,
    pair_orbits,
    quotient,
    regular,
    trivial,
    vectors,
)
from isotropy.groups.orbits import PairOrbits
from tests.groups.oracles import in_order, on_pairs, orbits_by_union, projector

D4 = iso.group("D4")
SUBGROUPS = D4.subgroups()

Pair = tuple[NDArray[np.int64], NDArray[np.int64]]


@st.composite
def generator_sets(draw: st.DrawFn) -> tuple[list[list[int]], int]:
    """Up to four permutations of up to 24 points, many of which move only a few."""
    n = draw(st.integers(0, 24))
    generators = []
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            generators.append(list(draw(st.permutations(range(n)))))
        else:
            moved = sorted(draw(st.sets(st.integers(0, max(n - 1, 0)), max_size=min(n, 4))))
            images = dict(zip(moved, draw(st.permutations(moved)), strict=True))
            generators.append([images.get(i, i) for i in range(n)])
    return generators, n


def few_cycles(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    """A permutation that moves a few of n points only."""
    images = np.arange(n)
    moved = rng.choice(n, size=min(n, 3), replace=False)
    images[moved] = np.roll(moved, 1)
    return images


# -- points ----------------------------------------------------------------------------------


@given(generator_sets())
def test_points_against_union_find(case: tuple[list[list[int]], int]) -> None:
    """The same labels, numbered 0, 1, ... in the order in which they first appear."""
    generators, n = case
    labels = iso.orbits([np.array(g, dtype=np.int64) for g in generators], n)
    assert labels.shape == (n,)
    assert labels.tolist() == orbits_by_union(generators, n)
    assert labels.tolist() == in_order(labels.tolist())


@pytest.mark.parametrize("length", [1, 2, 127, 128, 129, 255, 256, 257, 1000])
def test_long_cycles(length: int) -> None:
    """One cycle of any length is one orbit; two cycles joined by a swap are one."""
    cycle = np.roll(np.arange(length), 1)
    assert not iso.orbits([cycle], length).any()
    two = np.concatenate([cycle, cycle + length])
    shuffle = np.random.default_rng(length).permutation(2 * length)
    two, swap = shuffle[two[np.argsort(shuffle)]], np.arange(2 * length)
    swap[shuffle[[0, length]]] = shuffle[[length, 0]]
    assert iso.orbits([two], 2 * length).tolist() == orbits_by_union([two], 2 * length)
    assert iso.orbits([two], 2 * length).max() == 1
    assert not iso.orbits([two, swap], 2 * length).any()
    assert not iso.orbits([swap, two], 2 * length).any()


@pytest.mark.parametrize("steps", [[1], [1, 2], [6], [6, 10], [6, 10, 15], [12, 18]])
def test_shifts(steps: list[int]) -> None:
    """Shifts of 60 points by several steps: as many orbits as their common divisor with 60."""
    labels = iso.orbits([np.roll(np.arange(60), step) for step in steps], 60)
    assert labels.tolist() == [i % np.gcd.reduce([60, *steps]) for i in range(60)]


def test_a_path_of_swaps() -> None:
    """Neighbours swapped in two rounds: the orbit is a path that no one generator closes."""
    n = 400
    odd, even = np.arange(n), np.arange(n)
    odd[0::2], odd[1::2] = odd[1::2].copy(), odd[0::2].copy()
    even[1:-1:2], even[2::2] = even[2::2].copy(), even[1:-1:2].copy()
    assert not iso.orbits([odd, even], n).any()
    even[[199, 200]] = [199, 200]
    assert iso.orbits([odd, even], n).tolist() == [0] * 200 + [1] * 200


@pytest.mark.parametrize("n", [0, 1, 5])
def test_no_generators(n: int) -> None:
    """Every point is its own orbit."""
    assert iso.orbits([], n).tolist() == list(range(n))
    assert iso.orbits([np.arange(n)], n).tolist() == list(range(n))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.int64])
def test_any_integers(dtype: type[np.integer]) -> None:
    """Lists and arrays of every kind of integer, of which the caller's stay as they are."""
    images = np.array([1, 0, 2], dtype=dtype)
    assert iso.orbits([images], 3).tolist() == [0, 0, 1]
    assert iso.orbits([images.tolist()], 3).tolist() == [0, 0, 1]
    assert images.tolist() == [1, 0, 2]


# -- pairs -----------------------------------------------------------------------------------


def assert_as_flat(generators: Sequence[Pair], shape: tuple[int, int]) -> None:
    """The factored computation is the flat one, and that is union-find on the pairs."""
    labels = iso.orbits(generators, shape)
    flat = [on_pairs(p, q) for p, q in generators]
    assert labels.shape == shape
    assert labels.ravel().tolist() == iso.orbits(flat, shape[0] * shape[1]).tolist()
    assert labels.ravel().tolist() == orbits_by_union(flat, shape[0] * shape[1])


@given(st.data())
def test_pairs_of_random_permutations(data: st.DataObject) -> None:
    """Whatever the generators and sizes, axes of one point and no generators among them."""
    n, m = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 7))
    pair = st.tuples(st.permutations(range(n)), st.permutations(range(m)))
    generators = data.draw(st.lists(pair, max_size=3))
    assert_as_flat([(np.array(p), np.array(q)) for p, q in generators], (n, m))


@pytest.mark.parametrize("shape", [(12, 9), (1, 12), (12, 1), (1, 1), (9, 20)])
@pytest.mark.parametrize("count", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_pairs_of_intransitive_axes(seed: int, count: int, shape: tuple[int, int]) -> None:
    """Permutations that move few points, so that both axes fall into many orbits."""
    rng = np.random.default_rng(seed)
    generators = [tuple(few_cycles(rng, n) for n in shape) for _ in range(count)]
    assert_as_flat(generators, shape)  # type: ignore[arg-type]


@pytest.mark.parametrize("fields", [(1, 1), (3, 1), (1, 3), (3, 2)])
@pytest.mark.parametrize("seed", range(4))
def test_pairs_of_repeated_fields(seed: int, fields: tuple[int, int]) -> None:
    """Copies of one small action, in blocks and scattered over the axis."""
    rng = np.random.default_rng(seed)
    blocks, scattered = [], []
    places = [rng.permutation(4 * count) for count in fields]
    for _ in range(2):
        block = [
            np.concatenate([p + 4 * c for c in range(count)])
            for p, count in zip((rng.permutation(4), rng.permutation(4)), fields, strict=True)
        ]
        blocks.append(tuple(block))
        scattered.append(tuple(t[p[np.argsort(t)]] for p, t in zip(block, places, strict=True)))
    shape = (4 * fields[0], 4 * fields[1])
    assert_as_flat(blocks, shape)  # type: ignore[arg-type]
    assert_as_flat(scattered, shape)  # type: ignore[arg-type]


def test_every_row_is_looked_at() -> None:
    """Rows turn the columns' swap (0 1) on to (k k+1); without a row in the middle two remain."""
    rows, columns, swap = np.roll(np.arange(5), -1), np.roll(np.arange(10), -1), np.arange(10)
    swap[:2] = [1, 0]
    generators = [(rows, columns), (np.arange(5), swap)]
    assert_as_flat(generators, (5, 10))
    assert not iso.orbits(generators, (5, 10)).any()


@pytest.mark.parametrize("seed", range(6))
def test_pairs_under_huge_groups(seed: int) -> None:
    """Two random permutations of each axis: nearly always all even ones, n!/2 elements."""
    rng = np.random.default_rng(seed)
    n, m = (int(k) for k in rng.integers(20, 40, size=2))
    assert_as_flat([(rng.permutation(n), rng.permutation(m)) for _ in range(2)], (n, m))
    assert_as_flat([(p, p) for p in (rng.permutation(n) for _ in range(2))], (n, n))


@pytest.mark.parametrize("names", list(product(map(str, SUBGROUPS), ["regular", "grid"])))
def test_pairs_of_fields_and_pixels(names: tuple[str, str]) -> None:
    """A tied linear layer between fields or pixels and fields."""
    group = iso.group(names[0])
    first = regular(group, 2) if names[1] == "regular" else grid(group, (3, 3))
    second = regular(group, 3)
    generators = [(first.moves[g].target, second.moves[g].target) for g in group.generators]
    assert_as_flat(generators, (first.size, second.size))


@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (4, 1), (1, 1)])
def test_pairs_without_generators(shape: tuple[int, int]) -> None:
    """Every pair is its own orbit."""
    assert iso.orbits([], shape).tolist() == np.arange(shape[0] * shape[1]).reshape(shape).tolist()


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_an_empty_axis(shape: tuple[int, int]) -> None:
    """No points, no pairs, no orbits, and no error."""
    empty = tuple(np.arange(n) for n in shape)
    for generators in ([], [empty]):
        assert iso.orbits(generators, shape).shape == shape


# -- signs -----------------------------------------------------------------------------------

FIELDS: Mapping[str, Callable[[FiniteGroup], Action]] = {
    "regular": regular,
    "trivial": lambda g: trivial(g, 2),
    "vectors": vectors,
    "quotient": lambda g: quotient(D4, iso.group("D1")).restrict(g),
    "grid": lambda g: grid(g, (3, 3)),
    "sum": lambda g: vectors(g) + trivial(g, 1) + vectors(g),
    "mixed": lambda g: grid(g, (2, 2)) * vectors(g) + regular(g),
}


def basis(found: PairOrbits) -> NDArray[np.float64]:
    """A column for every orbit: the signs of its entries, scaled to length 1."""
    labels = found.labels.ravel()
    signs = np.ones(labels.size) if found.signs is None else found.signs.ravel()
    columns = np.zeros((labels.size, found.count))
    for entry, (label, sign) in enumerate(zip(labels, signs, strict=True)):
        if label >= 0:
            columns[entry, label] = sign
    return columns / np.linalg.norm(columns, axis=0)


def assert_describes_the_commutant(first: Action, second: Action) -> None:
    """Labels, signs and zeros span exactly the weights that the projector leaves alone."""
    found = orbits_of_pairs(first, second)
    dense = projector(first, second)
    columns = basis(found)
    assert np.allclose(columns @ columns.T, dense, atol=1e-12)
    assert found.count == round(float(np.trace(dense)))
    assert_well_formed(found, dense)


def assert_well_formed(found: PairOrbits, dense: NDArray[np.float64]) -> None:
    """Zeros where forced, +1 on every orbit's first entry, numbers by first appearance."""
    labels = found.labels.ravel()
    forced = np.isclose(np.diag(dense), 0)
    assert ((labels == -1) == forced).all()
    used = labels[labels >= 0].tolist()
    assert used == in_order(used)
    assert set(used) == set(range(found.count))
    if found.signs is not None:
        signs = found.signs.ravel()
        assert ((signs == 0) == forced).all()
        assert all(signs[labels.tolist().index(k)] == 1 for k in range(found.count))
        assert (signs != 1).any()  # None when there is none to tell


@pytest.mark.parametrize("subgroup", SUBGROUPS, ids=str)
@pytest.mark.parametrize(("a", "b"), list(product(FIELDS, repeat=2)))
def test_pairs_against_the_projector(a: str, b: str, subgroup: FiniteGroup) -> None:
    """For every subgroup of D4 and all pairs of fields, sums of fields among them."""
    assert_describes_the_commutant(FIELDS[a](subgroup), FIELDS[b](subgroup))


@given(st.data())
def test_random_signed_pairs_against_the_projector(data: st.DataObject) -> None:
    """Conjugated by random signed permutations, the signs are spread all over the axes."""
    group = data.draw(st.sampled_from(SUBGROUPS))
    first, second = (
        _conjugated(FIELDS[data.draw(st.sampled_from(("vectors", "sum", "regular")))](group), data)
        for _ in range(2)
    )
    assert_describes_the_commutant(first, second)


def _conjugated(action: Action, data: st.DataObject) -> Action:
    target = np.array(data.draw(st.permutations(range(action.size))), dtype=np.int64)
    sign = data.draw(st.lists(st.sampled_from((-1, 1)), min_size=action.size, max_size=action.size))
    change = Signed(target, np.array(sign, dtype=np.int8))
    moves = {g: change @ p @ change.inverse() for g, p in action.moves.items()}
    return Action(action.group, moves, action.size)


@pytest.mark.parametrize("name", ["O", "Oh"])
def test_vectors_in_space(name: str) -> None:
    """A linear map of vectors that every rotation of the cube commutes with is a multiple of 1."""
    space = vectors(iso.group(name))
    found = orbits_of_pairs(space, space)
    assert found.labels.tolist() == [[0, -1, -1], [-1, 0, -1], [-1, -1, 0]]
    assert_describes_the_commutant(space, space)


def test_a_square_of_quarter_turns() -> None:
    """Maps of the plane that commute with quarter turns are the complex numbers."""
    plane = vectors(iso.group("C4"))
    found = orbits_of_pairs(plane, plane)
    assert found.labels.tolist() == [[0, 1], [1, 0]]
    assert found.signs is not None
    assert found.signs.tolist() == [[1, 1], [-1, 1]]


@pytest.mark.parametrize("signed", [False, True])
def test_pairs_under_signed_generators_alone(signed: bool) -> None:
    """Without a list of elements: all signed permutations (2ⁿ n! of them) leave multiples of 1."""
    n = 12
    swap, turn = Signed.read([1, 0, *range(2, n)]), Signed.read(np.roll(np.arange(n), 1))
    flip = Signed.read(np.diag([-1] + [1] * (n - 1)))
    points = natural(PermutationGroup([swap, turn, flip] if signed else [swap, turn]))
    found = orbits_of_pairs(points, points)
    off = -1 if signed else 1
    assert found.labels.tolist() == np.where(np.eye(n, dtype=bool), 0, off).tolist()
    assert found.count == (1 if signed else 2)


# -- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("generators", "size", "message"),
    [
        ([[0, 1, 2]], 2, "a generator must be 2 integers, not of shape (3,), int64"),
        ([[0]], 2, "a generator must be 2 integers, not of shape (1,), int64"),
        ([[[0, 1]]], 2, "a generator must be 2 integers, not of shape (1, 2), int64"),
        ([[0.0, 1.0]], 2, "a generator must be 2 integers, not of shape (2,), float64"),
        ([[0, np.nan]], 2, "a generator must be 2 integers, not of shape (2,), float64"),
        ([[True, False]], 2, "a generator must be 2 integers, not of shape (2,), bool"),
        ([[0, 0]], 2, "a generator is no permutation of range(2)"),
        ([[1, 2]], 2, "a generator is no permutation of range(2)"),
        ([[0, -1]], 2, "a generator is no permutation of range(2)"),
        ([[0, 1], [1, 1]], 2, "a generator is no permutation of range(2)"),
        ([([0, 1], [0, 0, 1])], (2, 3), "a generator is no permutation of range(3)"),
        ([([0, 1, 2], [0, 1])], (2, 3), "a generator must be 2 integers, not of shape (3,)"),
        ([([0, 0], [0, 1, 2])], (2, 3), "a generator is no permutation of range(2)"),
    ],
)
def test_bad_generators(generators: list[object], size: object, message: str) -> None:
    """Wrong lengths, no integers, points twice or outside."""
    with pytest.raises(iso.InputError, match=re.escape(message)):
        iso.orbits(generators, size)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [(1, 2), (2, 1), (0, 1)])
def test_as_many_generators_on_both_axes(count: tuple[int, int]) -> None:
    """pair_orbits takes what each generator does to the first axis and to the second."""
    turn = Signed.read([1, 2, 0])
    with pytest.raises(iso.InputError):
        pair_orbits([turn] * count[0], [turn] * count[1], (3, 3))
