"""`isotropy check`: how far a trained model is from being equivariant, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from isotropy.cli.model import json_or_name, model_of
from isotropy.cli.parts import data_of, held_out
from isotropy.cli.result import Result
from isotropy.cli.shared import RunFolder, Speaking, add
from isotropy.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor, nn

    from isotropy.groups.action import Action, Group

BROKEN = 1


@dataclass(frozen=True)
class Against:
    """What the model is held against.

    Args:
        group: The group; by default the one the model is tied under.
        output: What the group does to the outputs, as for train; by default what the model was
            made for.
        action: What the group does to the entries of vectors or to channels, as for train.
        samples: How many of the run's test data to measure on.
        tolerance: The largest relative error that counts as rounding, in double precision.
    """

    group: str | None = field(default=None, metadata={"metavar": "GROUP", "show_default": False})
    output: str | None = field(default=None, metadata={"metavar": "HOW", "show_default": False})
    action: str | None = field(default=None, metadata={"metavar": "JSON", "show_default": False})
    samples: int = field(default=16, metadata={"min": 1})
    tolerance: float = field(default=1e-6, metadata={"min": 0.0})


def check(run: RunFolder, against: Against, speaking: Speaking) -> Result:
    """How far the model of a run is from being equivariant, layer by layer, on the run's own data.

    Example: isotropy check runs/train-digits-1

    Every layer is measured by itself and then the whole model, in double precision. The exit
    status is 0 if all errors are within the tolerance, and 1 if one is not.
    """
    import isotropy as iso
    from isotropy.nn.blueprint import blueprint_of
    from isotropy.runs import Run

    opened = Run.open(run)
    model = model_of(opened)
    data = held_out(data_of(opened, speaking))
    x, _ = data.batch(range(min(against.samples, len(data))))
    if against.group is None and blueprint_of(model) is None:
        raise InputError(f"group: the model of {run} is tied under none; say which with --group")
    group = None if against.group is None else iso.group(against.group)
    action = _action(against.action, group, x)
    table = iso.audit(model, x, group, action)
    whole = iso.equivariance_error(model, x, group, _output(against, model, data.task), action)
    result = {
        "run": str(run),
        "group": str(table.group),
        "equivariant": max(whole, table.worst.error) <= against.tolerance,
        "error": whole,
        "layers": [vars(row) for row in table.rows],
    }
    return Result(result, f"{table}\n{_verdict(result)}", 0 if result["equivariant"] else BROKEN)


def _action(text: str | None, group: Group | None, x: Tensor) -> Action | None:
    from isotropy.nn.layer_groups import input_action

    if text is None:
        return None
    if group is None:
        raise InputError("action says what a group does; give --group too")
    return input_action(group, x, json_or_name(text, "action"))


def _output(against: Against, model: nn.Module, task: str) -> Any:
    from isotropy.nn.blueprint import blueprint_of

    if against.output is not None:
        return json_or_name(against.output, "output")
    if blueprint_of(model) is not None:
        return None
    return "image" if task == "dense" else "invariant"


def _verdict(result: dict[str, Any]) -> str:
    word = "equivariant" if result["equivariant"] else "NOT equivariant"
    return f"{word} to {result['group']}: the whole model's relative error is {result['error']:.1e}"


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, check)
