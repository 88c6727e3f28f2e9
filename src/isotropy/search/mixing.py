"""What a search by mixtures came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from isotropy.data import DataSet
from isotropy.nn.blueprint import blueprint_of, mixture_weights
from isotropy.nn.cost import count_parameters

OverTime = dict[str, dict[str, list[float]]]


@dataclass(frozen=True)
class Mixing:
    """How much of each group every layer became, and the network it is.

    Args:
        weights: {layer: {group: z at the beginning and after every epoch}}, layers in order of
            execution.
        model: one plain network with the same function, trained, in eval mode.
        mixture: the network that was trained.
        scores: of it on the validation data.
        seconds: the time all epochs took.
        history: after every epoch its number, loss, validation scores, seconds and weights.
        stopped: "epochs", "patience" or "interrupted".
        metric: what errors are: "error", the share of wrong answers, or "mse".
        settings: what was asked for.
        train: the training data as they were scaled; others are to be `scaled_like` them.
    """

    weights: OverTime
    model: nn.Module
    mixture: nn.Module
    scores: Mapping[str, float]
    seconds: float
    history: tuple[Mapping[str, float], ...]
    stopped: str
    metric: str
    settings: Mapping[str, Any]
    train: DataSet = field(repr=False)

    @property
    def times(self) -> list[float]:
        """The epochs after which the weights were taken, 0 the beginning."""
        return [0.0, *(epoch["epoch"] for epoch in self.history)]

    @property
    def final(self) -> dict[str, dict[str, float]]:
        """The z of every layer by group, of the network as it is; a `guide` for `evolve`."""
        return mixture_weights(self.mixture)

    @property
    def val_error(self) -> float:
        """The error on the validation data."""
        if self.metric == "mse":
            return self.scores["mse"]
        return 1 - self.scores["accuracy"]

    def to_json(self) -> dict[str, Any]:
        """All of it but the networks, as the page of a search reads it."""
        blueprint = blueprint_of(self.mixture)
        return {
            "format": "isotropy-search-1",
            "method": "mix",
            "metric": self.metric,
            "group": None if blueprint is None else str(blueprint.group),
            "groups": list(self.settings["groups"]),
            "settings": dict(self.settings),
            "times": self.times,
            "time_axis": "epoch",
            "weights": self.weights,
            "found": {
                "parameters": count_parameters(self.model),
                "val_error": self.val_error if self.scores else None,
            },
            "validation": dict(self.scores),
            "trials": 1,
            "seconds": self.seconds,
        }


def noted(model: nn.Module) -> dict[str, float]:
    """The weights of all layers as numbers with names of their own."""
    found = mixture_weights(model)
    return {_name(layer, g): z for layer, own in found.items() for g, z in own.items()}


def told(model: nn.Module, notes: Sequence[Mapping[str, float]]) -> OverTime:
    """What was noted of a model again and again, layer by layer."""
    return {
        layer: {g: [one[_name(layer, g)] for one in notes] for g in own}
        for layer, own in mixture_weights(model).items()
    }


def _name(layer: str, group: str) -> str:
    return f"z/{layer}/{group}"
