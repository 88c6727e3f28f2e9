"""New weights: every tied layer has its plain twin's output variance, and deep stacks keep it."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import median
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import isotropy as iso
from isotropy.groups import grid, quotient, regular, side_by_side, trivial, vectors
from isotropy.nn import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    GroupConv2d,
    LiftingConv2d,
    Linear,
)

D4, D1 = iso.group("D4"), iso.group("D1")
CORNER = iso.group("O").subgroup(["cdr", "-r-d-c"])
MANY = side_by_side([vectors(D4), quotient(D4, D1, 2), trivial(D4, 2)])

Maker = Callable[[], Any]
TWINS: dict[str, tuple[Maker, Maker, tuple[int, ...]]] = {
    "Linear": (
        lambda: Linear.tied(regular(D4, 3), regular(D4, 2)),
        lambda: nn.Linear(16, 24),
        (16,),
    ),
    "Linear, fields of many kinds": (
        lambda: Linear.tied(MANY, MANY),
        lambda: nn.Linear(12, 12),
        (12,),
    ),
    "Linear, flattened map": (
        lambda: Linear.tied(trivial(D4, 8), regular(D4) * grid(D4, (3, 3)), bias=False),
        lambda: nn.Linear(72, 8, bias=False),
        (72,),
    ),
    "Linear, orthonormal": (
        lambda: Linear.tied(MANY, regular(D4, 2), orthonormal=True),
        lambda: nn.Linear(16, 12),
        (16,),
    ),
    "Conv1d": (
        lambda: Conv1d.tied(regular(D1, 4), regular(D1, 3), 3),
        lambda: nn.Conv1d(6, 8, 3),
        (6, 7),
    ),
    "Conv2d": (
        lambda: Conv2d.tied(regular(D4, 2), regular(D4), 3),
        lambda: nn.Conv2d(8, 16, 3),
        (8, 5, 5),
    ),
    "Conv2d, zeros forced": (
        lambda: Conv2d.tied(MANY, vectors(D4), 3),
        lambda: nn.Conv2d(2, 12, 3),
        (2, 5, 5),
    ),
    "Conv2d, depthwise": (
        lambda: Conv2d.tied(regular(D4, 2), regular(D4, 2), 3, groups=16),
        lambda: nn.Conv2d(16, 16, 3, groups=16),
        (16, 5, 5),
    ),
    "Conv2d, blocks": (
        lambda: Conv2d.tied(regular(D4, 2), regular(D4, 2), 3, groups=2),
        lambda: nn.Conv2d(16, 16, 3, groups=2),
        (16, 5, 5),
    ),
    "Conv2d, of a subgroup": (
        lambda: Conv2d.tied(regular(D4), regular(D4), 3, group=iso.group("C2")),
        lambda: nn.Conv2d(8, 8, 3),
        (8, 5, 5),
    ),
    "LiftingConv2d": (
        lambda: LiftingConv2d(3, 4, 5, "D4"),
        lambda: nn.Conv2d(3, 32, 5),
        (3, 6, 6),
    ),
    "GroupConv2d": (lambda: GroupConv2d(1, 2, 3, "D4"), lambda: nn.Conv2d(8, 16, 3), (8, 5, 5)),
    "Conv3d": (
        lambda: Conv3d.tied(regular(CORNER), regular(CORNER), 2),
        lambda: nn.Conv3d(6, 6, 2),
        (6, 3, 3, 3),
    ),
    "ConvTranspose1d": (
        lambda: ConvTranspose1d.tied(regular(D1, 2), regular(D1, 3), 4, stride=2),
        lambda: nn.ConvTranspose1d(6, 4, 4, stride=2),
        (6, 5),
    ),
    "ConvTranspose2d": (
        lambda: ConvTranspose2d.tied(regular(D4), regular(D4, 2), 3, stride=2, padding=1),
        lambda: nn.ConvTranspose2d(16, 8, 3, stride=2, padding=1),
        (16, 4, 4),
    ),
    "ConvTranspose2d, depthwise": (
        lambda: ConvTranspose2d.tied(regular(D4), regular(D4), 3, groups=8),
        lambda: nn.ConvTranspose2d(8, 8, 3, groups=8),
        (8, 4, 4),
    ),
    "ConvTranspose3d": (
        lambda: ConvTranspose3d.tied(trivial(CORNER, 3), regular(CORNER), 2),
        lambda: nn.ConvTranspose3d(6, 3, 2),
        (6, 2, 2, 2),
    ),
}
DRAWS = 150


@torch.no_grad()
def mean_square(make: Maker, shape: tuple[int, ...]) -> tuple[float, float]:
    """Of outputs on independent inputs, over draws of the weights; and its standard error."""
    layer = make()
    values = []
    for _ in range(DRAWS):
        layer.reset_parameters()
        values.append(layer(torch.randn(8, *shape)).pow(2).mean())
    stacked = torch.stack(values).double()
    return float(stacked.mean()), float(stacked.std() / math.sqrt(DRAWS))


@pytest.mark.parametrize("name", TWINS)
def test_output_variance_is_that_of_the_plain_twin(name: str) -> None:
    tied, plain, shape = TWINS[name]
    found, error = mean_square(tied, shape)
    expected, other_error = mean_square(plain, shape)
    sigma = math.hypot(error, other_error)
    assert sigma < 0.06 * expected, "too few draws to tell"
    assert abs(found - expected) < 4 * sigma


@pytest.mark.parametrize("name", TWINS)
def test_weights_are_new_and_bounded_as_in_torch(name: str) -> None:
    tied, plain, _ = TWINS[name]
    layer, twin = tied(), plain()
    before = layer.weight.detach().clone()
    layer.reset_parameters()
    assert not torch.equal(layer.weight, before)
    assert tuple(layer.weight.shape) == tuple(twin.weight.shape)
    filled = float((layer.weight != 0).double().mean())
    bound = float(twin.weight.detach().abs().max()) / math.sqrt(filled)
    assert 0.7 * bound < float(layer.weight.detach().abs().max()) < 1.1 * bound


# --- deep stacks --------------------------------------------------------------------------------


def he(width: int, kernel: int = 3) -> float:
    """The root mean square of He's initialisation."""
    return math.sqrt(2 / (width * kernel**2))


@torch.no_grad()
def spread(layer: Any, draw: Callable[[], Any], x: Tensor, depth: int = 20) -> list[float]:
    """The root mean square behind every layer and its ReLU, the layer drawn anew each time."""
    found = []
    for _ in range(depth):
        draw()
        x = layer(x).relu()
        found.append(float(x.pow(2).mean().sqrt()))
    return found


def ratio(found: list[float]) -> float:
    return found[-1] / found[0]


def test_twenty_layers_keep_activations_within_a_factor_of_two() -> None:
    """In the middle of nine networks: how far a single one strays depends on its fields.

    Deep in a network of few fields all channels of a field look alike, and the sum over channels
    fluctuates as that of a plain network with as many channels as there are fields.
    """
    fields, width = 64, 512
    settings: dict[str, Any] = {"padding": 1, "padding_mode": "circular", "bias": False}
    tied = GroupConv2d(fields, fields, 3, "D4", **settings)
    plain = nn.Conv2d(width, width, 3, **settings)
    x = torch.randn(1, width, 5, 5)
    ours = [spread(tied, lambda: tied.scheme.reset(he(width)), x) for _ in range(9)]
    theirs = [
        spread(plain, lambda: nn.init.kaiming_normal_(plain.weight, nonlinearity="relu"), x)
        for _ in range(3)
    ]
    assert 0.5 < median(ratio(found) for found in ours) < 2.0
    assert 0.5 < median(ratio(found) for found in theirs) < 2.0
    first = median(found[0] for found in ours)
    assert first == pytest.approx(median(found[0] for found in theirs), rel=0.1)


@pytest.mark.parametrize("fields", [1, 4])
def test_a_layer_keeps_the_mean_square_of_correlated_inputs(fields: int) -> None:
    """In expectation, and however narrow: every output meets every free number once."""
    width, draws = 8 * fields, 400
    layer = GroupConv2d(
        fields, fields, 3, "D4", padding=1, padding_mode="circular", bias=False
    ).double()
    x = torch.randn(1, width, 4, 4).double().relu()
    for _ in range(6):  # what a few layers make of it
        layer.scheme.reset(he(width))
        with torch.no_grad():
            x = layer(x).relu()
    ratios = (
        torch.tensor(
            [
                spread(layer, lambda: layer.scheme.reset(he(width)), x, 1)[0] ** 2
                for _ in range(draws)
            ]
        ).double()
        / x.pow(2).mean()
    )
    assert abs(float(ratios.mean()) - 1) < 4 * float(ratios.std()) / math.sqrt(draws)
