"""Permutation groups known by their generators alone, for groups too large to list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numpy.typing import ArrayLike

from isotropy.errors import InputError
from isotropy.groups.signed import Signed


class PermutationGroup:
    """The group that (signed) permutations of n points generate; its elements are never listed.

    Orbits, and so tied weights, need only generators. What needs elements (regular fields,
    averages over the group) needs a `FiniteGroup`.

    Args:
        generators: permutations as lists of images or signed permutation matrices; a mapping
            also names them.
        name: the group's name.

    >>> shuffles = PermutationGroup({"swap": [1, 0, 2, 3], "turn": [1, 2, 3, 0]}, "S4")
    >>> shuffles.size, shuffles.generators
    (4, ('swap', 'turn'))
    """

    def __init__(
        self,
        generators: Mapping[str, Signed | ArrayLike] | Sequence[Signed | ArrayLike],
        name: str = "",
    ) -> None:
        if not isinstance(generators, Mapping):
            generators = {f"g{i + 1}": value for i, value in enumerate(generators)}
        self.natural = {
            key: Signed.read(value, f"generator {key!r}") for key, value in generators.items()
        }
        sizes = {p.size for p in self.natural.values()}
        if len(sizes) != 1:
            raise InputError(f"generators must act on one set of points, not on {sorted(sizes)}")
        self.size = sizes.pop()
        self.name = name or f"<{', '.join(self.natural)}>"

    @property
    def generators(self) -> tuple[str, ...]:
        """The generators' names."""
        return tuple(self.natural)

    def subgroup(self, generators: Iterable[str], name: str = "") -> PermutationGroup:
        """The subgroup that some of the generators generate."""
        chosen = list(generators)
        unknown = [g for g in chosen if g not in self.natural]
        if unknown:
            known = ", ".join(self.generators)
            raise InputError(f"{self.name} has no generator {unknown[0]!r}; it has {known}")
        return PermutationGroup({g: self.natural[g] for g in chosen}, name)

    def is_subgroup_of(self, other: object) -> bool:
        """Whether every generator of mine is one of the other's (sufficient, not necessary)."""
        return isinstance(other, PermutationGroup) and all(
            name in other.natural and p.equals(other.natural[name])
            for name, p in self.natural.items()
        )

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"PermutationGroup({self.name!r}, {len(self.natural)} generators on {self.size})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PermutationGroup):
            return NotImplemented
        return self.is_subgroup_of(other) and other.is_subgroup_of(self)

    def __hash__(self) -> int:
        return hash((frozenset(self.generators), self.size))
