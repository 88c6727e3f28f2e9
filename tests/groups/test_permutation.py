"""Groups known by their generators alone."""

from __future__ import annotations

import re

import numpy as np
import pytest

import isotropy as iso
from isotropy.groups import PermutationGroup, Signed, natural, orbits_of_pairs

SWAP, TURN = [1, 0, 2], [1, 2, 0]


def test_generators_and_names() -> None:
    """Names are kept, or counted; the group is called after them."""
    assert PermutationGroup([SWAP, TURN]).generators == ("g1", "g2")
    assert str(PermutationGroup([SWAP, TURN])) == "<g1, g2>"
    named = PermutationGroup({"swap": SWAP, "turn": TURN}, "S3")
    assert (named.generators, str(named), named.size) == (("swap", "turn"), "S3", 3)


def test_a_huge_group() -> None:
    """2000! elements are no obstacle: two orbits of pairs, equal or not."""
    swap, turn = np.arange(2000), np.roll(np.arange(2000), -1)
    swap[:2] = [1, 0]
    points = natural(PermutationGroup([swap, turn]))
    found = orbits_of_pairs(points, points)
    assert found.count == 2
    assert np.array_equal(found.labels, 1 - np.eye(2000, dtype=np.int32))


def test_signed_generators() -> None:
    """A generator may turn signs."""
    group = PermutationGroup([[[0, -1], [1, 0]]])
    assert group.natural["g1"].equals(Signed.read([[0, -1], [1, 0]]))
    assert natural(group, copies=2).size == 4


def test_subgroup_and_equality() -> None:
    """Some of the generators; equal are groups with the same generators, in whatever order."""
    both = PermutationGroup({"swap": SWAP, "turn": TURN})
    turns = both.subgroup(["turn"])
    assert turns.is_subgroup_of(both)
    assert not both.is_subgroup_of(turns)
    assert natural(both).restrict(turns).equals(natural(turns))
    other = PermutationGroup({"turn": TURN, "swap": SWAP})
    assert both == other
    assert hash(both) == hash(other)
    assert both != PermutationGroup({"swap": SWAP, "turn": [2, 0, 1]})
    assert both != iso.group("S3")


@pytest.mark.parametrize(
    ("generators", "message"),
    [
        ([SWAP, [1, 0]], "generators must act on one set of points, not on [2, 3]"),
        ([], "generators must act on one set of points, not on []"),
        ({"a": [0, 0]}, "generator 'a' must list the image of every point once, not [0, 0]"),
        ([[[1, 1], [0, 1]]], "generator 'g1' must be a signed permutation matrix"),
    ],
)
def test_refuses(generators: object, message: str) -> None:
    """What are no permutations of one set."""
    with pytest.raises(iso.InputError, match=re.escape(message)):
        PermutationGroup(generators)  # type: ignore[arg-type]


def test_unknown_generator() -> None:
    """The message lists the generators, also when the group has a name."""
    group = PermutationGroup({"swap": SWAP, "turn": TURN}, "S3")
    with pytest.raises(iso.InputError, match=r"S3 has no generator 'x'; it has .*swap, turn"):
        group.subgroup(["x"])


def test_a_listed_group_is_no_subgroup_of_an_unlisted_one() -> None:
    """Nor the other way round: an error of ours, not of Python's."""
    group = PermutationGroup({"r": TURN}, "turns")
    with pytest.raises(iso.InputError, match="C3 is not a subgroup of turns"):
        natural(group).restrict(iso.group("C3"))
    with pytest.raises(iso.InputError, match="turns is not a subgroup of C3"):
        iso.groups.regular(iso.group("C3")).restrict(group)
