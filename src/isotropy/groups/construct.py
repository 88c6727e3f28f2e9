"""Ways to make groups: families, permutations, products, extensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product as cartesian

import numpy as np
from numpy.typing import ArrayLike

from isotropy.errors import InputError
from isotropy.groups.finite import FiniteGroup, IntArray

MAX_ENUMERATED = 10_000


def cyclic(n: int) -> FiniteGroup:
    """The cyclic group of n elements e, r, r2, ...

    >>> cyclic(6).order_of("r2")
    3
    """
    _require_positive(n)
    i = np.arange(n)
    return FiniteGroup((i[:, None] + i) % n, _rotation_names(n), f"C{n}")


def dihedral(n: int) -> FiniteGroup:
    """The 2n symmetries of an n-gon: rotations e, r, ... and reflections s, sr, ...; r s = s r⁻¹.

    >>> d3 = dihedral(3)
    >>> d3.order, d3.is_abelian, d3.elements
    (6, False, ('e', 'r', 'r2', 's', 'sr', 'sr2'))
    """
    _require_positive(n)
    flip, turn = np.divmod(np.arange(2 * n), n)
    # s^a r^i · s^b r^j = s^(a+b) r^(±i+j), the sign that of (-1)^b
    signed = np.where(flip[None, :] == 1, -turn[:, None], turn[:, None])
    table = ((flip[:, None] + flip) % 2) * n + (signed + turn) % n
    rotations = _rotation_names(n)
    mirrors = tuple("s" + ("" if name == "e" else name) for name in rotations)
    return FiniteGroup(table, rotations + mirrors, f"D{n}")


def symmetric(n: int) -> FiniteGroup:
    """All n! permutations of n points, named by their images, e.g. "(1 0 2)".

    >>> symmetric(3).order
    6
    """
    _require_positive(n)
    if n == 1:
        return from_permutations([[0]], "S1")
    swap, turn = np.arange(n), np.roll(np.arange(n), -1)
    swap[:2] = [1, 0]
    return from_permutations([swap, turn], f"S{n}")


def from_permutations(
    generators: Sequence[ArrayLike] | Mapping[str, ArrayLike],
    name: str = "",
    limit: int = MAX_ENUMERATED,
) -> FiniteGroup:
    """The group that permutations generate, every element listed.

    Args:
        generators: arrays p with p[i] the image of point i; a mapping also names them.
        name: the group's name.
        limit: refuse groups with more elements than this.

    >>> from_permutations([[1, 2, 3, 0], [3, 2, 1, 0]]).order
    8
    """
    named = dict(generators) if isinstance(generators, Mapping) else dict(enumerate(generators))
    arrays = {key: np.asarray(value, dtype=np.int64) for key, value in named.items()}
    sizes = {a.size for a in arrays.values()}
    if len(sizes) != 1:
        raise InputError(f"generators must be permutations of one set, not of sizes {sizes}")
    for key, a in arrays.items():
        if not np.array_equal(np.sort(a), np.arange(a.size)):
            raise InputError(f"generator {key!r} is no permutation of range({a.size})")
    points = _enumerate(list(arrays.values()), limit)
    names = _permutation_names(points, arrays)
    lookup = {row.tobytes(): i for i, row in enumerate(points)}
    table = [[lookup[a[b].tobytes()] for b in points] for a in points]
    return FiniteGroup(table, names, name)


def _enumerate(generators: list[IntArray], limit: int) -> IntArray:
    """All products of the generators, the identity first, breadth first."""
    found = [np.arange(generators[0].size)]
    seen = {found[0].tobytes()}
    for element in found:  # grows while we go
        for g in generators:
            image = g[element]
            if image.tobytes() not in seen:
                seen.add(image.tobytes())
                found.append(image)
        if len(found) > limit:
            raise InputError(
                f"these permutations generate more than {limit} elements; "
                "use PermutationGroup, which needs no list of them"
            )
    return np.stack(found)


def _permutation_names(points: IntArray, arrays: Mapping[str | int, IntArray]) -> tuple[str, ...]:
    given = {a.tobytes(): key for key, a in arrays.items() if isinstance(key, str)}
    names = []
    for i, row in enumerate(points):
        spelled = "(" + " ".join(map(str, row)) + ")" if row.size <= 12 else f"g{i}"
        while spelled in given.values():
            spelled += "'"
        names.append("e" if i == 0 else given.get(row.tobytes(), spelled))
    return tuple(names)


def direct_product(first: FiniteGroup, second: FiniteGroup) -> FiniteGroup:
    """Pairs, multiplied side by side (002, Definition 6).

    >>> direct_product(cyclic(2), cyclic(3)).order
    6
    """
    trivial = dict.fromkeys(second.elements, first.elements)
    product = semidirect_product(first, second, trivial)
    product.name = f"{first.name}×{second.name}"
    return product


def semidirect_product(
    normal: FiniteGroup, acting: FiniteGroup, alpha: Mapping[str, Sequence[str]]
) -> FiniteGroup:
    """Pairs with (a, b)(a', b') = (a α_b(a'), b b') (002, Definition 7).

    Args:
        normal: the group G1 that is acted on.
        acting: the group G2 that acts.
        alpha: for every element of `acting` the images of `normal`'s elements, in their order;
            checked to be automorphisms and a homomorphism.

    >>> turn = {"e": ("e", "r", "r2"), "r": ("e", "r2", "r")}
    >>> semidirect_product(cyclic(3), cyclic(2), turn).is_abelian
    False
    """
    images = np.array([_images(normal, alpha, name) for name in acting.elements])
    for name, image in zip(acting.elements, images, strict=True):
        onto = np.array_equal(np.sort(image), np.arange(normal.order))
        if not onto or not np.array_equal(image[normal.table], normal.table[np.ix_(image, image)]):
            raise InputError(f"alpha[{name!r}] is no automorphism of {normal.name}")
    composed = images[:, images]
    if not np.array_equal(composed, images[acting.table]):
        raise InputError(f"alpha is no homomorphism from {acting.name} to Aut({normal.name})")

    def multiply(a: IntArray, b: IntArray, a2: IntArray, b2: IntArray) -> IntArray:
        return np.asarray(normal.table[a, images[b, a2]] * acting.order + acting.table[b, b2])

    return _pairs(normal, acting, multiply, f"{normal.name}⋊{acting.name}")


def central_extension(
    centre: FiniteGroup, over: FiniteGroup, cocycle: Mapping[tuple[str, str], str]
) -> FiniteGroup:
    """Pairs with (a, b)(a', b') = (a a' ψ(b, b'), b b') (002, Definition 8).

    Args:
        centre: the abelian group G1.
        over: the group G2.
        cocycle: ψ as {(b, b'): element of `centre`}; pairs left out are neutral. Checked to be
            a 2-cocycle.

    >>> central_extension(cyclic(2), cyclic(2), {("r", "r"): "r"}).order_of("(e,r)")
    4
    """
    if not centre.is_abelian:
        raise InputError(f"{centre.name} must be abelian to be the centre of an extension")
    psi = np.zeros((over.order, over.order), dtype=np.int64)
    for (b, b2), a in cocycle.items():
        psi[over.index(b), over.index(b2)] = centre.index(a)
    _check_cocycle(centre, over, psi)

    def multiply(a: IntArray, b: IntArray, a2: IntArray, b2: IntArray) -> IntArray:
        first = centre.table[centre.table[a, a2], psi[b, b2]]
        return np.asarray(first * over.order + over.table[b, b2])

    return _pairs(centre, over, multiply, f"{centre.name}.{over.name}")


def _check_cocycle(centre: FiniteGroup, over: FiniteGroup, psi: IntArray) -> None:
    if psi[0, 0] != 0:
        raise InputError("a 2-cocycle must send the pair of neutral elements to the neutral one")
    g, h, k = np.meshgrid(*[np.arange(over.order)] * 3, indexing="ij")
    left = centre.table[psi[g, over.table[h, k]], psi[h, k]]
    right = centre.table[psi[g, h], psi[over.table[g, h], k]]
    if (left != right).any():
        a, b, c = (over.elements[i] for i in np.argwhere(left != right)[0])
        raise InputError(f"not a 2-cocycle: ψ(g,hk)ψ(h,k) ≠ ψ(g,h)ψ(gh,k) at g={a}, h={b}, k={c}")


def automorphisms(group: FiniteGroup) -> tuple[tuple[str, ...], ...]:
    """All automorphisms, each as the images of the elements in their order.

    >>> len(automorphisms(dihedral(4)))
    8
    """
    generators = [group.index(name) for name in group.generators]
    orders = np.array([group.order_of(name) for name in group.elements])
    choices = [np.flatnonzero(orders == orders[g]) for g in generators]
    found = []
    for targets in cartesian(*choices):
        image = _extend(group, dict(zip(group.generators, map(int, targets), strict=True)))
        if image is not None and len(set(image.tolist())) == group.order:
            found.append(tuple(group.elements[i] for i in image))
    return tuple(found)


def homomorphisms(source: FiniteGroup, images: Sequence[IntArray]) -> list[tuple[int, ...]]:
    """All maps h from `source` to permutations images[h[i]] with h(ab) = h(a)∘h(b)."""
    lookup = {np.asarray(p).tobytes(): i for i, p in enumerate(images)}
    found = []
    for choice in cartesian(range(len(images)), repeat=len(source.generators)):
        of = dict(zip(source.generators, choice, strict=True))
        h = [lookup[np.arange(len(images[0])).tobytes()]] * source.order
        for element, parent, g in source.spanning_tree:
            h[element] = lookup[images[of[g]][images[h[parent]]].tobytes()]
        if _multiplies(source, h, images):
            found.append(tuple(h))
    return found


def _multiplies(source: FiniteGroup, h: list[int], images: Sequence[IntArray]) -> bool:
    stacked = np.stack(images)[h]
    products = np.stack([row[stacked] for row in stacked])
    return np.array_equal(products, stacked[source.table])


def _extend(group: FiniteGroup, targets: Mapping[str, int]) -> IntArray | None:
    """The endomorphism with these images of the generators, or None."""
    image = np.zeros(group.order, dtype=np.int64)
    for element, parent, g in group.spanning_tree:
        image[element] = group.table[targets[g], image[parent]]
    preserved = np.array_equal(image[group.table], group.table[np.ix_(image, image)])
    return image if preserved else None


def _images(normal: FiniteGroup, alpha: Mapping[str, Sequence[str]], element: str) -> list[int]:
    if element not in alpha or len(alpha[element]) != normal.order:
        raise InputError(f"alpha must give {normal.order} images for element {element!r}")
    return [normal.index(name) for name in alpha[element]]


def _pairs(
    first: FiniteGroup,
    second: FiniteGroup,
    multiply: Callable[[IntArray, IntArray, IntArray, IntArray], IntArray],
    name: str,
) -> FiniteGroup:
    """The group on pairs (a, b), pair number a · |second| + b."""
    a, b = np.divmod(np.arange(first.order * second.order), second.order)
    table = multiply(a[:, None], b[:, None], a[None, :], b[None, :])
    names = [f"({x},{y})" for x in first.elements for y in second.elements]
    return FiniteGroup(table, names, name)


def _rotation_names(n: int) -> tuple[str, ...]:
    return tuple("e" if i == 0 else "r" if i == 1 else f"r{i}" for i in range(n))


def _require_positive(n: int) -> None:
    if n < 1:
        raise InputError(f"n must be at least 1, not {n}")
