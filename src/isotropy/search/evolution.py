"""What an evolution came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from isotropy.data import DataSet
from isotropy.errors import InputError
from isotropy.search.grow import Nursery
from isotropy.search.lineage import Child, Individual, total_passes
from isotropy.search.pareto import front
from isotropy.search.rules import Rules
from isotropy.search.steps import LayerGroups


@dataclass(frozen=True)
class Evolution:
    """Everybody who lived, and who is left.

    Args:
        population: every network that was tried, parents before children.
        last: the population after the last generation, in the order of their numbers.
        model: the best of them, trained, in eval mode.
        failed: why children could not be made, by number.
        seconds: the time all trainings took together, on one worker each.
        metric: what errors are: "error", the share of wrong answers, or "mse".
        about: what was searched for, and how.
    """

    population: tuple[Individual, ...]
    last: tuple[Individual, ...]
    model: nn.Module
    failed: Mapping[int, str]
    seconds: float
    metric: str
    about: Mapping[str, Any]
    nursery: Nursery = field(repr=False)
    rules: Rules = field(repr=False)
    children: Mapping[int, Child] = field(repr=False)

    @property
    def front(self) -> tuple[Individual, ...]:
        """Those left that no other betters in both error and parameters."""
        return tuple(self.last[i] for i in front(points(self.last)))

    @property
    def best(self) -> Individual:
        """The one left with the smallest validation error."""
        return best_of(self.last)

    @property
    def max_morphism_error(self) -> float:
        """The largest difference between a child's and its parent's outputs at birth, relative."""
        return max(one.morphism_error for one in self.population)

    @property
    def train(self) -> DataSet:
        """The training data as they were scaled; others are to be `scaled_like` them."""
        return self.nursery.problem.train

    @property
    def generations(self) -> int:
        """How many there were; a budget may have ended the search early."""
        return max(one.generation for one in self.population)

    @property
    def passes(self) -> float:
        """The passes over the training data that all trainings took together."""
        course = self.nursery.course
        return total_passes(self.population, course.ends, course.epochs)

    def network(self, number: int) -> nn.Module:
        """Any network that was tried, as it was after its training, in eval mode.

        Args:
            number: its id.
        """
        if number not in self.children or number in self.failed:
            known = len(self.children) - 1
            raise InputError(
                f"number must be of a network that was made, 0 to {known}, not {number}"
            )
        return self.nursery.network(number, self.groups_of(number))

    def groups_of(self, number: int) -> LayerGroups:
        """The group of every layer of a network."""
        return self.children[number].groups

    def to_json(self) -> dict[str, Any]:
        """All of it but the networks, as the page of a search reads it."""
        best = self.best
        return {
            "format": "isotropy-search-1",
            "method": "evolve",
            "metric": self.metric,
            **self.about,
            "population": self._rows(),
            "front": [one.id for one in self.front],
            "best": best.id,
            "max_morphism_error": self.max_morphism_error,
            "found": {
                "groups": best.groups,
                "parameters": best.parameters,
                "val_error": best.val_error,
            },
            "trials": len(self.population) - 1,
            "passes": self.passes,
            "seconds": self.seconds,
        }

    def _rows(self) -> list[dict[str, Any]]:
        """A row for every child, those that could not be made among them."""
        rows = [self._row(one) for one in self.population]
        lost = [{**self.children[number].to_json(), "failed": True} for number in self.failed]
        return sorted([*rows, *lost], key=lambda row: int(row["id"]))

    def _row(self, one: Individual) -> dict[str, Any]:
        early = one.generation > 0 and one.stages < len(self.nursery.course.ends)
        return {**one.to_json(), "stopped_early": early}


def points(individuals: Sequence[Individual]) -> list[tuple[float, int]]:
    """What is made small."""
    return [(one.val_error, one.parameters) for one in individuals]


def best_of(individuals: Sequence[Individual]) -> Individual:
    """The one with the smallest validation error; of equal ones that with fewer numbers."""
    return min(individuals, key=lambda one: (one.val_error, one.parameters, one.id))
