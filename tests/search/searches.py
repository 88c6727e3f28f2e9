"""Small evolutions for tests, which other processes can begin too."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

import isotropy as iso
from isotropy.data import DataSet
from isotropy.search import Evolution
from isotropy.training import Settings

SMALL: dict[str, Any] = {
    "group": "D4",
    "generations": 3,
    "parents": 3,
    "epochs": 2.0,
    "validation": 0.25,
    "settings": Settings(
        batch_size=16, optimizer="sgd", lr=0.1, momentum=0.9, schedule="constant", warmup=0.0
    ),
    "backend": "here",
}


@cache
def digits(count: int = 160) -> DataSet:
    return iso.data.load("digits").train.subset(range(count))


def network() -> nn.Module:
    """Two convolutions and a linear layer, always with the same weights."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return iso.models.make("cnn", (1, 8, 8), 10, width=16, stages=1)


def small(**changes: Any) -> Evolution:
    """A search of some seconds, or another one."""
    return iso.search.evolve(network(), digits(), **{**SMALL, **changes})


def rows(found: Evolution) -> list[dict[str, Any]]:
    """All that must be the same whenever a search is the same: not the time it took."""
    return [{**asdict(one), "seconds": 0} for one in found.population]


def numbers(model: nn.Module) -> Tensor:
    """All weights and statistics of a network in a row."""
    return torch.cat([value.detach().double().flatten() for value in model.state_dict().values()])


def require_same(found: Evolution, expected: Evolution) -> None:
    assert rows(found) == rows(expected)
    assert [one.id for one in found.last] == [one.id for one in expected.last]
    assert torch.equal(numbers(found.model), numbers(expected.model))
