"""Partitions as linear spaces: join is their intersection, meet the smallest that holds both."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from isotropy.errors import InputError
from isotropy.schemes import Partition, refinement
from tests.schemes.signed import (
    contains,
    every_signed_partition,
    matrix,
    pairs,
    partition,
    random_refinement,
    rank,
)


@pytest.mark.parametrize(("entries", "number"), [(1, 2), (2, 6), (3, 24), (4, 116)])
def test_the_list_of_signed_partitions_is_complete(entries: int, number: int) -> None:
    listed = every_signed_partition(entries)
    assert len(listed) == number
    spaces = {matrix(p).tobytes() + bytes([p.count]) for p in listed}
    assert len(spaces) == number


@pytest.mark.parametrize("entries", [1, 2, 3, 4])
def test_join_and_meet_and_refines_by_brute_force(entries: int) -> None:
    listed = every_signed_partition(entries)
    matrices = [matrix(p) for p in listed]
    # holds[i, j]: the space of i holds that of j
    holds = np.array([[contains(a, b) for b in matrices] for a in matrices])
    assert np.array_equal([[p.refines(q) for q in listed] for p in listed], holds)
    some = 1 if entries < 4 else 5  # every fifth of 6786 pairs
    for i, p in enumerate(listed):
        for j in range(i, -1, -some):
            q = listed[j]
            above = np.flatnonzero(holds[:, i] & holds[:, j])
            (smallest,) = above[holds[np.ix_(above, above)].all(axis=0)]
            assert p.meet(q).equals(listed[smallest])
            below = np.flatnonzero(holds[i] & holds[j])
            (largest,) = below[holds[np.ix_(below, below)].all(axis=1)]
            assert p.join(q).equals(listed[largest])


@given(pairs)
def test_join_is_the_intersection_of_spaces(both: tuple[Partition, Partition]) -> None:
    p, q = both
    found, a, b = p.join(q), matrix(p), matrix(q)
    assert contains(a, matrix(found))
    assert contains(b, matrix(found))
    assert found.count == p.count + q.count - rank(np.concatenate([a, b], axis=1))
    assert found.shape == p.shape
    assert p.refines(found)
    assert q.refines(found)
    assert found.equals(q.join(p))


@given(pairs)
def test_meet_holds_both_spaces(both: tuple[Partition, Partition]) -> None:
    p, q = both
    found = p.meet(q)
    assert contains(matrix(found), matrix(p))
    assert contains(matrix(found), matrix(q))
    assert found.refines(p)
    assert found.refines(q)
    assert found.equals(q.meet(p))
    # absorption: with the two above, a lattice
    assert p.meet(p.join(q)).equals(p)
    assert p.join(p.meet(q)).equals(p)


@given(pairs)
def test_refines_means_holds(both: tuple[Partition, Partition]) -> None:
    p, q = both
    assert p.refines(q) == contains(matrix(p), matrix(q))
    finer = random_refinement(p, np.random.default_rng(p.count))
    assert finer.refines(p)


@given(pairs)
def test_found_partitions_are_canonical(both: tuple[Partition, Partition]) -> None:
    p, q = both
    for found in (p.join(q), p.meet(q)):
        again = partition(found.labels, found.flat_signs())
        assert np.array_equal(again.labels, found.labels)
        assert np.array_equal(again.flat_signs(), found.flat_signs())
        assert again.count == found.count
        assert np.array_equal(found.labels.ravel()[found.leaders], np.arange(found.count))
        assert found.sizes.sum() == (found.labels >= 0).sum()


@given(pairs)
def test_refinement_says_where_every_class_lies(both: tuple[Partition, Partition]) -> None:
    coarse = both[0]
    fine = random_refinement(coarse, np.random.default_rng(coarse.labels.size))
    how = refinement(coarse, fine)
    # B_fine T = B_coarse, with T read off
    transition = np.zeros((fine.count, coarse.count))
    for k, (parent, sign) in enumerate(zip(how.parent, how.sign, strict=True)):
        if parent >= 0:
            transition[k, parent] = sign
    assert np.array_equal(matrix(fine) @ transition, matrix(coarse))
    total = np.bincount(how.parent[how.parent >= 0], how.share[how.parent >= 0], coarse.count)
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)


def test_ends_of_the_lattice() -> None:
    discrete, nothing = Partition.discrete((2, 3)), partition(-np.ones((2, 3), int))
    assert (discrete.count, nothing.count) == (6, 0)
    p = partition([[0, 0, 1], [1, 2, -1]], [[1, -1, 1, 1, 1, 1]])
    assert discrete.refines(p)
    assert p.refines(nothing)
    assert p.meet(discrete).equals(discrete)
    assert p.join(discrete).equals(p)
    assert p.meet(nothing).equals(p)
    assert p.join(nothing).equals(nothing)


def test_opposite_signs_force_zero() -> None:
    same, opposite = partition([0, 0, 1]), partition([0, 0, 1], [1, -1, 1])
    assert same.join(opposite).labels.tolist() == [-1, -1, 0]
    assert same.meet(opposite).labels.tolist() == [0, 1, 2]


def test_different_shapes_are_refused() -> None:
    p, q = Partition.discrete((2, 3)), Partition.discrete((3, 2))
    for operation in (p.join, p.meet):
        with pytest.raises(InputError, match=r"\(2, 3\) and \(3, 2\)"):
            operation(q)
    assert not p.equals(q)


def test_no_refinement_is_refused() -> None:
    with pytest.raises(InputError, match="not a refinement"):
        refinement(partition([0, 1, 1]), partition([0, 0, 1]))
    with pytest.raises(InputError, match="not a refinement"):
        refinement(partition([0, 0]), partition([0, 0], [1, -1]))
