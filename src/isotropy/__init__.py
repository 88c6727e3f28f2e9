"""isotropy: find the symmetry in your data, build it into your network, ship a plain model."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from isotropy._version import __version__
from isotropy.errors import (
    FileFormatError,
    InputError,
    IsotropyError,
    IsotropyWarning,
    NotSupportedError,
)

# loaded when first used, so that `import isotropy` costs little over `import torch`
_HOMES = {
    "group": "isotropy.groups",
    "orbits": "isotropy.groups",
    "FiniteGroup": "isotropy.groups",
    "PermutationGroup": "isotropy.groups",
    "partition_distance": "isotropy.schemes",
    "equivariant": "isotropy.nn.equivariant",
    "mixed": "isotropy.nn.mixed",
    "relax": "isotropy.nn.relax",
    "carry_optimizer": "isotropy.nn.relax",
    "fold": "isotropy.nn.fold",
    "export": "isotropy.nn.export",
    "groups_of": "isotropy.nn.blueprint",
    "equivariance_error": "isotropy.nn.measure",
    "assert_equivariant": "isotropy.nn.measure",
    "audit": "isotropy.nn.audit",
    "cost": "isotropy.nn.cost",
    "matching_width": "isotropy.nn.cost",
    "save": "isotropy.nn.files",
    "load": "isotropy.nn.files",
    "discover": "isotropy.discovery.discover",
    "Discovery": "isotropy.discovery.discovered",
    "DiscoveryPlan": "isotropy.discovery",
    "SymmetryClassifier": "isotropy.estimators",
    "SymmetryRegressor": "isotropy.estimators",
}
_MODULES = ("groups", "schemes", "nn", "metrics", "models", "data", "training", "runs", "search")

if TYPE_CHECKING:
    from isotropy import data, groups, metrics, models, nn, runs, schemes, search, training
    from isotropy.discovery import Discovery, DiscoveryPlan
    from isotropy.discovery.discover import discover
    from isotropy.estimators import SymmetryClassifier, SymmetryRegressor
    from isotropy.groups import FiniteGroup, PermutationGroup, group, orbits
    from isotropy.nn.audit import audit
    from isotropy.nn.blueprint import groups_of
    from isotropy.nn.cost import cost, matching_width
    from isotropy.nn.equivariant import equivariant
    from isotropy.nn.export import export
    from isotropy.nn.files import load, save
    from isotropy.nn.fold import fold
    from isotropy.nn.measure import assert_equivariant, equivariance_error
    from isotropy.nn.mixed import mixed
    from isotropy.nn.relax import carry_optimizer, relax
    from isotropy.schemes import partition_distance

__all__ = [
    "Discovery",
    "DiscoveryPlan",
    "FileFormatError",
    "FiniteGroup",
    "InputError",
    "IsotropyError",
    "IsotropyWarning",
    "NotSupportedError",
    "PermutationGroup",
    "SymmetryClassifier",
    "SymmetryRegressor",
    "__version__",
    "assert_equivariant",
    "audit",
    "carry_optimizer",
    "cost",
    "data",
    "discover",
    "equivariance_error",
    "equivariant",
    "export",
    "fold",
    "group",
    "groups",
    "groups_of",
    "load",
    "matching_width",
    "metrics",
    "mixed",
    "models",
    "nn",
    "orbits",
    "partition_distance",
    "relax",
    "runs",
    "save",
    "schemes",
    "search",
    "training",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"isotropy.{name}")
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'isotropy' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
