"""Generation by generation: children are made, trained, and selected (001, Algorithm 1)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from isotropy.errors import InputError, IsotropyError
from isotropy.search.evolution import Evolution, best_of
from isotropy.search.grow import MorphismError, Nursery, grow
from isotropy.search.lineage import Child, Growth, Individual
from isotropy.search.pareto import select
from isotropy.search.rules import Rules
from isotropy.search.steps import LayerGroups
from isotropy.search.store import Lost, StudyStore
from isotropy.search.workers import Failed, Workers


@dataclass(frozen=True)
class Generation:
    """How a search goes, told after every generation.

    Args:
        number: of the generation, from 1.
        of: how many there will be.
        tried: networks that were trained in it.
        population: who was selected.
    """

    number: int
    of: int
    tried: int
    population: tuple[Individual, ...]

    @property
    def best(self) -> Individual:
        """The most accurate of those selected."""
        return best_of(self.population)


class Breeding:
    """One search, from where it stands to its end.

    Args:
        nursery: where children grow up.
        rules: who may come of whom.
        store: where what becomes of them is written down.
        pool: who trains them.
        attached: whether others may be at work on the same search.
    """

    def __init__(
        self, nursery: Nursery, rules: Rules, store: StudyStore, pool: Workers, attached: bool
    ) -> None:
        self.nursery, self.rules, self.store, self.pool = nursery, rules, store, pool
        self.attached = attached
        self.children: dict[int, Child] = {}
        self.outcomes: dict[int, Growth | Lost] = {}
        self.stored = store.known()

    def run(
        self, groups: LayerGroups, about: Mapping[str, Any], watch: Callable[[Generation], None]
    ) -> Evolution:
        """All generations; those that are known already, without training anybody."""
        course = self.nursery.course
        population = [Child(0, None, 0, groups)]
        self._grow(population, 1, last=True)
        self._require_some(population)
        selected = {0}
        alive: tuple[Individual, ...] = ()
        for number in range(1, course.generations + 1):
            children = self.rules.children(population, len(self.children), number)
            if not self._affordable(children):
                break
            population = self._selected(children)
            selected |= {child.id for child in population}
            alive = tuple(self._individual(child, True) for child in population)
            watch(Generation(number, course.generations, len(children), alive))
        return self._evolution(alive, selected, about)

    def _affordable(self, children: list[Child]) -> bool:
        """Whether the budget is enough for a generation of these, whatever is given up early."""
        course, budget = self.nursery.course, self.rules.budget
        if budget is None:
            return True
        grown = [(c, self.outcomes[c.id]) for c in self.children.values() if c.generation]
        spent = sum(course.passes(len(g.errors)) for _, g in grown if isinstance(g, Growth))
        needed = len(children) * course.epochs
        if not grown and needed > budget:
            raise InputError(
                f"budget must be at least {needed:g} passes, for {len(children)} children in the "
                f"first generation, not {budget:g}"
            )
        return spent + needed <= budget

    # -- one generation -------------------------------------------------------------------------

    def _selected(self, children: list[Child]) -> list[Child]:
        """Those of the children that live on, after all have been trained."""
        ends = self.nursery.course.ends
        for stage in range(1, len(ends) + 1):
            last = stage == len(ends)
            self._grow(children, stage, last)
            children = self._require_some(children)
            if not last:
                children = self._better_half(children, stage)
        return self._best(children, self.rules.parents, len(ends))

    def _better_half(self, children: list[Child], stage: int) -> list[Child]:
        """Those worth going on with; that the others are given up is written down."""
        size = max(self.rules.parents, -(-len(children) // 2))
        better = self._best(children, size, stage)
        for child in children:
            if child not in better:
                self._write_down(child)
        return better

    def _best(self, children: list[Child], size: int, stage: int) -> list[Child]:
        grown = [self._grown(child) for child in children]
        found = [(growth.errors[stage - 1], growth.parameters) for growth in grown]
        return [children[i] for i in select(found, size)]

    def _require_some(self, children: list[Child]) -> list[Child]:
        """The children that could be made; an error if there are none."""
        lost = [found for c in children if isinstance(found := self.outcomes[c.id], Lost)]
        if len(lost) == len(children):
            raise IsotropyError(f"no network could be trained: {lost[0].error}")
        return [c for c in children if not isinstance(self.outcomes[c.id], Lost)]

    # -- training -------------------------------------------------------------------------------

    def _grow(self, children: list[Child], stages: int, last: bool) -> None:
        """Have children trained up to a stage, and know what has become of them."""
        self.children |= {child.id: child for child in children}
        begun: list[Child] = []
        for number, outcome in self.pool.each(grow, self._jobs(children, stages, begun)):
            child = begun[number]
            self.outcomes[child.id] = _outcome(outcome)
            if last or isinstance(outcome, Failed):
                self._write_down(child)

    def _jobs(
        self, children: list[Child], stages: int, begun: list[Child]
    ) -> Iterator[tuple[Nursery, Child, LayerGroups, int]]:
        """What is to be trained; what others have finished meanwhile is left out."""
        for child in self._in_turn(children):
            if self.attached:
                self.stored = self.store.known()
            if child.id in self.stored:
                self.outcomes[child.id] = self.stored[child.id]
                continue
            begun.append(child)
            parent = child if child.parent is None else self.children[child.parent]
            yield self.nursery, child, parent.groups, stages

    def _in_turn(self, children: list[Child]) -> list[Child]:
        """Beginning at a place of our own, so that others who share the work do other parts."""
        start = os.getpid() % len(children) if self.attached else 0
        return children[start:] + children[:start]

    def _write_down(self, child: Child) -> None:
        if child.id not in self.stored:
            outcome = self.outcomes[child.id]
            stages = len(self.nursery.course.ends) if child.generation else 1
            self.store.add(child, outcome, stages, self.rules.choices)
            self.stored[child.id] = outcome

    # -- the end --------------------------------------------------------------------------------

    def _grown(self, child: Child) -> Growth:
        found = self.outcomes[child.id]
        assert isinstance(found, Growth), "asked only of children that could be made"
        return found

    def _individual(self, child: Child, selected: bool) -> Individual:
        return Individual.of(child, self._grown(child), selected)

    def _evolution(
        self, alive: tuple[Individual, ...], selected: set[int], about: Mapping[str, Any]
    ) -> Evolution:
        failed = {n: found.error for n, found in self.outcomes.items() if isinstance(found, Lost)}
        made = [child for child in self.children.values() if child.id not in failed]
        everybody = tuple(self._individual(child, child.id in selected) for child in made)
        best = self.children[best_of(alive).id]
        return Evolution(
            population=everybody,
            last=alive,
            model=self.nursery.network(best.id, best.groups),
            failed=failed,
            seconds=sum(one.seconds for one in everybody),
            metric="mse" if self.nursery.problem.train.task == "regression" else "error",
            about=about,
            nursery=self.nursery,
            rules=self.rules,
            children=self.children,
        )


def _outcome(found: Growth | Failed) -> Growth | Lost:
    """What to write down; what is wrong with the whole search ends it."""
    if not isinstance(found, Failed):
        return found
    if isinstance(found.error, MorphismError | InputError):
        raise found.error
    return Lost(str(found.error))
