"""How far a network, or a layer of it, is from equivariant: always in float64, never on trust."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from isotropy.errors import InputError
from isotropy.groups.action import Action, Group, permuting, regular, trivial
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.named import as_group
from isotropy.nn.arguments import independent_copy, require_batch, require_module, running
from isotropy.nn.blueprint import Blueprint, blueprint_of
from isotropy.nn.layer_groups import input_action, on_this_input
from isotropy.nn.precision import StayInFloat64
from isotropy.nn.trace import Call, Layout, Space
from isotropy.nn.transform import move, relative, transform

Output = str | Mapping[str, object]
OUTPUTS = ("invariant", "image", "field")


@torch.no_grad()
def equivariance_error(
    model: nn.Module | Callable[[Tensor], Tensor],
    x: Tensor,
    group: Group | str | None = None,
    output: Output | None = None,
    action: Action | None = None,
) -> float:
    """How far the model is from turning its output as the group turns its input.

    The relative error ‖f(gx) - g f(x)‖ / ‖f(x)‖ of the worst group element, on a copy of the model
    in float64, in the mode (train or eval) the model is in; random numbers are the same every time.

    Args:
        model: a module (or a function of a tensor).
        x: a batch of inputs, (batch, channels, *grid) or (batch, features).
        group: the group or its name; by default the one a tied network is tied to.
        output: "invariant", "image", "field" (regular fields), or label permutations by element
            name; by default what a tied network was made for.
        action: what acts on vector entries or channels of the input, if anything does.

    >>> import torch, isotropy as iso
    >>> error = iso.equivariance_error(torch.nn.ReLU(), torch.randn(2, 3, 8, 8), "D4", "image")
    >>> error < 1e-12
    True
    """
    x = require_batch(_in_float64(x), "x")
    if not callable(model):
        raise InputError(
            f"model must be a torch.nn.Module or a function, not {type(model).__name__}"
        )
    blueprint = blueprint_of(model) if isinstance(model, nn.Module) else None
    own = on_this_input(group_or_default(model, group), x, action)
    runner = model
    if isinstance(model, nn.Module):
        runner = independent_copy(require_module(model)).double()

    def run(value: Tensor) -> Tensor:
        with torch.random.fork_rng(), StayInFloat64():  # dropout falls on the same fields
            torch.manual_seed(0)
            return _one_tensor(runner(value.clone()))

    with running(x, "x"):
        reference = run(x)
    act_in = measured_input(own, x, action, blueprint)
    act_out = _output_action(own, reference, output, blueprint)
    worst = 0.0
    for element in act_in.test_elements:
        moved, expected = run(move(x, act_in, element)), move(reference, act_out, element)
        if moved.shape != expected.shape:
            raise InputError(
                f"for an input moved by {element} the output has shape {tuple(moved.shape)}; "
                f"expected is {tuple(expected.shape)}"
            )
        worst = max(worst, relative(moved, expected))
    return worst


def _in_float64(x: object) -> object:
    """A tensor of any numbers in float64; anything else is left to the check that follows."""
    return x.detach().double() if isinstance(x, Tensor) else x


def _one_tensor(value: object) -> Tensor:
    if not isinstance(value, Tensor):
        raise InputError(f"the model must return one tensor, not {type(value).__name__}")
    return value


def assert_equivariant(
    model: nn.Module | Callable[[Tensor], Tensor],
    x: Tensor,
    group: Group | str | None = None,
    output: Output | None = None,
    tolerance: float = 1e-10,
    action: Action | None = None,
) -> None:
    """Raise AssertionError unless `equivariance_error` is within the tolerance.

    >>> import torch, isotropy as iso
    >>> from torch import nn
    >>> assert_equivariant(nn.AvgPool2d(2), torch.randn(2, 1, 8, 8), "D4", "image")
    >>> assert_equivariant(nn.Flatten(), torch.randn(2, 1, 8, 8), "D4")
    Traceback (most recent call last):
    AssertionError: ...
    """
    error = equivariance_error(model, x, group, output, action)
    if not error <= tolerance:
        raise AssertionError(f"equivariance error {error:.2e} is above {tolerance:.0e}")


def group_or_default(model: object, group: Group | str | None) -> Group:
    """The group that was asked for, or the one a network is tied to."""
    if group is not None:
        return as_group(group)
    if isinstance(model, nn.Module) and blueprint_of(model) is not None:
        from isotropy.nn.blueprint import meet_of_groups

        return meet_of_groups(model)
    raise InputError("group: say which, as the model was not made by iso.equivariant")


def measured_input(
    group: Group, x: Tensor, action: Action | None, blueprint: Blueprint | None
) -> Action:
    """The action on the input's channels: given, or a tied network's own, or none."""
    if action is None and blueprint is not None and group.is_subgroup_of(blueprint.group):
        action = blueprint.input_action.restrict(group)
    return input_action(group, x, action)


def _output_action(
    group: Group, y: Tensor, output: Output | None, blueprint: Blueprint | None
) -> Action:
    size = y.shape[1] if y.ndim > 1 else 1
    if output is None and blueprint is not None:
        return blueprint.output_action.restrict(group)
    if output is None or output == "invariant":
        if y.ndim > 2 and any(n > 1 for n in y.shape[2:]):
            raise InputError(f'output="invariant" does not fit outputs of shape {tuple(y.shape)}')
        return trivial(group, size)
    if output == "image":
        return trivial(group, size)
    if output == "field":
        if not isinstance(group, FiniteGroup) or size % group.order:
            raise InputError(f'output="field" needs whole regular fields of {group.name}')
        return regular(group, size // group.order)
    if isinstance(output, Mapping):
        return permuting(group, output, size=size)  # type: ignore[arg-type]
    raise InputError(f"output must be one of {OUTPUTS} or label permutations, not {output!r}")


@dataclass(frozen=True)
class Frame:
    """All that is needed to move the tensors of one traced network."""

    group: Group
    default: Callable[[Space], Action]
    dimensions: int

    def move(self, x: Tensor, layout: Layout, element: str) -> Tensor | None:
        """The tensor moved by an element."""
        return transform(x, layout, self.group, element, self.default, self.dimensions)


def _same(x: Tensor, _: Layout | None) -> Tensor:
    return x.clone()


def _one_after_another(values: list[Tensor | None]) -> Callable[..., Any]:
    remaining = iter(values)
    return lambda *_: next(remaining)


@torch.no_grad()
def own_error(call: Call, frame: Frame, elements: Iterable[str]) -> float:
    """The error that a layer adds by itself: its inputs are moved, its output compared."""
    reference = call.again(_same)
    worst = 0.0
    for element in elements:
        expected = frame.move(reference, call.layout, element)
        inputs = [frame.move(t, t._isotropy_layout, element) for t in call.inputs()]  # type: ignore[attr-defined]
        if expected is None or any(t is None for t in inputs):
            continue
        result = call.again(_one_after_another(inputs))
        if result.shape != expected.shape:
            return float("inf")
        worst = max(worst, relative(result, expected))
    return worst
