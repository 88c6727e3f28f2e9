"""The optimiser: what decays, what does not, and the learning rate of every step."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import isotropy as iso
from isotropy.nn.linear import Weighted
from isotropy.training import Settings
from isotropy.training.optimizer import make_optimizer, rate, set_rate
from tests.training.problems import weights

PICTURE = (1, 8, 8)
MULTIPLIES = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose2d, nn.Embedding)


def all_sorts() -> nn.Module:
    """Every kind of parameter that should be told apart."""
    return nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.PReLU(4),
        nn.GroupNorm(2, 4),
        nn.LayerNorm([4, 6, 6]),
        nn.ConvTranspose2d(4, 2, 3),
        nn.Flatten(),
        nn.Linear(128, 3),
    )


def tied(model: nn.Module) -> nn.Module:
    return iso.equivariant(model, "D4", torch.randn(2, *PICTURE), check=False)


MODELS = {
    "all sorts": all_sorts,
    **{
        name: lambda name=name: iso.models.make(name, PICTURE, 3, 8)
        for name in ("cnn", "resnet", "mlp", "unet")
    },
    **{
        f"tied {name}": lambda name=name: tied(iso.models.make(name, PICTURE, 3, 8))
        for name in ("cnn", "vgg")
    },
}


def multiplying(model: nn.Module) -> set[int]:
    """The parameters that multiply features, by the kinds of layers."""
    found = {id(m.weight) for m in model.modules() if isinstance(m, MULTIPLIES)}
    schemes = [m.scheme for m in model.modules() if isinstance(m, Weighted)]
    return found | {id(p) for scheme in schemes for p in scheme.parameters()}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["adamw", "sgd"])
def test_decay_moves_weights_and_nothing_else(name: str, kind: str) -> None:
    model = MODELS[name]()
    for p in model.parameters():
        nn.init.normal_(p)
    settings = Settings(optimizer=kind, lr=0.1, weight_decay=0.5, momentum=0.0)
    optimizer = make_optimizer(model, settings)
    before = {id(p): p.detach().clone() for p in model.parameters()}
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    optimizer.step()
    expected = multiplying(model)
    assert expected
    for p in model.parameters():
        shrunk = before[id(p)] * (0.95 if id(p) in expected else 1.0)
        torch.testing.assert_close(p.detach(), shrunk)


def test_a_tied_number_decays_as_the_weights_it_stands_for() -> None:
    plain = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    model = tied(nn.Sequential(*plain, nn.Linear(8, 3)))
    before = {n: m.weight.detach().clone() for n, m in model.named_modules() if is_weighted(m)}
    optimizer = make_optimizer(model, Settings(lr=0.1, weight_decay=0.5))
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    optimizer.step()
    for name, module in model.named_modules():
        if is_weighted(module):
            torch.testing.assert_close(module.weight.detach(), 0.95 * before[name])


def is_weighted(module: nn.Module) -> bool:
    return isinstance(module, Weighted)


@pytest.mark.parametrize("name", MODELS)
def test_every_trained_parameter_is_in_one_group(name: str) -> None:
    model = MODELS[name]()
    frozen = next(model.parameters()).requires_grad_(False)
    groups = make_optimizer(model, Settings()).param_groups
    listed = [id(p) for group in groups for p in group["params"]]
    assert len(listed) == len(set(listed))
    assert set(listed) == {id(p) for p in model.parameters()} - {id(frozen)}


def test_fused_where_torch_has_it() -> None:
    assert make_optimizer(nn.Linear(2, 2), Settings()).defaults["fused"] is True


# -- rates --------------------------------------------------------------------------------------

WHOLE = st.integers(1, 60)


@given(st.sampled_from(["cosine", "linear", "steps", "constant"]), WHOLE, st.floats(0, 1))
def test_rates_rise_then_fall_between_zero_and_the_highest(
    schedule: str, steps: int, warmup: float
) -> None:
    settings = Settings(schedule=schedule, warmup=warmup, lr=2.0)
    rates = [rate(i, steps, settings) for i in range(steps)]
    rising = round(warmup * steps)
    assert all(0 < r <= 2.0 for r in rates)
    assert max(rates) == 2.0
    assert all(b > a for a, b in itertools.pairwise(rates[:rising]))
    assert all(b <= a for a, b in itertools.pairwise(rates[max(rising - 1, 0) :]))


@given(WHOLE)
def test_the_cosine_is_torchs(steps: int) -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.5)
    torchs = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step in range(steps):
        own = rate(step, steps, Settings(lr=0.5, warmup=0.0))
        assert own == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-12)
        optimizer.step()
        torchs.step()


def test_steps_are_at_a_half_and_three_quarters() -> None:
    found = [rate(i, 8, Settings(lr=1.0, schedule="steps", warmup=0.0)) for i in range(8)]
    assert found == [1.0] * 4 + [0.1] * 2 + [0.01] * 2


def test_all_groups_get_the_rate() -> None:
    model = all_sorts()
    optimizer, before = make_optimizer(model, Settings()), weights(model)
    assert len(optimizer.param_groups) == 2
    set_rate(optimizer, 0.0)
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    optimizer.step()
    for name, value in model.named_parameters():
        assert torch.equal(value, before[name])
