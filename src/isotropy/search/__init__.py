"""Searches over symmetries: which group, and in which layer, found while training."""

from isotropy.search.breed import Generation
from isotropy.search.compare import Comparison, compare
from isotropy.search.course import PAPER as EVOLVE_AS_001
from isotropy.search.evolution import Evolution
from isotropy.search.evolve import evolve
from isotropy.search.lineage import Individual
from isotropy.search.mix import PAPER as MIX_AS_001
from isotropy.search.mix import mix
from isotropy.search.mixing import Mixing
from isotropy.search.steps import Guide, allowed_groups
from isotropy.search.workers import Failed, Workers

__all__ = [
    "EVOLVE_AS_001",
    "MIX_AS_001",
    "Comparison",
    "Evolution",
    "Failed",
    "Generation",
    "Guide",
    "Individual",
    "Mixing",
    "Workers",
    "allowed_groups",
    "compare",
    "evolve",
    "mix",
]
