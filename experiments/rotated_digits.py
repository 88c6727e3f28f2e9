"""What a C4-tied CNN gains on rotated digits over plain ones.

The stand-in for rotated MNIST (`rotmnist`: 12,000 images to train and choose on, 50,000 to test,
each turned by a uniformly random angle). 10,000 images are trained on, 2,000 choose. Four networks
of the plain `cnn`'s form: plain, plain with every image turned by random quarter turns in training,
tied under C4 at the plain one's number of parameters (and twice its width), and tied under C4 at
the plain one's width (a quarter of its parameters). Every network has its learning rate chosen on
validation data (seed 0); then three seeds each are trained and tested once. Published for the
original set (Cohen and Welling 2016): plain CNN 5.03 % error, p4 convolutions at matched parameters
3.21 % (P4CNNRotationPooling) and 2.28 % (P4CNN). Expected: at least 0.5 points of accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

import torch

import isotropy as iso
from isotropy.training import Settings

TITLE = "Rotated digits, tied under C4 and plain"
RATES = (1e-3, 3e-3, 1e-2)
SEEDS = (0, 1, 2)
EPOCHS = 10


@dataclass(frozen=True)
class Network:
    """A network, how it is trained, and the learning rate that validation chose for it."""

    width: int
    group: str = ""
    augment: str = ""
    rate: float = 3e-3


NETWORKS = {
    "plain": Network(16),
    "plain, turned images": Network(16, augment="C4"),
    "C4, equal parameters": Network(32, group="C4"),
    "C4, equal width": Network(16, group="C4"),
}


@dataclass(frozen=True)
class Task:
    """One training; the test data are looked at only if it is a final one."""

    network: str
    rate: float
    seed: int
    final: bool


TASKS = {
    f"choose: {name}, rate {rate:g}": Task(name, rate, 0, final=False)
    for name in NETWORKS
    for rate in RATES
} | {
    f"test: {name}, seed {seed}": Task(name, network.rate, seed, final=True)
    for seed in SEEDS
    for name, network in NETWORKS.items()
}


def run(task: Task) -> dict[str, Any]:
    """Train, choose the epoch on validation data, and test if that is the task."""
    network = NETWORKS[task.network]
    whole = iso.data.load("rotmnist")
    train, validation = iso.data.split(whole.train, (10 / 12, 2 / 12), seed=task.seed)
    torch.manual_seed(iso.training.torch_seed(task.seed, "model"))
    model = iso.models.make("cnn", train.shape, train.outputs, network.width)
    if network.group:
        model = iso.equivariant(model, network.group, train.batch([0, 1])[0])
    train = iso.training.standardised(train, model)
    settings = Settings(epochs=EPOCHS, batch_size=64, lr=task.rate, augment=network.augment)
    found = iso.training.fit(model, train, validation.scaled_like(train), settings, seed=task.seed)
    outcome = {
        "network": task.network,
        "rate": task.rate,
        "parameters": sum(p.numel() for p in model.parameters()),
        "best_epoch": found.best_epoch,
        "training_seconds": found.seconds,
        "validation": found.scores,
    }
    if task.final:
        assert whole.test is not None
        outcome["test"] = iso.training.evaluate(model, whole.test.scaled_like(train))
    return outcome


def tables(outcomes: dict[str, Any]) -> list[tuple[list[str], list[list[str]]]]:
    """What validation said of every rate, and the tests of those that were chosen."""
    tried = [_tried(name, outcomes) for name in NETWORKS]
    tested = [_tested(name, outcomes) for name in NETWORKS]
    return [
        (["validation accuracy at rate", *(f"{rate:g}" for rate in RATES)], tried),
        (["", "parameters", "test accuracy", "deviation", "minutes of one core"], tested),
    ]


def _tried(name: str, outcomes: dict[str, Any]) -> list[str]:
    found = [outcomes.get(f"choose: {name}, rate {rate:g}") for rate in RATES]
    return [name, *("" if o is None else percent(o["validation"]["accuracy"]) for o in found)]


def _tested(name: str, outcomes: dict[str, Any]) -> list[str]:
    named = (outcomes.get(f"test: {name}, seed {seed}") for seed in SEEDS)
    found = [outcome for outcome in named if outcome is not None]
    if not found:
        return [name, "", "", "", ""]
    accuracies = [o["test"]["accuracy"] for o in found]
    spread = f"{100 * stdev(accuracies):.2f}" if len(found) > 1 else ""
    minutes = mean(o["training_seconds"] for o in found) / 60
    size = f"{found[0]['parameters']:,}"
    return [name, size, f"{percent(mean(accuracies))} ({len(found)})", spread, f"{minutes:.1f}"]


def percent(value: float) -> str:
    """As 99.12 %."""
    return f"{100 * value:.2f} %"
