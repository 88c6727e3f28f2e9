"""`isotropy train`: a model, tied or plain, trained on a source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from isotropy.cli.model import Model, ModelFlags, build, source_of
from isotropy.cli.result import Result
from isotropy.cli.shared import (
    Context,
    DataFlags,
    Kept,
    Seeded,
    Source,
    Speaking,
    add,
    load_data,
    start_run,
)
from isotropy.data.parts import Parts, divide
from isotropy.errors import NotSupportedError
from isotropy.runs import MODEL
from isotropy.training.settings import Settings

if TYPE_CHECKING:
    from torch import Tensor, nn

    from isotropy.data import Splits
    from isotropy.runs import Run
    from isotropy.training import Devices, Fit, Watch

INTERRUPTED = 130


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
    context: Context,
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
    own = divide(loaded, parts, seeded.seed)
    network = build(model, tied, own.train, seeded.seed)
    scaled = iso.training.standardised(own.train, network)
    own = own.each(lambda part: part.scaled_like(scaled))
    costs = costs_of(network, own.train.batch([0])[0])
    run = devices.from_lead(lambda: start_run(context, loaded, kept, FREE))
    speaking.say(f"{run.folder}: {len(own.train):,} samples to train on\n{costs}")
    with run.unless_refused():
        found = iso.training.fit(
            network,
            own.train,
            own.validation,
            settings,
            seed=seeded.seed,
            devices=devices,
            folder=run.folder,
            resume=kept.resume,
            minutes=where.minutes,
            signature={"model": source_of(model)},
            watch=watches(speaking, where, run),
        )
    return finish(run, found, own, devices)


def costs_of(network: nn.Module, x: Tensor) -> str:
    """What training will cost, as far as it can be told: a plain model may hold anything."""
    import isotropy as iso

    try:
        return str(iso.cost(network, x))
    except NotSupportedError as reason:
        count = sum(p.numel() for p in network.parameters())
        return f"{count:,} numbers to train; what else it costs is not known ({reason})"


def make_devices(where: DeviceFlags, precision: str) -> Devices:
    """One device, or as many as were asked for."""
    from isotropy.training import Alone, on_fabric

    if where.devices is None and where.strategy is None:
        return Alone(precision=precision)
    return on_fabric(where.devices or "auto", where.strategy or "auto", precision)


def watches(speaking: Speaking, where: DeviceFlags, run: Run) -> list[Watch]:
    """Who is told how training goes."""
    from isotropy.training import Board

    boards: list[Watch] = [Board(run.path("tensorboard"))] if where.tensorboard else []
    return speaking.watches() + boards


def finish(run: Run, found: Fit, data: Splits, devices: Devices) -> Result:
    """Test the model, keep it and what came out, and say it."""
    from isotropy.training import evaluate

    done = len(found.history)
    if found.stopped == "interrupted":
        words = f"interrupted after {done} whole epochs; go on with --resume --out {run.folder}"
        outcome = {"run": str(run.folder), "stopped": found.stopped, "epochs": done}
        return Result(outcome, words, INTERRUPTED) if devices.leads else Result({})
    test = None if data.test is None else evaluate(found.model, data.test, devices)
    if not devices.leads:
        return Result({})
    run.save_scaling(data.train)
    run.save_model(found.model)
    result = {
        "run": str(run.folder),
        "model": str(run.path(MODEL)),
        "parameters": sum(p.numel() for p in found.model.parameters()),
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
