"""Telling a person how a discovery goes: a bar on a terminal, lines elsewhere, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TextIO

from isotropy.discovery.clock import Clock
from isotropy.training import clock as as_clock


class Progress:
    """Keeps count of the work; this one says nothing."""

    def __init__(self) -> None:
        self.planned = 0.0
        self.finished = 0.0
        self.clock: Clock | None = None

    def start(self, clock: Clock) -> None:
        """It begins."""
        self.clock = clock

    def stage(self, words: str) -> None:
        """Another part begins."""

    def plan(self, units: Sequence[float]) -> None:
        """So much more is to be done."""
        self.planned += sum(units)

    def done(self, units: float) -> None:
        """Something is done."""
        self.finished += units

    def end(self) -> None:
        """It is over."""

    @property
    def left(self) -> float:
        """Seconds until what is planned is done; more may be planned later."""
        if self.clock is None:
            return 0.0
        seconds = self.clock.forecast(max(self.planned - self.finished, 0.0))
        return min(seconds, max(self.clock.left, 0.0))


class Lines(Progress):
    """A line at the beginning of every part, and now and then between.

    Args:
        stream: where to; by default standard error.
        every: seconds between lines of one part.
    """

    def __init__(self, stream: TextIO | None = None, every: float = 10.0) -> None:
        super().__init__()
        self.stream = stream or sys.stderr
        self.every = every
        self.said = 0.0
        self.part = ""

    def stage(self, words: str) -> None:
        self.part = words
        self._say()

    def done(self, units: float) -> None:
        super().done(units)
        if time.monotonic() - self.said >= self.every:
            self._say()

    def _say(self) -> None:
        assert self.clock is not None
        self.said = time.monotonic()
        left = f", about {as_clock(self.left)} left in this part" if self.left else ""
        spent = as_clock(self.clock.spent)
        print(f"{spent}  {self.part}{left}", file=self.stream, flush=True)


class Bar(Progress):
    """A bar with what is being done and the time left."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self.bar = RichProgress(
            TextColumn("{task.fields[spent]}"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.bar.add_task("", total=None, spent="0:00", left="")

    def start(self, clock: Clock) -> None:
        super().start(clock)
        self.bar.start()

    def stage(self, words: str) -> None:
        self.bar.update(self.task, description=words)
        self._show()

    def plan(self, units: Sequence[float]) -> None:
        super().plan(units)
        self._show()

    def done(self, units: float) -> None:
        super().done(units)
        self._show()

    def end(self) -> None:
        self.bar.stop()

    def _show(self) -> None:
        assert self.clock is not None
        left = f"{as_clock(self.left)} left" if self.left else ""
        self.bar.update(
            self.task,
            total=max(self.planned, 1e-9),
            completed=self.finished,
            spent=as_clock(self.clock.spent),
            left=left,
        )
