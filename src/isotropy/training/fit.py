"""The one training loop."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from isotropy.data import DataSet
from isotropy.errors import InputError, TrainingError
from isotropy.nn.modes import evaluating
from isotropy.training.augment import Augmentation
from isotropy.training.batches import Batches
from isotropy.training.checkpoint import Position, Progress, load_progress, save_progress
from isotropy.training.devices import Alone, Devices
from isotropy.training.evaluate import Judge, rank_of
from isotropy.training.interrupt import Interruptible
from isotropy.training.objective import Objective, Penalty, require_fitting
from isotropy.training.optimizer import make_optimizer, rate, set_rate
from isotropy.training.seeds import torch_seed
from isotropy.training.settings import Settings
from isotropy.training.watch import Plan, Watch

CHECKPOINT = "checkpoint.safetensors"

Notes = Callable[[nn.Module], Mapping[str, float]]


@dataclass(frozen=True)
class Fit:
    """What training came to.

    Args:
        model: the model that was given, trained, in eval mode.
        history: after every epoch its number, loss, validation scores and seconds.
        best_epoch: the epoch whose weights the model has.
        stopped: "epochs", "patience" or "interrupted".
        optimizer: the optimiser as it was after the last step.
    """

    model: nn.Module
    history: list[dict[str, float]]
    best_epoch: int
    stopped: str
    optimizer: Optimizer

    def whole(self) -> Fit:
        """This; but an interruption goes on, where a half-trained model is of no use."""
        if self.stopped == "interrupted":
            raise KeyboardInterrupt
        return self

    @property
    def seconds(self) -> float:
        """The time all epochs took."""
        return sum(epoch["seconds"] for epoch in self.history)

    @property
    def scores(self) -> dict[str, float]:
        """Validation scores of the epoch whose weights the model has."""
        kept = self.history[self.best_epoch - 1] if self.best_epoch else {}
        start = "validation_"
        return {k.removeprefix(start): v for k, v in kept.items() if k.startswith(start)}


def fit(
    model: nn.Module,
    train: DataSet,
    validation: DataSet | None = None,
    settings: Settings | None = None,
    *,
    seed: int = 0,
    devices: Devices | None = None,
    augmentation: Augmentation | None = None,
    folder: Path | None = None,
    resume: bool = False,
    minutes: float = 0.0,
    signature: dict[str, Any] | None = None,
    optimizer: Optimizer | None = None,
    turns: Sequence[Collection[nn.Parameter]] = (),
    notes: Notes | None = None,
    watch: Sequence[Watch] = (),
) -> Fit:
    """Train a model, in place.

    The same seed gives the same weights on the same machine with one thread, whether training was
    stopped and resumed in between or not. The global random state is left as it was.

    Args:
        model: any module of one tensor, tied or not.
        train: what to learn from.
        validation: what to choose the best epoch on; without it the last one is kept.
        settings: how to train.
        seed: of the order of samples, augmentation and dropout (weights are drawn already).
        devices: where to compute; by default on one device, a GPU if there is one.
        augmentation: moves samples; by default made from `settings.augment`.
        folder: where to keep a checkpoint after every epoch, and when interrupted.
        resume: go on from the checkpoint in the folder, if there is one.
        minutes: keep one after so many minutes too.
        signature: what else must be the same for that, as JSON.
        optimizer: one to go on with, of this model's parameters; by default a new one as in
            `settings`, whose rates are used in any case.
        turns: sets of parameters that are stepped in turn, each on batches of its own, drawn from
            the same samples; an epoch gives every sample to each set once.
        notes: numbers about the model to write into the history after every epoch.
        watch: who is told how it goes.

    >>> import torch, isotropy as iso
    >>> digits = iso.data.load("digits").train
    >>> net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 10))
    >>> fit(net, digits, settings=Settings(epochs=3)).history[-1]["loss"] < 1.0
    True
    """
    chosen = settings or Settings()
    where = devices or Alone(precision=chosen.precision)
    if resume and folder is None:
        raise InputError("resume: say in which folder the checkpoint is")
    with torch.random.fork_rng(), Interruptible() as signals:
        torch.manual_seed(torch_seed(seed, "training", where.rank))
        run = _Run(model, train, validation, chosen, seed, where, augmentation, optimizer, turns)
        run.notes = notes
        run.keep_in(folder, minutes, signature or {}, resume)
        return run.through(signals, watch)


class _Run:
    """One training, from where it stands to its end."""

    def __init__(
        self,
        model: nn.Module,
        train: DataSet,
        validation: DataSet | None,
        settings: Settings,
        seed: int,
        devices: Devices,
        augmentation: Augmentation | None,
        optimizer: Optimizer | None,
        turns: Sequence[Collection[nn.Parameter]],
    ) -> None:
        self.model, self.settings, self.devices = model, settings, devices
        self.seed = seed
        model.to(devices.device)
        if settings.channels_last:
            model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        x, _ = train.batch([0, min(1, len(train) - 1)])
        with evaluating(model), devices.computing():
            require_fitting(model, x.to(devices.device), train)
        if augmentation is None and settings.augment:
            augmentation = Augmentation.by(settings.augment, train)
        self.batches = Batches(
            train,
            settings.batch_size,
            seed,
            devices.device,
            augmentation,
            devices.rank,
            devices.world,
            turns=len(turns) or 1,
        )
        self.resting = _resting(model, turns)
        self.notes: Notes | None = None
        self.judge = None if validation is None else Judge(validation, devices)
        self.objective = Objective(train, settings, devices.device)
        self.penalty = Penalty(model)
        self.task = train.task
        optimizer = optimizer or make_optimizer(model, settings)
        self.called, self.stepping = devices.prepare(model, optimizer)
        average = copy.deepcopy(model) if settings.ema else None
        loss = torch.zeros((), device=devices.device)
        self.progress = Progress(model, self._bare(optimizer), average, {}, loss, Position())

    def _bare(self, optimizer: Optimizer) -> Optimizer:
        return getattr(self.stepping, "optimizer", optimizer)

    def keep_in(
        self, folder: Path | None, minutes: float, signature: dict[str, Any], resume: bool
    ) -> None:
        """Where and how often to keep a checkpoint; begins from the one that is there."""
        self.path = None if folder is None else folder / CHECKPOINT
        self.every = 60 * minutes if minutes else float("inf")
        self.signature = {
            **signature,
            **self.settings.to_json(),
            "seed": self.seed,
            "samples": len(self.batches.data),
            "processes": self.devices.world,
        }
        if resume and self.path is not None and self.path.exists():
            load_progress(self.path, self.progress, self.signature)

    # -- the loop ---------------------------------------------------------------------------

    def through(self, signals: Interruptible, watch: Sequence[Watch]) -> Fit:
        """All epochs that are left."""
        position, data = self.progress.position, self.batches.data
        steps, samples = self.batches.steps, self.batches.turns * len(data)
        plan = Plan(self.settings.epochs, steps, samples, position.epoch, data.kind)
        told = watch if self.devices.leads else ()
        for one in told:
            one.start(plan)
        try:
            while not position.stopped:
                if not self._epoch(signals, told):
                    self._save()
                    return self._end("interrupted")
                self._close_epoch(told)
        finally:
            for one in told:
                one.end()
        return self._end(position.stopped)

    def _epoch(self, signals: Interruptible, watch: Sequence[Watch]) -> bool:
        """The rest of an epoch; False if it was interrupted."""
        position, total = self.progress.position, self.settings.epochs * self.batches.steps
        saved = time.monotonic()
        begun = saved - position.seconds
        self.called.train()
        for size, x, y in self.batches.epoch(position.epoch, position.step):
            done = position.epoch * self.batches.steps + position.step
            set_rate(self.progress.optimizer, rate(done, total, self.settings))
            self._step(size, x, y)
            position.step += 1
            position.seconds = time.monotonic() - begun
            for one in watch:
                one.step(position.epoch, position.step - 1)
            if self.devices.any(signals.asked):
                return False
            if time.monotonic() - saved > self.every:
                self._save()
                saved = time.monotonic()
        return True

    def _step(self, size: int, x: Tensor, y: Tensor) -> None:
        if self.settings.channels_last and x.ndim == 4:
            x = x.contiguous(memory_format=torch.channels_last)
        self.stepping.zero_grad(set_to_none=True)
        with self.devices.computing():
            loss = self.objective(self.called(x), y)
        # gradients are averaged over processes, whose parts of a batch may differ by one sample
        share = len(x) * self.devices.world / size
        self.devices.backward(self.penalty.added_to(loss if share == 1 else loss * share))
        for parameter in self.resting[self.progress.position.step % len(self.resting)]:
            parameter.grad = None  # optimisers pass over it
        if self.settings.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.stepping.step()
        self.progress.loss += loss.detach() * len(x)
        if self.progress.average is not None:
            _follow(self.progress.average, self.model, self.settings.ema)

    def _close_epoch(self, watch: Sequence[Watch]) -> None:
        """Judge, remember, keep a checkpoint, decide whether to go on."""
        progress, position = self.progress, self.progress.position
        found = {"epoch": float(position.epoch + 1), "loss": self._mean_loss()}
        found["training_seconds"] = position.seconds
        start = time.monotonic()
        if self.judge is not None:
            judged = self.judge(progress.average or progress.model)
            found |= {f"validation_{name}": value for name, value in judged.items()}
        if self.notes is not None:
            found |= self.notes(progress.model)
        found["seconds"] = position.seconds + time.monotonic() - start
        position.history.append(found)
        self._compare()
        position.epoch, position.step, position.seconds = position.epoch + 1, 0, 0.0
        progress.loss.zero_()
        patience = self.settings.patience
        if patience and self.judge is not None and position.since_best >= patience:
            position.stopped = "patience"
        elif position.epoch == self.settings.epochs:
            position.stopped = "epochs"
        self._save()
        for one in watch:
            one.epoch(found)

    def _mean_loss(self) -> float:
        total = self.progress.loss.detach().reshape(1)
        parts = self.devices.gather(total, self.devices.world)
        mean = float(parts.sum()) / (self.batches.turns * len(self.batches.data))
        if not mean < float("inf"):
            number = self.progress.position.epoch + 1
            raise TrainingError(
                f"the loss is {mean} in epoch {number}; a smaller lr ({self.settings.lr} now) or "
                "clip=1 may help"
            )
        return mean

    def _compare(self) -> None:
        """Whether this epoch is the best so far; its weights are kept if so."""
        position, source = self.progress.position, self.progress.average or self.model
        if self.judge is None:
            position.best = len(position.history)
            return
        better = not position.best or self._rank(-1) > self._rank(position.best - 1)
        position.since_best = 0 if better else position.since_best + 1
        if better:
            position.best = len(position.history)
        if better and self.settings.keep == "best":
            self.progress.kept = {k: v.detach().clone() for k, v in source.state_dict().items()}

    def _rank(self, index: int) -> tuple[float, ...]:
        start = "validation_"
        found = self.progress.position.history[index]
        own = {k.removeprefix(start): v for k, v in found.items() if k.startswith(start)}
        return rank_of(own, self.task)

    def _save(self) -> None:
        if self.path is not None and self.devices.leads:
            save_progress(self.path, self.progress, self.signature)

    def _end(self, stopped: str) -> Fit:
        progress, position = self.progress, self.progress.position
        if progress.kept:
            self.model.load_state_dict(progress.kept)
        elif progress.average is not None:
            self.model.load_state_dict(progress.average.state_dict())
        best = position.best if self.settings.keep == "best" else len(position.history)
        return Fit(self.model.eval(), position.history, best, stopped, progress.optimizer)


def _resting(
    model: nn.Module, turns: Sequence[Collection[nn.Parameter]]
) -> list[list[nn.Parameter]]:
    """For every turn the parameters that are not stepped; without turns all always are."""
    if not turns:
        return [[]]
    stepped = [{id(p) for p in turn} for turn in turns]
    return [[p for p in model.parameters() if id(p) not in own] for own in stepped]


@torch.no_grad()
def _follow(average: nn.Module, model: nn.Module, decay: float) -> None:
    """Move averaged weights towards the model's; statistics are copied."""
    mine = [p.detach() for p in average.parameters()]
    theirs = [p.detach() for p in model.parameters()]
    torch._foreach_lerp_(mine, theirs, 1 - decay)
    for copied, buffer in zip(average.buffers(), model.buffers(), strict=True):
        copied.copy_(buffer)
