"""The equivariance relaxation morphism: a smaller group, the same function (001, Section 4.1)."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from isotropy.errors import InputError
from isotropy.groups.action import Group
from isotropy.groups.named import as_group
from isotropy.nn.arguments import independent_copy
from isotropy.nn.blueprint import blueprint_of, meet, tied_modules, weight_layers
from isotropy.nn.linear import Weighted
from isotropy.schemes import OrbitScheme, Refinement, inherit, refinement

FIRST_MOMENTS = ("momentum_buffer", "exp_avg", "grad_avg")
SECOND_MOMENTS = ("exp_avg_sq", "max_exp_avg_sq", "square_avg", "sum")


def relax(model: nn.Module, layer: str, group: Group | str) -> nn.Module:
    """A copy with one layer tied to a subgroup only, and the same function.

    Layers after it are tied to no more than that either, and so are the norms between (a layer
    cannot keep a symmetry that its input has lost); what they already keep less of stays. In eval
    mode outputs are unchanged. In train mode a relaxed batch norm uses finer statistics, and
    outputs move a little (5e-4 measured, at a spread of logits of 0.24).

    Args:
        model: a tied network.
        layer: the name of a weight layer, as in `iso.groups_of(model)`.
        group: a subgroup of the one the layer is tied to now.

    >>> import torch, isotropy as iso
    >>> net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3), torch.nn.Conv2d(8, 8, 3))
    >>> tied = iso.equivariant(net, "D4", torch.zeros(1, 1, 9, 9), output="field")
    >>> {name: str(g) for name, g in iso.groups_of(iso.relax(tied, "1", "C4")).items()}
    {'0': 'D4', '1': 'C4'}
    """
    own = as_group(group)
    layers = weight_layers(model)
    if not layers:
        raise InputError("the model has no tied layers; make some with iso.equivariant")
    if layer not in layers:
        raise InputError(f"layer must be one of {list(layers)}, not {layer!r}")
    now = layers[layer].group
    if now is None:
        raise InputError(f"{layer} was made from a scheme alone: no group acts on it")
    if not own.is_subgroup_of(now):
        raise InputError(f"group: {own.name} is not a subgroup of {now.name}, which {layer} has")
    relaxed = independent_copy(model)
    names = list(layers)
    reached = set(names[names.index(layer) :])
    follows = _weight_layer_before(relaxed)
    for name, module in tied_modules(relaxed).items():
        if follows[name] in reached and module.group is not None:
            smaller = meet(module.group, own)
            if smaller != module.group:
                module.retie(smaller)
    return relaxed


def _weight_layer_before(model: nn.Module) -> dict[str, str | None]:
    """For every tied layer the weight layer whose output it sees, itself if it is one.

    Networks built by hand are taken to run in the order in which their layers were registered.
    """
    blueprint = blueprint_of(model)
    latest: str | None = None
    found: dict[str, str | None] = {}
    for name, module in tied_modules(model).items():
        if isinstance(module, Weighted):
            latest = name
            found[name] = name
        else:
            found[name] = latest if blueprint is None else blueprint.follows.get(name)
    return found


def carry_optimizer(optimizer: Optimizer, before: nn.Module, after: nn.Module) -> Optimizer:
    """An optimiser for a relaxed network that goes on where the other one is.

    Where an orbit of n entries splits, a part of n_i keeps its share of the gradient: momentum and
    first moments times n_i / n, second moments times (n_i / n)². On symmetric data this is what the
    child would have gathered itself; a weight decay that enters the gradient (SGD's, Adam's, not
    AdamW's) does not divide that way, so there it is an approximation.

    Args:
        optimizer: the optimiser of `before`.
        before: the network before relaxing.
        after: what `iso.relax` made of it.

    >>> import torch, isotropy as iso
    >>> layer = iso.nn.GroupConv2d(1, 1, 3, "D4")
    >>> optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
    >>> other = iso.carry_optimizer(optimizer, layer, iso.relax(layer, "", "C4"))
    >>> other.param_groups[0]["lr"]
    0.1
    """
    names = {id(p): name for name, p in before.named_parameters()}
    new = dict(after.named_parameters())
    groups = []
    for group in optimizer.param_groups:
        if any(id(p) not in names for p in group["params"]):
            raise InputError("optimizer holds parameters that `before` does not have")
        if any(names[id(p)] not in new for p in group["params"]):
            raise InputError("after has other parameters than before: it is not its relaxed form")
        settings = {key: value for key, value in group.items() if key != "params"}
        groups.append({**settings, "params": [new[names[id(p)]] for p in group["params"]]})
    hows = {name: _how(before, after, name) for name in names.values() if name in new}
    carried = type(optimizer)(groups, **_required(optimizer))
    carried.defaults = dict(optimizer.defaults)
    for parameter, state in optimizer.state.items():
        name = names[id(parameter)]
        carried.state[new[name]] = {
            key: _carry(key, value, parameter, hows[name], normalised="square_avg" in state)
            for key, value in state.items()
        }
    _begin_empty(optimizer, before, carried, new)
    return carried


def _begin_empty(
    optimizer: Optimizer, before: nn.Module, carried: Optimizer, new: dict[str, nn.Parameter]
) -> None:
    """Momentum for numbers that there were none of before: torch keeps none for nothing."""
    started = any(
        isinstance(state.get("momentum_buffer"), Tensor) for state in optimizer.state.values()
    )
    for name, parameter in before.named_parameters():
        if started and not parameter.numel() and new[name].numel():
            carried.state[new[name]] = {"momentum_buffer": torch.zeros_like(new[name])}


def _required(optimizer: Optimizer) -> dict[str, Any]:
    """Settings that a constructor may insist on; each parameter group has its own anyway."""
    return {"lr": optimizer.defaults["lr"]} if "lr" in optimizer.defaults else {}


def _how(before: nn.Module, after: nn.Module, name: str) -> tuple[Refinement, Tensor] | None:
    """How a scheme's parameter was refined, and the factor on its gradient; None if it was not."""
    path, _, _ = name.rpartition(".")
    old, new = before.get_submodule(path), after.get_submodule(path)
    if not isinstance(old, OrbitScheme) or not isinstance(new, OrbitScheme):
        if before.get_parameter(name).shape != after.get_parameter(name).shape:
            raise InputError(f"after is not a relaxed form of before: {name} has another shape")
        return None
    if old.psi.shape == new.psi.shape:
        return None
    how = refinement(old.partition, new.partition)
    share = torch.from_numpy(how.share)
    # an orthonormal ψ is the value times √n, its gradient the orbit's sum over √n
    return how, share.sqrt() if old.orthonormal else share


def _carry(
    key: str,
    value: Any,
    parameter: Tensor,
    how: tuple[Refinement, Tensor] | None,
    normalised: bool,
) -> Any:
    """One entry of an optimiser's state, for the parts of a parameter's orbits.

    Where gradients are divided by their size before they gather (RMSprop's momentum, told by its
    mean square beside it), a part of an orbit gathers what the whole does.
    """
    if isinstance(value, list | dict) or (
        isinstance(value, Tensor) and value.ndim > 0 and value.shape != parameter.shape
    ):
        raise InputError(f"optimizer: its state {key!r} does not belong to single parameters")
    if not isinstance(value, Tensor):
        return copy.deepcopy(value)
    if how is None or value.ndim == 0:
        return value.detach().clone()
    refined, factor = how
    moved = inherit(value, refined)
    if key == "momentum_buffer" and normalised:
        return moved
    if key in FIRST_MOMENTS:
        return moved * factor.to(moved)
    if key in SECOND_MOMENTS:
        return moved.abs() * factor.to(moved) ** 2
    raise InputError(
        f"optimizer: how its state {key!r} divides among the parts of an orbit is not known"
    )
