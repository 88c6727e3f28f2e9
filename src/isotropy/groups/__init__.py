"""Finite groups, their subgroups, and their actions on grids, channels and labels."""

from isotropy.groups.action import (
    Action,
    Group,
    natural,
    orbits_of_pairs,
    permuting,
    quotient,
    regular,
    side_by_side,
    trivial,
    vectors,
)
from isotropy.groups.construct import (
    automorphisms,
    central_extension,
    cyclic,
    dihedral,
    direct_product,
    from_permutations,
    semidirect_product,
    symmetric,
)
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.grid import grid
from isotropy.groups.named import D4_SUBGROUPS, ELEMENT_MEANINGS, MEANINGS, group, known_names
from isotropy.groups.orbits import orbits, pair_orbits
from isotropy.groups.permutation import PermutationGroup
from isotropy.groups.signed import Signed

__all__ = [
    "D4_SUBGROUPS",
    "ELEMENT_MEANINGS",
    "MEANINGS",
    "Action",
    "FiniteGroup",
    "Group",
    "PermutationGroup",
    "Signed",
    "automorphisms",
    "central_extension",
    "cyclic",
    "dihedral",
    "direct_product",
    "from_permutations",
    "grid",
    "group",
    "known_names",
    "natural",
    "orbits",
    "orbits_of_pairs",
    "pair_orbits",
    "permuting",
    "quotient",
    "regular",
    "semidirect_product",
    "side_by_side",
    "symmetric",
    "trivial",
    "vectors",
]
