"""Every conversion is measured: in float64, with random weights, one layer at a time if need be."""

from __future__ import annotations

import copy
from collections.abc import Callable
from math import prod

import torch
from torch import Tensor, nn

from isotropy.errors import NotSupportedError
from isotropy.groups.action import Action, Group, regular, trivial
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.grid import moved_axes
from isotropy.nn.batchnorm import TrackingNorm
from isotropy.nn.blueprint import Blueprint, blueprint_of, meet
from isotropy.nn.geometry import cause
from isotropy.nn.linear import Weighted
from isotropy.nn.measure import Frame, own_error
from isotropy.nn.precision import StayInFloat64
from isotropy.nn.trace import Call, Space, Trace, trace
from isotropy.nn.transform import relative, turn_grid
from isotropy.schemes import OrbitScheme

TOLERANCE = 1e-9
Problem = tuple[str, float, str]


@torch.no_grad()
def check_conversion(
    model: nn.Module, example: Tensor, lifted_from: nn.Module | None = None
) -> list[Problem]:
    """Measure a freshly tied network.

    Returns:
        (layer, error, cause) of what the grid makes inexact.

    Raises:
        NotSupportedError: if something else is not equivariant.
    """
    blueprint = blueprint_of(model)
    assert blueprint is not None
    devices = {p.device for p in model.parameters()}
    x = example[:2].double()
    forked = torch.random.fork_rng(devices=[d for d in devices if d.type == "cuda"])
    with forked, StayInFloat64():
        torch.manual_seed(0)
        x = torch.randn_like(x)
        trial = copy.deepcopy(model).double().eval()
        if lifted_from is not None:
            problems = _compare_with_average(trial, lifted_from, x, blueprint)
            if problems is not None:
                raise NotSupportedError(problems)
        randomise(trial)
        return _measure(trial, x, blueprint)


def _measure(trial: nn.Module, x: Tensor, blueprint: Blueprint) -> list[Problem]:
    start = _run(trial, x)
    if _agree(trial, x, blueprint, start):
        return []
    default = field_default(blueprint.group)
    problems: list[Problem] = []
    for call, group in _with_groups(start, blueprint):
        frame = Frame(group, default, start.dimensions)
        error = own_error(call, frame, group.generators)
        if error > TOLERANCE:
            fits = error < float("inf")  # or else what comes out has another shape
            why = cause(call, moved_axes(group, start.dimensions)) if fits else None
            if why is not None and why.startswith("asymmetric"):
                raise NotSupportedError(f"{call.name}: {why}; treat both sides alike")
            if why is None:
                raise NotSupportedError(
                    f"{call.name}: not equivariant to {group.name} ({_in_words(call, error)})"
                )
            problems.append((call.name, error, why))
    if not problems:
        raise NotSupportedError(
            f"the network as a whole is not equivariant to {blueprint.group.name}, though each "
            "layer is: some operation between them is not"
        )
    return problems


def _in_words(call: Call, error: float) -> str:
    """What is known of a failure that has no cause in the grid."""
    if error == float("inf"):
        return (
            "its output has another shape when the picture turns: kernel, stride, padding and "
            "size must be alike on the axes that change places"
        )
    return f"error {error:.1e}" + (", though its weights are tied" if call.is_module else "")


def _run(model: nn.Module, x: Tensor) -> Trace:
    try:
        return trace(model, x, capture=True)
    except NotSupportedError:
        raise
    except (RuntimeError, ValueError) as error:
        raise NotSupportedError(
            "the tied network does not run; does its forward fix a number of channels, or use "
            f"layers that it keeps in a list, not an nn.ModuleList? ({str(error).splitlines()[0]})"
        ) from None


def _agree(trial: nn.Module, x: Tensor, blueprint: Blueprint, start: Trace) -> bool:
    """Whether every tensor of the moved run is the moved tensor of the first run."""
    default = field_default(blueprint.group)
    groups = _with_groups(start, blueprint)
    for element in blueprint.group.generators:
        moved = blueprint.input_action.apply(element, x, 1)
        moved = turn_grid(moved, blueprint.group, element, tuple(range(2, x.ndim)))
        for (call, group), other in zip(groups, trace(trial, moved, True).calls, strict=True):
            if not _has(group, element):
                continue
            frame = Frame(blueprint.group, default, start.dimensions)
            expected = frame.move(call.output, call.layout, element)
            if expected is None:
                continue
            same_shape = expected.shape == other.output.shape
            if not same_shape or relative(other.output, expected) > TOLERANCE:
                return False
    return True


def _has(group: Group, element: str) -> bool:
    return element in (group if isinstance(group, FiniteGroup) else group.generators)


def _with_groups(start: Trace, blueprint: Blueprint) -> list[tuple[Call, Group]]:
    """Every call with the group its output keeps: the meet of all layers so far."""
    running: Group = blueprint.group
    found = []
    for call in start.calls:
        if isinstance(call.target, Weighted) and call.target.group is not None:
            running = meet(running, call.target.group)
        found.append((call, running))
    return found


def field_default(group: Group) -> Callable[[Space], Action]:
    """What to take free channels for: regular fields where they fit, else plain channels."""

    def default(space: Space) -> Action:
        if isinstance(group, FiniteGroup) and space.size % group.order == 0:
            return regular(group, space.size // group.order)
        return trivial(group, space.size)

    return default


@torch.no_grad()
def randomise(model: nn.Module) -> None:
    """New weights, scales and statistics everywhere, so that nothing hides behind a zero."""
    for module in model.modules():
        if isinstance(module, Weighted):
            for scheme in (module.scheme, module.bias_scheme):
                if isinstance(scheme, OrbitScheme):
                    per_output = max(prod(scheme.shape[1:]), 1)
                    scheme.reset((2 / per_output) ** 0.5)
        elif isinstance(module, TrackingNorm) and module.running_mean is not None:
            module.running_mean.normal_(0, 0.3)
            assert module.running_var is not None
            module.running_var.uniform_(0.5, 1.5)
        for name in ("weight_scheme", "bias_scheme"):
            scheme = getattr(module, name, None)
            if isinstance(scheme, OrbitScheme) and not isinstance(module, Weighted):
                scheme.psi.uniform_(0.5, 1.5)


def _compare_with_average(
    trial: nn.Module, plain: nn.Module, x: Tensor, blueprint: Blueprint
) -> str | None:
    """Whether a lifted network is the average of the plain one over the group."""
    plain = copy.deepcopy(plain).double().eval()
    group = blueprint.group
    assert isinstance(group, FiniteGroup)
    if blueprint.output == "field":
        return None
    positions = tuple(range(2, x.ndim))
    total = None
    for i, element in enumerate(group.elements):
        back = group.elements[group.inverse(i)]
        moved = blueprint.input_action.apply(element, x, 1)
        y = plain(turn_grid(moved, group, element, positions).clone())
        y = blueprint.output_action.apply(back, y, 1) if y.ndim > 1 else y
        y = turn_grid(y, group, back, tuple(range(2, y.ndim)))
        total = y if total is None else total + y
    assert total is not None
    average = total / group.order
    try:
        error = relative(trial(x.clone()), average)
    except RuntimeError as failure:
        return (
            "the lifted network does not run; does its forward fix a number of channels? "
            f"({str(failure).splitlines()[0]})"
        )
    if error <= 1e-9:
        return None
    return (
        f'weights="lift" is not the average of the model over {group.name} (error {error:.1e}): '
        "the network has an operation after its last layer, a stride that does not fit, or "
        "channels tied to the input's, which have no lifted form"
    )
