"""What a tied network remembers of how it was made."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import nn

from isotropy.errors import InputError
from isotropy.groups.action import Action, Group
from isotropy.groups.finite import FiniteGroup
from isotropy.nn.arguments import require_module
from isotropy.nn.linear import Weighted
from isotropy.nn.tied import TiedModule
from isotropy.schemes.mixture import MixtureScheme

ATTRIBUTE = "isotropy_blueprint"


@dataclass
class Blueprint:
    """How a network was tied.

    Args:
        group: the group whose fields all its channels carry.
        order: the names of its weight layers, in order of execution.
        input_action: the action on input channels (or vector entries).
        output_action: the action on output channels.
        output: "invariant", "image", "field" or "labels".
        example_shape: channels and grid of the example it was tied with.
        follows: for every other tied layer the weight layer that runs before it.
    """

    group: Group
    order: tuple[str, ...]
    input_action: Action
    output_action: Action
    output: str
    example_shape: tuple[int, ...]
    follows: dict[str, str | None] = field(default_factory=dict)


def blueprint_of(model: nn.Module) -> Blueprint | None:
    """The blueprint of a network that `equivariant` made, or None."""
    found = getattr(model, ATTRIBUTE, None)
    return found if isinstance(found, Blueprint) else None


def weight_layers(model: nn.Module) -> dict[str, Weighted]:
    """The tied weight layers in order of execution (of registration, if that is not known)."""
    named = {n: m for n, m in require_module(model).named_modules() if isinstance(m, Weighted)}
    blueprint = blueprint_of(model)
    order = blueprint.order if blueprint is not None else tuple(named)
    return {name: named[name] for name in order if name in named}


def groups_of(model: nn.Module) -> dict[str, Group]:
    """The group of every tied weight layer, in order of execution.

    >>> import torch, isotropy as iso
    >>> net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.ReLU())
    >>> tied = iso.equivariant(net, "C4", torch.zeros(1, 1, 8, 8), output="field")
    >>> {name: str(group) for name, group in iso.groups_of(tied).items()}
    {'0': 'C4'}
    """
    return {n: m.group for n, m in weight_layers(model).items() if m.group is not None}


def mixture_weights(model: nn.Module) -> dict[str, dict[str, float]]:
    """The z of every mixed layer by group, in order of execution; empty if there is none.

    >>> import torch, isotropy as iso
    >>> net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.ReLU())
    >>> both = iso.mixed(net, ["C1", "D4"], torch.zeros(1, 1, 8, 8), output="field")
    >>> mixture_weights(both)
    {'0': {'C1': 0.5, 'D4': 0.5}}
    """
    schemes = {name: layer.scheme for name, layer in weight_layers(model).items()}
    return {n: s.weights() for n, s in schemes.items() if isinstance(s, MixtureScheme)}


def meet_of_groups(model: nn.Module) -> Group:
    """The largest group that all of a network's layers keep."""
    groups = list(groups_of(model).values())
    if not groups:
        raise InputError("the model has no tied layers; make some with iso.equivariant")
    return meet_all(groups)


def meet_all(groups: list[Group]) -> Group:
    """The common subgroup of several groups."""
    result = groups[0]
    for group in groups[1:]:
        result = meet(result, group)
    return result


def meet(a: Group, b: Group) -> Group:
    """The common subgroup of two groups; of groups known by generators, the smaller one."""
    if isinstance(a, FiniteGroup) and isinstance(b, FiniteGroup):
        return a if a == b else a.meet(b)
    return a if a.is_subgroup_of(b) else b


def tied_modules(model: nn.Module) -> dict[str, TiedModule]:
    """All tied layers by name."""
    return {n: m for n, m in model.named_modules() if isinstance(m, TiedModule)}
