"""What the end of a run takes: two last networks, trained on all samples, and files to write.

Without a budget they learn for as many epochs as the plan says. With one, time is kept for them
from the beginning, and if that is too little for all of it, they pass over all samples less often,
or learn from fewer.
"""

from __future__ import annotations

from dataclasses import dataclass

from isotropy.discovery.clock import Clock
from isotropy.discovery.contender import Contender
from isotropy.discovery.race import Race
from isotropy.discovery.trial import TIED, UNTIED

WRITING = 3.0  # seconds for the model's files, the page and the result
LAST_SHARE = 0.25  # of a budget, for the last networks


@dataclass(frozen=True)
class Lessons:
    """What the last networks learn from.

    Args:
        samples: of all that there are.
        epochs: passes over them.
        wanted: the same without a budget: samples and epochs.
        units: the work that this is for an untied network, beside one of the race.
    """

    samples: int
    epochs: int
    wanted: tuple[int, int]
    units: float

    @property
    def words(self) -> str:
        """What the budget took away, or nothing."""
        samples, epochs = self.wanted
        if (self.samples, self.epochs) == self.wanted:
            return ""
        passes = "1 pass" if self.epochs == 1 else f"{self.epochs} passes"
        return (
            f"The budget left the last two networks time for {passes} over {self.samples:,} of "
            f"{samples:,} samples instead of {epochs} over all."
        )


@dataclass(frozen=True)
class Ending:
    """How long the end takes, as far as is known, and what fits into the time that is left.

    Args:
        clock: says how much time there is.
        samples: that there are to learn from.
        epochs: passes over them, without a budget.
        raced: samples that every network of the race sees, over all of its epochs.
    """

    clock: Clock
    samples: int
    epochs: int
    raced: int

    def reserve(self, race: Race) -> float:
        """Seconds to be kept while networks race, whichever of those still racing will win."""
        if self.clock.budget is None:
            return 0.0
        able = [one for one in race.racing if not one.rejected]
        seconds = max((self._last(race, one) for one in able), default=self._last(race, None))
        return WRITING + min(seconds, LAST_SHARE * self.clock.budget)

    def lessons(self, race: Race, chosen: Contender | None) -> Lessons:
        """What there is time for, though no less than the networks of the race had."""
        wanted = self.samples * self.epochs
        seen, needed = float(wanted), self._last(race, chosen)
        if self.clock.budget is not None and needed > 0:
            seen = min(seen, wanted * (self.clock.left - WRITING) / needed)
        affordable = round(max(seen, min(self.raced, wanted)))
        epochs = max(affordable // self.samples, 1)
        samples = min(affordable, self.samples)
        wanted_all = (self.samples, self.epochs)
        return Lessons(samples, epochs, wanted_all, samples * epochs / self.raced)

    def _last(self, race: Race, one: Contender | None) -> float:
        """Seconds until the last networks are trained on all samples, by what is known."""
        times = [self._seconds(race, UNTIED, "", 1.0)]
        if one is not None:
            times.append(self._seconds(race, TIED, one.name, one.cost(TIED)))
        each = max(times) if self.clock.workers > 1 else sum(times)
        return each * self.samples * self.epochs / self.raced

    def _seconds(self, race: Race, arm: str, name: str, units: float) -> float:
        """Of one network of the race: as long as its like took, or what its cost says."""
        found = race.seconds(arm, name)
        return sum(found) / len(found) if found else self.clock.seconds(units)
