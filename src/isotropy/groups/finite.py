"""Finite groups, given by their multiplication tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isotropy.errors import InputError

IntArray = NDArray[np.int64]


class FiniteGroup:
    """A finite group: element ``a`` times element ``b`` is ``table[a, b]``, element 0 is neutral.

    Elements carry names, and a subgroup is a group whose elements are named as in the larger one
    and multiply alike. A group made by `subgroup` remembers the group it was cut from (`ambient`),
    so joins are formed there. `matrices`, when given, say how the elements act on space: they are
    signed permutation matrices over array axes (row, column) or (depth, row, column).

    Args:
        table: square array of element indices.
        elements: the elements' names, the neutral one first.
        name: how the group is called in messages and tables.
        matrices: array (order, d, d) of signed permutation matrices, a homomorphism, or None.

    >>> c3 = FiniteGroup([[0, 1, 2], [1, 2, 0], [2, 0, 1]], ["e", "r", "r2"], "C3")
    >>> c3.order, c3.generators, c3.elements[c3.inverse(1)]
    (3, ('r',), 'r2')
    """

    def __init__(
        self,
        table: ArrayLike,
        elements: Sequence[str] | None = None,
        name: str = "",
        matrices: ArrayLike | None = None,
    ) -> None:
        self.table: IntArray = _read_only(np.array(table, dtype=np.int64))
        self.order = len(self.table)
        names = tuple(elements) if elements is not None else _default_names(self.order)
        self.elements: tuple[str, ...] = names
        self.name = name or f"group of order {self.order}"
        self.matrices: IntArray | None = None
        if matrices is not None:
            given = np.array(matrices)
            self.matrices = _read_only(given.astype(np.int64))
            if not np.array_equal(self.matrices, given):
                raise InputError("matrices must be whole numbers")
        self.ambient: FiniteGroup = self
        self.subgroup_names: Mapping[frozenset[str], str] = {}
        self._check()

    # -- identity and display ---------------------------------------------------------------

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"FiniteGroup({self.name!r}, order {self.order})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FiniteGroup):
            return NotImplemented
        return self.elements == other.elements and np.array_equal(self.table, other.table)

    def __hash__(self) -> int:
        return hash((self.elements, self.table.tobytes()))

    def __contains__(self, element: str) -> bool:
        return element in self._position

    def __reduce__(self) -> tuple[Any, ...]:
        if self.ambient is not self:
            return FiniteGroup.subgroup, (self.ambient, self.elements, self.name)
        state = (self.table, self.elements, self.name, self.matrices, dict(self.subgroup_names))
        return _rebuild, state

    # -- elements ---------------------------------------------------------------------------

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.elements)}

    def index(self, element: str) -> int:
        """Position of an element, by name."""
        try:
            return self._position[element]
        except KeyError:
            known = ", ".join(self.elements[:24]) + (", ..." if self.order > 24 else "")
            raise InputError(f"{self.name} has no element {element!r}; it has {known}") from None

    @cached_property
    def inverses(self) -> IntArray:
        """``inverses[a]`` is the inverse of element ``a``."""
        inverses: IntArray = np.argmin(self.table, axis=1)
        return inverses

    def inverse(self, element: int) -> int:
        """Index of the inverse of the element with this index."""
        return int(self.inverses[element])

    def order_of(self, element: str) -> int:
        """Smallest n > 0 such that the n-th power of the element is neutral."""
        start = current = self.index(element)
        n = 1
        while current != 0:
            current, n = int(self.table[start, current]), n + 1
        return n

    @cached_property
    def is_abelian(self) -> bool:
        """Whether all elements commute."""
        return np.array_equal(self.table, self.table.T)

    @cached_property
    def generators(self) -> tuple[str, ...]:
        """A small generating set, found greedily in the order of the elements."""
        chosen: list[int] = []
        reached = np.zeros(self.order, dtype=bool)
        reached[0] = True
        for i in range(self.order):
            if not reached[i]:
                chosen.append(i)
                reached = self._closure(chosen)
        return tuple(self.elements[i] for i in chosen)

    @cached_property
    def spanning_tree(self) -> tuple[tuple[int, int, str], ...]:
        """(element, parent, generator) with element = generator · parent, parents first."""
        seen, frontier, tree = {0}, [0], []
        while frontier:
            following = []
            for parent in frontier:
                for g in self.generators:
                    child = int(self.table[self.index(g), parent])
                    if child not in seen:
                        seen.add(child)
                        following.append(child)
                        tree.append((child, parent, g))
            frontier = following
        return tuple(tree)

    # -- subgroups --------------------------------------------------------------------------

    def _closure(self, members: Sequence[int] | IntArray) -> NDArray[np.bool_]:
        """Mask of the subgroup that these elements generate."""
        generators = np.unique(np.asarray(members, dtype=np.int64))
        mask = np.zeros(self.order, dtype=bool)
        mask[0] = True
        frontier = np.array([0])
        while frontier.size:
            products = np.unique(self.table[np.ix_(generators, frontier)])
            frontier = products[~mask[products]]
            mask[frontier] = True
        return mask

    def _cut(self, mask: NDArray[np.bool_], name: str | None = None) -> FiniteGroup:
        """The subgroup with exactly these elements."""
        members = np.flatnonzero(mask)
        renumber = np.full(self.order, -1, dtype=np.int64)
        renumber[members] = np.arange(members.size)
        table = renumber[self.table[np.ix_(members, members)]]
        names = tuple(self.elements[i] for i in members)
        matrices = None if self.matrices is None else self.matrices[members]
        cut = FiniteGroup.__new__(FiniteGroup)
        cut.table, cut.order, cut.elements = _read_only(table), members.size, names
        cut.matrices = None if matrices is None else _read_only(matrices)
        cut.ambient = self.ambient
        cut.subgroup_names = self.ambient.subgroup_names
        known = self.ambient.subgroup_names.get(frozenset(names))
        cut.name = name or known or _generated_name(cut)
        return cut

    def subgroup(self, elements: Iterable[str], name: str | None = None) -> FiniteGroup:
        """The subgroup that the named elements generate."""
        if isinstance(elements, str):
            raise InputError(f"elements must be a list of names, as [{elements!r}]")
        return self._cut(self._closure([0, *map(self.index, elements)]), name)

    def fixing_space(self) -> FiniteGroup:
        """The same group, said to leave every pixel where it is (it acts on channels alone)."""
        matrices = np.ones((self.order, 1, 1), dtype=np.int64)
        return FiniteGroup(self.table, self.elements, self.name, matrices)

    @property
    def trivial_subgroup(self) -> FiniteGroup:
        """The subgroup of the neutral element alone."""
        return self.subgroup([])

    def subgroups(self) -> tuple[FiniteGroup, ...]:
        """All subgroups, smallest first.

        >>> import isotropy as iso
        >>> [str(h) for h in iso.group("D4").subgroups()]
        ['C1', 'C2', 'D1', 'D1a', 'D1v', 'D1d', 'C4', 'D2', 'D2d', 'D4']
        """
        cyclic = {self._closure([0, i]).tobytes() for i in range(self.order)}
        found, frontier = set(cyclic), set(cyclic)
        while frontier:
            joined = {
                self._closure(np.flatnonzero(_mask(a) | _mask(b))).tobytes()
                for a in frontier
                for b in cyclic
            }
            frontier = joined - found
            found |= frontier
        masks = sorted(map(_mask, found), key=lambda m: (m.sum(), np.flatnonzero(m).tolist()))
        return tuple(self._cut(mask) for mask in masks)

    def subgroups_up_to_conjugacy(self) -> tuple[FiniteGroup, ...]:
        """One subgroup of every conjugacy class, smallest first.

        >>> import isotropy as iso
        >>> len(iso.group("D4").subgroups_up_to_conjugacy())
        8
        """
        kept: list[FiniteGroup] = []
        seen: set[frozenset[str]] = set()
        for subgroup in self.subgroups():
            if frozenset(subgroup.elements) not in seen:
                kept.append(subgroup)
                seen |= {frozenset(self.conjugate(subgroup, g).elements) for g in self.elements}
        return tuple(kept)

    def conjugate(self, subgroup: FiniteGroup, element: str) -> FiniteGroup:
        """g H g⁻¹ for the named element g."""
        members, g = self.members(subgroup), self.index(element)
        mask = np.zeros(self.order, dtype=bool)
        mask[self.table[self.table[g, members], self.inverse(g)]] = True
        return self._cut(mask)

    def is_subgroup_of(self, other: object) -> bool:
        """Whether all my elements are elements of the other group, by name and product."""
        if not isinstance(other, FiniteGroup) or any(name not in other for name in self.elements):
            return False
        members = np.array([other.index(name) for name in self.elements])
        return np.array_equal(other.table[np.ix_(members, members)], members[self.table])

    def is_normal_in(self, other: FiniteGroup) -> bool:
        """Whether I am a subgroup of the other group that its conjugations keep."""
        return self.is_subgroup_of(other) and all(
            set(other.conjugate(self, g).elements) == set(self.elements) for g in other.generators
        )

    def members(self, subgroup: FiniteGroup) -> IntArray:
        """Indices of a subgroup's elements in this group, in the subgroup's order."""
        if not subgroup.is_subgroup_of(self):
            raise InputError(f"{subgroup.name} is not a subgroup of {self.name}")
        return np.array([self.index(name) for name in subgroup.elements])

    def meet(self, other: FiniteGroup) -> FiniteGroup:
        """The largest group inside both.

        >>> import isotropy as iso
        >>> str(iso.group("C4").meet(iso.group("D2")))
        'C2'
        """
        home = self._common_ambient(other)
        return home.subgroup([name for name in self.elements if name in other])

    def join(self, other: FiniteGroup) -> FiniteGroup:
        """The smallest group around both, inside the group both were cut from.

        >>> import isotropy as iso
        >>> str(iso.group("C2").join(iso.group("D1d")))
        'D2d'
        """
        home = self._common_ambient(other)
        return home.subgroup([*self.elements, *other.elements])

    def _common_ambient(self, other: FiniteGroup) -> FiniteGroup:
        for home in (self.ambient, other.ambient):
            if self.is_subgroup_of(home) and other.is_subgroup_of(home):
                return home
        raise InputError(f"{self.name} and {other.name} are not subgroups of one known group")

    # -- cosets and quotients ---------------------------------------------------------------

    def cosets(self, subgroup: FiniteGroup, side: str = "left") -> tuple[tuple[str, ...], ...]:
        """The cosets gH ("left") or Hg ("right"), that of the neutral element first.

        >>> import isotropy as iso
        >>> iso.group("C4").cosets(iso.group("C2"))
        (('e', 'r2'), ('r', 'r3'))
        """
        labels = self.coset_labels(subgroup, side)
        count = int(labels.max()) + 1
        return tuple(
            tuple(self.elements[i] for i in np.flatnonzero(labels == k)) for k in range(count)
        )

    def coset_labels(self, subgroup: FiniteGroup, side: str = "left") -> IntArray:
        """For every element the number of its coset."""
        if side not in ("left", "right"):
            raise InputError(f'side must be "left" or "right", not {side!r}')
        members = self.members(subgroup)
        products = self.table[:, members] if side == "left" else self.table[members, :].T
        _, labels = np.unique(products.min(axis=1), return_inverse=True)
        return labels.astype(np.int64)

    def representatives(self, subgroup: FiniteGroup, side: str = "left") -> tuple[str, ...]:
        """The first element of every coset."""
        return tuple(coset[0] for coset in self.cosets(subgroup, side))

    def quotient(self, normal: FiniteGroup) -> FiniteGroup:
        """The group of cosets of a normal subgroup, each named after its first element."""
        if not normal.is_normal_in(self):
            raise InputError(f"{normal.name} is not a normal subgroup of {self.name}")
        labels = self.coset_labels(normal)
        first = np.array([self.index(name) for name in self.representatives(normal)])
        table = labels[self.table[np.ix_(first, first)]]
        names = tuple(f"{self.elements[i]}{normal.name}" for i in first)
        return FiniteGroup(table, names, f"{self.name}/{normal.name}")

    # -- checks -----------------------------------------------------------------------------

    def _check(self) -> None:
        n = self.order
        if self.table.shape != (n, n) or n == 0:
            raise InputError(f"table must be a square array, not of shape {self.table.shape}")
        if len(self.elements) != n or len(set(self.elements)) != n:
            raise InputError(f"elements must be {n} different names, not {self.elements}")
        everyone = np.arange(n)
        for axis, what in ((1, "row"), (0, "column")):
            if not (np.sort(self.table, axis=axis) == _along(everyone, axis)).all():
                raise InputError(f"table is no group: a {what} does not hold every element once")
        if (self.table[0] != everyone).any() or (self.table[:, 0] != everyone).any():
            raise InputError("table is no group with element 0 as the neutral one")
        self._check_associative()
        if self.matrices is not None:
            self._check_matrices(self.matrices)

    def _check_associative(self) -> None:
        """Light's test: enough for the generators in the middle."""
        for name in self.generators:
            g = self._position[name]
            if not np.array_equal(self.table[self.table[:, g], :], self.table[:, self.table[g, :]]):
                raise InputError(f"table is no group: products through {name!r} do not associate")

    def _check_matrices(self, matrices: IntArray) -> None:
        d = matrices.shape[-1]
        if matrices.shape != (self.order, d, d):
            raise InputError(f"matrices must be ({self.order}, d, d), not {matrices.shape}")
        entries = np.abs(matrices)
        if (entries.sum(axis=1) != 1).any() or (entries.sum(axis=2) != 1).any():
            raise InputError("matrices must have one ±1 in every row and column, and 0 elsewhere")
        products = np.einsum("aij,bjk->abik", matrices, matrices)
        if not np.array_equal(products, matrices[self.table]):
            raise InputError("matrices do not multiply as the group's elements do")


def _along(values: IntArray, axis: int) -> IntArray:
    return values[None, :] if axis == 1 else values[:, None]


def _mask(raw: bytes) -> NDArray[np.bool_]:
    return np.frombuffer(raw, dtype=bool)


def _read_only(array: IntArray) -> IntArray:
    array.setflags(write=False)
    return array


def _default_names(order: int) -> tuple[str, ...]:
    return ("e", *(f"g{i}" for i in range(1, order)))


def _generated_name(group: FiniteGroup) -> str:
    if group.order == group.ambient.order:
        return group.ambient.name
    if group.order == 1:
        return "C1"
    return f"<{', '.join(group.generators)}>"


def _rebuild(
    table: IntArray,
    elements: tuple[str, ...],
    name: str,
    matrices: IntArray | None,
    subgroup_names: dict[frozenset[str], str],
) -> FiniteGroup:
    group = FiniteGroup(table, elements, name, matrices)
    group.subgroup_names = subgroup_names
    return group
