"""Everything training needs to go on to the bit, in one file that is replaced all at once."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from isotropy._tensor_file import read_tensors, write_tensors
from isotropy.errors import FileFormatError, InputError

FORMAT = "isotropy-checkpoint-1"


@dataclass
class Position:
    """How far training has come.

    Args:
        epoch: the epoch that is under way, from 0.
        step: the steps of it that are done.
        history: what was found after every epoch.
        best: the history's best epoch, from 1; 0 before there is one.
        since_best: epochs without a better one.
        seconds: the time spent on the epoch that is under way.
        stopped: why training ended; "" while it goes on.
    """

    epoch: int = 0
    step: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    best: int = 0
    since_best: int = 0
    seconds: float = 0.0
    stopped: str = ""


@dataclass
class Progress:
    """What changes while a model is trained.

    Args:
        model: the model.
        optimizer: its optimiser.
        average: a copy of the model with averaged weights, if one is kept.
        kept: the state of the best epoch's model, if one is kept.
        loss: the sum of the losses of the epoch that is under way.
        position: how far it has come.
    """

    model: nn.Module
    optimizer: Optimizer
    average: nn.Module | None
    kept: dict[str, Tensor]
    loss: Tensor
    position: Position


def save_progress(path: Path, progress: Progress, signature: dict[str, Any]) -> None:
    """Write a checkpoint.

    Args:
        path: the file.
        progress: what to write.
        signature: what must be the same for training to go on from it, as JSON.
    """
    tensors = {f"model.{k}": v for k, v in progress.model.state_dict().items()}
    if progress.average is not None:
        tensors |= {f"average.{k}": v for k, v in progress.average.state_dict().items()}
    tensors |= {f"kept.{k}": v for k, v in progress.kept.items()}
    tensors |= {f"random.{k}": v for k, v in random_state().items()}
    tensors["loss"] = progress.loss
    state, described = optimizer_state(progress.optimizer)
    tensors |= {f"optimizer.{k}": v for k, v in state.items()}
    text = json.dumps(
        {
            "signature": signature,
            "position": asdict(progress.position),
            "optimizer": described,
        }
    )
    separate = {key: value.detach().clone() for key, value in tensors.items()}
    write_tensors(path, separate, text, FORMAT)


def load_progress(path: Path, progress: Progress, signature: dict[str, Any]) -> None:
    """Bring a model, its optimiser and all else to where a checkpoint was written."""
    tensors, text = read_tensors(path, FORMAT, "training")
    try:
        found = json.loads(text)
        _require_same(path, found["signature"], json.loads(json.dumps(signature)))
        progress.model.load_state_dict(_part(tensors, "model"))
        if progress.average is not None:
            progress.average.load_state_dict(_part(tensors, "average"))
        progress.kept = _part(tensors, "kept")
        progress.loss.copy_(tensors["loss"])
        progress.position = Position(**found["position"])
        set_optimizer_state(progress.optimizer, _part(tensors, "optimizer"), found["optimizer"])
        set_random_state(_part(tensors, "random"))
    except (KeyError, TypeError, RuntimeError) as error:
        first = str(error).splitlines()[0]
        raise FileFormatError(f"{path} does not fit this model ({first})") from None


def _require_same(path: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    for key in [*before, *(k for k in now if k not in before)]:
        if before.get(key) != now.get(key):
            raise InputError(
                f"resume: {path} was written with {key} = {before.get(key)!r}, and now it is "
                f"{now.get(key)!r}; go on as you began, or begin anew elsewhere"
            )


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    start = f"{prefix}."
    return {k.removeprefix(start): v for k, v in tensors.items() if k.startswith(start)}


def optimizer_state(optimizer: Optimizer) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The state of an optimiser: its tensors by "parameter's number.key", the rest as JSON."""
    whole = optimizer.state_dict()
    tensors: dict[str, Tensor] = {}
    numbers: dict[str, dict[str, Any]] = {}
    for index, state in whole["state"].items():
        for key, value in state.items():
            if isinstance(value, Tensor):
                tensors[f"{index}.{key}"] = value
            else:
                numbers.setdefault(str(index), {})[key] = value
    return tensors, {"groups": whole["param_groups"], "numbers": numbers}


def set_optimizer_state(
    optimizer: Optimizer, tensors: dict[str, Tensor], described: dict[str, Any]
) -> None:
    """Bring an optimiser to where another of the same kind was."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    state: dict[int, dict[str, Any]] = {
        int(index): dict(values) for index, values in described["numbers"].items()
    }
    for name, value in tensors.items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = _laid_out_like(parameters[int(index)], value)
    optimizer.load_state_dict({"state": state, "param_groups": described["groups"]})


def _laid_out_like(parameter: Tensor, value: Tensor) -> Tensor:
    """In the parameter's memory format: a fused step walks over both in one order."""
    if value.shape != parameter.shape:
        return value
    return torch.empty_like(parameter, dtype=value.dtype).copy_(value)


def random_state() -> dict[str, Tensor]:
    """The states of torch's generators."""
    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states |= {f"cuda{i}": s for i, s in enumerate(torch.cuda.get_rng_state_all())}
    return states


def set_random_state(states: dict[str, Tensor]) -> None:
    """Bring torch's generators back to where they were."""
    torch.set_rng_state(states["cpu"])
    for i in range(torch.cuda.device_count() if torch.cuda.is_available() else 0):
        if f"cuda{i}" in states:
            torch.cuda.set_rng_state(states[f"cuda{i}"], i)
