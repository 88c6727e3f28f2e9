"""Training: what the loop comes to is what a plain loop comes to, and what it says is so."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import isotropy as iso
from isotropy.data import DataSet, from_arrays, split
from isotropy.errors import InputError, TrainingError
from isotropy.training import Plan, Settings, Watch, fit
from isotropy.training.evaluate import evaluate, rank_of
from tests.training.oracle import plain_loop
from tests.training.problems import linear_net, maps, pictures, same, small_net, vectors, weights

SHORT: dict[str, Any] = {"epochs": 3, "batch_size": 7, "lr": 0.02}


def dense_net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(), nn.Conv2d(3, 2, 1))


def uneven() -> DataSet:
    """Half of the samples are of one class out of three."""
    data = pictures(40)
    keep = np.flatnonzero((data.targets == 0) | (np.arange(40) % 2 == 0))
    return data.subset(keep)


CASES: dict[str, tuple[Callable[[], nn.Module], Callable[[], DataSet], dict[str, Any]]] = {
    "adamw": (small_net, pictures, {}),
    "adam": (small_net, pictures, {"optimizer": "adam"}),
    "sgd": (small_net, pictures, {"optimizer": "sgd", "momentum": 0.8}),
    "sgd without momentum": (small_net, pictures, {"optimizer": "sgd", "momentum": 0.0}),
    "linear rate": (small_net, pictures, {"schedule": "linear", "warmup": 0.3}),
    "steps": (small_net, pictures, {"schedule": "steps", "warmup": 0.0}),
    "label smoothing": (small_net, pictures, {"label_smoothing": 0.2}),
    "clipping": (small_net, pictures, {"clip": 0.05, "optimizer": "sgd"}),
    "average of weights": (small_net, pictures, {"ema": 0.7}),
    "augmentation": (small_net, pictures, {"augment": "D4"}),
    "class weights": (small_net, uneven, {"class_weights": "balanced"}),
    "dense": (dense_net, maps, {}),
    "dense, augmented, weighted": (dense_net, maps, {"augment": "C4", "class_weights": "balanced"}),
    "regression": (linear_net, vectors, {}),
    "one batch": (small_net, pictures, {"batch_size": 100}),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_a_plain_loop(name: str) -> None:
    make, make_data, options = CASES[name]
    data, settings = make_data(), Settings(**{**SHORT, **options})
    found = fit(make(), data, settings=settings, seed=5).model
    expected = plain_loop(make(), data, settings, seed=5)
    for key, value in expected.state_dict().items():
        torch.testing.assert_close(found.state_dict()[key], value, rtol=1e-5, atol=1e-6)
    assert not same(found, make())


def test_a_tied_model_stays_tied() -> None:
    data = pictures(32)
    x, _ = data.batch(range(8))
    model = iso.equivariant(iso.models.make("cnn", (1, 6, 6), 3, 8), "D4", x)
    fit(model, data, settings=Settings(**SHORT))
    assert iso.equivariance_error(model, x) < 1e-12


# -- the same again -----------------------------------------------------------------------------


def test_a_seed_gives_one_result_and_leaves_torchs_numbers_alone() -> None:
    data, settings = pictures(), Settings(**SHORT, augment="C4")
    torch.manual_seed(3)
    before = torch.get_rng_state()
    first, again, other = (
        fit(small_net(), data, data, settings, seed=seed).model for seed in (1, 1, 2)
    )
    assert same(first, again)
    assert not same(first, other)
    torch.manual_seed(3)
    fit(copy.deepcopy(first), data, settings=settings)
    assert torch.equal(torch.get_rng_state(), before)


# -- which epoch is kept ------------------------------------------------------------------------


class Noted(Watch):
    """Remembers all it is told, and a model's weights at the end of every epoch."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.told: list[str] = []
        self.states: list[dict[str, Tensor]] = []
        self.found: list[dict[str, float]] = []

    def start(self, plan: Plan) -> None:
        self.plan = plan
        self.told.append("start")

    def step(self, epoch: int, step: int) -> None:
        self.told.append(f"step {epoch}.{step}")

    def epoch(self, found: Any) -> None:
        self.told.append("epoch")
        self.states.append(weights(self.model))
        self.found.append(dict(found))

    def end(self) -> None:
        self.told.append("end")


def noisy() -> tuple[DataSet, DataSet]:
    """Labels at random, so that the best epoch is hardly ever the last."""
    draws = np.random.default_rng(0)
    data = from_arrays(draws.normal(size=(60, 1, 6, 6)), draws.integers(3, size=60))
    train, validation = split(data, (0.5, 0.5))
    return train, validation


@pytest.mark.parametrize("keep", ["best", "last"])
def test_the_epoch_asked_for_is_kept(keep: str) -> None:
    train, validation = noisy()
    model = small_net()
    seen = Noted(model)
    settings = Settings(epochs=12, batch_size=7, lr=0.05, keep=keep, schedule="constant")
    found = fit(model, train, validation, settings, watch=[seen])
    ranks = [(epoch["validation_accuracy"], -epoch["validation_nll"]) for epoch in found.history]
    best = ranks.index(max(ranks)) + 1
    assert best < 12  # or the test shows nothing
    assert found.best_epoch == (best if keep == "best" else 12)
    assert same(seen.states[found.best_epoch - 1], model)
    judged = evaluate(model, validation)
    assert judged == pytest.approx(found.scores)
    assert not model.training


def test_without_validation_the_last_epoch_is_kept() -> None:
    model = small_net()
    seen = Noted(model)
    found = fit(model, pictures(), settings=Settings(**SHORT), watch=[seen])
    assert found.best_epoch == 3
    assert same(seen.states[-1], model)
    assert found.scores == {}


@pytest.mark.parametrize("patience", [1, 2, 3])
def test_patience_ends_so_many_epochs_after_the_best(patience: int) -> None:
    train, validation = noisy()
    settings = Settings(epochs=30, batch_size=7, lr=0.05, patience=patience, schedule="constant")
    found = fit(small_net(), train, validation, settings)
    assert found.stopped == "patience"
    assert len(found.history) == found.best_epoch + patience < 30
    free = fit(small_net(), train, validation, Settings(**{**settings.to_json(), "patience": 0}))
    assert free.stopped == "epochs"
    assert len(free.history) == 30


# -- what is told -------------------------------------------------------------------------------


def test_watches_are_told_of_everything_in_order() -> None:
    model = small_net()
    seen = Noted(model)
    data = pictures(20)
    found = fit(model, data, data, Settings(epochs=2, batch_size=7), watch=[seen])
    steps = [[f"step {epoch}.{step}" for step in range(3)] for epoch in range(2)]
    assert seen.told == ["start", *steps[0], "epoch", *steps[1], "epoch", "end"]
    assert seen.plan == Plan(epochs=2, steps=3, samples=20, first_epoch=0, kind="image")
    assert seen.found == found.history
    scores = {"accuracy", "balanced_accuracy", "nll", "ece"}
    names = {"epoch", "loss", "seconds", "training_seconds"} | {f"validation_{s}" for s in scores}
    assert all(set(epoch) == names for epoch in found.history)
    assert found.seconds == sum(epoch["seconds"] for epoch in found.history)


def test_the_loss_is_the_mean_over_the_samples() -> None:
    data = vectors(23)
    model = linear_net()
    settings = Settings(epochs=1, batch_size=5, lr=1e-30, weight_decay=0.0)
    history = fit(model, data, settings=settings).history
    x, y = data.batch(range(23))
    assert history[0]["loss"] == pytest.approx(
        float((model(x) - y).square().mean().detach()), rel=1e-5
    )


# -- precision and memory format ----------------------------------------------------------------


class Spy(nn.Module):
    """Passes its input on and remembers its type and memory format."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[tuple[torch.dtype, bool]] = set()

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            last = x.is_contiguous(memory_format=torch.channels_last)
            self.seen.add((x.dtype, last and not x.is_contiguous()))
        return x


def spied() -> tuple[nn.Module, Spy]:
    spy = Spy()
    torch.manual_seed(0)
    head = nn.Sequential(nn.Flatten(), nn.Linear(144, 3))
    return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 4, 1), spy, head), spy


def test_bfloat16_is_computed_with_and_float32_kept() -> None:
    data = pictures(30)
    model, spy = spied()
    settings = Settings(epochs=8, precision="bfloat16", batch_size=10, lr=0.02)
    found = fit(model, data, data, settings)
    assert spy.seen == {(torch.bfloat16, False)}
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert found.scores["accuracy"] > 0.9


def test_channels_last_is_used_and_changes_nothing_else() -> None:
    data = pictures(30)
    plain, spy = spied()
    fit(plain, data, settings=Settings(**SHORT))
    assert spy.seen == {(torch.float32, False)}
    last, spy = spied()
    fit(last, data, settings=Settings(**SHORT, channels_last=True))
    assert spy.seen == {(torch.float32, True)}
    for a, b in zip(plain.parameters(), last.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


# -- going on with an optimiser -----------------------------------------------------------------


def test_an_optimiser_that_is_given_goes_on() -> None:
    data, settings = pictures(), Settings(**SHORT, schedule="constant", warmup=0.0)
    first = fit(small_net(dropout=0.0), data, settings=settings, seed=1)
    forgetful, moving = copy.deepcopy(first.model), first.model
    second = fit(moving, data, settings=settings, seed=2, optimizer=first.optimizer)
    assert second.optimizer is first.optimizer
    fresh = fit(forgetful, data, settings=settings, seed=2)
    assert not same(fresh.model, second.model)
    steps = {float(s["step"]) for s in second.optimizer.state.values()}
    assert steps == {2 * 3 * 4}


# -- what cannot be -----------------------------------------------------------------------------


class Infinite(nn.Module):
    """Gives infinity once it is trained."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        outputs = x.flatten(1)[:, :3] * self.scale
        return outputs * math.inf if self.training else outputs


def test_a_loss_that_is_no_number_ends_training_with_a_hint() -> None:
    with pytest.raises(TrainingError, match=r"the loss is nan in epoch 1; a smaller lr \(0.02 now"):
        fit(Infinite(), pictures(), settings=Settings(**SHORT))


def test_a_model_that_does_not_fit_is_refused_before_anything_is_trained() -> None:
    model = small_net(outputs=7)
    before = weights(model)
    with pytest.raises(InputError, match=r"model gives \(2, 7\)"):
        fit(model, pictures())
    assert same(before, model)


def test_rank_prefers_accuracy_then_likelihood() -> None:
    better = rank_of({"accuracy": 0.9, "nll": 2.0}, "classification")
    likelier = rank_of({"accuracy": 0.9, "nll": 1.0}, "classification")
    worse = rank_of({"accuracy": 0.8, "nll": 0.1}, "classification")
    assert likelier > better > worse
    assert rank_of({"mse": 0.5}, "regression") > rank_of({"mse": 0.6}, "regression")
