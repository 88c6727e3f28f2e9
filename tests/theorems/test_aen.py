"""002 (AEN), Sections 3 and 4: Theorems 1 and 2, Corollary 1, Claims 1 and 2, Figures 2 to 4.

Group elements, orbits and maps are compared with their definitions, element by element; that the
package needs generators only, and two axes one at a time, must not show.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, permutations, product

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import isotropy as iso
from isotropy.groups import (
    Action,
    FiniteGroup,
    Signed,
    central_extension,
    cyclic,
    direct_product,
    from_permutations,
    orbits_of_pairs,
    permuting,
    quotient,
    regular,
    semidirect_product,
    trivial,
    vectors,
)
from isotropy.schemes import OrbitScheme, Partition
from tests.groups.oracles import (
    alphas,
    assert_action,
    joined,
    klein,
    multiply,
    on_pairs,
    orbits_by_union,
)

Matrix = NDArray[np.float64]

NORMAL = {"C2": cyclic(2), "C3": cyclic(3), "C4": cyclic(4), "V4": klein(), "S3": iso.group("S3")}
ACTING = {"C2": cyclic(2), "C3": cyclic(3), "C4": cyclic(4)}


class Product:
    """G = G1 ⋊α G2, and for an action Γ of it the actions μ that Eqs. 1 to 4 give its factors."""

    def __init__(self, normal: FiniteGroup, acting: FiniteGroup, whole: FiniteGroup) -> None:
        self.factors = (normal, acting)
        self.whole = whole

    def named(self, factor: int, element: str) -> str:
        """(g1, e) or (e, g2)."""
        return f"({element},e)" if factor == 0 else f"(e,{element})"

    def of_factor(self, factor: int, action: Action) -> Action:
        """μ of one factor: μ_g1 = Γ_(g1, e), μ_g2 = Γ_(e, g2)."""
        group = self.factors[factor]
        moves = {g: action.of(self.named(factor, g)) for g in group.generators}
        return Action(group, moves, action.size)

    def small_actions(self, limit: int) -> list[Action]:
        """Actions on the cosets of every subgroup, as far as there are not too many."""
        large_enough = [h for h in self.whole.subgroups() if self.whole.order <= limit * h.order]
        return [quotient(self.whole, h) for h in large_enough]


SEMIDIRECT = {
    f"{n}:{a}-{i}": Product(normal, acting, semidirect_product(normal, acting, alpha))
    for n, normal in NORMAL.items()
    for a, acting in ACTING.items()
    for i, alpha in enumerate(alphas(normal, acting))
}
S3 = iso.group("S3")


def s3_on_v4() -> dict[str, tuple[str, ...]]:
    """S3 permutes the three involutions of V4; V4 ⋊ S3 is S4."""
    swaps = [x for x in klein().elements if x != "e"]
    action = permuting(S3, {"(1 0 2)": [1, 0, 2], "(1 2 0)": [1, 2, 0]})
    return {g: ("e", *(swaps[i] for i in action.of(g).target)) for g in S3.elements}


def s3_on_itself() -> dict[str, tuple[str, ...]]:
    """By conjugation."""
    inverse = {g: S3.elements[S3.inverse(i)] for i, g in enumerate(S3.elements)}
    return {g: tuple(multiply(S3, g, x, inverse[g]) for x in S3.elements) for g in S3.elements}


SEMIDIRECT |= {
    "V4:S3": Product(klein(), S3, semidirect_product(klein(), S3, s3_on_v4())),
    "S3:S3": Product(S3, S3, semidirect_product(S3, S3, s3_on_itself())),
}
DIRECT = {
    f"{a}x{b}": Product(first, second, direct_product(first, second))
    for (a, first), (b, second) in product(NORMAL.items(), ACTING.items())
}
every_product = pytest.mark.parametrize("g", SEMIDIRECT.values(), ids=SEMIDIRECT.keys())
direct_products = pytest.mark.parametrize("g", DIRECT.values(), ids=DIRECT.keys())


def all_pairs(first: Action, second: Action) -> list[NDArray[np.int64]]:
    """What every element does to the entries of a weight, numbered row by row."""
    elements = first.test_elements
    return [on_pairs(first.of(g).target, second.of(g).target) for g in elements]


def is_equivariant(weight: Matrix, first: Action, second: Action) -> bool:
    """Whether Γ̄_g W = W Γ_g, for all elements, as matrices."""
    return all(
        np.allclose(first.of(g).matrix() @ weight, weight @ second.of(g).matrix(), atol=1e-9)
        for g in first.test_elements
    )


def averaged(weight: Matrix, first: Action, second: Action) -> Matrix:
    """The nearest map that commutes with every element: the mean of Γ̄_g W Γ_g⁻¹."""
    turned = [first.of(g).matrix() @ weight @ second.of(g).matrix().T for g in first.test_elements]
    return np.asarray(np.mean(turned, axis=0))


# -- Theorem 1 and Corollary 1 ---------------------------------------------------------------


def test_there_are_this_many_products() -> None:
    """All α of the small groups: a trivial one for each pair, twenty others, and two of S3."""
    assert len(DIRECT) == 15
    assert len(SEMIDIRECT) == 37


def assert_orbits_join(g: Product, output: Action, inputs: Action) -> None:
    """Orbits under G, by all its elements, are the joined orbits of its two factors."""
    whole = orbits_by_union(all_pairs(output, inputs), output.size * inputs.size)
    factors = [(g.of_factor(i, output), g.of_factor(i, inputs)) for i in (0, 1)]
    tied = [orbits_of_pairs(*pair).labels.ravel().tolist() for pair in factors]
    for pair, labels in zip(factors, tied, strict=True):
        assert labels == orbits_by_union(all_pairs(*pair), len(labels))
    assert joined(*tied) == whole
    assert orbits_of_pairs(output, inputs).labels.ravel().tolist() == whole
    both = [(a.moves[x].target, b.moves[x].target) for a, b in factors for x in a.moves]
    for generators in (both, both[::-1]):  # nor does the factors' order matter
        assert iso.orbits(generators, (output.size, inputs.size)).ravel().tolist() == whole


@every_product
def test_theorem_1_on_weights(g: Product) -> None:
    """Weights between regular fields: for every α the tied entries are those of the factors."""
    fields = regular(g.whole)
    assert_orbits_join(g, fields, fields)


@direct_products
def test_corollary_1_on_weights(g: Product) -> None:
    """The same for direct products, and for weights between two kinds of fields."""
    fields = regular(g.whole)
    assert_orbits_join(g, fields, fields)
    for cosets in g.small_actions(limit=6):
        assert_orbits_join(g, cosets, fields)


@every_product
def test_the_factors_act(g: Product) -> None:
    """μ of either factor is an action, so Theorem 1's assumptions hold for every α."""
    for factor in (0, 1):
        mu = g.of_factor(factor, regular(g.whole))
        assert_action(mu)
        for element in g.factors[factor].elements:
            assert mu.of(element).equals(regular(g.whole).of(g.named(factor, element)))


@every_product
def test_theorem_1_for_linear_maps(g: Product) -> None:
    """A linear map is equivariant to G if and only if it is to both factors.

    One drawn at random is equivariant to nothing, one averaged over a factor to that alone, and
    one averaged over the factors in turn, until neither changes it, to both and so to all of G.
    """
    fields = regular(g.whole)
    first, second = (g.of_factor(i, fields) for i in (0, 1))
    drawn = np.random.default_rng(0).standard_normal((fields.size, fields.size))
    only_first, only_second = averaged(drawn, first, first), averaged(drawn, second, second)
    both = drawn
    for _ in range(3):
        both = averaged(averaged(both, first, first), second, second)
    for weight, expected in (
        (drawn, (False, False)),
        (only_first, (True, False)),
        (only_second, (False, True)),
        (both, (True, True)),
    ):
        found = (is_equivariant(weight, first, first), is_equivariant(weight, second, second))
        assert found == expected
        assert is_equivariant(weight, fields, fields) == all(expected)
    assert np.abs(both).max() > 1e-3
    assert np.allclose(both, averaged(drawn, fields, fields))


@every_product
def test_theorem_1_for_linear_maps_the_other_way(g: Product) -> None:
    """What is equivariant to G, drawn without a look at its factors, is so to each of them."""
    fields = regular(g.whole)
    drawn = np.random.default_rng(1).standard_normal((fields.size, fields.size))
    weight = averaged(drawn, fields, fields)
    for factor in (0, 1):
        mu = g.of_factor(factor, fields)
        assert is_equivariant(weight, mu, mu)


def equivariant_maps(functions: NDArray[np.int64], output: Action, inputs: Action) -> set[int]:
    """Numbers of the functions with φ(Γ_g x) = Γ̄_g φ(x) for all g and x."""
    good = np.ones(len(functions), dtype=bool)
    for g in inputs.test_elements:
        moved_first = functions[:, inputs.of(g).target]
        moved_after = output.of(g).target[functions]
        good &= (moved_first == moved_after).all(axis=1)
    return set(np.flatnonzero(good).tolist())


@every_product
def test_theorem_1_for_all_functions(g: Product) -> None:
    """Of all functions between two small sets, linear or not: those of G are those of both."""
    actions = g.small_actions(limit=4)
    factors = [[g.of_factor(i, action) for action in actions] for i in (0, 1)]
    pairs = [list(product(a, repeat=2)) for a in (actions, *factors)]
    differs = 0
    for whole, *parts in zip(*pairs, strict=True):
        output, inputs = whole
        every = product(range(output.size), repeat=inputs.size)
        functions = np.array(list(every), dtype=np.int64)
        first, second = (equivariant_maps(functions, *part) for part in parts)
        assert equivariant_maps(functions, *whole) == first & second
        differs += first != second
    assert differs  # that both are asked for makes a difference


def test_a_larger_product() -> None:
    """Theorem 1 twice over: the symmetries of a 4×4 torus are shifts, quarter turns, mirrors.

    (Z4 × Z4) ⋊ D4 has 128 elements. The orbits of its weights are the joined orbits of four
    groups of four, four, four and two.
    """
    board = np.arange(16).reshape(4, 4)
    shifts = (np.roll(board, 1, 0), np.roll(board, 1, 1))
    parts = [p.ravel() for p in (*shifts, np.rot90(board), np.fliplr(board))]
    group = listed(parts)
    assert len(group) == 128 == from_permutations(parts).order
    expected = orbits_by_union([on_pairs(p, p) for p in group], 256)
    tied = [orbits_by_union([on_pairs(p, p)], 256) for p in parts]
    assert joined(*tied) == expected
    assert iso.orbits([(p, p) for p in parts], (16, 16)).ravel().tolist() == expected
    assert max(expected) + 1 == 6  # one number for every distance on the torus


def listed(generators: Sequence[NDArray[np.int64]]) -> list[tuple[int, ...]]:
    """Every element of the group that permutations generate."""
    found = [tuple(range(len(generators[0])))]
    for element in found:  # grows while we go
        images = (tuple(int(g[i]) for i in element) for g in generators)
        found += [image for image in dict.fromkeys(images) if image not in found]
    return found


# -- Section 4.1: the three figures ----------------------------------------------------------


def test_s3_is_z3_and_z2() -> None:
    """Figures 2 to 4: on three points S3 leaves two numbers, Z3 alone three, Z2 alone five."""
    turn, flip = [1, 2, 0], [0, 2, 1]
    z3, z2 = orbits_by_union([on_pairs(turn, turn)], 9), orbits_by_union([on_pairs(flip, flip)], 9)
    s3 = orbits_by_union([on_pairs(p, p) for p in permutations(range(3))], 9)
    assert [max(labels) + 1 for labels in (z3, z2, s3)] == [3, 5, 2]
    assert joined(z3, z2) == s3 == [0, 1, 1, 1, 0, 1, 1, 1, 0]
    for generators, expected in (([turn], z3), ([flip], z2), ([turn, flip], s3)):
        labels = iso.orbits([(p, p) for p in generators], (3, 3))
        assert labels.ravel().tolist() == expected


# -- Theorem 2: the tied layer ---------------------------------------------------------------

D4 = iso.group("D4")
LAYERS: Mapping[str, tuple[Action, Action]] = {
    "D4, fields": (regular(D4), regular(D4)),
    "D4, lifting": (regular(D4), iso.groups.grid(D4, (3, 3))),
    "D4, pixels to logits": (trivial(D4, 3), iso.groups.grid(D4, (4, 4))),
    "D4, cosets": (quotient(D4, iso.group("D1")), quotient(D4, iso.group("D1d"))),
    "D4, vectors": (vectors(D4) + trivial(D4, 1), iso.groups.grid(D4, (2, 2)) + vectors(D4)),
    "S3, points": (
        permuting(S3, {"(1 0 2)": [1, 0, 2], "(1 2 0)": [1, 2, 0]}),
        regular(S3),
    ),
    "C6, cosets": (regular(cyclic(6)), quotient(cyclic(6), cyclic(6).subgroup(["r3"]), 2)),
    "O, voxels": (trivial(iso.group("O"), 2), iso.groups.grid(iso.group("O"), (3, 3, 3))),
    "C1": (trivial(iso.group("C1"), 3), trivial(iso.group("C1"), 4)),
}
every_layer = pytest.mark.parametrize(("output", "inputs"), LAYERS.values(), ids=LAYERS.keys())


@every_layer
def test_theorem_2_tied_layers_are_equivariant(output: Action, inputs: Action) -> None:
    """y = W[I] x with one number for every orbit: Ω(Γ_g x) = Γ̄_g Ω(x) for all g and x."""
    scheme = OrbitScheme(Partition.of_pairs(output, inputs, (output.size, inputs.size)))
    scheme = scheme.double().reset(1.0)
    weight, x = scheme().detach(), torch.randn(5, inputs.size, dtype=torch.float64)
    assert weight.abs().max() > 0.1
    for g in inputs.test_elements:
        before = inputs.apply(g, x) @ weight.T
        after = output.apply(g, x @ weight.T)
        assert torch.allclose(before, after, rtol=0, atol=1e-12)


@every_layer
def test_theorem_2_tied_layers_are_all_equivariant_ones(output: Action, inputs: Action) -> None:
    """Nothing is lost: the orbits' number is the dimension of all W with Γ̄_g W = W Γ_g."""
    n, m = output.size, inputs.size
    equations = [
        np.kron(output.of(g).matrix(), np.eye(m)) - np.kron(np.eye(n), inputs.of(g).matrix().T)
        for g in output.group.generators
    ]
    rank = np.linalg.matrix_rank(np.concatenate(equations)) if equations else 0
    assert orbits_of_pairs(output, inputs).count == n * m - rank


@pytest.mark.parametrize("seed", range(4))
def test_theorem_2_for_other_partitions(seed: int) -> None:
    """Splitting an orbit breaks equivariance; joining two keeps it, but loses freedom."""
    rng = np.random.default_rng(seed)
    labels = orbits_of_pairs(regular(D4), regular(D4)).labels
    psi = rng.standard_normal(labels.max() + 2)
    assert is_equivariant(psi[labels], regular(D4), regular(D4))
    split = labels.copy()
    split[tuple(rng.integers(0, 8, size=2))] = labels.max() + 1
    assert not is_equivariant(psi[split], regular(D4), regular(D4))
    assert is_equivariant(psi[np.where(labels == 1, 0, labels)], regular(D4), regular(D4))


# -- Algorithm 1, Claims 1 and 2 -------------------------------------------------------------


def algorithm_1(g_array: Sequence[Sequence[Sequence[int]]], n: int) -> tuple[list[int], int, int]:
    """Fast Equivariant Network Construction, line by line as in the paper.

    Returns I and C as the paper does, so there are C + 1 orbits, and how often Γ_g was looked up.
    """
    lines = list(range(n))
    visited = [-1] * n
    index_of = list(range(n))
    queue: deque[int] = deque()
    c = -1
    visits = 0
    for i in lines:
        if visited[i] < 0:
            visited[i] = 1
            queue.append(i)
            c = c + 1
            while len(queue) > 0:
                index = queue.pop()
                index_of[index] = c
                for group in g_array:
                    for gamma in group:
                        index_g = gamma[index]
                        visits += 1
                        if visited[index_g] < 0:
                            visited[index_g] = 1
                            queue.append(index_g)
                            index_of[index_g] = c
    return index_of, c, visits


Rule = Callable[[int, int, int], tuple[int, int]]  # i, j, m -> the pixel that is moved to (i, j)


def _rotation_scramble(i: int, j: int, m: int) -> tuple[int, int]:
    """The quadrants cycle, contents unrotated: TL = old TR, TR = BR, BR = BL, BL = TL."""
    h = m // 2
    if i < h:
        return (i, j + h) if j < h else (i + h, j)
    return (i - h, j) if j < h else (i, j - h)


RULES: Mapping[str, Rule] = {
    "rotation": lambda i, j, m: (j, m - 1 - i),
    "horizontal flip": lambda i, j, m: (i, m - 1 - j),
    "vertical flip": lambda i, j, m: (m - 1 - i, j),
    "horizontal shift": lambda i, j, m: (i, (j + 4) % m),
    "vertical shift": lambda i, j, m: ((i + 4) % m, j),
    "rotation scramble": _rotation_scramble,
    "horizontal scramble": lambda i, j, m: (i, (j + m // 2) % m),
    "vertical scramble": lambda i, j, m: ((i + m // 2) % m, j),
    "left vertical scramble": lambda i, j, m: ((i + m // 2) % m if j < m // 2 else i, j),
    "right vertical scramble": lambda i, j, m: ((i + m // 2) % m if j >= m // 2 else i, j),
    "top horizontal scramble": lambda i, j, m: (i, (j + m // 2) % m if i < m // 2 else j),
    "bottom horizontal scramble": lambda i, j, m: (i, (j + m // 2) % m if i >= m // 2 else j),
}
"""The twelve transformations of Table 8 on an m×m grid, m even, in its order."""

NAMES = tuple(RULES)


def pixels(name: str, m: int) -> NDArray[np.int64]:
    """A transformation as a permutation of the pixels, numbered row by row."""
    moved = [RULES[name](i, j, m) for i, j in product(range(m), repeat=2)]
    return np.array([i * m + j for i, j in moved])


def powers(permutation: NDArray[np.int64]) -> list[list[int]]:
    """The cyclic group that a permutation generates, every element of it."""
    found = [np.arange(permutation.size)]
    while len(found) == 1 or not np.array_equal(found[-1], found[0]):
        found.append(permutation[found[-1]])
    return [p.tolist() for p in found[:-1]]


def on_weights(name: str, rows: int, columns: int) -> NDArray[np.int64]:
    """The transformation of both axes of a weight, output (rows²) by input (columns²)."""
    return on_pairs(pixels(name, rows), pixels(name, columns))


@pytest.mark.parametrize("m", [4, 6])
@pytest.mark.parametrize("name", NAMES)
def test_the_twelve_are_permutations_of_this_order(name: str, m: int) -> None:
    """Four for quarter turns and the rotation scramble, two for flips and half swaps."""
    order = {"rotation": 4, "rotation scramble": 4}.get(name, 2)
    order = m // np.gcd(m, 4) if "shift" in name else order
    assert sorted(pixels(name, m)) == list(range(m * m))
    assert len(powers(pixels(name, m))) == order


def test_the_twelve_on_a_picture() -> None:
    """What each does to a 4×4 picture whose quadrants are numbered 1 2 / 3 4."""
    inside = np.tile([[0, 1], [2, 3]], (2, 2))
    picture = 10 * np.kron([[1, 2], [3, 4]], np.ones((2, 2), dtype=int)) + inside
    blocks = {
        "rotation scramble": [[2, 4], [1, 3]],
        "horizontal scramble": [[2, 1], [4, 3]],
        "vertical scramble": [[3, 4], [1, 2]],
        "left vertical scramble": [[3, 2], [1, 4]],
        "right vertical scramble": [[1, 4], [3, 2]],
        "top horizontal scramble": [[2, 1], [3, 4]],
        "bottom horizontal scramble": [[1, 2], [4, 3]],
    }
    expected = {
        name: 10 * np.kron(quadrants, np.ones((2, 2), dtype=int)) + inside
        for name, quadrants in blocks.items()
    } | {
        "rotation": np.rot90(picture),
        "horizontal flip": np.fliplr(picture),
        "vertical flip": np.flipud(picture),
        "horizontal shift": picture,  # by 4, all the way round
        "vertical shift": picture,
    }
    for name in NAMES:
        assert picture.ravel()[pixels(name, 4)].tolist() == expected[name].ravel().tolist()


SETS = [
    *([name] for name in NAMES),
    *(list(pair) for pair in list(combinations(NAMES, 2))[::5]),
    ["horizontal flip", "vertical flip", "rotation scramble", "top horizontal scramble"],
    ["left vertical scramble", "bottom horizontal scramble", "horizontal shift"],
    list(NAMES),
]
every_set = pytest.mark.parametrize("names", SETS, ids="+".join)


@every_set
def test_claim_1(names: list[str]) -> None:
    """Algorithm 1's I is iso.orbits' labels, C + 1 their number, and W[I] is equivariant."""
    rows, columns = 2, 6
    g_array = [powers(on_weights(name, rows, columns)) for name in names]
    index_of, c, _ = algorithm_1(g_array, 4 * 36)
    pairs = [(pixels(name, rows), pixels(name, columns)) for name in names]
    labels = iso.orbits(pairs, (4, 36))
    assert labels.ravel().tolist() == index_of
    assert iso.orbits([on_weights(name, rows, columns) for name in names], 144).tolist() == index_of
    assert labels.max() == c
    weight = np.random.default_rng(0).standard_normal(c + 1)[labels]
    for p, q in pairs:
        turn, turn_in = Signed(p).matrix(), Signed(q).matrix()
        assert np.allclose(turn @ weight, weight @ turn_in, rtol=0, atol=1e-12)


@every_set
def test_claim_2(names: list[str]) -> None:
    """Algorithm 1 looks up exactly N · Σ|Gᵢ| images, however the groups lie to each other."""
    n = 4 * 36
    g_array = [powers(on_weights(name, 2, 6)) for name in names]
    _, _, visits = algorithm_1(g_array, n)
    assert visits == n * sum(len(group) for group in g_array)


@every_product
def test_claims_for_every_product(g: Product) -> None:
    """With G_array = [G1, G2]: the orbits of G1 ⋊ G2, at N(|G1| + |G2|) visits, not N|G1||G2|."""
    fields = regular(g.whole)
    n = fields.size**2
    factors = [all_pairs(mu, mu) for mu in (g.of_factor(0, fields), g.of_factor(1, fields))]
    index_of, c, visits = algorithm_1([[p.tolist() for p in f] for f in factors], n)
    whole, c_whole, visits_whole = algorithm_1([[p.tolist() for p in all_pairs(fields, fields)]], n)
    assert index_of == whole == orbits_of_pairs(fields, fields).labels.ravel().tolist()
    assert c + 1 == c_whole + 1 == g.whole.order
    assert visits == n * sum(f.order for f in g.factors)
    assert visits_whole == n * g.whole.order


# -- the counts of PAPERS.md, section 002 ----------------------------------------------------

COUNTS = {
    "rotation": 122_400,
    "rotation scramble": 122_400,
    "horizontal flip": 240_800,
    "vertical flip": 240_800,
    "horizontal scramble": 240_800,
    "vertical scramble": 240_800,
    "left vertical scramble": 300_000,
    "right vertical scramble": 300_000,
    "top horizontal scramble": 300_000,
    "bottom horizontal scramble": 300_000,
    "horizontal shift": 44_960,
    "vertical shift": 44_960,
}
TABLE_3 = (0.47, 0.12, 0.24, 0.24, 0.04, 0.04, 0.24, 0.30, 0.30, 0.30, 0.30, 0.12, 0.24)
EQ = (
    *NAMES[:5],
    "vertical scramble",
    "left vertical scramble",
    "right vertical scramble",
    "top horizontal scramble",
    "bottom horizontal scramble",
    "rotation scramble",
    "horizontal scramble",
)
"""The networks' columns Eq1 to Eq12 in the authors' code: from 6 on not Table 8's order."""


def free_weights(names: Iterable[str]) -> int:
    """Free weights of the network 784-400-400-10, whose last layer is unconstrained."""
    names = list(names)
    layers = 0
    for rows, columns in ((20, 28), (20, 20)):
        generators = [(pixels(name, rows), pixels(name, columns)) for name in names]
        layers += int(iso.orbits(generators, (rows**2, columns**2)).max()) + 1
    return layers + 400 * 10


def test_count_without_symmetry() -> None:
    """784·400 + 400·400 + 400·10."""
    assert free_weights([]) == 477_600


@pytest.mark.parametrize(("name", "count"), COUNTS.items())
def test_count(name: str, count: int) -> None:
    """Exactly as many free weights as cycles of the transformation, plus the free head."""
    assert free_weights([name]) == count


def test_table_3() -> None:
    """The paper's millions, two digits kept; Table 8's order would not give them."""

    def kept(names: Iterable[str]) -> tuple[float, ...]:
        counts = [477_600, *(COUNTS[name] for name in names)]
        return tuple(count // 10_000 / 100 for count in counts)

    assert kept(EQ) == TABLE_3
    assert kept(NAMES) != TABLE_3


@pytest.mark.parametrize(
    ("chosen", "millions"),
    [
        ((2, 3, 6, 10, 12), "0.02"),
        ((2, 3, 12), "0.06"),
        ((3, 9, 12), "0.09"),
        ((7, 8), "0.18"),
        ((1, 6, 8, 9, 11), "0.018"),
        ((1, 11), "0.03"),
        ((1, 3, 6, 8, 12), "0.01"),
        ((2, 3, 11, 12), "0.02"),
        ((8, 9), "0.15"),
        ((2, 8), "0.09"),
        ((1, 2, 3), "0.06"),
        ((1, 3, 6, 11, 12), "0.015"),
    ],
)
def test_rows_of_tables_9_and_10(chosen: tuple[int, ...], millions: str) -> None:
    """Several symmetries at once, in millions as printed, the digits after that cut off."""
    digits = len(millions) - 2
    count = free_weights(EQ[k - 1] for k in chosen)
    assert count // 10 ** (6 - digits) == int(millions[2:])


@pytest.mark.parametrize("name", ["horizontal shift", "left vertical scramble", "rotation"])
def test_count_by_burnside(name: str) -> None:
    """The mean number of fixed entries over the joint group, whose order the axes' orders give."""
    total = 400 * 10
    for rows, columns in ((20, 28), (20, 20)):
        first, second = (powers(pixels(name, m)) for m in (rows, columns))
        order = int(np.lcm(len(first), len(second)))
        fixed = [
            sum(k == p for k, p in enumerate(first[i % len(first)]))
            * sum(k == p for k, p in enumerate(second[i % len(second)]))
            for i in range(order)
        ]
        assert sum(fixed) % order == 0
        total += sum(fixed) // order
    assert total == COUNTS[name]
    if name == "horizontal shift":
        assert np.lcm(len(powers(pixels(name, 20))), len(powers(pixels(name, 28)))) == 35


# -- central extensions are outside ----------------------------------------------------------

Z2 = cyclic(2)
Z4 = central_extension(Z2, Z2, {("r", "r"): "r"})


def cocycles(over: FiniteGroup, centre: FiniteGroup) -> list[dict[tuple[str, str], str]]:
    """All maps that Definition 8 calls 2-cocycles, by trying all maps."""
    pairs = list(product(over.elements, repeat=2))
    found = []
    for values in product(centre.elements, repeat=len(pairs)):
        psi = dict(zip(pairs, values, strict=True))
        if psi["e", "e"] == "e" and all(
            multiply(centre, psi[g, multiply(over, h, k)], psi[h, k])
            == multiply(centre, psi[g, h], psi[multiply(over, g, h), k])
            for g, h, k in product(over.elements, repeat=3)
        ):
            found.append(psi)
    return found


@pytest.mark.parametrize(
    ("over", "centre", "count"),
    [(Z2, Z2, 2), (Z2, cyclic(4), 4), (cyclic(3), Z2, 4)],
    ids=["Z2 by Z2", "Z2 by Z4", "Z3 by Z2"],
)
def test_every_pair_is_a_product_in_a_central_extension_too(
    over: FiniteGroup, centre: FiniteGroup, count: int
) -> None:
    """The paper's reason is not the reason: ψ(e, g) = e follows, so (g1, e)(e, g2) = (g1, g2).

    Put g = g' = e into Definition 8: ψ(e, g'')ψ(e, g'') = ψ(e, e)ψ(e, g'') = ψ(e, g'').
    """
    found = cocycles(over, centre)
    assert len(found) == count
    for psi in found:
        group = central_extension(centre, over, psi)
        for a, b in product(centre.elements, over.elements):
            assert psi["e", b] == "e"
            assert multiply(group, f"({a},e)", f"(e,{b})") == f"({a},{b})"


def test_central_extensions_have_no_second_factor() -> None:
    """The reason: g2 ↦ (e, g2) is a homomorphism for the trivial cocycle alone.

    So Γ_(e, g2) is no action of G2, and the assumptions (3) and (4) of Theorem 1 cannot hold.
    """
    for over, centre in ((Z2, Z2), (Z2, cyclic(4)), (cyclic(3), Z2)):
        for psi in cocycles(over, centre):
            group = central_extension(centre, over, psi)
            multiplies = all(
                multiply(group, f"(e,{b})", f"(e,{b2})") == f"(e,{multiply(over, b, b2)})"
                for b, b2 in product(over.elements, repeat=2)
            )
            assert multiplies == all(value == "e" for value in psi.values())


def test_z4_has_no_second_factor() -> None:
    """In Z4 over Z2: (e, r)² = (r, e), not (e, e); as permutations of Z4 the same."""
    assert multiply(Z4, "(e,r)", "(e,r)") == "(r,e)"
    turn = regular(Z4).of("(e,r)")
    assert not (turn @ turn).is_identity
    with pytest.raises(iso.InputError, match="no action of C2: r·r = e fails"):
        permuting(Z2, {"r": turn})


def test_orbits_of_two_factors_are_not_those_of_z4() -> None:
    """However Z2 is put into Z4 as a second factor, the joined orbits stay too fine.

    Z4 has two homomorphisms from Z2, both into its centre, the first factor. On four points they
    leave two orbits where Z4 has one, and on weights eight where Z4 has four: a map equivariant
    to both factors need not be so to Z4.
    """
    fields = regular(Z4)
    centre = [fields.of(f"({a},e)") for a in Z2.elements]
    involutions = [x for x in Z4.elements if multiply(Z4, x, x) == "(e,e)"]
    assert involutions == ["(e,e)", "(r,e)"]
    assert orbits_of_pairs(fields, fields).count == 4
    for x in involutions:
        generators = [p.target for p in (*centre, fields.of(x))]
        assert iso.orbits(generators, 4).tolist() == [0, 1, 0, 1]
        labels = iso.orbits([(p, p) for p in generators], (4, 4))
        assert labels.max() + 1 == 8
        weight = np.random.default_rng(0).standard_normal(8)[labels]
        first = Action(Z2, {"r": centre[1]}, 4)
        second = Action(Z2, {"r": fields.of(x)}, 4)
        assert is_equivariant(weight, first, first)
        assert is_equivariant(weight, second, second)
        assert not is_equivariant(weight, fields, fields)


def test_one_pair_of_factors_two_groups() -> None:
    """Z4 and Z2 × Z2 are both Z2 over Z2; their weights are tied in two ways, each to four."""
    straight = central_extension(Z2, Z2, {})
    assert straight.elements == Z4.elements
    tied = [orbits_of_pairs(regular(g), regular(g)) for g in (straight, Z4)]
    assert [t.count for t in tied] == [4, 4]
    assert tied[0].labels.tolist() != tied[1].labels.tolist()
    only_straight = np.random.default_rng(0).standard_normal(4)[tied[0].labels]
    assert is_equivariant(only_straight, regular(straight), regular(straight))
    assert not is_equivariant(only_straight, regular(Z4), regular(Z4))


def test_permutations_that_are_no_factor_still_generate() -> None:
    """What is left of it: Γ_(g1, e) and Γ_(e, g2), as permutations, do have the orbits of Z4.

    Algorithm 1 and iso.orbits ask for no second factor: any generators will do.
    """
    fields = regular(Z4)
    chosen = [fields.of(x).target for x in ("(r,e)", "(e,r)")]
    expected = orbits_by_union(all_pairs(fields, fields), 16)
    assert iso.orbits([(p, p) for p in chosen], (4, 4)).ravel().tolist() == expected
    sections = [[on_pairs(p, p).tolist()] for p in chosen]
    assert algorithm_1(sections, 16)[0] == expected
