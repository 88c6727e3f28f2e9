"""How to train: everything that changes the result, in one frozen record."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from isotropy.errors import InputError

CHOICES: dict[str, tuple[str, ...]] = {
    "optimizer": ("adamw", "adam", "sgd"),
    "schedule": ("cosine", "linear", "steps", "constant"),
    "class_weights": ("none", "balanced"),
    "precision": ("float32", "bfloat16"),
    "keep": ("best", "last"),
}


@dataclass(frozen=True)
class Settings:
    """How to train. 0 and "" turn off what can be turned off.

    Args:
        epochs: passes over the training data.
        batch_size: samples a step, over all devices together.
        optimizer: "adamw", "adam" or "sgd" (with Nesterov momentum).
        lr: the learning rate at its highest.
        weight_decay: of weights; norms, biases and slopes are left alone. A tied number decays as
            the weights it stands for do under AdamW; for "adam" and "sgd" it enters the gradient.
        momentum: of SGD.
        schedule: how the rate falls after the warm-up: "cosine" or "linear" to zero, "steps" (a
            tenth at 1/2 and at 3/4 of the way) or "constant".
        warmup: the part of all steps in which the rate rises linearly.
        label_smoothing: of class labels.
        clip: the largest norm of a step's gradient.
        ema: keep a moving average of the weights with this decay, and use it.
        augment: a group whose random elements move every sample.
        class_weights: "balanced" gives every class the same weight in the loss.
        patience: stop after so many epochs without a better score on validation data.
        keep: weights of the "best" epoch on validation data, or of the "last".
        channels_last: memory format of images.
        precision: "float32", or "bfloat16" where torch's autocast allows it.

    >>> Settings(epochs=5).lr
    0.003
    """

    epochs: int = 20
    batch_size: int = 64
    optimizer: str = "adamw"
    lr: float = 3e-3
    weight_decay: float = 1e-2
    momentum: float = 0.9
    schedule: str = "cosine"
    warmup: float = 0.1
    label_smoothing: float = 0.0
    clip: float = 0.0
    ema: float = 0.0
    augment: str = ""
    class_weights: str = "none"
    patience: int = 0
    keep: str = "best"
    channels_last: bool = False
    precision: str = "float32"

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} must be one of {allowed}, not {getattr(self, name)!r}")
        self._require("epochs", self.epochs >= 1, "at least 1")
        self._require("batch_size", self.batch_size >= 1, "at least 1")
        self._require("lr", 0 < self.lr < float("inf"), "above 0")
        for name in ("weight_decay", "clip", "patience"):
            self._require(name, getattr(self, name) >= 0, "0 or more")
        for name in ("momentum", "label_smoothing", "ema"):
            self._require(name, 0 <= getattr(self, name) < 1, "from 0 to below 1")
        self._require("warmup", 0 <= self.warmup <= 1, "from 0 to 1")

    def _require(self, name: str, holds: bool, what: str) -> None:
        if not holds:
            raise InputError(f"{name} must be {what}, not {getattr(self, name)}")

    def to_json(self) -> dict[str, Any]:
        """All settings by name."""
        return dataclasses.asdict(self)
