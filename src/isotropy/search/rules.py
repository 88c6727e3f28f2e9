"""Who may come of whom in an evolution: which relaxations are tried, and in what order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import nn

from isotropy.errors import InputError
from isotropy.groups.action import Group
from isotropy.nn.blueprint import groups_of
from isotropy.search.lineage import Child, after
from isotropy.search.pareto import select
from isotropy.search.steps import Guide, Step, allowed_groups, guided_steps, possible_steps


class Rules:
    """Who may come of whom, and who lives on.

    Args:
        root: the network that all come of.
        groups: that layers may have.
        layers: that may be relaxed.
        parents: how many live on.
        guide: what relaxations are worth trying.
        budget: passes over the training data that all networks may take; None for any number.
    """

    def __init__(
        self,
        root: nn.Module,
        groups: Sequence[Group | str] | None,
        layers: Sequence[str] | None,
        parents: int,
        guide: Guide | None,
        budget: float | None = None,
    ) -> None:
        all_groups = groups_of(root)
        if not all_groups:
            raise InputError("model: it has no layers that can be relaxed")
        self.whole = next(iter(all_groups.values()))
        self.allowed = allowed_groups(self.whole, groups)
        self.layers = tuple(all_groups) if layers is None else tuple(layers)
        self.parents = parents
        self.guide = guide
        self.budget = budget
        select([], parents)  # refuses a number that makes no sense
        if budget is not None and not budget > 0:
            raise InputError(f"budget must be above 0, not {budget}")
        unknown = [name for name in self.layers if name not in all_groups]
        if unknown or not self.layers:
            what = f"not {unknown[0]!r}" if unknown else "at least one"
            raise InputError(f"layers must be some of {list(all_groups)}, {what}")
        if list(self.layers) != [name for name in all_groups if name in self.layers]:
            raise InputError(f"layers must be in order of execution, as {list(all_groups)} are")

    @property
    def choices(self) -> list[str]:
        """The names of the groups that layers may have, smallest first."""
        return [str(group) for group in self.allowed]

    def steps(self, groups: Mapping[str, Group]) -> list[Step]:
        """The relaxations of a network that are tried."""
        own = {name: groups[name] for name in self.layers}
        steps = possible_steps(own, self.allowed)
        return steps if self.guide is None else guided_steps(steps, own, self.guide)

    def children(self, of: Sequence[Child], first: int, generation: int) -> list[Child]:
        """All children of some networks, numbered from a first one on."""
        found: list[Child] = []
        for parent in of:
            for step in (None, *self.steps(parent.groups)):
                groups = parent.groups if step is None else after(parent.groups, step)
                found.append(Child(first + len(found), parent.id, generation, groups, step))
        return found
