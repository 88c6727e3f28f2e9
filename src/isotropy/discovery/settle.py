"""How much can be done in a budget, and of how many samples: settled before the race begins."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from isotropy.data import DataSet, split
from isotropy.discovery.enough import FEWEST_PER_CLASS
from isotropy.discovery.plan import BATCH, MOST_EPOCHS, Plan
from isotropy.errors import InputError
from isotropy.evidence.probe import Probe
from isotropy.training import Alone, Settings, fit
from isotropy.training.seeds import torch_seed

RACING_SHARE = 0.5  # of a budget, for the first rounds; the rest is for what they leave in doubt
FEWEST_SEEN = 600  # samples a network must see in training to tell anything
PACE_SAMPLES = 256


def compared(data: DataSet, most: int, seed: int) -> DataSet:
    """The samples that networks are compared on: all, or some of every class alike.

    Of a rare class so many that it can be split again and again.
    """
    if len(data) <= most:
        return data
    drawn = torch_seed(seed, "compared")
    return split(data, (most / len(data),), drawn, least=FEWEST_PER_CLASS)[0]


def pace(data: DataSet, probe: Probe) -> float:
    """Seconds that the untied network takes for one sample in training, on one thread."""
    indices = np.arange(min(len(data), PACE_SAMPLES))
    few = data.subset(indices)
    if probe.view == "entries":
        few = as_entries(few)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        seconds = []
        for _ in range(2):  # the first one warms up
            start = time.monotonic()
            quick = Settings(epochs=2, keep="last")
            fit(probe.plain(), few, settings=quick, devices=Alone()).whole()
            seconds.append(time.monotonic() - start)
    finally:
        torch.set_num_threads(threads)
    return seconds[-1] / (2 * len(few))


def as_entries(data: DataSet) -> DataSet:
    """The same with every sample as a vector."""
    from isotropy.data import ArraySamples

    x = data.samples.take(np.arange(len(data))).flatten(1).numpy()
    return replace(data, samples=ArraySamples(x))


def fewest_seconds(plan: Plan, costs: Sequence[float], pace: float, workers: int) -> float:
    """What is needed of a budget to compare candidates at all; arguments are those of `fitted`."""
    return pace * sum(costs) * plan.first_rounds / workers * FEWEST_SEEN / RACING_SHARE


@dataclass(frozen=True)
class Prices:
    """What networks cost in time, measured once; arguments are those of `fitted`."""

    samples: int
    costs: Sequence[float]
    pace: float
    workers: int

    def plan(self, asked: Plan, seconds: float) -> Plan:
        """What a plan becomes with so many seconds; refused if nothing could be compared."""
        return fitted(asked, self.samples, self.costs, self.pace, seconds, self.workers)

    def fewest(self, asked: Plan) -> float:
        """The seconds with which it is not refused."""
        return fewest_seconds(asked, self.costs, self.pace, self.workers)


def fitted(
    plan: Plan, samples: int, costs: Sequence[float], pace: float, seconds: float, workers: int
) -> Plan:
    """The plan with as many epochs and samples as leave time for a decision.

    Args:
        plan: as it was asked for.
        samples: there are to compare on.
        costs: of one network of every candidate, in units of the untied one, which is among them.
        pace: seconds per sample of the untied one.
        seconds: what is left of the budget.
        workers: networks trained at once.
    """
    learned_from = samples * (1 - plan.validation)
    seen = plan.settings(round(learned_from)).epochs * learned_from
    each = pace * sum(costs) * plan.first_rounds / workers
    affordable = RACING_SHARE * seconds / each
    if affordable >= seen:
        return plan
    needed = fewest_seconds(plan, costs, pace, workers)
    if seconds < needed:
        raise InputError(
            f"budget: {max(seconds, 0):.0f} s are left, too little to compare {len(costs) - 1} "
            f"candidates on these samples (about {needed:.0f} s are needed); give more, name fewer "
            "candidates, or make pictures smaller with resize (--resize 32)"
        )
    # few passes over many samples teach less than several over fewer
    used = min(samples, max(round(affordable / 4), 20 * BATCH))
    epochs = max(round(affordable / (used * (1 - plan.validation))), 1)
    return replace(plan, samples=used, epochs=min(epochs, plan.epochs or MOST_EPOCHS))
