"""Actions of groups on coordinates, by permutations that may carry signs.

An action of G on n coordinates is a homomorphism from G to signed permutations: (g x) has the
value sign[i] · x[i] at position target[i]. Channels, pixels, labels, vector components and
weights are all such coordinates; fields on a feature map are laid out as index c · |G| + g.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from isotropy.errors import InputError
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.orbits import PairOrbits, pair_orbits
from isotropy.groups.permutation import PermutationGroup
from isotropy.groups.signed import Signed, direct_sum

if TYPE_CHECKING:
    from torch import Tensor

Group = FiniteGroup | PermutationGroup


class Action:
    """What the generators of a group, and so all its elements, do to `size` coordinates.

    Args:
        group: the group that acts.
        moves: for every generator of the group its signed permutation.
        size: the number of coordinates.

    >>> import isotropy as iso
    >>> turn = regular(iso.group("C4"), fields=2)
    >>> turn.size, turn.of("r")
    (8, (1 2 3 0 5 6 7 4))
    """

    def __init__(self, group: Group, moves: Mapping[str, Signed], size: int) -> None:
        missing = [g for g in group.generators if g not in moves]
        if missing:
            raise InputError(f"moves lack the generator {missing[0]!r} of {group.name}")
        self.group = group
        self.moves = {g: moves[g] for g in group.generators}
        self.size = size
        for g, p in self.moves.items():
            if p.size != size:
                raise InputError(f"the move of {g!r} is of {p.size} coordinates, not {size}")
        if isinstance(group, FiniteGroup):
            _check_relations(group, self.moves, self._elements, "coordinates")

    @classmethod
    def known(cls, group: Group, moves: Mapping[str, Signed], size: int) -> Action:
        """An action that is one by construction, without the check of all products."""
        action = cls.__new__(cls)
        action.group, action.size = group, size
        action.moves = {g: moves[g] for g in group.generators}
        return action

    # -- elements ---------------------------------------------------------------------------

    @cached_property
    def _elements(self) -> list[Signed]:
        if isinstance(self.group, PermutationGroup):
            raise InputError(f"the elements of {self.group.name} are not listed")
        elements = [Signed.identity(self.size)] * self.group.order
        for child, parent, g in self.group.spanning_tree:
            elements[child] = self.moves[g] @ elements[parent]
        return elements

    def of(self, element: str) -> Signed:
        """The signed permutation of a named element."""
        if element in self.moves:
            return self.moves[element]
        if isinstance(self.group, PermutationGroup):
            raise InputError(f"{self.group.name} has no generator {element!r}")
        return self._elements[self.group.index(element)]

    @property
    def test_elements(self) -> tuple[str, ...]:
        """Elements to test with: all of a listed group, the generators of another."""
        return self.group.elements if isinstance(self.group, FiniteGroup) else self.group.generators

    @property
    def is_signed(self) -> bool:
        """Whether some element turns a sign."""
        return any(p.flips.any() for p in self.moves.values())

    @property
    def is_trivial(self) -> bool:
        """Whether every element leaves every coordinate alone."""
        return all(p.is_identity for p in self.moves.values())

    def apply(self, element: str, x: Tensor, dim: int = -1) -> Tensor:
        """The tensor with its dimension `dim` moved by an element."""
        if x.shape[dim] != self.size:
            raise InputError(f"the action moves {self.size} coordinates, not {x.shape[dim]}")
        return self.of(element).apply(x, dim)

    def equals(self, other: Action) -> bool:
        """Whether both groups are one and do the same."""
        return (
            self.size == other.size
            and self.group == other.group
            and all(p.equals(other.moves[g]) for g, p in self.moves.items())
        )

    def __repr__(self) -> str:
        return f"Action({self.group}, {self.size} coordinates)"

    # -- new actions from old ---------------------------------------------------------------

    def restrict(self, subgroup: Group) -> Action:
        """The same action, of a subgroup."""
        if subgroup == self.group:
            return self
        if not subgroup.is_subgroup_of(self.group):
            raise InputError(f"{subgroup.name} is not a subgroup of {self.group.name}")
        return Action.known(subgroup, {g: self.of(g) for g in subgroup.generators}, self.size)

    def __add__(self, other: Action) -> Action:
        """Both side by side."""
        return side_by_side([self, other])

    def __mul__(self, other: Action) -> Action:
        """On pairs (i, j), numbered i · other.size + j."""
        _require_one_group([self, other])
        moves = {g: p.tensor_product(other.moves[g]) for g, p in self.moves.items()}
        return Action.known(self.group, moves, self.size * other.size)

    def unsigned(self) -> Action:
        """The same without signs."""
        moves = {g: Signed(p.target) for g, p in self.moves.items()}
        return Action.known(self.group, moves, self.size)

    def part(self, start: int, size: int) -> Action:
        """What it does to some consecutive coordinates that it keeps among themselves."""
        moves = {}
        for g, p in self.moves.items():
            target = p.target[start : start + size] - start
            if not np.array_equal(np.sort(target), np.arange(size)):
                raise InputError(f"{g} of {self.group.name} moves channels out of {start}, ...")
            sign = None if p.sign is None else p.sign[start : start + size]
            moves[g] = Signed(target, sign)
        return Action.known(self.group, moves, size)

    def first_factor(self, second: Action) -> Action:
        """The action whose product with a second one this is."""
        n = second.size
        moves = {
            g: Signed(p.target[::n] // n, None if p.sign is None else p.sign[::n])
            for g, p in self.moves.items()
        }
        factor = Action.known(self.group, moves, self.size // n)
        if not (factor * second).equals(self):
            raise InputError(f"the action of {self.group.name} is no product with {second}")
        return factor

    # -- orbits -----------------------------------------------------------------------------

    def orbits(self) -> PairOrbits:
        """Orbits of the coordinates; labels of shape (1, size)."""
        return orbits_of_pairs(trivial(self.group, 1), self)


def orbits_of_pairs(first: Action, second: Action) -> PairOrbits:
    """Orbits of pairs of coordinates of two actions of one group; labels (first, second).

    >>> import isotropy as iso
    >>> fields = regular(iso.group("C2"))
    >>> orbits_of_pairs(fields, fields).labels.tolist()
    [[0, 1], [1, 0]]
    """
    _require_one_group([first, second])
    generators = tuple(first.group.generators)
    return pair_orbits(
        [first.moves[g] for g in generators],
        [second.moves[g] for g in generators],
        (first.size, second.size),
    )


def side_by_side(actions: Sequence[Action]) -> Action:
    """The direct sum: the coordinates of the first action, then of the second, ...

    >>> import isotropy as iso
    >>> mirror = iso.group("D1")
    >>> side_by_side([trivial(mirror, 1), regular(mirror)]).of("s")
    (0 2 1)
    """
    _require_one_group(actions)
    group = actions[0].group
    moves = {g: direct_sum([a.moves[g] for a in actions]) for g in group.generators}
    return Action.known(group, moves, sum(a.size for a in actions))


def _require_one_group(actions: Sequence[Action]) -> None:
    group = actions[0].group
    for action in actions[1:]:
        if action.group is not group and action.group != group:
            raise InputError(f"actions of {group.name} and of {action.group.name} do not combine")


def trivial(group: Group, size: int) -> Action:
    """Every element leaves every coordinate alone.

    >>> import isotropy as iso
    >>> trivial(iso.group("C4"), 3).is_trivial
    True
    """
    return Action.known(group, {g: Signed.identity(size) for g in group.generators}, size)


def regular(group: FiniteGroup, fields: int = 1) -> Action:
    """Copies of the group itself: coordinate c · |G| + g goes to c · |G| + hg under h.

    >>> import isotropy as iso
    >>> regular(iso.group("C4"), fields=2).of("r")
    (1 2 3 0 5 6 7 4)
    """
    moves = {h: Signed(group.table[group.index(h)]) for h in group.generators}
    return trivial(group, fields) * Action.known(group, moves, group.order)


def quotient(group: FiniteGroup, subgroup: FiniteGroup, fields: int = 1) -> Action:
    """Copies of the cosets gH: coordinate c · |G/H| + gH goes to c · |G/H| + hgH under h.

    >>> import isotropy as iso
    >>> quotient(iso.group("C4"), iso.group("C2")).of("r")
    (1 0)
    """
    labels = group.coset_labels(subgroup)
    first = np.array([group.index(name) for name in group.representatives(subgroup)])
    moves = {h: Signed(labels[group.table[group.index(h), first]]) for h in group.generators}
    return trivial(group, fields) * Action.known(group, moves, first.size)


def natural(group: PermutationGroup, copies: int = 1) -> Action:
    """Copies of the points that a permutation group is given on.

    >>> swap = PermutationGroup({"swap": [1, 0]})
    >>> natural(swap, copies=2).of("swap")
    (1 0 3 2)
    """
    return trivial(group, copies) * Action.known(group, group.natural, group.size)


def vectors(group: FiniteGroup) -> Action:
    """The components of a vector in space, array axes first to last; signs turn with it.

    >>> import isotropy as iso
    >>> vectors(iso.group("D1")).of("s")
    (0 -1)
    """
    if group.matrices is None:
        raise InputError(f"{group.name} has no matrices: it does not say how it acts on space")
    matrices = group.matrices
    moves = {g: Signed.read(matrices[group.index(g)]) for g in group.generators}
    return Action.known(group, moves, matrices.shape[-1])


Given = Mapping[str, Signed | ArrayLike]


def permuting(group: Group, given: Given, what: str = "labels", size: int | None = None) -> Action:
    """The action that some elements' permutations determine; refused if there is none.

    Args:
        group: the group that acts.
        given: {element name: list of images, or signed permutation matrix}. What the given
            elements do not reach leaves every coordinate alone.
        what: what is permuted, for messages.
        size: how many coordinates there must be.

    >>> import isotropy as iso
    >>> permuting(iso.group("D2"), {"s": [1, 0]}).of("sr2")
    (1 0)
    """
    moves = {
        key: Signed.read(value, f"the permutation of {what} for {key!r}")
        for key, value in given.items()
    }
    sizes = {p.size for p in moves.values()} | ({size} if size is not None else set())
    if len(sizes) != 1:
        raise InputError(f"the permutations of {what} must all have one size, not {sorted(sizes)}")
    n = sizes.pop()
    if isinstance(group, PermutationGroup):
        return _on_generators(group, moves, n, what)
    for element in moves:
        group.index(element)
    elements = _complete(group, moves, n)
    _check_relations(group, moves, elements, what)
    return Action.known(group, {g: elements[group.index(g)] for g in group.generators}, n)


def _on_generators(
    group: PermutationGroup, moves: dict[str, Signed], size: int, what: str
) -> Action:
    unknown = set(moves) - set(group.generators)
    if unknown:
        raise InputError(f"{group.name} has no generator {unknown.pop()!r} to permute {what} by")
    still = Signed.identity(size)
    return Action.known(group, {g: moves.get(g, still) for g in group.generators}, size)


def _complete(group: FiniteGroup, moves: dict[str, Signed], size: int) -> list[Signed]:
    """Products of the given permutations for all elements; what they do not reach stands still."""
    known = dict(moves)
    reached = group.subgroup(known)
    for g in group.generators:
        if g not in reached:
            known[g] = Signed.identity(size)
            reached = group.subgroup(known)
    elements: list[Signed | None] = [None] * group.order
    elements[0] = Signed.identity(size)
    frontier = [0]
    for parent in frontier:  # grows while we go
        for g, p in known.items():
            child = int(group.table[group.index(g), parent])
            if elements[child] is None:
                before = elements[parent]
                assert before is not None
                elements[child] = p @ before
                frontier.append(child)
    return [p for p in elements if p is not None]


def _check_relations(
    group: FiniteGroup, moves: dict[str, Signed], elements: list[Signed], what: str
) -> None:
    for name, p in moves.items():
        if not p.equals(elements[group.index(name)]):
            raise InputError(_relation(group, moves, "e", name, p, elements, what))
    for left in group.generators:
        a = group.index(left)
        for b, right in enumerate(group.elements):
            product = elements[a] @ elements[b]
            if not product.equals(elements[group.table[a, b]]):
                raise InputError(_relation(group, moves, left, right, product, elements, what))


def _relation(
    group: FiniteGroup,
    moves: dict[str, Signed],
    left: str,
    right: str,
    got: Signed,
    elements: list[Signed],
    what: str,
) -> str:
    """In words, which product of two elements comes out wrong."""
    result = group.elements[group.table[group.index(left), group.index(right)]]
    idle = [
        g
        for g in (left, right)
        if g not in moves and g != "e" and elements[group.index(g)].is_identity
    ]
    hint = f" ({idle[0]} was not given, so it moves nothing)" if idle else ""
    return (
        f"these permutations of {what} are no action of {group.name}: "
        f"{left}·{right} = {result} fails, as {left} after {right} gives {got} "
        f"but {result} is {elements[group.index(result)]}{hint}"
    )
