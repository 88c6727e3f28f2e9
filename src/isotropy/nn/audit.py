"""Which layer of a network breaks the symmetry, by how much, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from isotropy.errors import InputError
from isotropy.groups.action import Action, Group, trivial
from isotropy.groups.grid import moved_axes
from isotropy.nn.arguments import independent_copy, require_batch, require_module, running
from isotropy.nn.blueprint import blueprint_of, tied_modules
from isotropy.nn.check import field_default
from isotropy.nn.geometry import cause, is_transposed
from isotropy.nn.measure import Frame, group_or_default, measured_input, own_error
from isotropy.nn.precision import StayInFloat64
from isotropy.nn.tied import TiedModule
from isotropy.nn.trace import (
    CONVOLUTIONS,
    WEIGHT_LAYERS,
    Call,
    Channels,
    Space,
    Trace,
    action_of,
    layout_of,
    trace,
)
from isotropy.nn.transform import relative
from isotropy.schemes import OrbitScheme, Partition, Tie
from isotropy.schemes.blend import Blend

TOLERANCE = 1e-6


@dataclass(frozen=True)
class AuditRow:
    """One layer: the equivariance error it adds by itself, and the cause if it is not rounding."""

    layer: str
    error: float
    cause: str


@dataclass(frozen=True)
class Audit:
    """What every layer of a network does to a symmetry, in order of execution."""

    group: Group
    rows: tuple[AuditRow, ...]

    @property
    def worst(self) -> AuditRow:
        """The layer with the largest error."""
        return max(self.rows, key=lambda row: row.error)

    def __str__(self) -> str:
        width = max([len(row.layer) for row in self.rows] + [5])
        lines = [f"{'layer':<{width}}  error    cause ({self.group})"]
        lines += [f"{r.layer:<{width}}  {r.error:.1e}  {r.cause}" for r in self.rows]
        return "\n".join(lines)


@torch.no_grad()
def audit(
    model: nn.Module,
    x: Tensor,
    group: Group | str | None = None,
    action: Action | None = None,
) -> Audit:
    """The equivariance error of every layer by itself, in float64 and eval mode.

    Each layer's inputs are moved by the group and its output compared with the moved output, so
    errors do not add up along the network. Channels of plain layers are taken for regular fields
    where their number allows it, for channels that stay in place otherwise; a folded network must
    therefore be audited under the group it was tied in.

    Args:
        model: a tied, folded or plain network.
        x: a batch of inputs.
        group: the group or its name; by default the one a tied network is tied to.
        action: what acts on vector entries or channels of the input, if anything does.

    >>> import torch, isotropy as iso
    >>> net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, stride=2), torch.nn.ReLU())
    >>> print(iso.audit(net, torch.randn(2, 1, 8, 8), "C4").rows[0].cause)
    untied layer; stride 2 on size 8 leaves 1 pixel(s) over (kernel 3, padding 0); exact at ...
    """
    own = group_or_default(require_module(model), group)
    require_batch(x, "x")
    layout = _layout_group(model, own)
    if not own.is_subgroup_of(layout):
        raise InputError(
            f"group: the network carries fields of {layout.name}, on which {own.name} does not "
            "act; iso.equivariance_error measures the network as a whole"
        )
    blueprint = blueprint_of(model)
    trial = independent_copy(model).double().eval()
    with StayInFloat64(), running(x, "x"):
        run = trace(trial, x[:8].detach().double(), capture=True)
    start = Space(x.shape[1], "the input")
    start.action = measured_input(layout, x, action, blueprint)
    run.input_space.unify(start, "the input")
    _bind_output(run, layout, None if blueprint is None else blueprint.output_action)
    frame = Frame(own, field_default(layout), run.dimensions)
    axes = moved_axes(own, run.dimensions)
    with StayInFloat64():
        rows = tuple(_row(call, frame, axes) for call in run.calls if _of_interest(call))
    return Audit(own, rows)


def _layout_group(model: nn.Module, own: Group) -> Group:
    """The group whose fields a network's channels carry: what its tied layers say."""
    layouts = [m.layout for m in tied_modules(model).values() if m.layout is not None]
    return layouts[0] if layouts else own


def _bind_output(run: Trace, layout: Group, action: Action | None) -> None:
    """The last space is the labels' (or the picture's), not a field, unless said to be one."""
    for dim in run.output_layout:
        if isinstance(dim, Channels) and dim.space.root().is_free:
            if action is not None and action.size == dim.space.size:
                dim.space.root().action = action
            elif run.output.ndim == 2:
                dim.space.root().action = trivial(layout, dim.space.size)


def _of_interest(call: Call) -> bool:
    """Layers, and operations on space; single channels and pixels cannot go wrong."""
    return call.is_module or cause(call) is not None or "pool" in call.name


def _row(call: Call, frame: Frame, axes: frozenset[int]) -> AuditRow:
    error = own_error(call, frame, trivial(frame.group, 1).test_elements)
    if error <= TOLERANCE:
        return AuditRow(call.name, error, "")
    causes = [_untied(call, frame), cause(call, axes)]
    return AuditRow(call.name, error, "; ".join(c for c in causes if c) or "not equivariant")


def _untied(call: Call, frame: Frame) -> str | None:
    """What is wrong with a layer's numbers, if it is they."""
    module = call.target
    if isinstance(module, TiedModule):
        return _blended(module)
    if not isinstance(module, nn.Module):
        return None
    if isinstance(module, WEIGHT_LAYERS):
        return None if _weights_are_tied(call, frame) else "untied layer"
    if isinstance(module, _BatchNorm):
        return "batch norm per channel"
    has_numbers = any(True for _ in module.parameters())
    return f"{type(module).__name__} per channel" if has_numbers else None


def _blended(module: TiedModule) -> str | None:
    """Of which groups a tied layer is made, if of several."""
    blends = [scheme for scheme in module.children() if isinstance(scheme, Blend)]
    return f"mixes {', '.join(blends[0].names)}" if blends else None


def _weights_are_tied(call: Call, frame: Frame) -> bool:
    """Whether a plain layer's weight and bias are constant on orbits (a folded network's are)."""
    module: Any = call.target
    layout = layout_of(call.args[0]) or ()
    is_conv = isinstance(module, CONVOLUTIONS)
    place = 1 if is_conv else -1
    inside = action_of(layout[place], frame.default)
    outside = action_of(call.layout[place], frame.default)
    if inside is None or outside is None:
        return False
    kernel = tuple(module.kernel_size) if is_conv else ()
    blocks = module.groups if is_conv else 1
    tie = Tie(outside, inside, kernel, blocks, is_conv and is_transposed(module))
    pairs = [(module.weight, tie.weight)]
    if module.bias is not None:
        pairs.append((module.bias, tie.bias))
    return all(_is_tied(value, partition(frame.group)) for value, partition in pairs)


def _is_tied(value: Tensor, partition: Partition) -> bool:
    nearest = OrbitScheme(partition).to(value.device).double().project_(value)()
    return relative(nearest, value) <= TOLERANCE
