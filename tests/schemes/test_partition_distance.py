"""004's partition distance, against brute force over all ways to name the classes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isotropy as iso
from isotropy.errors import InputError


def every_partition(entries: int) -> list[list[int]]:
    """Restricted growth strings: 1, 2, 5, 15, 52."""

    def extend(labels: list[int]) -> Iterator[list[int]]:
        if len(labels) == entries:
            yield labels
            return
        for label in range(max(labels, default=-1) + 2):
            yield from extend([*labels, label])

    return list(extend([]))


def fewest_changes(a: list[int], b: list[int], classes: int) -> int:
    renamed = np.array(list(permutations(range(classes))))[:, a]
    return int((renamed != np.array(b)).sum(axis=1).min())


@pytest.mark.parametrize(("entries", "number"), [(1, 1), (2, 2), (3, 5), (4, 15), (5, 52)])
def test_against_brute_force(entries: int, number: int) -> None:
    listed = every_partition(entries)
    assert len(listed) == number
    for a in listed:
        for b in listed:
            assert iso.partition_distance(a, b) == fewest_changes(a, b, entries)


labels = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        *(st.lists(st.integers(0, 5), min_size=n, max_size=n) for _ in range(3)),
        st.permutations(range(6)),
    )
)


@given(labels)
def test_is_a_metric_that_ignores_names(
    given: tuple[list[int], list[int], list[int], list[int]],
) -> None:
    a, b, c, names = given
    distance = iso.partition_distance
    assert distance(a, a) == 0
    assert distance(a, b) == distance(b, a)
    assert distance(a, c) <= distance(a, b) + distance(b, c)
    assert distance(np.array(names)[a], b) == distance(a, b)
    assert distance(a, [100 * names[label] - 7 for label in b]) == distance(a, b)
    if distance(a, b) == 0:
        assert np.array_equal(np.equal.outer(a, a), np.equal.outer(b, b))


@given(labels)
def test_ignores_the_order_of_columns(
    given: tuple[list[int], list[int], list[int], list[int]],
) -> None:
    a, b, _, order = given
    hot = np.eye(6)[a]
    assert iso.partition_distance(hot, b) == iso.partition_distance(a, b)
    assert iso.partition_distance(hot[:, order], np.eye(6)[b]) == iso.partition_distance(a, b)


def test_a_soft_matrix_counts_by_its_largest_entries() -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(40) % 8
    for _ in range(20):
        soft = rng.dirichlet(np.ones(8), size=40)
        expected = iso.partition_distance(soft.argmax(axis=1), truth)
        assert iso.partition_distance(soft, truth) == expected
        assert iso.partition_distance(truth, soft.astype(np.float32)) == expected
        assert expected > 10  # a matrix that knows nothing is far off
    sure = 0.2 * np.eye(8)[truth] + 0.1
    assert iso.partition_distance(sure, truth) == 0


def test_arrays_of_any_shape() -> None:
    square = np.array([[0, 0], [1, 1]])
    assert iso.partition_distance(square, [3, 3, 3, 4]) == 1
    assert iso.partition_distance(np.array([True, False]), [0, 1]) == 0


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([0, 1], [0, 1, 2], "2 and of 3"),
        ([0.5, 1.5], [0, 1], "integers"),
        (["x", "y"], [0, 1], "integers"),
    ],
)
def test_what_is_no_partition_is_refused(a: object, b: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        iso.partition_distance(a, b)
