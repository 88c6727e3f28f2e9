"""Actions: homomorphisms from groups to signed permutations, and what is made of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch

import isotropy as iso
from isotropy.groups import (
    Action,
    FiniteGroup,
    PermutationGroup,
    Signed,
    cyclic,
    grid,
    natural,
    orbits_of_pairs,
    permuting,
    quotient,
    regular,
    side_by_side,
    trivial,
    vectors,
)
from tests.groups.oracles import SMALL, assert_action, multiply

D4 = iso.group("D4")
SUBGROUPS = D4.subgroups()

every_subgroup = pytest.mark.parametrize("subgroup", SUBGROUPS, ids=str)

KINDS: Mapping[str, Callable[[FiniteGroup], Action]] = {
    "trivial": lambda g: trivial(g, 2),
    "regular": regular,
    "two regular": lambda g: regular(g, 2),
    "vectors": vectors,
    "grid": lambda g: grid(g, (3, 3)),
    "product": lambda g: vectors(g) * grid(g, (2, 2)),
    "sum": lambda g: vectors(g) + regular(g) + trivial(g, 1),
    "of sums": lambda g: (vectors(g) + trivial(g, 1)) * (grid(g, (2, 2)) + vectors(g)),
}
every_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())


# -- homomorphisms ---------------------------------------------------------------------------


@every_kind
@every_subgroup
def test_actions_of_d4s_subgroups(
    make: Callable[[FiniteGroup], Action], subgroup: FiniteGroup
) -> None:
    """Every kind of action is a homomorphism, of every subgroup of D4."""
    assert_action(make(subgroup))


@every_kind
@every_subgroup
def test_restrictions(make: Callable[[FiniteGroup], Action], subgroup: FiniteGroup) -> None:
    """Restricted to a subgroup, its elements still do what they did under D4."""
    whole = make(D4)
    part = whole.restrict(subgroup)
    assert part.group == subgroup
    assert_action(part)
    for element in subgroup.elements:
        assert part.of(element).equals(whole.of(element))


@pytest.mark.parametrize("name", ["O", "Oh"])
def test_actions_of_the_cube(name: str) -> None:
    """Vectors and voxels of the cube's groups."""
    assert_action(vectors(iso.group(name)))
    assert_action(grid(iso.group(name), (2, 2, 2)))


@every_subgroup
def test_quotient_fields_of_d4(subgroup: FiniteGroup) -> None:
    """On the cosets of every subgroup: h sends gH to hgH."""
    action = quotient(D4, subgroup)
    assert_action(action)
    cosets = D4.cosets(subgroup)
    assert action.size == len(cosets)
    for h in D4.elements:
        for i, coset in enumerate(cosets):
            moved = {multiply(D4, h, g) for g in coset}
            assert moved == set(cosets[action.of(h).target[i]])


@pytest.mark.parametrize("name", ["C6", "V4", "S3", "Q8"])
def test_regular_and_quotient_fields(name: str) -> None:
    """Also of groups that do not act on pictures; the regular field is that of no cosets."""
    group = SMALL[name]
    assert_action(regular(group))
    for subgroup in group.subgroups():
        assert_action(quotient(group, subgroup, fields=2))
    assert regular(group, 3).equals(quotient(group, group.trivial_subgroup, 3))
    assert quotient(group, group, 3).equals(trivial(group, 3))


def test_layout_of_fields() -> None:
    """Coordinate c · |G| + g: under h, field c keeps its place and g goes to hg."""
    action = regular(D4, fields=3)
    for h in D4.elements:
        for c in range(3):
            for i, g in enumerate(D4.elements):
                image = c * 8 + D4.index(multiply(D4, h, g))
                assert action.of(h).target[c * 8 + i] == image


def test_layout_of_products_and_sums() -> None:
    """Products are Kronecker products, sums are block diagonal."""
    a, b = vectors(D4), regular(D4)
    for h in D4.elements:
        first, second = a.of(h).matrix(), b.of(h).matrix()
        assert ((a * b).of(h).matrix() == np.kron(first, second)).all()
        both = (a + b).of(h).matrix()
        assert (both[:2, :2] == first).all()
        assert (both[2:, 2:] == second).all()
        assert both.shape == (10, 10)
        assert not both[:2, 2:].any()
    assert side_by_side([a, b, a]).equals(a + b + a)


def test_vectors_are_the_matrices() -> None:
    """The components of a vector turn as the array axes do."""
    for name in ("D4", "Oh"):
        group = iso.group(name)
        assert group.matrices is not None
        for element, matrix in zip(group.elements, group.matrices, strict=True):
            assert (vectors(group).of(element).matrix() == matrix).all()


def test_vectors_of_a_quarter_turn() -> None:
    """An arrow to the right (0, 1) turns to one upwards (-1, 0), rows being counted downwards."""
    assert (vectors(D4).of("r").matrix() @ [0, 1]).tolist() == [-1, 0]


@pytest.mark.parametrize("name", ["C8", "S3", "D3"])
def test_vectors_need_matrices(name: str) -> None:
    """A group that does not say how it acts on space has no vectors."""
    message = f"{name} has no matrices: it does not say how it acts on space"
    with pytest.raises(iso.InputError, match=message):
        vectors(iso.group(name))


def test_quotient_refuses() -> None:
    """Cosets of what is no subgroup."""
    with pytest.raises(iso.InputError, match="C3 is not a subgroup of D4"):
        quotient(D4, iso.group("C3"))


def test_restrict_refuses() -> None:
    """To a group that is no subgroup."""
    with pytest.raises(iso.InputError, match="C3 is not a subgroup of D4"):
        regular(D4).restrict(iso.group("C3"))
    with pytest.raises(iso.InputError, match="D4 is not a subgroup of C4"):
        regular(iso.group("C4")).restrict(D4)


@pytest.mark.parametrize("other", [cyclic(8), iso.group("S3"), iso.group("C2")], ids=str)
@pytest.mark.parametrize(
    "combine", [Action.__mul__, Action.__add__, orbits_of_pairs], ids=["product", "sum", "pairs"]
)
def test_actions_of_two_groups_are_not_combined(
    combine: Callable[[Action, Action], object], other: FiniteGroup
) -> None:
    """C4's r and C8's r are two things, though they have one name."""
    with pytest.raises(iso.InputError):
        combine(regular(cyclic(4)), regular(other))


def test_is_signed_and_is_trivial() -> None:
    """Told from the moves."""
    assert vectors(D4).is_signed
    assert not regular(D4).is_signed
    assert trivial(D4, 3).is_trivial
    assert not vectors(D4).is_trivial
    assert not (trivial(D4, 3) + vectors(D4)).is_trivial
    assert vectors(iso.group("C1")).is_trivial


def test_equals() -> None:
    """The same group, size and moves."""
    assert regular(D4).equals(regular(iso.group("D4")))
    assert not regular(D4).equals(regular(D4, 2))
    assert not regular(D4).equals(trivial(D4, 8))
    assert not trivial(D4, 8).equals(trivial(iso.group("C4"), 8))


def test_test_elements() -> None:
    """All elements of a listed group, the generators of another."""
    shuffles = PermutationGroup({"swap": [1, 0, 2], "turn": [1, 2, 0]})
    assert regular(D4).test_elements == D4.elements
    assert natural(shuffles).test_elements == ("swap", "turn")


# -- apply -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
@every_kind
def test_apply(make: Callable[[FiniteGroup], Action], dim: int) -> None:
    """It multiplies one dimension of the tensor with the matrix."""
    action = make(D4)
    shape = [2, 3, 4]
    shape[dim] = action.size
    x = torch.randn(shape, dtype=torch.float64)
    for element in D4.elements:
        matrix = torch.from_numpy(action.of(element).matrix()).double()
        expected = torch.tensordot(x, matrix, dims=([dim], [1])).movedim(-1, dim)
        assert torch.equal(action.apply(element, x, dim), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_apply_keeps_the_dtype(dtype: torch.dtype) -> None:
    """Signs are turned in the tensor's own type."""
    x = torch.tensor([1, 2], dtype=dtype)
    moved = vectors(D4).apply("r", x)
    assert moved.dtype == dtype
    assert moved.tolist() == [-2, 1]


def test_apply_has_a_gradient() -> None:
    """That of a linear map: the transposed matrix."""
    action = vectors(D4) + regular(D4)
    x = torch.randn(10, dtype=torch.float64, requires_grad=True)
    y = torch.randn(10, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(action.apply("sr", x) @ y, x)
    assert torch.equal(gradient, torch.from_numpy(action.of("sr").matrix().T).double() @ y)


@pytest.mark.parametrize("size", [7, 9])
def test_apply_refuses_another_size(size: int) -> None:
    """Neither fewer coordinates nor more, which would silently be dropped."""
    with pytest.raises((iso.InputError, IndexError)):
        regular(D4).apply("r", torch.zeros(size))


@pytest.mark.parametrize("element", ["x", "r5", ""])
def test_unknown_element(element: str) -> None:
    """Named with those there are."""
    with pytest.raises(iso.InputError, match=f"D4 has no element '{element}'; it has e, r"):
        regular(D4).of(element)


def test_elements_of_a_group_that_lists_none() -> None:
    """Only the generators of a permutation group can be asked for."""
    shuffles = natural(PermutationGroup({"turn": [1, 2, 0]}, "turns"), copies=2)
    assert shuffles.of("turn").target.tolist() == [1, 2, 0, 4, 5, 3]
    with pytest.raises(iso.InputError, match="turns has no generator 'swap'"):
        shuffles.of("swap")


# -- orbits ----------------------------------------------------------------------------------


@every_subgroup
def test_orbits_of_fields(subgroup: FiniteGroup) -> None:
    """|D4|/|H| orbits in a regular field; the cosets Hg are they."""
    found = regular(D4).restrict(subgroup).orbits()
    assert found.labels.shape == (1, 8)
    assert found.signs is None
    assert found.count == 8 // subgroup.order
    members = [np.array(D4.elements)[found.labels[0] == k] for k in range(found.count)]
    assert {tuple(m.tolist()) for m in members} == set(D4.cosets(subgroup, "right"))


@pytest.mark.parametrize(
    ("group", "labels", "signs"),
    [
        ("C1", [0, 1], None),
        ("D1", [0, -1], [1, 0]),
        ("D1v", [-1, 0], [0, 1]),
        ("D1d", [0, 0], None),
        ("D1a", [0, 0], [1, -1]),
        ("C2", [-1, -1], [0, 0]),
        ("D4", [-1, -1], [0, 0]),
    ],
)
def test_orbits_of_vectors(group: str, labels: list[int], signs: list[int] | None) -> None:
    """What a fixed vector must look like: zero across a mirror, all zero under half turns."""
    found = vectors(iso.group(group)).orbits()
    assert found.labels.tolist() == [labels]
    assert (None if found.signs is None else found.signs.tolist()) == (signs and [signs])
    assert found.count == max(labels) + 1


# -- permuting -------------------------------------------------------------------------------

SWAP = [0, 1, 2, 3, 4, 5, 9, 7, 8, 6]  # a half turn reads a 6 as a 9


def test_six_and_nine_under_half_turns() -> None:
    """Under C2 the half turn may swap 6 and 9."""
    action = permuting(iso.group("C2"), {"r2": SWAP}, "labels", size=10)
    assert_action(action)
    assert action.of("r2").target.tolist() == SWAP


def test_six_and_nine_under_quarter_turns() -> None:
    """Under C4 it may not, as r was left alone: r·r = r2 fails, and the message says so."""
    message = (
        "these permutations of labels are no action of C4: r·r = r2 fails, as r after r gives "
        "(0 1 2 3 4 5 6 7 8 9) but r2 is (0 1 2 3 4 5 9 7 8 6) "
        "(r was not given, so it moves nothing)"
    )
    with pytest.raises(iso.InputError, match=f"^{re.escape(message)}$"):
        permuting(iso.group("C4"), {"r2": SWAP})


@pytest.mark.parametrize(
    ("group", "given", "element", "image"),
    [
        ("D2", {"s": [1, 0]}, "sr2", [1, 0]),
        ("D2", {"s": [1, 0]}, "r2", [0, 1]),
        ("D4", {"s": [1, 0]}, "sr", [1, 0]),
        ("D4", {"s": [1, 0]}, "r3", [0, 1]),
        ("D4", {"r": [1, 2, 3, 0], "s": [3, 2, 1, 0]}, "r2", [2, 3, 0, 1]),
        ("D4", {"r": [1, 2, 3, 0], "s": [3, 2, 1, 0]}, "sr", [2, 1, 0, 3]),
        ("D4", {"r": [1, 0]}, "r2", [0, 1]),
        ("D4", {"r": [1, 0]}, "sr3", [1, 0]),
        ("C4", {"r3": [1, 2, 3, 0]}, "r", [3, 0, 1, 2]),
        ("S3", {}, "(1 0 2)", [0, 1, 2]),
    ],
)
def test_completion(
    group: str, given: dict[str, list[int]], element: str, image: list[int]
) -> None:
    """The other elements follow from products; what is not reached moves nothing."""
    action = permuting(iso.group(group), given, size=len(image))
    assert_action(action)
    assert action.of(element).target.tolist() == image
    for name, value in given.items():
        assert action.of(name).target.tolist() == value


@pytest.mark.parametrize("group", ["C4", "C8", "C12"])
def test_signed_matrices(group: str) -> None:
    """cos and sin of an angle under quarter turns: r is [[0, -1], [1, 0]], r2 is -1."""
    action = permuting(iso.group(group), {"r": [[0, -1], [1, 0]]})
    assert_action(action)
    assert action.is_signed
    assert action.of("r2").matrix().tolist() == [[-1, 0], [0, -1]]
    assert action.of("r3").matrix().tolist() == [[0, 1], [-1, 0]]


@pytest.mark.parametrize(
    ("group", "given", "relation"),
    [
        ("C4", {"r2": [1, 0]}, "r·r = r2 fails"),
        ("C2", {"r2": [1, 2, 0]}, "r2·r2 = e fails"),
        ("C3", {"r": [1, 0]}, "r·r2 = e fails"),
        ("C4", {"e": [1, 0]}, "e·e = e fails"),
        ("C4", {"r": [1, 0], "r2": [1, 0]}, "r2 fails"),
        ("C6", {"r": [[0, -1], [1, 0]]}, "fails"),
        ("D4", {"r": [[0, -1], [1, 0]]}, "fails"),
        ("D4", {"r": [1, 2, 3, 0], "s": [1, 0, 2, 3]}, "fails"),
        ("D2", {"s": [1, 0], "sr2": [0, 1], "r2": [0, 1]}, "sr2 fails"),
    ],
)
def test_what_is_no_action_is_refused(group: str, given: dict[str, object], relation: str) -> None:
    """The message names a product of two elements that comes out wrong."""
    message = rf"permutations of labels are no action of {group}: .*{re.escape(relation)}"
    with pytest.raises(iso.InputError, match=message) as caught:
        permuting(iso.group(group), given)  # type: ignore[arg-type]
    found = re.search(r": (\w+)·(\w+) = (\w+) fails, as (\w+) after (\w+)", str(caught.value))
    assert found is not None
    left, right, result = found.group(1, 2, 3)
    assert multiply(iso.group(group), left, right) == result
    assert found.group(4, 5) == (left, right)


@pytest.mark.parametrize("name", ["C4", "V4", "S3", "D4"])
def test_exactly_the_actions_are_taken(name: str) -> None:
    """Of all pairs of permutations of three points for two generators, exactly the actions."""
    group = SMALL[name]
    points = iso.group("S3")
    images = [list(map(int, x.strip("()").split())) for x in points.elements[1:] if x != "e"]
    images.append([0, 1, 2])
    a, *b = group.generators
    for first in images:
        for second in images if b else [None]:
            given = {a: first} | ({b[0]: second} if b and second else {})
            try:
                action = permuting(group, given)
            except iso.InputError:
                assert not _extends(group, given)
            else:
                assert_action(action)
                assert _extends(group, given)


def _extends(group: FiniteGroup, given: dict[str, list[int]]) -> bool:
    """Whether products of the generators' images depend on the product alone, by long words."""
    found: dict[str, set[tuple[int, ...]]] = {name: set() for name in group.elements}
    frontier = [(group.elements[0], (0, 1, 2))]
    while frontier:
        name, image = frontier.pop()
        if image not in found[name]:
            found[name].add(image)
            frontier += [
                (multiply(group, g, name), tuple(p[i] for i in image)) for g, p in given.items()
            ]
    return all(len(images) == 1 for images in found.values())


@pytest.mark.parametrize(
    ("given", "size", "message"),
    [
        ({"r": [1, 0], "s": [0, 1, 2]}, None, "of digits must all have one size, not [2, 3]"),
        ({"r": [1, 0]}, 3, "of digits must all have one size, not [2, 3]"),
        ({}, None, "of digits must all have one size, not []"),
        ({"q": [1, 0]}, None, "D4 has no element 'q'; it has e, r"),
        ({"r": [1, 1]}, None, "the permutation of digits for 'r' must list the image of every"),
        ({"r": [[1, 1], [0, 1]]}, None, "the permutation of digits for 'r' must be a signed"),
    ],
)
def test_permuting_refuses(given: dict[str, object], size: int | None, message: str) -> None:
    """Sizes that differ, elements there are not, lists that are no permutations."""
    with pytest.raises(iso.InputError, match=re.escape(message)):
        permuting(D4, given, "digits", size)  # type: ignore[arg-type]


def test_permuting_by_generators() -> None:
    """A group without a list of elements takes its generators; others stand still."""
    shuffles = PermutationGroup({"swap": [1, 0, 2], "turn": [1, 2, 0]}, "S3")
    action = permuting(shuffles, {"swap": [[-1]]})
    assert action.of("swap").matrix().tolist() == [[-1]]
    assert action.of("turn").is_identity
    with pytest.raises(iso.InputError, match="S3 has no generator 'q' to permute labels by"):
        permuting(shuffles, {"q": [0]})


# -- the constructor -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moves", "size"),
    [({"r": Signed.read([1, 2, 0])}, 3), ({"r": Signed.read([1, 2, 3, 0])}, 5), ({}, 4)],
    ids=["no homomorphism", "another size", "a generator missing"],
)
def test_an_action_is_checked(moves: dict[str, Signed], size: int) -> None:
    """What is no action of C4 is refused at the door, as everywhere."""
    with pytest.raises(iso.InputError):
        Action(cyclic(4), moves, size)
