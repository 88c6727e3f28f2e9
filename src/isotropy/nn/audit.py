"""Which layer of a network breaks the symmetry, by how much, and why."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from isotropy.errors import InputError
from isotropy.groups.action import Action, Group, trivial
from isotropy.nn.blueprint import blueprint_of
from isotropy.nn.check import field_default
from isotropy.nn.geometry import cause
from isotropy.nn.measure import Frame, _group_or_default, _input_action, own_error
from isotropy.nn.tied import TiedModule
from isotropy.nn.trace import WEIGHT_LAYERS, Call, Space, Trace, trace

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
    where their number allows it, for channels that stay in place otherwise.

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
    own = _group_or_default(model, group)
    blueprint = blueprint_of(model)
    layout = blueprint.group if blueprint is not None else own
    if not own.is_subgroup_of(layout):  # type: ignore[arg-type]
        raise InputError(
            f"group: the network carries fields of {layout.name}, on which {own.name} does not "
            "act; iso.equivariance_error measures the network as a whole"
        )
    trial = copy.deepcopy(model).double().eval()
    run = trace(trial, x[:8].detach().double(), capture=True)
    start = Space(x.shape[1], "the input")
    start.action = (
        _input_action(layout, x, action, blueprint)
        if own == layout
        else (blueprint.input_action if blueprint is not None else trivial(own, x.shape[1]))
    )
    run.input_space.unify(start, "the input")
    if blueprint is not None:
        _bind_output(run, blueprint.output_action)
    elif not _any_tied(trial):
        _bind_output(run, None, own)
    frame = Frame(own, field_default(layout), run.dimensions)
    elements = _elements(own)
    rows = [_row(call, frame, elements) for call in run.calls if _of_interest(call)]
    return Audit(own, tuple(rows))


def _any_tied(model: nn.Module) -> bool:
    return any(isinstance(m, TiedModule) for m in model.modules())


def _elements(group: Group) -> tuple[str, ...]:
    return trivial(group, 1).test_elements


def _bind_output(run: Trace, action: Action | None, group: Group | None = None) -> None:
    """The last space is the labels' (or the picture's), not a field."""
    from isotropy.nn.trace import Channels

    for dim in run.output_layout:
        if isinstance(dim, Channels) and dim.space.root().is_free:
            if action is None and group is not None and run.output.ndim == 2:
                dim.space.root().action = trivial(group, dim.space.size)
            elif action is not None and action.size == dim.space.size:
                dim.space.root().action = action


def _of_interest(call: Call) -> bool:
    """Layers, and operations on space; single channels and pixels cannot go wrong."""
    return call.is_module or cause(call) is not None or "pool" in call.name


def _row(call: Call, frame: Frame, elements: tuple[str, ...]) -> AuditRow:
    error = own_error(call, frame, elements)
    if error <= TOLERANCE:
        return AuditRow(call.name, error, "")
    causes = [_untied(call), cause(call)]
    return AuditRow(call.name, error, "; ".join(c for c in causes if c) or "not equivariant")


def _untied(call: Call) -> str | None:
    module = call.target
    if isinstance(module, TiedModule):
        return None
    if isinstance(module, WEIGHT_LAYERS):
        return "untied layer"
    if isinstance(module, _BatchNorm):
        return "batch norm per channel"
    if isinstance(module, nn.Module) and any(True for _ in module.parameters()):
        return f"{type(module).__name__} per channel"
    return None
