"""Who comes of whom: what a child is to be, and what has become of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from isotropy.groups.action import Group
from isotropy.nn.blueprint import meet
from isotropy.search.steps import LayerGroups, Step


@dataclass(frozen=True)
class Child:
    """A network that is to be made of another and trained.

    Args:
        id: its number; numbers are given in order, so they are the same in every run.
        parent: the number of the network it inherits from; None for the first one.
        generation: when it is born; 0 for the first one, which is not trained.
        groups: of every layer, in order of execution.
        step: what it relaxes; None if it is its parent, unchanged.
    """

    id: int
    parent: int | None
    generation: int
    groups: Mapping[str, Group]
    step: Step | None = None

    def to_json(self) -> dict[str, Any]:
        """All of it by name."""
        return {
            "id": self.id,
            "parent": self.parent,
            "generation": self.generation,
            "groups": names_of(self.groups),
        }


@dataclass(frozen=True)
class Growth:
    """What has become of a child so far.

    Args:
        errors: on the validation data, after every stage of its training.
        parameters: numbers that are trained.
        morphism_error: the largest difference from its parent's outputs at birth, relative.
        seconds: the time its making and training took.
    """

    errors: tuple[float, ...]
    parameters: int
    morphism_error: float
    seconds: float

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Growth:
        """What `asdict` wrote."""
        return cls(**{**found, "errors": tuple(found["errors"])})


@dataclass(frozen=True)
class Individual:
    """A network that a search tried.

    Args:
        id: its number.
        parent: the number of the network it inherited from; None for the first one.
        generation: when it was born.
        groups: the name of every layer's group, in order of execution.
        val_error: on the validation data, after its training.
        parameters: numbers that are trained.
        selected: whether it was kept as a parent for the next generation.
        stages: of its training that were carried out; fewer than all if it was given up early.
        morphism_error: the largest difference from its parent's outputs at birth, relative.
        seconds: the time its making and training took.
    """

    id: int
    parent: int | None
    generation: int
    groups: dict[str, str]
    val_error: float
    parameters: int
    selected: bool
    stages: int
    morphism_error: float
    seconds: float

    @classmethod
    def of(cls, child: Child, growth: Growth, selected: bool) -> Individual:
        """A child as it has become."""
        return cls(
            child.id,
            child.parent,
            child.generation,
            names_of(child.groups),
            growth.errors[-1],
            growth.parameters,
            selected,
            len(growth.errors),
            growth.morphism_error,
            growth.seconds,
        )

    def to_json(self) -> dict[str, Any]:
        """All of it by name."""
        return asdict(self)


def after(groups: LayerGroups, step: Step) -> dict[str, Group]:
    """The groups of all layers after a relaxation: those that follow keep no more than the layer.

    >>> from isotropy.groups import group
    >>> d4, c4 = group("D4"), group("C4")
    >>> names_of(after({"a": d4, "b": d4, "c": d4}, Step("b", c4)))
    {'a': 'D4', 'b': 'C4', 'c': 'C4'}
    """
    found: dict[str, Group] = {}
    reached = False
    for name, now in groups.items():
        reached = reached or name == step.layer
        found[name] = meet(now, step.group) if reached else now
    return found


def names_of(groups: LayerGroups) -> dict[str, str]:
    """The names of layers' groups."""
    return {layer: str(group) for layer, group in groups.items()}


def total_passes(individuals: Sequence[Individual], ends: Sequence[float], epochs: float) -> float:
    """The passes over the training data that all of them took together."""
    return epochs * sum(ends[one.stages - 1] for one in individuals if one.generation)
