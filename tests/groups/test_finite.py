"""Finite groups: axioms, subgroups, lattice, cosets, quotients, equality and pickling."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

import isotropy as iso
from isotropy.groups import FiniteGroup, cyclic, dihedral, direct_product
from tests.groups.oracles import (
    SMALL,
    all_subgroups,
    closure,
    conjugacy_classes,
    is_group,
    klein,
    multiply,
    quaternions,
)

D4 = iso.group("D4")

D4_BY_NAME = {
    "C1": {"e"},
    "C2": {"e", "r2"},
    "D1": {"e", "s"},
    "D1a": {"e", "sr"},
    "D1v": {"e", "sr2"},
    "D1d": {"e", "sr3"},
    "C4": {"e", "r", "r2", "r3"},
    "D2": {"e", "r2", "s", "sr2"},
    "D2d": {"e", "r2", "sr", "sr3"},
    "D4": {"e", "r", "r2", "r3", "s", "sr", "sr2", "sr3"},
}
TEN = tuple(D4_BY_NAME)

# A Latin square with a neutral element that is no group: (1·1)·2 = 2 but 1·(1·2) = 4.
LOOP = [
    [0, 1, 2, 3, 4],
    [1, 0, 3, 4, 2],
    [2, 4, 0, 1, 3],
    [3, 2, 4, 0, 1],
    [4, 3, 1, 2, 0],
]

small = pytest.mark.parametrize("group", SMALL.values(), ids=SMALL.keys())


def names(subgroup: FiniteGroup) -> set[str]:
    return set(subgroup.elements)


def pickled(group: FiniteGroup) -> FiniteGroup:
    return pickle.loads(pickle.dumps(group))  # type: ignore[no-any-return]


# -- axioms ----------------------------------------------------------------------------------


@small
def test_the_table_is_a_group(group: FiniteGroup) -> None:
    """The oracle that refuses other tables accepts all of these."""
    assert is_group(group.table.tolist())


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "table must be a square array, not of shape (0,)"),
        ([0], "table must be a square array, not of shape (1,)"),
        ([[0, 1]], "table must be a square array, not of shape (1, 2)"),
        ([[0, 1], [1, 0], [0, 1]], "table must be a square array, not of shape (3, 2)"),
        ([[[0]]], "table must be a square array, not of shape (1, 1, 1)"),
        ([[0, 1], [1, 1]], "a row does not hold every element once"),
        ([[0, 1], [1, 2]], "a row does not hold every element once"),
        ([[0, 1], [1, -1]], "a row does not hold every element once"),
        ([[0, 1], [0, 1]], "a column does not hold every element once"),
        ([[1, 0], [0, 1]], "table is no group with element 0 as the neutral one"),
        ([[0, 1, 2], [2, 0, 1], [1, 2, 0]], "no group with element 0 as the neutral one"),
        (LOOP, "table is no group: products through 'g1' do not associate"),
    ],
)
def test_a_broken_axiom_is_refused(table: list[list[int]], message: str) -> None:
    """Each axiom that fails is named; the error is ours and a ValueError."""
    with pytest.raises(iso.InputError, match=re.escape(message)) as caught:
        FiniteGroup(table)
    assert isinstance(caught.value, iso.IsotropyError)
    assert isinstance(caught.value, ValueError)


def test_every_table_of_three_elements() -> None:
    """Of all 3⁶ tables with first row e, a, b exactly the groups are accepted: one, C3."""
    accepted = []
    for flat in product(range(3), repeat=6):
        table = [[0, 1, 2], list(flat[:3]), list(flat[3:])]
        try:
            accepted.append(FiniteGroup(table).table.tolist())
        except iso.InputError:
            assert not is_group(table)
    assert accepted == [cyclic(3).table.tolist()]


def test_every_latin_square_of_four() -> None:
    """Of the Latin squares of 4 with neutral 0 exactly the four groups' tables are accepted."""
    rows = [(a, *rest) for a in range(1, 4) for rest in product(range(4), repeat=3)]
    rows = [row for row in rows if len(set(row)) == 4]
    found = 0
    for square in product(*[[row for row in rows if row[0] == a] for a in (1, 2, 3)]):
        table = [(0, 1, 2, 3), *square]
        if all(len(set(column)) == 4 for column in zip(*table, strict=True)):
            FiniteGroup(table)  # every loop of four elements is a group
            assert is_group(table)
            found += 1
    assert found == 4


@pytest.mark.parametrize(
    "elements", [["e"], ["e", "r", "r2"], ["e", "e"]], ids=["few", "many", "twice"]
)
def test_names_must_fit(elements: list[str]) -> None:
    """One different name for every element."""
    with pytest.raises(iso.InputError, match=r"elements must be 2 different names, not \("):
        FiniteGroup([[0, 1], [1, 0]], elements)


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        (np.ones((3, 1, 1)), r"matrices must be \(2, d, d\), not \(3, 1, 1\)"),
        (np.ones((2, 1, 2)), r"matrices must be \(2, d, d\), not \(2, 1, 2\)"),
        ([np.eye(2), [[0, -1], [1, 0]]], "do not multiply as the group's elements do"),
        ([-np.eye(2), np.eye(2)], "do not multiply as the group's elements do"),
    ],
    ids=["count", "square", "order", "neutral"],
)
def test_matrices_must_be_an_action(matrices: object, message: str) -> None:
    """As many square matrices as elements, multiplying alike."""
    with pytest.raises(iso.InputError, match=message):
        FiniteGroup([[0, 1], [1, 0]], matrices=matrices)


@pytest.mark.parametrize(
    "matrices",
    [
        np.zeros((2, 2, 2)),
        [np.eye(2), [[1, 1], [0, -1]]],
        [np.eye(2), [[-1.5, 0], [0, 1.2]]],
        [[[1, 0], [0, 0]], [[1, 0], [0, 0]]],
    ],
    ids=["zero", "shear", "fractions", "projection"],
)
def test_matrices_must_be_signed_permutations(matrices: object) -> None:
    """Matrices that multiply well but are no signed permutations are refused all the same."""
    with pytest.raises(iso.InputError, match="matrices"):
        FiniteGroup([[0, 1], [1, 0]], matrices=matrices)


def test_unknown_element() -> None:
    """The message lists the elements."""
    message = "D4 has no element 'x'; it has e, r, r2, r3, s, sr, sr2, sr3"
    with pytest.raises(iso.InputError, match=message):
        D4.index("x")
    with pytest.raises(iso.InputError, match=r"C30 has no element 'x'; it has e, .*, \.\.\.$"):
        iso.group("C30").index("x")


@small
def test_inverse_and_order_of(group: FiniteGroup) -> None:
    """g g⁻¹ = e, and the order is the first power that is e."""
    for i, name in enumerate(group.elements):
        assert multiply(group, name, group.elements[group.inverse(i)]) == group.elements[0]
        powers = [multiply(group, *[name] * n) for n in range(1, group.order + 1)]
        assert group.order_of(name) == powers.index(group.elements[0]) + 1


@small
def test_generators_generate(group: FiniteGroup) -> None:
    """The generators' closure is the group, and none is in the closure of those before it."""
    assert closure(group, group.generators) >= set(group.elements)
    for i, name in enumerate(group.generators):
        assert name not in closure(group, group.generators[:i])


@small
def test_spanning_tree(group: FiniteGroup) -> None:
    """It reaches every element but the neutral one once, parents first, by generator · parent."""
    reached = [0]
    for child, parent, g in group.spanning_tree:
        assert parent in reached
        assert multiply(group, g, group.elements[parent]) == group.elements[child]
        reached.append(child)
    assert sorted(reached) == list(range(group.order))


@pytest.mark.parametrize(
    ("name", "abelian"), [("C6", True), ("V4", True), ("S3", False), ("D4", False), ("Q8", False)]
)
def test_is_abelian(name: str, abelian: bool) -> None:
    """Whether all products commute."""
    assert SMALL[name].is_abelian is abelian


# -- subgroups -------------------------------------------------------------------------------


def test_subgroups_of_d4() -> None:
    """Ten, by name, with exactly these elements, smallest first."""
    found = {str(h): names(h) for h in D4.subgroups()}
    assert len(D4.subgroups()) == 10
    assert found == D4_BY_NAME
    orders = [h.order for h in D4.subgroups()]
    assert orders == sorted(orders) == [1, 2, 2, 2, 2, 2, 4, 4, 4, 8]


@pytest.mark.parametrize("name", TEN)
def test_named_subgroups_of_d4(name: str) -> None:
    """`iso.group` gives the same subgroup, cut from D4, with D4's matrices."""
    group = iso.group(name)
    assert names(group) == D4_BY_NAME[name]
    assert group.ambient == D4
    assert group.matrices is not None
    assert D4.matrices is not None
    for i, element in enumerate(group.elements):
        assert (group.matrices[i] == D4.matrices[D4.index(element)]).all()


@pytest.mark.parametrize(
    ("element", "picture"),
    [
        ("e", [[1, 2], [3, 4]]),
        ("r", [[2, 4], [1, 3]]),
        ("r2", [[4, 3], [2, 1]]),
        ("r3", [[3, 1], [4, 2]]),
        ("s", [[2, 1], [4, 3]]),
        ("sr", [[4, 2], [3, 1]]),
        ("sr2", [[3, 4], [1, 2]]),
        ("sr3", [[1, 3], [2, 4]]),
    ],
)
def test_elements_of_d4_on_a_picture(element: str, picture: list[list[int]]) -> None:
    """r a quarter turn counter-clockwise, s left-right, sr2 up-down, sr3 the main diagonal."""
    pixels = np.array([1, 2, 3, 4])
    moved = iso.groups.grid(D4, (2, 2)).of(element).matrix() @ pixels
    assert moved.reshape(2, 2).tolist() == picture


@small
def test_subgroups_against_all_subsets(group: FiniteGroup) -> None:
    """Exactly the closed subsets, each once; every one is a group by itself."""
    subgroups = group.subgroups()
    assert {frozenset(h.elements) for h in subgroups} == all_subgroups(group)
    assert len(subgroups) == len(all_subgroups(group))
    assert all(is_group(h.table.tolist()) for h in subgroups)
    for h in subgroups:
        for a, b in product(h.elements, repeat=2):
            assert multiply(h, a, b) == multiply(group, a, b)


@pytest.mark.parametrize(
    ("group", "count", "classes"),
    [
        (iso.group("S3"), 6, 4),
        (iso.group("S4"), 30, 11),
        (iso.group("D4"), 10, 8),
        (iso.group("O"), 30, 11),
        (iso.group("Oh"), 98, 33),
        (quaternions(), 6, 6),
        (klein(), 5, 5),
        (iso.group("C12"), 6, 6),
        (dihedral(6), 16, 10),
    ],
    ids=str,
)
def test_numbers_of_subgroups(group: FiniteGroup, count: int, classes: int) -> None:
    """The numbers known from the tables of group theory."""
    assert len(group.subgroups()) == count
    assert len(group.subgroups_up_to_conjugacy()) == classes


@pytest.mark.parametrize("n", range(1, 17))
def test_subgroups_of_cyclic_and_dihedral(n: int) -> None:
    """C_n has one for every divisor, D_n as many as the divisors and their sum (n > 2)."""
    divisors = [d for d in range(1, n + 1) if n % d == 0]
    assert [h.order for h in cyclic(n).subgroups()] == divisors
    assert len(dihedral(n).subgroups()) == len(divisors) + sum(divisors)


@pytest.mark.parametrize("name", ["C1", "C6", "V4", "S3", "D4", "C2xC4"])
def test_up_to_conjugacy(name: str) -> None:
    """One subgroup out of every class, and no class left out."""
    group = SMALL[name]
    group = FiniteGroup(group.table, ["e", *group.elements[1:]], name)
    chosen = [frozenset(h.elements) for h in group.subgroups_up_to_conjugacy()]
    classes = conjugacy_classes(group)
    assert len(chosen) == len(classes)
    assert all(len([h for h in chosen if h in members]) == 1 for members in classes)


def test_conjugates_in_d4() -> None:
    """A quarter turn takes the mirrors into each other, and leaves the turns."""
    pairs = {"D1": "D1v", "D1v": "D1", "D1d": "D1a", "D1a": "D1d"}
    for name in TEN:
        assert str(D4.conjugate(iso.group(name), "r")) == pairs.get(name, name)


@pytest.mark.parametrize("name", ["S3", "D4", "Q8", "C2xC4"])
def test_normal(name: str) -> None:
    """Normal are the subgroups whose left and right cosets are the same sets."""
    group = SMALL[name]
    for h in group.subgroups():
        left = {frozenset(multiply(group, g, x) for x in h.elements) for g in group.elements}
        right = {frozenset(multiply(group, x, g) for x in h.elements) for g in group.elements}
        assert h.is_normal_in(group) == (left == right)


@pytest.mark.parametrize("generators", [[], ["r2"], ["r"], ["s"], ["s", "r2"], ["s", "sr"]])
def test_generated_subgroup(generators: list[str]) -> None:
    """The smallest subgroup around some elements."""
    assert names(D4.subgroup(generators)) == closure(D4, generators)


def test_subgroup_of_unknown_element() -> None:
    """A subgroup that is none is refused."""
    with pytest.raises(iso.InputError, match="D4 has no element 'q'"):
        D4.subgroup(["r2", "q"])


def test_subgroup_of_a_subgroup() -> None:
    """It remembers the largest group, has its names, and may be named anew."""
    h = iso.group("D2").subgroup(["r2"])
    assert str(h) == "C2"
    assert h.ambient == D4
    assert str(iso.group("D2").subgroup(["r2"], "half turns")) == "half turns"
    assert str(D4.trivial_subgroup) == "C1"
    assert str(iso.group("S3").trivial_subgroup) == "C1"


def test_fixing_space() -> None:
    """The same group, that leaves every pixel where it is."""
    still = D4.fixing_space()
    assert still.elements == D4.elements
    assert np.array_equal(still.table, D4.table)
    assert iso.groups.grid(still, (3, 5)).is_trivial


# -- the lattice -----------------------------------------------------------------------------


@pytest.mark.parametrize("a", TEN)
def test_order_meet_and_join_in_d4(a: str) -> None:
    """With each of the ten: inclusion, intersection, generated subgroup, as sets of elements."""
    for b in TEN:
        first, second = iso.group(a), iso.group(b)
        assert first.is_subgroup_of(second) == (D4_BY_NAME[a] <= D4_BY_NAME[b])
        assert names(first.meet(second)) == D4_BY_NAME[a] & D4_BY_NAME[b]
        assert names(first.join(second)) == closure(D4, D4_BY_NAME[a] | D4_BY_NAME[b])


def test_meet_is_largest_and_join_smallest() -> None:
    """Among all ten: the largest inside both, the smallest around both."""
    every = [frozenset(elements) for elements in D4_BY_NAME.values()]
    for a, b in product(TEN, repeat=2):
        below = [h for h in every if h <= D4_BY_NAME[a] and h <= D4_BY_NAME[b]]
        above = [h for h in every if h >= D4_BY_NAME[a] and h >= D4_BY_NAME[b]]
        assert names(iso.group(a).meet(iso.group(b))) == max(below, key=len)
        assert names(iso.group(a).join(iso.group(b))) == min(above, key=len)


def test_lattice_laws() -> None:
    """Idempotent, commutative, associative, absorbing: for all triples."""
    ten = [iso.group(name) for name in TEN]
    meet = {(a, b): a.meet(b) for a in ten for b in ten}
    join = {(a, b): a.join(b) for a in ten for b in ten}
    for a, b in product(ten, repeat=2):
        assert meet[a, a] == a == join[a, a]
        assert meet[a, b] == meet[b, a]
        assert join[a, b] == join[b, a]
        assert meet[a, join[a, b]] == a == join[a, meet[a, b]]
    for a, b, c in product(ten, repeat=3):
        assert meet[a, meet[b, c]] == meet[meet[a, b], c]
        assert join[a, join[b, c]] == join[join[a, b], c]


@pytest.mark.parametrize(("a", "b"), [("C4", "C3"), ("D2", "S3"), ("C2", "O")])
def test_no_common_group(a: str, b: str) -> None:
    """Groups cut from different ones have no meet or join."""
    for method in ("meet", "join"):
        with pytest.raises(iso.InputError, match=f"{a} and {b} are not subgroups of one known"):
            getattr(iso.group(a), method)(iso.group(b))


@pytest.mark.parametrize(
    ("inner", "outer", "expected"),
    [
        ("C2", "C4", True),
        ("C4", "D4", True),
        ("O", "Oh", True),
        ("Oh", "O", False),
        ("C3", "D3", True),
        ("C3", "C6", False),  # the names agree, the products do not: r·r2 = e against r3
        ("D2", "D2d", False),
    ],
)
def test_is_subgroup_of(inner: str, outer: str, expected: bool) -> None:
    """By names and by products."""
    assert iso.group(inner).is_subgroup_of(iso.group(outer)) is expected


# -- cosets and quotients --------------------------------------------------------------------


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", ["S3", "D4", "Q8", "C6"])
def test_cosets(name: str, side: str) -> None:
    """They partition the group, each is gH (or Hg), that of the neutral element comes first."""
    group = SMALL[name]
    for h in group.subgroups():
        cosets = group.cosets(h, side)
        expected = {
            frozenset(
                multiply(group, g, x) if side == "left" else multiply(group, x, g)
                for x in h.elements
            )
            for g in group.elements
        }
        assert {frozenset(coset) for coset in cosets} == expected
        assert sorted(x for coset in cosets for x in coset) == sorted(group.elements)
        assert set(cosets[0]) == names(h)
        assert group.representatives(h, side) == tuple(coset[0] for coset in cosets)
        labels = group.coset_labels(h, side)
        assert [x in cosets[k] for x, k in zip(group.elements, labels, strict=True)] == (
            [True] * group.order
        )


def test_left_and_right_differ() -> None:
    """For a mirror in D4: rD1 = {r, sr3}, since r s = s r3, but D1r = {r, sr}."""
    assert ("r", "sr3") in D4.cosets(iso.group("D1"))
    assert ("r", "sr") in D4.cosets(iso.group("D1"), "right")


def test_cosets_refuse() -> None:
    """A side that is none, and a group that is no subgroup."""
    with pytest.raises(iso.InputError, match='side must be "left" or "right", not \'both\''):
        D4.cosets(iso.group("C2"), "both")
    with pytest.raises(iso.InputError, match="C3 is not a subgroup of D4"):
        D4.cosets(iso.group("C3"))


@pytest.mark.parametrize("name", ["C6", "S3", "D4", "Q8", "C2xC4"])
def test_quotient(name: str) -> None:
    """A group for normal subgroups, that multiplies cosets as sets; refused for all others."""
    group = SMALL[name]
    for h in group.subgroups():
        if not h.is_normal_in(group):
            message = re.escape(f"{h} is not a normal subgroup of {group}")
            with pytest.raises(iso.InputError, match=message):
                group.quotient(h)
            continue
        cosets = group.cosets(h)
        table = [
            [
                cosets.index(next(c for c in cosets if multiply(group, a[0], b[0]) in c))
                for b in cosets
            ]
            for a in cosets
        ]
        quotient = group.quotient(h)
        assert is_group(table)
        assert quotient.table.tolist() == table
        assert quotient.order * h.order == group.order


def test_quotient_names() -> None:
    """A coset is called after its first element and the subgroup."""
    quotient = D4.quotient(iso.group("C2"))
    assert str(quotient) == "D4/C2"
    assert quotient.elements == ("eC2", "rC2", "sC2", "srC2")
    assert quotient.table.tolist() == klein().table.tolist()


# -- equality, hash, pickle ------------------------------------------------------------------


@small
def test_equal_and_hash(group: FiniteGroup) -> None:
    """Equal are groups with the same names and products; then the hash is one as well."""
    again = FiniteGroup(group.table.copy(), group.elements, "another name")
    assert again == group
    assert hash(again) == hash(group)
    renamed = FiniteGroup(group.table, [f"x{i}" for i in range(group.order)])
    assert renamed != group
    assert group != "a group"


def test_equal_needs_products() -> None:
    """The same names with other products are another group."""
    elements = ["e", "a", "b", "c"]
    four = FiniteGroup(cyclic(4).table, elements)
    assert four != FiniteGroup(klein().table, elements)


@pytest.mark.parametrize(
    "group",
    [
        *map(iso.group, (*TEN, "O", "Oh", "C5", "S3")),
        quaternions(),
        direct_product(cyclic(2), cyclic(4)),
    ],
    ids=str,
)
@pytest.mark.parametrize("copied", [pickled, copy.deepcopy])
def test_round_trip(group: FiniteGroup, copied: Callable[[FiniteGroup], FiniteGroup]) -> None:
    """Pickle and deepcopy give an equal group with its name, matrices, ambient and names."""
    back = copied(group)
    assert back == group
    assert hash(back) == hash(group)
    assert str(back) == str(group)
    assert back.ambient == group.ambient
    assert back.subgroup_names == group.subgroup_names
    assert (back.matrices is None) == (group.matrices is None)
    assert group.matrices is None or np.array_equal(back.matrices, group.matrices)
    assert [str(h) for h in back.subgroups()] == [str(h) for h in group.subgroups()]


def test_round_trip_of_a_named_subgroup() -> None:
    """A subgroup keeps the name it was given, and joins with others of its family."""
    turned = pickled(D4.subgroup(["r2"], "half"))
    assert str(turned) == "half"
    assert str(turned.join(iso.group("D1"))) == "D2"


def test_a_group_cannot_be_changed() -> None:
    """Groups are shared: their arrays are read-only, and not the caller's."""
    table = np.array([[0, 1], [1, 0]])
    group = FiniteGroup(table)
    table[0, 0] = 1
    assert group.table[0, 0] == 0
    for array in (group.table, D4.table, D4.matrices, iso.group("C2").table):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("D1x", "unknown group 'D1x'. Known: C1, C2, C4, D1, D1v, D1d, D1a, D2, D2d, D4, O, Oh"),
        ("d4", "Did you mean"),
        ("C0", "unknown group 'C0'"),
        ("S7", "unknown group 'S7'"),
        ("C1001", "unknown group 'C1001'"),
        ("D501", "unknown group 'D501'"),
        ("C04", "unknown group 'C04'"),
        ("C-4", "unknown group 'C-4'"),
        ("", "unknown group ''"),
    ],
)
def test_unknown_group(name: str, message: str) -> None:
    """The message lists the known names."""
    with pytest.raises(iso.InputError, match=re.escape(message)):
        iso.group(name)
