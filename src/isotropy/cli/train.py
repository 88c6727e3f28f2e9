"""`isotropy train`: a model, tied or plain, trained on a source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from isotropy.cli.model import Model, ModelFlags, build, source_of
from isotropy.cli.result import Result
from isotropy.cli.shared import (
    DataFlags,
    Kept,
    Seeded,
    Source,
    Speaking,
    add,
    load_data,
    start_run,
)
from isotropy.errors import InputError
from isotropy.training.settings import Settings

if TYPE_CHECKING:
    from torch import nn

    from isotropy.data import DataSet
    from isotropy.runs import Run
    from isotropy.training import Devices, Fit, Watch

INTERRUPTED = 130


@dataclass(frozen=True)
class Parts:
    """What is set apart of the data.

    Args:
        validation: The part of the training data on which the best epoch is chosen; 0 for none.
        test: The part that is tested on in the end, where the source sets none apart.
    """

    validation: float = field(default=0.1, metadata={"min": 0.0, "max": 0.9})
    test: float = field(default=0.2, metadata={"min": 0.0, "max": 0.9})


@dataclass(frozen=True)
class DeviceFlags:
    """Where training runs.

    Args:
        devices: How many devices train together, or auto, through lightning-fabric; by default
            one, without it.
        strategy: How they do, in lightning-fabric's words, as ddp.
        minutes: Keep a checkpoint after so many minutes, and not only after every epoch.
        tensorboard: Write TensorBoard's files into the run's folder.
    """

    devices: str | None = field(default=None, metadata={"metavar": "N", "show_default": False})
    strategy: str | None = field(default=None, metadata={"metavar": "NAME", "show_default": False})
    minutes: float = field(default=0.0, metadata={"min": 0.0})
    tensorboard: bool = field(default=False, metadata={"names": ("--tensorboard",)})


FREE = ("minutes", "tensorboard")
"""Options that may differ when a run is resumed: the result does not depend on them."""


def train(
    context: typer.Context,
    model: Model,
    source: Source,
    tied: ModelFlags,
    settings: Settings,
    parts: Parts,
    data: DataFlags,
    seeded: Seeded,
    kept: Kept,
    where: DeviceFlags,
    speaking: Speaking,
) -> Result:
    """Train a model on a source, tied under a group or plain.

    Example: isotropy train cnn digits --group C4 --seed 0

    The run's folder gets config.toml (what ran, in full), checkpoint.safetensors, the trained
    model.safetensors, and result.json with the scores on validation and test data.
    """
    import isotropy as iso

    devices = make_devices(where, settings.precision)
    if not devices.leads:
        speaking = Speaking(quiet=True)
    loaded = load_data(source, data, speaking, seeded.seed)
    train_data, validation, test = divide(loaded, parts, seeded.seed)
    network = build(model, tied, train_data, seeded.seed)
    run = devices.from_lead(lambda: start_run(context, loaded, kept, FREE))
    speaking.say(f"{run.folder}: {len(train_data):,} samples to train on")
    speaking.say(str(iso.cost(network, train_data.batch([0])[0])))
    found = iso.training.fit(
        network,
        train_data,
        validation,
        settings,
        seed=seeded.seed,
        devices=devices,
        folder=run.folder,
        resume=kept.resume,
        minutes=where.minutes,
        signature={"model": source_of(model)},
        watch=watches(speaking, where, run),
    )
    test_scores = None if test is None else iso.training.evaluate(found.model, test, devices)
    if not devices.leads:
        return Result({})
    return finish(run, found, network, test_scores)


def make_devices(where: DeviceFlags, precision: str) -> Devices:
    """One device, or as many as were asked for."""
    from isotropy.training import Alone, on_fabric

    if where.devices is None and where.strategy is None:
        return Alone(precision=precision)
    return on_fabric(where.devices or "auto", where.strategy or "auto", precision)


def divide(loaded: Any, parts: Parts, seed: int) -> tuple[DataSet, DataSet | None, DataSet | None]:
    """Training, validation and test data; the source's own test data go first."""
    import isotropy as iso

    test_part = 0.0 if loaded.test is not None else parts.test
    rest = 1 - parts.validation - test_part
    if rest <= 0:
        raise InputError("validation and test: nothing is left to train on")
    if not parts.validation and not test_part:
        return loaded.train, None, loaded.test
    shares = [share for share in (rest, parts.validation, test_part) if share]
    pieces = list(iso.data.split(loaded.train, shares, seed=seed))
    train_data = pieces.pop(0)
    validation = pieces.pop(0) if parts.validation else None
    return train_data, validation, pieces.pop(0) if test_part else loaded.test


def watches(speaking: Speaking, where: DeviceFlags, run: Run) -> list[Watch]:
    """Who is told how training goes."""
    from isotropy.training import Board

    boards: list[Watch] = [Board(run.path("tensorboard"))] if where.tensorboard else []
    return speaking.watches() + boards


def finish(run: Run, found: Fit, network: nn.Module, test: dict[str, float] | None) -> Result:
    """Keep the model and what came out, and say it."""
    done = len(found.history)
    if found.stopped == "interrupted":
        words = f"interrupted after {done} whole epochs; go on with --resume --out {run.folder}"
        data = {"run": str(run.folder), "stopped": found.stopped, "epochs": done}
        return Result(data, words, INTERRUPTED)
    run.save_model(network)
    result = {
        "run": str(run.folder),
        "model": str(run.path("model.safetensors")),
        "parameters": sum(p.numel() for p in network.parameters()),
        "epochs": done,
        "best_epoch": found.best_epoch,
        "stopped": found.stopped,
        "seconds": found.seconds,
        "validation": found.scores,
        "test": test,
        "history": found.history,
    }
    run.write_result(result)
    return Result(result, summary(result))


def summary(result: dict[str, Any]) -> str:
    """What came out, in a few lines."""
    lines = [f"{result['run']}: {result['parameters']:,} numbers, {result['epochs']} epochs"]
    for part in ("validation", "test"):
        if result[part]:
            scores = "  ".join(f"{name} {value:.4f}" for name, value in result[part].items())
            lines.append(f"{part:<10}  {scores}")
    return "\n".join(lines)


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, train)
