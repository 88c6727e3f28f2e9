"""Are the chances that `isotropy discover` states true?

**With**: synthetic sets whose samples were moved at random by a group, each tested by one move of
it; at the 5 % level a calibrated test rejects 5 % of them. **Without**: the same sets unmoved, by
size; there the part that is rejected is the test's power. All sets see 199 permutations.

**Coverage**: how often the 95 % interval of a gain holds its true value. A draw is a set of 200
samples (150 to learn from, 50 to compare on, split anew in every round, as discover splits them);
four symmetries race in it, and every interval knows the spread of the other three. Learners are
ridge regressions on 32 random ReLU features, drawn anew in every round as weights are; a tied
learner's are averaged over its group, so that it fits equally many numbers. The true gain is the
mean over 2,000 fresh training sets of 150 samples, each scored on 2,000 fresh samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import isotropy as iso
from isotropy.data import DataSet, from_arrays, split
from isotropy.evidence import Symmetry, candidates_for, paired_gain, two_sample
from isotropy.evidence.gain import common_spread
from isotropy.training import Augmentation, torch_seed

TITLE = "Discover: calibration"

Numbers = NDArray[np.float64]

LEVEL = 0.05
PERMUTATIONS = 199
SETS_WITH, SETS_WITHOUT = 200, 50
SAMPLES = 200  # of a set with the symmetry
SIZES = (20, 50, 100, 200, 400)


@dataclass(frozen=True)
class Kind:
    """Synthetic data, and what they may be moved by.

    Args:
        make: (samples, random numbers) to inputs without the symmetry.
        layout: what the axes of the inputs mean.
        candidate: the symmetry.
        move: the element of it that is tested.
    """

    make: Callable[[int, np.random.Generator], NDArray[np.float32]]
    layout: str | None
    candidate: str | dict[str, list[int]]
    move: str


def run(task: tuple[str, ...]) -> dict[str, Any]:
    """One part: the rate of rejections, or how often intervals hold the truth."""
    part, *rest = task
    if part == "coverage":
        return coverage(rest[0])
    name, samples, sets = rest[0], int(rest[1]), int(rest[2])
    tests = [tested(KINDS[name], samples, seed, part == "with") for seed in range(sets)]
    rejected = sum(p <= LEVEL for p in tests)
    return {"rejected": rejected, "sets": sets, "rate": rejected / sets}


# -- the test of the inputs -----------------------------------------------------------------------


def tested(kind: Kind, samples: int, seed: int, planted: bool) -> float:
    """The p-value of one set."""
    draw = np.random.default_rng([seed, samples, int(planted)])
    data = from_arrays(kind.make(samples, draw), np.arange(samples) % 2, layout=kind.layout)
    (symmetry,) = candidates_for(data, kind.candidate)
    x = data.samples.take(np.arange(samples))
    if planted:
        x = moved_at_random(symmetry, x, draw)
    half = samples // 2
    return two_sample(x[:half], symmetry.move(x[half:], kind.move), seed, PERMUTATIONS).p


def moved_at_random(symmetry: Symmetry, x: torch.Tensor, draw: np.random.Generator) -> torch.Tensor:
    """Every sample by an element of its own, so that the distribution has the symmetry."""
    moving = Augmentation(symmetry.inputs, shift=symmetry.shift)
    moved, _ = moving(x, torch.zeros(len(x)), draw)
    return moved


def pictures(samples: int, draw: np.random.Generator) -> NDArray[np.float32]:
    """A blob that is above and left of the centre more often than not, in noise."""
    rows, columns = np.mgrid[:8, :8]
    at = draw.normal(2.9, 1.5, size=(2, samples, 1, 1))
    blob = np.exp(-((rows - at[0]) ** 2 + (columns - at[1]) ** 2) / 3)
    return (2 * blob + 0.5 * draw.normal(size=blob.shape)).astype(np.float32)[:, None]


def signals(samples: int, draw: np.random.Generator) -> NDArray[np.float32]:
    """A decaying wave that begins in the first half, in noise."""
    since = np.arange(32) - draw.integers(2, 14, size=(samples, 1))
    wave = np.sin(since / 1.3) * np.exp(-np.maximum(since, 0) / 8) * (since >= 0)
    return (wave + 0.7 * draw.normal(size=wave.shape)).astype(np.float32)[:, None]


def vectors(samples: int, draw: np.random.Generator) -> NDArray[np.float32]:
    """Four columns alike each by itself, of which the first goes with the third."""
    x = draw.normal(size=(samples, 4))
    x[:, 0] = 0.5 * x[:, 0] + 0.75**0.5 * x[:, 2]
    return x.astype(np.float32)


KINDS = {
    "pictures, quarter turns": Kind(pictures, "nchw", "C4", "r"),
    "pictures, mirror": Kind(pictures, "nchw", "D1", "s"),
    "signals, reversal": Kind(signals, "ncl", "reversal", "f"),
    "signals, shifts": Kind(signals, "ncl", "shift", "shift"),
    "vectors, exchange": Kind(vectors, None, {"exchange": [1, 0, 2, 3]}, "exchange"),
}

# -- the interval of a gain -----------------------------------------------------------------------

DRAWS = 500
TRUTHS = 2000
ROUNDS = (2, 5, 8)
FEATURES = 32
COLUMNS = 8
VALIDATION = 0.25
HELD_OUT = 2000

SWAPS = {
    "swap 0 1": [1, 0, 2, 3, 4, 5, 6, 7],
    "swap 2 3": [0, 1, 3, 2, 4, 5, 6, 7],
    "swap both": [1, 0, 3, 2, 4, 5, 6, 7],
    "reverse": [7, 6, 5, 4, 3, 2, 1, 0],
}
"""The four symmetries that race; labels have the first two and so the third, and not the last."""


@dataclass(frozen=True)
class World:
    """Where labels come from.

    Args:
        noise: of the score that is predicted, or whose sign is.
        curved: how much of it is a product, which ridge regression on few features finds hard.
        task: "classification" or "regression".
    """

    noise: float
    curved: float
    task: str = "classification"

    def draw(self, samples: int, draw: np.random.Generator) -> tuple[Numbers, Numbers]:
        """Inputs (samples, columns) and targets."""
        x = draw.normal(size=(samples, COLUMNS))
        score = x[:, 0] + x[:, 1] - x[:, 2] - x[:, 3] + 0.8 * x[:, 4] - 0.6 * x[:, 6]
        score = score + self.curved * x[:, 0] * x[:, 1] + self.noise * draw.normal(size=samples)
        return x, score if self.task == "regression" else np.sign(score)

    def score(self, y: Numbers, said: Numbers) -> float:
        """Accuracy, or the part of the variance that is explained."""
        if self.task == "classification":
            return float((np.sign(said) == y).mean())
        return float(1 - ((y - said) ** 2).sum() / ((y - y.mean()) ** 2).sum())


WORLDS = {
    "easy labels": World(noise=0.5, curved=0.0),
    "noisy labels": World(noise=3.0, curved=0.0),
    "curved labels": World(noise=1.0, curved=2.0),
    "numbers": World(noise=2.0, curved=1.0, task="regression"),
}


def answers(
    swap: Sequence[int] | None, train: tuple[Numbers, Numbers], x: Numbers, seed: int
) -> Numbers:
    """What a learner says of x; tied under a swap, or untied."""
    weights = np.random.default_rng(seed).normal(size=(COLUMNS + 1, FEATURES))

    def features(z: Numbers) -> Numbers:
        return np.maximum(np.c_[z, np.ones(len(z))] @ weights, 0)

    def averaged(z: Numbers) -> Numbers:
        found = features(z) if swap is None else (features(z) + features(z[:, swap])) / 2
        return np.c_[found, np.ones(len(z))]

    inside = averaged(train[0])
    normal = inside.T @ inside + 1.0 * np.eye(FEATURES + 1)
    return np.asarray(averaged(x) @ np.linalg.solve(normal, inside.T @ train[1]))


def differences(
    world: World, train: tuple[Numbers, Numbers], test: tuple[Numbers, Numbers], seed: int
) -> list[float]:
    """How much every tied learner is better than the untied one, on the same samples."""
    plain = world.score(test[1], answers(None, train, test[0], seed))
    tied = (answers(swap, train, test[0], seed) for swap in SWAPS.values())
    return [world.score(test[1], said) - plain for said in tied]


def truth(world: World) -> Numbers:
    """The true gain of every symmetry."""
    learned = round(SAMPLES * (1 - VALIDATION))
    found = []
    for number in range(TRUTHS):
        draw = np.random.default_rng([1, number])
        train, test = world.draw(learned, draw), world.draw(HELD_OUT, draw)
        found.append(differences(world, train, test, number))
    return np.mean(found, axis=0)


def raced(world: World, number: int) -> list[list[float]]:
    """The differences of every round, on one set of samples that is split again and again."""
    x, y = world.draw(SAMPLES, np.random.default_rng([2, number]))
    data = from_arrays(np.arange(SAMPLES, dtype=np.float32)[:, None], _targets(world, y))
    rounds = []
    for r in range(max(ROUNDS)):
        parts = split(data, (1 - VALIDATION, VALIDATION), torch_seed(number, "split", r))
        train, test = (_rows(part) for part in parts)
        seed = torch_seed(number, "weights", r)
        rounds.append(differences(world, (x[train], y[train]), (x[test], y[test]), seed))
    return rounds


def _targets(world: World, y: Numbers) -> NDArray[Any]:
    """As discover gets them: splits hold classes alike."""
    return (y > 0).astype(np.int64) if world.task == "classification" else y


def _rows(part: DataSet) -> NDArray[np.int64]:
    return part.samples.take(np.arange(len(part))).long().flatten().numpy()


def coverage(name: str) -> dict[str, Any]:
    """How often intervals hold the true gain, by rounds, over all draws and symmetries."""
    world = WORLDS[name]
    true = truth(world)
    plan = iso.DiscoveryPlan(validation=VALIDATION)
    held: dict[int, list[float]] = {rounds: [] for rounds in ROUNDS}
    widths: dict[int, list[float]] = {rounds: [] for rounds in ROUNDS}
    for number in range(DRAWS):
        found = np.array(raced(world, number)).T  # (symmetries, rounds)
        for rounds in ROUNDS:
            for one, own in enumerate(found[:, :rounds]):
                others = np.delete(found[:, :rounds], one, axis=0).tolist()
                gain = paired_gain(
                    own.tolist(),
                    plan.test_share,
                    1 / (SAMPLES * VALIDATION),
                    plan.confidence,
                    common_spread(others),
                )
                held[rounds].append(gain.low <= true[one] <= gain.high)
                widths[rounds].append(gain.high - gain.low)
    return {
        "true": dict(zip(SWAPS, true.tolist(), strict=True)),
        "held": {str(r): float(np.mean(values)) for r, values in held.items()},
        "by_symmetry": {
            str(r): np.reshape(values, (DRAWS, -1)).mean(0).tolist() for r, values in held.items()
        },
        "width": {str(r): float(np.mean(values)) for r, values in widths.items()},
    }


TASKS: dict[str, tuple[str, ...]] = {
    **{f"with/{kind}": ("with", kind, str(SAMPLES), str(SETS_WITH)) for kind in KINDS},
    **{
        f"without/{kind}/{size}": ("without", kind, str(size), str(SETS_WITHOUT))
        for kind in KINDS
        for size in SIZES
    },
    **{f"coverage/{world}": ("coverage", world) for world in WORLDS},
}

# -- tables ---------------------------------------------------------------------------------------


def tables(outcomes: dict[str, Any]) -> list[tuple[list[str], list[list[str]]]]:
    """Rejections with the symmetry, the power without by size, and coverage by rounds."""
    return [
        (["with the symmetry", "sets", "rejected at 5 %"], _with(outcomes)),
        (["without, samples:", *map(str, SIZES)], _without(outcomes)),
        (
            ["true gain held, all (worst)", *(f"{r} rounds" for r in ROUNDS), "true gains, points"],
            _covered(outcomes),
        ),
    ]


def _with(outcomes: dict[str, Any]) -> list[list[str]]:
    own = {kind: outcomes[f"with/{kind}"] for kind in KINDS if f"with/{kind}" in outcomes}
    rows = [[kind, str(o["sets"]), percent(o["rate"])] for kind, o in own.items()]
    sets = sum(o["sets"] for o in own.values())
    if sets:
        rate = sum(o["rejected"] for o in own.values()) / sets
        rows.append(["all", str(sets), percent(rate)])
    return rows


def _without(outcomes: dict[str, Any]) -> list[list[str]]:
    rows = []
    for kind in KINDS:
        own = [outcomes.get(f"without/{kind}/{size}") for size in SIZES]
        if any(own):
            rows.append([kind, *("" if o is None else percent(o["rate"]) for o in own)])
    return rows


def _covered(outcomes: dict[str, Any]) -> list[list[str]]:
    rows = []
    for world in WORLDS:
        o = outcomes.get(f"coverage/{world}")
        if o is not None:
            held = [
                f"{percent(o['held'][str(r)])} ({percent(min(o['by_symmetry'][str(r)]))})"
                for r in ROUNDS
            ]
            true = ", ".join(f"{100 * value:+.1f}" for value in o["true"].values())
            rows.append([world, *held, true])
    return rows


def percent(value: float) -> str:
    """As 99.1 %."""
    return f"{100 * value:.1f} %"
