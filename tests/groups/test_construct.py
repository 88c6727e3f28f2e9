"""Ways to make groups, against sympy and against the definitions of 002, section 2."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import sympy.combinatorics as sympy

import isotropy as iso
from isotropy.groups import (
    FiniteGroup,
    automorphisms,
    central_extension,
    cyclic,
    dihedral,
    direct_product,
    from_permutations,
    semidirect_product,
    symmetric,
)
from isotropy.groups.construct import homomorphisms
from tests.groups.oracles import (
    SMALL,
    all_automorphisms,
    alphas,
    is_group,
    klein,
    multiply,
)

NORMAL = {"C2": cyclic(2), "C3": cyclic(3), "C4": cyclic(4), "V4": klein(), "S3": symmetric(3)}
ACTING = {"C2": cyclic(2), "C3": cyclic(3), "C4": cyclic(4)}
ALPHAS = {
    f"{n}-by-{a}-{i}": (normal, acting, alpha)
    for n, normal in NORMAL.items()
    for a, acting in ACTING.items()
    for i, alpha in enumerate(alphas(normal, acting))
}
every_alpha = pytest.mark.parametrize(
    ("normal", "acting", "alpha"), ALPHAS.values(), ids=ALPHAS.keys()
)


def fingerprint(group: FiniteGroup) -> tuple[tuple[int, int], ...]:
    """How many elements have which order: tells all groups of order up to 15 apart."""
    return tuple(sorted(Counter(map(group.order_of, group.elements)).items()))


def refusal(make: Callable[[], object]) -> str:
    """The message with which something is refused, empty if it is not."""
    try:
        make()
    except iso.InputError as error:
        return str(error)
    return ""


# -- families --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        *((cyclic(n), sympy.CyclicGroup(n)) for n in (2, 3, 4, 6, 9, 12)),
        *((dihedral(n), sympy.DihedralGroup(n)) for n in (3, 4, 5, 6, 9)),
        *((symmetric(n), sympy.SymmetricGroup(n)) for n in (2, 3, 4, 5)),
        (direct_product(cyclic(4), cyclic(6)), sympy.AbelianGroup(4, 6)),
    ],
    ids=str,
)
def test_families_against_sympy(ours: FiniteGroup, theirs: sympy.PermutationGroup) -> None:
    """The same number of elements of every order, and commuting or not."""
    orders = Counter(element.order() for element in theirs.elements)
    assert ours.order == theirs.order()
    assert fingerprint(ours) == tuple(sorted(orders.items()))
    assert ours.is_abelian == theirs.is_abelian


@pytest.mark.parametrize("seed", range(12))
def test_from_permutations_against_sympy(seed: int) -> None:
    """What random permutations generate: as many elements, the same ones."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    generators = [rng.permutation(n).tolist() for _ in range(k)]
    ours = from_permutations(generators)
    theirs = sympy.PermutationGroup([sympy.Permutation(g) for g in generators])
    assert ours.order == theirs.order()
    expected = {"(" + " ".join(map(str, p.array_form)) + ")" for p in theirs.elements}
    assert {"(" + " ".join(map(str, range(n))) + ")", *ours.elements[1:]} == expected


def test_from_permutations_multiplies_by_composition() -> None:
    """a·b is a after b: (a·b)[i] = a[b[i]], which sympy writes b*a."""
    group = from_permutations({"a": [1, 2, 0, 3], "b": [0, 1, 3, 2]})
    composed = [[1, 2, 0, 3][i] for i in [0, 1, 3, 2]]
    assert multiply(group, "a", "b") == "(" + " ".join(map(str, composed)) + ")"
    other = [[0, 1, 3, 2][i] for i in [1, 2, 0, 3]]
    assert multiply(group, "b", "a") == "(" + " ".join(map(str, other)) + ")"
    assert composed != other


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8])
def test_dihedral_relations(n: int) -> None:
    """rⁿ = e, s² = e, r s = s r⁻¹, and element names spell products."""
    group = dihedral(n)
    r = "r" if n > 1 else "e"
    inverse = group.elements[group.inverse(group.index(r))]
    assert multiply(group, *[r] * n) == "e"
    assert multiply(group, "s", "s") == "e"
    assert multiply(group, r, "s") == multiply(group, "s", inverse)
    for i in range(n):
        assert multiply(group, *[r] * i) == group.elements[i]
        assert multiply(group, "s", *[r] * i) == group.elements[n + i]


@pytest.mark.parametrize("n", range(1, 6))
def test_symmetric(n: int) -> None:
    """All n! permutations."""
    group = symmetric(n)
    assert (group.order, str(group)) == (math.factorial(n), f"S{n}")


@pytest.mark.parametrize("family", [cyclic, dihedral, symmetric])
@pytest.mark.parametrize("n", [0, -3])
def test_no_group_of_no_points(family: Callable[[int], FiniteGroup], n: int) -> None:
    """n starts at 1."""
    with pytest.raises(iso.InputError, match=f"n must be at least 1, not {n}"):
        family(n)


@pytest.mark.parametrize(
    ("generators", "message"),
    [
        ([[1, 0], [1, 2, 0]], "generators must be permutations of one set, not of sizes"),
        ([], "generators must be permutations of one set, not of sizes"),
        ([[1, 1]], "generator 0 is no permutation of range(2)"),
        ({"swap": [1, 2]}, "generator 'swap' is no permutation of range(2)"),
    ],
)
def test_from_permutations_refuses(generators: object, message: str) -> None:
    """Lists that are no permutations of one set."""
    with pytest.raises(iso.InputError, match=re.escape(message)):
        from_permutations(generators)  # type: ignore[arg-type]


def test_from_permutations_stops_at_a_limit() -> None:
    """A group too large to list is refused, and the message says what to use."""
    swap, turn = [1, 0, 2, 3, 4], [1, 2, 3, 4, 0]
    assert from_permutations([swap, turn], limit=120).order == 120
    with pytest.raises(iso.InputError, match="more than 119 elements; use PermutationGroup"):
        from_permutations([swap, turn], limit=119)


def test_given_names_are_kept() -> None:
    """Generators keep their names, whatever they are called."""
    assert from_permutations({"turn": [1, 2, 0]}).elements == ("e", "turn", "(2 0 1)")
    turn = np.roll(np.arange(13), -1)  # so many points are not spelled out but numbered
    group = from_permutations({"g2": turn})
    assert group.order == 13
    assert group.order_of("g2") == 13


# -- products --------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), [("C2", "C3"), ("S3", "C2"), ("C2", "S3"), ("V4", "C4")])
def test_direct_product(a: str, b: str) -> None:
    """(a, b)(a', b') = (aa', bb')."""
    first, second = SMALL[a], SMALL[b]
    group = direct_product(first, second)
    assert str(group) == f"{first}×{second}"
    for (x, y), (x2, y2) in product(product(first.elements, second.elements), repeat=2):
        expected = f"({multiply(first, x, x2)},{multiply(second, y, y2)})"
        assert multiply(group, f"({x},{y})", f"({x2},{y2})") == expected


@every_alpha
def test_semidirect_product(
    normal: FiniteGroup, acting: FiniteGroup, alpha: dict[str, tuple[str, ...]]
) -> None:
    """For every α: a group, multiplying as in Definition 7; G1 is normal and G2 a subgroup."""
    group = semidirect_product(normal, acting, alpha)
    assert is_group(group.table.tolist())
    for (a, b), (a2, b2) in product(product(normal.elements, acting.elements), repeat=2):
        turned = alpha[b][normal.elements.index(a2)]
        expected = f"({multiply(normal, a, turned)},{multiply(acting, b, b2)})"
        assert multiply(group, f"({a},{b})", f"({a2},{b2})") == expected
    inside = group.subgroup([f"({a},e)" for a in normal.elements])
    beside = group.subgroup([f"(e,{b})" for b in acting.elements])
    assert (inside.order, beside.order) == (normal.order, acting.order)
    assert inside.is_normal_in(group)
    assert inside.meet(beside).order == 1
    assert inside.join(beside) == group
    assert beside.is_normal_in(group) == all(images == normal.elements for images in alpha.values())


@pytest.mark.parametrize(
    ("normal", "acting", "count"),
    [
        ("C2", "C2", 1),
        ("C3", "C2", 2),
        ("C3", "C3", 1),
        ("C4", "C2", 2),
        ("C4", "C4", 2),
        ("V4", "C2", 4),  # Aut(V4) = S3: the neutral map and three swaps
        ("V4", "C3", 3),
        ("S3", "C2", 4),  # Aut(S3) = S3
        ("S3", "C3", 3),
        ("S3", "C4", 4),
    ],
)
def test_number_of_alphas(normal: str, acting: str, count: int) -> None:
    """As many as homomorphisms into Aut(G1); the package's own list has the same."""
    expected = list(alphas(NORMAL[normal], ACTING[acting]))
    assert len(expected) == count
    group = NORMAL[normal]
    maps = [np.array([group.index(x) for x in images]) for images in automorphisms(group)]
    ours = homomorphisms(ACTING[acting], maps)
    named = [tuple(tuple(group.elements[j] for j in maps[i]) for i in h) for h in ours]
    assert sorted(named) == sorted(tuple(alpha.values()) for alpha in expected)


def test_known_semidirect_products() -> None:
    """C3 ⋊ C2 = S3, C4 ⋊ C2 = D4, V4 ⋊ C3 = A4, by their elements' orders."""
    turn3 = {"e": ("e", "r", "r2"), "r": ("e", "r2", "r")}
    assert fingerprint(semidirect_product(cyclic(3), cyclic(2), turn3)) == fingerprint(symmetric(3))
    turn4 = {"e": ("e", "r", "r2", "r3"), "r": ("e", "r3", "r2", "r")}
    d4 = semidirect_product(cyclic(4), cyclic(2), turn4)
    assert fingerprint(d4) == fingerprint(dihedral(4))
    around = {
        "e": ("e", "b", "a", "ab"),
        "r": ("e", "a", "ab", "b"),
        "r2": ("e", "ab", "b", "a"),
    }
    a4 = semidirect_product(klein(), cyclic(3), around)
    assert fingerprint(a4) == ((1, 1), (2, 3), (3, 8))


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        ({"e": "e r r2 r3", "r": "e r r3 r2"}, "alpha['r'] is no automorphism of C4"),
        ({"e": "e r r2 r3", "r": "r r2 r3 e"}, "alpha['r'] is no automorphism of C4"),
        ({"e": "e r r2 r3", "r": "e r2 e r2"}, "alpha['r'] is no automorphism of C4"),
        ({"e": "e e e e", "r": "e e e e"}, "alpha['e'] is no automorphism of C4"),
        ({"e": "e r3 r2 r", "r": "e r r2 r3"}, "alpha is no homomorphism from C2 to Aut(C4)"),
        ({"e": "e r3 r2 r", "r": "e r3 r2 r"}, "alpha is no homomorphism from C2 to Aut(C4)"),
        ({"e": "e r r2 r3"}, "alpha must give 4 images for element 'r'"),
        ({"e": "e r r2 r3", "r": "e r"}, "alpha must give 4 images for element 'r'"),
        ({"e": "e r r2 r3", "r": "e r3 r2 x"}, "C4 has no element 'x'"),
    ],
    ids=[
        "no endomorphism",
        "moves e",
        "not onto",
        "constant",
        "swapped",
        "neutral acts",
        "missing",
        "short",
        "unknown",
    ],
)
def test_semidirect_product_refuses(alpha: dict[str, str], message: str) -> None:
    """What is no automorphism, and what is no homomorphism, is said."""
    with pytest.raises(iso.InputError, match=re.escape(message)):
        semidirect_product(cyclic(4), cyclic(2), {b: a.split() for b, a in alpha.items()})


def test_conjugation_is_no_antihomomorphism() -> None:
    """In S3: α_g(x) = g x g⁻¹ is a homomorphism, α_g(x) = g⁻¹ x g is none."""
    group = SMALL["S3"]
    inverse = {g: group.elements[group.inverse(i)] for i, g in enumerate(group.elements)}

    def by(way: Callable[[str], tuple[str, str]]) -> dict[str, list[str]]:
        sides = {g: way(g) for g in group.elements}
        return {
            g: [multiply(group, a, x, b) for x in group.elements] for g, (a, b) in sides.items()
        }

    made = semidirect_product(group, group, by(lambda g: (g, inverse[g])))
    assert is_group(made.table.tolist())
    with pytest.raises(iso.InputError, match="alpha is no homomorphism from"):
        semidirect_product(group, group, by(lambda g: (inverse[g], g)))


def test_exactly_the_homomorphisms_are_taken() -> None:
    """Of all pairs of automorphisms of V4 as α_e, α_r exactly the four homomorphisms."""
    v4, c2 = klein(), cyclic(2)
    accepted = []
    for images in product(sorted(all_automorphisms(v4)), repeat=2):
        alpha = dict(zip(("e", "r"), images, strict=True))
        refused = refusal(lambda alpha=alpha: semidirect_product(v4, c2, alpha))
        assert refused in ("", "alpha is no homomorphism from C2 to Aut(V4)")
        accepted += [] if refused else [alpha]
    assert accepted == list(alphas(v4, c2))


# -- automorphisms ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "count"),
    [("C1", 1), ("C2", 1), ("C5", 4), ("C8", 4), ("V4", 6), ("S3", 6), ("D4", 8), ("Q8", 24)],
)
def test_automorphisms(name: str, count: int) -> None:
    """All bijections that keep products, each once."""
    found = automorphisms(SMALL[name])
    assert len(found) == count
    assert set(found) == all_automorphisms(SMALL[name])


# -- central extensions ----------------------------------------------------------------------


def is_cocycle(psi: dict[tuple[str, str], str], over: FiniteGroup, centre: FiniteGroup) -> bool:
    """Definition 8, for all triples."""
    return psi["e", "e"] == "e" and all(
        multiply(centre, psi[g, multiply(over, h, k)], psi[h, k])
        == multiply(centre, psi[g, h], psi[multiply(over, g, h), k])
        for g, h, k in product(over.elements, repeat=3)
    )


def test_every_map_from_c2_c2_to_c2() -> None:
    """Of the 16 maps two are 2-cocycles; they give V4 and C4. The others are refused."""
    pairs = list(product(("e", "r"), repeat=2))
    made = []
    for values in product(("e", "r"), repeat=4):
        psi = dict(zip(pairs, values, strict=True))
        if is_cocycle(psi, cyclic(2), cyclic(2)):
            made.append(fingerprint(central_extension(cyclic(2), cyclic(2), psi)))
        else:
            with pytest.raises(iso.InputError, match="2-cocycle"):
                central_extension(cyclic(2), cyclic(2), psi)
    assert made == [fingerprint(klein()), fingerprint(cyclic(4))]


def test_every_normalised_map_from_v4_v4_to_c2() -> None:
    """Of the 512 maps with ψ(e,·) = ψ(·,e) = e, 16 are 2-cocycles, and no map is let through.

    H²(V4, C2) has eight classes, of two cocycles each: the extensions are C2³, three times
    C2 × C4, three times D4, and Q8.
    """
    pairs = list(product(("a", "b", "ab"), repeat=2))
    v4, made = klein(), Counter[str]()
    for values in product(("e", "r"), repeat=9):
        psi = dict(zip(pairs, values, strict=True))
        full = dict.fromkeys(product(v4.elements, repeat=2), "e") | psi
        refused = refusal(lambda psi=psi: central_extension(cyclic(2), v4, psi))
        assert (refused == "") == is_cocycle(full, v4, cyclic(2))
        if refused:
            assert "not a 2-cocycle: ψ(g,hk)ψ(h,k) ≠ ψ(g,h)ψ(gh,k) at g=" in refused
            continue
        group = central_extension(cyclic(2), v4, psi)
        known = ("C2xV4", "C2xC4", "D4", "Q8")
        made.update(name for name in known if fingerprint(SMALL[name]) == fingerprint(group))
    assert made == {"C2xV4": 2, "C2xC4": 6, "D4": 6, "Q8": 2}


@pytest.mark.parametrize("pair", [("e", "r"), ("r", "e")])
def test_a_cocycle_is_neutral_beside_the_neutral(pair: tuple[str, str]) -> None:
    """ψ(e, g) = ψ(g, e) = e follows from Definition 8; what breaks it is refused."""
    with pytest.raises(iso.InputError, match="not a 2-cocycle"):
        central_extension(cyclic(2), cyclic(2), {pair: "r"})


def carrying(n: int) -> dict[tuple[str, str], str]:
    """ψ(b, b') = 1 where the digits b and b' to base n carry, 0 elsewhere."""
    digits = list(enumerate(cyclic(n).elements))
    return {(b, b2): "r" for (i, b), (j, b2) in product(digits, digits) if i + j >= n}


@pytest.mark.parametrize("n", [2, 3, 4])
def test_an_extension_multiplies_as_defined(n: int) -> None:
    """(a, b)(a', b') = (a a' ψ(b, b'), b b'); G1 is central and the quotient by it is G2."""
    c = cyclic(n)
    psi = dict.fromkeys(product(c.elements, repeat=2), "e") | carrying(n)
    group = central_extension(c, c, carrying(n))
    for (a, b), (a2, b2) in product(product(c.elements, repeat=2), repeat=2):
        expected = f"({multiply(c, a, a2, psi[b, b2])},{multiply(c, b, b2)})"
        assert multiply(group, f"({a},{b})", f"({a2},{b2})") == expected
    centre = group.subgroup([f"({a},e)" for a in c.elements])
    for a, g in product(centre.elements, group.elements):
        assert multiply(group, a, g) == multiply(group, g, a)
    assert group.quotient(centre).table.tolist() == c.table.tolist()


@pytest.mark.parametrize("n", [2, 3, 4])
def test_carrying_makes_two_digit_numbers(n: int) -> None:
    """Z_n extended by Z_n with the carry as its cocycle is Z_n², not Z_n × Z_n."""
    group = central_extension(cyclic(n), cyclic(n), carrying(n))
    assert fingerprint(group) == fingerprint(cyclic(n * n))
    assert fingerprint(group) != fingerprint(direct_product(cyclic(n), cyclic(n)))


def test_z4_over_z2() -> None:
    """In Z4 over Z2 the element (e, r) has order 4: its powers, one by one."""
    group = central_extension(cyclic(2), cyclic(2), {("r", "r"): "r"})
    powers = [multiply(group, *["(e,r)"] * n) for n in range(1, 5)]
    assert powers == ["(e,r)", "(r,e)", "(r,r)", "(e,e)"]


@pytest.mark.parametrize(
    ("centre", "psi", "message"),
    [
        ("S3", {}, "S3 must be abelian to be the centre of an extension"),
        ("C2", {("e", "e"): "r"}, "must send the pair of neutral elements to the neutral one"),
        ("C2", {("r", "x"): "r"}, "C2 has no element 'x'"),
        ("C2", {("r", "r"): "x"}, "C2 has no element 'x'"),
    ],
)
def test_central_extension_refuses(
    centre: str, psi: dict[tuple[str, str], str], message: str
) -> None:
    """A centre that is not abelian, a map that is no cocycle, names of no element."""
    with pytest.raises(iso.InputError, match=re.escape(message)):
        central_extension(SMALL[centre], cyclic(2), psi)
