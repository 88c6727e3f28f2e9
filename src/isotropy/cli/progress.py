"""How downloads and the reading of many files go on: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isotropy.data.options import Progress

EVERY = 5.0  # seconds between lines


@contextmanager
def progress(quiet: bool) -> Iterator[Progress | None]:
    """Who tells on standard error how work with data goes on, for as long as it does."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bars() as told:
            yield told
    else:
        yield Lines()


@contextmanager
def _bars() -> Iterator[Progress]:
    """A bar for each thing that is worked on, with the time left; they go when all is done."""
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("left"))
    bars = Bars(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    known: dict[str, TaskID] = {}

    def told(what: str, done: int, total: int | None, /) -> None:
        if what not in known:
            known[what] = bars.add_task(what, total=total)
        bars.update(known[what], completed=done, total=total)

    with bars:
        yield told


class Lines:
    """A line every few seconds, and none for what takes less.

    Args:
        every: seconds between lines.
        clock: gives the seconds.
    """

    def __init__(self, every: float = EVERY, clock: Callable[[], float] = time.monotonic) -> None:
        self.every = every
        self.clock = clock
        self.what = ""
        self.begun = self.last = 0.0
        self.first = 0

    def __call__(self, what: str, done: int, total: int | None, /) -> None:
        now = self.clock()
        if what != self.what:
            self.what, self.first = what, done
            self.begun = self.last = now
        if now - self.last >= self.every:
            self.last = now
            print(f"{what}: {self._how_far(done, total, now)}", file=sys.stderr, flush=True)

    def _how_far(self, done: int, total: int | None, now: float) -> str:
        if not total:
            return f"{done:,}"
        far = f"{done / total:.0%}"
        if done == self.first:
            return far
        left = (now - self.begun) / (done - self.first) * (total - done)
        return f"{far}, {left:,.0f} s left"
