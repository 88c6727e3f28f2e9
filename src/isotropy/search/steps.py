"""Where a network may be relaxed next: layer by layer, down the lattice of subgroups (001, 5.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from isotropy.errors import InputError
from isotropy.groups.action import Group
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.named import as_group, group

LayerGroups = Mapping[str, Group]
Guide = Mapping[str, Mapping[str, float]]

_PAPER = ("C1", "D1", "C2", "D2", "C4", "D4")
_SLACK = 1e-6


@dataclass(frozen=True)
class Step:
    """One relaxation: a layer, and the smaller group that it gets.

    Args:
        layer: the layer's name.
        group: what it is tied to from now on, and all layers after it at most.
    """

    layer: str
    group: Group


def allowed_groups(whole: Group, given: Iterable[Group | str] | None = None) -> tuple[Group, ...]:
    """The groups that layers may have, smallest first, the whole one among them.

    Args:
        whole: what a network is tied to at the beginning.
        given: subgroups of it; by default the paper's six for the subgroups of D4, otherwise one
            subgroup of every conjugacy class.

    >>> [str(g) for g in allowed_groups(group("D4"))]
    ['C1', 'D1', 'C2', 'C4', 'D2', 'D4']
    """
    if given is None:
        found = _default_groups(whole)
    else:
        found = [as_group(value) for value in given]
        for one in found:
            if not one.is_subgroup_of(whole):
                raise InputError(
                    f"groups: {one.name} is no subgroup of {whole.name}, the group of the network"
                )
    unique = {one.name: one for one in [*found, whole]}
    if len(unique) == 1:
        raise InputError(f"groups: there is none below {whole.name}, so nothing can be relaxed")
    return tuple(sorted(unique.values(), key=lambda g: (_below(g, unique.values()), g == whole)))


def _below(one: Group, others: Iterable[Group]) -> int:
    """How many are inside: a group comes after all its subgroups."""
    return sum(other.is_subgroup_of(one) for other in others)


def _default_groups(whole: Group) -> list[Group]:
    if not isinstance(whole, FiniteGroup):
        raise InputError(f"groups: name the subgroups of {whole.name} that layers may have")
    if whole.is_subgroup_of(group("D4")) and whole.name in _PAPER:
        return [g for g in map(group, _PAPER) if g.is_subgroup_of(whole)]
    return list(whole.subgroups_up_to_conjugacy())


def steps_down(now: Group, allowed: Sequence[Group]) -> list[Group]:
    """The allowed groups just below one: inside it, and inside no other that is inside it.

    >>> [str(g) for g in steps_down(group("D4"), allowed_groups(group("D4")))]
    ['C4', 'D2']
    """
    inside = [g for g in allowed if g != now and g.is_subgroup_of(now)]
    return [g for g in inside if not any(g != h and g.is_subgroup_of(h) for h in inside)]


def possible_steps(groups: LayerGroups, allowed: Sequence[Group]) -> list[Step]:
    """Every relaxation of the last layer one step down, and of each layer to that after it.

    Symmetry is lost from the end of a network towards its beginning, one layer at a time: a layer
    before the last may only follow the one after it, where that has a smaller group.

    Args:
        groups: of every layer that may be relaxed, in order of execution.
        allowed: the groups that layers may have.

    >>> d4, c4 = group("D4"), group("C4")
    >>> found = possible_steps({"a": d4, "b": d4, "c": c4}, allowed_groups(d4))
    >>> [(step.layer, str(step.group)) for step in found]
    [('c', 'C2'), ('b', 'C4')]
    """
    names = list(groups)
    last = names[-1]
    found = [Step(last, smaller) for smaller in steps_down(groups[last], allowed)]
    for name, after in pairwise(names):
        smaller = groups[after]
        if smaller != groups[name] and smaller.is_subgroup_of(groups[name]):
            found.append(Step(name, smaller))
    return found


def guided_steps(
    steps: Sequence[Step], groups: LayerGroups, guide: Guide, most: int | None = None
) -> list[Step]:
    """The steps that a mixture's weights speak for, the clearest first.

    A step from K to H is wanted if, of the weight that the layer's mixture gives to K and groups
    inside it, those inside H have at least the share they began with, when all weighed the same.

    Args:
        steps: what is possible.
        groups: what the layers have now.
        guide: for a layer, the weight of every group by name; layers without any have no opinion.
        most: how many to keep; by default all that are wanted.
    """
    gains = [(_gain(step, groups[step.layer], guide.get(step.layer, {})), step) for step in steps]
    wanted = [(gain, step) for gain, step in gains if gain >= 1 - _SLACK]
    wanted.sort(key=lambda pair: -pair[0])  # a stable sort: ties stay in their order
    return [step for _, step in wanted[:most]]


def _gain(step: Step, now: Group, weights: Mapping[str, float]) -> float:
    """The share of the weight inside the step's group, relative to that of equal weights."""
    known = {name: as_group(name) for name in weights}
    whole = {name for name, g in known.items() if g.is_subgroup_of(now)}
    inside = {name for name in whole if known[name].is_subgroup_of(step.group)}
    total = sum(weights[name] for name in whole)
    if not inside or total <= 0:
        return 1.0
    return (sum(weights[name] for name in inside) / total) / (len(inside) / len(whole))
