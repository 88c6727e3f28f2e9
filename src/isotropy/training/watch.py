"""Telling a person how training goes: a bar on a terminal, lines elsewhere, TensorBoard."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from isotropy.errors import InputError

SECONDS_BETWEEN = 0.2


@dataclass(frozen=True)
class Plan:
    """What is going to happen.

    Args:
        epochs: how many in all.
        steps: in every epoch.
        samples: seen in every epoch.
        first_epoch: the one that is under way, from 0.
        kind: what a sample is: "vector", "signal", "image" or "volume".
    """

    epochs: int
    steps: int
    samples: int
    first_epoch: int = 0
    kind: str = "image"


Epoch = Mapping[str, float]


class Watch:
    """Is told of every step and epoch; this one says nothing."""

    def start(self, plan: Plan) -> None:
        """Training is about to begin, or to go on."""

    def step(self, epoch: int, step: int) -> None:
        """A step of an epoch is done."""

    def epoch(self, found: Epoch) -> None:
        """An epoch is done: its number, losses, scores, and seconds."""

    def end(self) -> None:
        """Training is over, for whatever reason."""


class Lines(Watch):
    """A line for every epoch, for files and pipes.

    Args:
        stream: where to; by default standard error.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.plan = Plan(0, 0, 0)
        self.spent: list[float] = []

    def start(self, plan: Plan) -> None:
        self.plan = plan

    def epoch(self, found: Epoch) -> None:
        self.spent.append(found["seconds"])
        print(describe(found, self.plan, self.spent), file=self.stream, flush=True)


class Bar(Watch):
    """A bar with the time left, and above it a line for every epoch."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.console = Console(stderr=True)
        self.progress = Progress(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(),
            TextColumn("{task.fields[speed]:>7,.0f} {task.fields[kind]}s/s"),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self.console,
            transient=True,
        )
        self.plan = Plan(0, 0, 0)
        self.spent: list[float] = []
        self.shown = 0.0
        self.since = (0.0, 0)

    def start(self, plan: Plan) -> None:
        self.plan = plan
        done = plan.first_epoch * plan.steps
        self.since = (time.monotonic(), done)
        self.task = self.progress.add_task(
            "",
            total=plan.epochs * plan.steps,
            completed=done,
            epoch=f"{plan.first_epoch + 1}/{plan.epochs}",
            kind=plan.kind,
            speed=0,
        )
        self.progress.start()

    def step(self, epoch: int, step: int) -> None:
        now = time.monotonic()
        if now - self.shown < SECONDS_BETWEEN:
            return
        self.shown = now
        done = epoch * self.plan.steps + step + 1
        start, first = self.since
        share = self.plan.samples / self.plan.steps
        speed = (done - first) * share / max(now - start, 1e-9)
        self.progress.update(
            self.task, completed=done, epoch=f"{epoch + 1}/{self.plan.epochs}", speed=speed
        )

    def epoch(self, found: Epoch) -> None:
        self.spent.append(found["seconds"])
        self.console.print(describe(found, self.plan, self.spent), highlight=False, soft_wrap=True)

    def end(self) -> None:
        self.progress.stop()


class Board(Watch):
    """TensorBoard's event files.

    Args:
        folder: where to.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise InputError(
                "tensorboard is not installed: pip install 'isotropy[tensorboard]'"
            ) from None
        self.writer: Any = SummaryWriter(str(folder))

    def epoch(self, found: Epoch) -> None:
        for name, value in found.items():
            if name != "epoch":
                self.writer.add_scalar(
                    name.replace("validation_", "validation/"), value, found["epoch"]
                )
        self.writer.flush()

    def end(self) -> None:
        self.writer.close()


def describe(found: Epoch, plan: Plan, spent: list[float]) -> str:
    """One epoch in one line."""
    number = int(found["epoch"])
    words = [f"epoch {number:>{len(str(plan.epochs))}}/{plan.epochs}", f"loss {found['loss']:.4f}"]
    for name in ("accuracy", "mse"):
        if f"validation_{name}" in found:
            words.append(f"validation {name} {found[f'validation_{name}']:.4f}")
    speed = plan.samples / max(found["training_seconds"], 1e-9)
    words.append(f"{speed:,.0f} {plan.kind}s/s")
    left = (plan.epochs - number) * sum(spent) / len(spent)
    words.append(f"{clock(left)} left")
    return "  ".join(words)


def clock(seconds: int | float) -> str:
    """A time as people write it.

    >>> clock(75), clock(3720)
    ('1:15', '1:02:00')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
