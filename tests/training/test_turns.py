"""Sets of parameters that are stepped in turn, and what weights add to the loss."""

from __future__ import annotations

import signal
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import isotropy as iso
from isotropy.data import DataSet, from_arrays
from isotropy.nn.blueprint import weight_layers
from isotropy.schemes.pathway import PathwayScheme
from isotropy.training import Batches, Settings, fit
from isotropy.training.optimizer import make_optimizer

SETTINGS = Settings(
    epochs=2,
    batch_size=10,
    optimizer="adam",
    lr=0.01,
    weight_decay=0.0,
    schedule="constant",
    warmup=0.0,
    keep="last",
)


def data(samples: int = 27) -> DataSet:
    draws = np.random.default_rng(0)
    x = draws.normal(size=(samples, 1, 5, 5)).astype(np.float32)
    return from_arrays(x, draws.integers(2, size=samples))


def two_layers() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(25, 6), nn.Tanh(), nn.Linear(6, 2))


# -- batches -------------------------------------------------------------------------------------


def seen(batches: Batches, epoch: int, start: int = 0) -> list[list[float]]:
    return [x[:, 0, 0, 0].tolist() for _, x, _ in batches.epoch(epoch, start)]


def test_each_turn_sees_every_sample_once_in_an_order_of_its_own() -> None:
    cpu = torch.device("cpu")
    one, two = Batches(data(), 10, 0, cpu), Batches(data(), 10, 0, cpu, turns=2)
    assert two.steps == 2 * one.steps
    for epoch in range(2):
        both = seen(two, epoch)
        assert both[::2] == seen(one, epoch)  # the first goes as it would alone
        assert sorted(chain(*both[1::2])) == sorted(chain(*both[::2]))
        assert both[1::2] != both[::2]
        assert seen(two, epoch, 3) == both[3:]


# -- steps ---------------------------------------------------------------------------------------


def by_hand(model: nn.Sequential, train: DataSet) -> None:
    """Two Adams in turn, in torch alone."""
    sets = [list(model[3].parameters()), list(model[1].parameters())]
    adams = [torch.optim.Adam(own, lr=0.01) for own in sets]
    batches = Batches(train, 10, 0, torch.device("cpu"), turns=2)
    for epoch in range(2):
        for step, (_, x, y) in enumerate(batches.epoch(epoch)):
            model.zero_grad()
            F.cross_entropy(model(x), y).backward()
            adams[step % 2].step()


def test_turns_are_two_optimisers_each_on_its_own_batches() -> None:
    model, other = two_layers(), two_layers()
    turns = [list(model[3].parameters()), list(model[1].parameters())]
    found = fit(model, data(), settings=SETTINGS, turns=turns)
    by_hand(other, data())
    for mine, theirs in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)
    assert found.history[-1]["loss"] == pytest.approx(0.69, abs=0.2)  # a mean over both turns


def test_turns_stop_and_go_on_after_any_step(tmp_path: Path) -> None:
    class Stop(iso.training.Watch):
        def __init__(self, after: int) -> None:
            self.left = after

        def step(self, epoch: int, step: int) -> None:
            self.left -= 1
            if self.left == 0:
                signal.raise_signal(signal.SIGINT)

    def train(folder: Path, after: int, resume: bool) -> nn.Sequential:
        folder.mkdir(exist_ok=True)
        model = two_layers()
        turns = [list(model[3].parameters()), list(model[1].parameters())]
        fit(
            model,
            data(),
            settings=SETTINGS,
            folder=folder,
            resume=resume,
            turns=turns,
            watch=[Stop(after)],
        )
        return model

    whole = train(tmp_path / "whole", 0, False)
    for after in (1, 2, 5, 6, 7):
        folder = tmp_path / str(after)
        train(folder, after, False)
        resumed = train(folder, 0, True)
        for mine, theirs in zip(resumed.parameters(), whole.parameters(), strict=True):
            assert torch.equal(mine, theirs)


def test_notes_are_in_the_history() -> None:
    found = fit(two_layers(), data(), settings=SETTINGS, notes=lambda m: {"size": len(m)})
    assert [epoch["size"] for epoch in found.history] == [4, 4]


# -- penalties -----------------------------------------------------------------------------------


def pathway(l2: float) -> nn.Module:
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, 2))
    model = iso.mixed(plain, ["D4", "C1"], torch.zeros(2, 1, 5, 5), kind="pathway", l2=l2)
    torch.manual_seed(1)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.2)
    return model


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw"])
def test_a_pathways_penalty_is_in_the_loss_once(optimizer: str) -> None:
    """One step is that of the loss with the penalty written out, whichever optimiser."""
    settings = Settings(
        epochs=1,
        batch_size=27,
        optimizer=optimizer,
        lr=0.01,
        weight_decay=0.0,
        momentum=0.0,
        schedule="constant",
        warmup=0.0,
    )
    train = data()
    model, other = pathway(0.3), pathway(0.3)
    found = fit(model, train, settings=settings)
    x, y = next((x, y) for _, x, y in Batches(train, 27, 0, torch.device("cpu")).epoch(0))
    loss = F.cross_entropy(other(x), y)
    free = []
    for layer in weight_layers(other).values():
        for scheme in (layer.scheme, layer.bias_scheme):
            assert isinstance(scheme, PathwayScheme)
            free.append(scheme.part("C1")().square().sum())
    (loss + 0.3 * torch.stack(free).sum()).backward()
    make_optimizer(other, settings).step()
    for mine, theirs in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-6)
    # what is reported is the loss on the data alone
    assert found.history[0]["loss"] == pytest.approx(float(loss.detach()), rel=1e-5)


def test_a_penalty_makes_the_free_part_small() -> None:
    def free(l2: float) -> float:
        model = pathway(l2)
        fit(model, data(), settings=replace(SETTINGS, epochs=20))
        scheme = model[0].scheme
        assert isinstance(scheme, PathwayScheme)
        return float(scheme.part("C1")().detach().norm() / scheme.part("D4")().detach().norm())

    assert free(10.0) < 0.2 * free(0.0)


def test_no_decay_of_mixtures() -> None:
    """Their ψ has no size of its own, and z is a choice."""
    plain = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Flatten(), nn.Linear(72, 2))
    model = iso.mixed(plain, ["D4", "C1"], torch.zeros(2, 1, 5, 5))
    decays = {
        g["weight_decay"]: len(g["params"]) for g in make_optimizer(model, SETTINGS).param_groups
    }
    assert decays == {0.0: len(list(model.parameters()))}
    decayed = make_optimizer(pathway(1.0), Settings(weight_decay=0.5)).param_groups[0]
    assert (decayed["weight_decay"], len(decayed["params"])) == (0.5, 4)  # not its biases
