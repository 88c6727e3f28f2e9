"""Which group every layer is tied under, and what the group does to the input."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike
from torch import Tensor

from isotropy.errors import InputError
from isotropy.groups.action import Action, Group, natural, permuting, trivial
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.grid import grid
from isotropy.groups.named import as_group
from isotropy.groups.permutation import PermutationGroup
from isotropy.groups.signed import Signed

GroupSpec = Group | str | Mapping[str, Group | str]
ActionSpec = Action | Mapping[str, Signed | ArrayLike]


def layer_groups(
    spec: GroupSpec, order: tuple[str, ...], monotone: bool
) -> tuple[Group, dict[str, Group]]:
    """The group of the layout (the join of all), and that of every layer."""
    if not isinstance(spec, Mapping):
        whole = as_group(spec)
        return whole, dict.fromkeys(order, whole)
    unknown = [name for name in spec if name not in order]
    if unknown or not spec:
        what = f"the layer {unknown[0]!r}" if unknown else "no layer"
        raise InputError(f"group names {what}; the layers are {list(order)}")
    named = {name: as_group(value) for name, value in spec.items()}
    whole = join_all(list(named.values()))
    groups: dict[str, Group] = {}
    previous: Group = whole
    for name in order:
        own = named.get(name, previous)
        if monotone and not own.is_subgroup_of(previous):
            raise InputError(
                f"group grows along the network: {name} has {own.name}, which is no subgroup of "
                f"{previous.name} before it; set monotone=False if that is meant"
            )
        groups[name] = previous = own
    return whole, groups


def join_all(groups: list[Group]) -> Group:
    """The smallest group around all of them."""
    whole = groups[0]
    for group in groups[1:]:
        if isinstance(whole, FiniteGroup) and isinstance(group, FiniteGroup):
            whole = whole if group.is_subgroup_of(whole) else whole.join(group)
        elif not group.is_subgroup_of(whole):
            whole = group
    return whole


def input_action(group: Group, example: Tensor, action: ActionSpec | None) -> Action:
    """The action on the input's channels (or entries), from what the caller gave."""
    size = example.shape[1]
    if example.ndim > 2:
        grid(group, tuple(example.shape[2:]))  # refuses grids that the group does not fit
    if isinstance(action, Action):
        if group.is_subgroup_of(action.group):
            action = action.restrict(group)
        if action.group != group or action.size != size:
            raise InputError(
                f"action is of {action.group.name} on {action.size} entries; needed is one of "
                f"{group.name} on {size}"
            )
        return action
    if action is not None:
        return permuting(group, action, "input entries", size)
    if isinstance(group, PermutationGroup):
        if size % group.size:
            raise InputError(
                f"{group.name} permutes {group.size} points, but the input has {size} entries, "
                "which is no multiple"
            )
        return natural(group, size // group.size)
    if example.ndim == 2 and group.order > 1:
        raise InputError(
            "action: say how the group permutes the entries of the input vectors, as "
            '{"r": [1, 2, 3, 0]}'
        )
    return trivial(group, size)


def on_this_input(group: Group, example: Tensor, action: ActionSpec | None) -> Group:
    """A group without a geometry, given an action on channels, leaves the grid alone."""
    no_geometry = isinstance(group, FiniteGroup) and group.matrices is None
    if no_geometry and action is not None and example.ndim > 2:
        assert isinstance(group, FiniteGroup)
        return group.fixing_space()
    return group
