"""How weights come from fewer numbers: vec(W) = B ψ."""

from isotropy.schemes.base import Scheme
from isotropy.schemes.orbit import OrbitScheme, inherit
from isotropy.schemes.partition import Partition, Refinement, partition_distance, refinement
from isotropy.schemes.tie import Tie, kernel_action, vector_partition

__all__ = [
    "OrbitScheme",
    "Partition",
    "Refinement",
    "Scheme",
    "Tie",
    "inherit",
    "kernel_action",
    "partition_distance",
    "refinement",
    "vector_partition",
]
