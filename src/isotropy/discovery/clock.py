"""How much time there is, how much is spent, and how long what is left will take."""

from __future__ import annotations

import re
import time

from isotropy.errors import InputError

_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600}


def seconds_of(budget: int | float | str | None) -> float | None:
    """A budget in seconds, from a number or from "90s", "2m", "1.5h".

    >>> seconds_of("2m"), seconds_of(30), seconds_of(None)
    (120.0, 30.0, None)
    """
    if budget is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(s|m|min|h)?\s*", str(budget))
    if found is None or float(found[1]) <= 0:
        raise InputError(f"budget must be a time, as 90s, 2m or 1h, not {budget!r}")
    return float(found[1]) * _UNITS[found[2] or "s"]


class Clock:
    """Time since the beginning, and a budget for all of it.

    Work is counted in units that say how long things take beside each other; how many seconds a
    unit takes is learned from what is done.

    Args:
        budget: seconds in all; None for as long as it takes.
        workers: how many things are done at once.
        began: when, by `time.monotonic`; now, unless given.
    """

    def __init__(self, budget: float | None, workers: int, began: float | None = None) -> None:
        self.budget = budget
        self.workers = workers
        self.start = time.monotonic() if began is None else began
        self._units = 0.0
        self._seconds = 0.0

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.start

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return float("inf") if self.budget is None else self.budget - self.spent

    def learn(self, units: float, seconds: float) -> None:
        """Something of so many units took so many seconds of one worker."""
        self._units += units
        self._seconds += seconds

    def seconds(self, units: float) -> float:
        """What one worker needs for so many units, as far as that is known."""
        return 0.0 if not self._units else units * self._seconds / self._units

    def forecast(self, units: float) -> float:
        """Seconds until so many units are done, by all workers."""
        return self.seconds(units) / self.workers

    def allows(self, units: float, reserve: float) -> bool:
        """Whether something may be begun now and still leave so many seconds."""
        return self.budget is None or self.seconds(units) + reserve < self.left
