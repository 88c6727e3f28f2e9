"""Norms without running statistics: the contract, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import isotropy as iso
from isotropy.errors import InputError
from isotropy.groups import Action, grid, quotient, regular, side_by_side, trivial, vectors
from isotropy.nn import BatchNorm, GroupNorm, InstanceNorm, LayerNorm, PReLU
from tests.contracts import TiedLayerContract, act, dense_weight, run, same

D4, D1 = iso.group("D4"), iso.group("D1")


def fill(plain: nn.Module, layer: Any) -> nn.Module:
    """A plain twin with B ψ for weight and bias."""
    plain = plain.double()
    with torch.no_grad():
        for name in ("weight", "bias"):
            scheme = getattr(layer, f"{name}_scheme")
            if scheme is not None:
                getattr(plain, name).copy_(dense_weight(scheme, scheme.psi))
    return plain


class TestGroupNorm(TiedLayerContract):
    def make(self) -> GroupNorm:
        return GroupNorm(2, regular(D4, 2))

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(2, 16, 3, 3) + torch.randn(16, 1, 1),)

    def dense(self, layer: GroupNorm, x: Tensor) -> Tensor:
        return fill(nn.GroupNorm(2, 16), layer)(x)


class TestGroupNormOfFieldsOfManyKinds(TiedLayerContract):
    test_runs_in_onnxruntime = None

    def make(self) -> GroupNorm:
        action = side_by_side([quotient(D4, D1), trivial(D4, 1), quotient(D4, D1), trivial(D4, 1)])
        return GroupNorm(2, action, eps=0.1)

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(3, 10),)

    def dense(self, layer: GroupNorm, x: Tensor) -> Tensor:
        return fill(nn.GroupNorm(2, 10, eps=0.1), layer)(x)


class TestLayerNorm(TiedLayerContract):
    grid = False
    channel_dim = -1

    def make(self) -> LayerNorm:
        return LayerNorm(side_by_side([regular(D4), quotient(D4, D1)]))

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(2, 3, 12),)

    def dense(self, layer: LayerNorm, x: Tensor) -> Tensor:
        return fill(nn.LayerNorm(12), layer)(x)


class TestLayerNormWithoutBias(TestLayerNorm):
    test_runs_in_onnxruntime = None

    def make(self) -> LayerNorm:
        return LayerNorm(side_by_side([regular(D4), quotient(D4, D1)]), bias=False, eps=1e-2)

    def dense(self, layer: LayerNorm, x: Tensor) -> Tensor:
        return fill(nn.LayerNorm(12, bias=False, eps=1e-2), layer)(x)


class TestLayerNormOfAMap(TiedLayerContract):
    """Over channels and pixels: the group moves both at once."""

    test_runs_in_onnxruntime = None

    def make(self) -> LayerNorm:
        return LayerNorm(quotient(D4, D1) * grid(D4, (3, 3)), (4, 3, 3))

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(2, 4, 3, 3),)

    def dense(self, layer: LayerNorm, x: Tensor) -> Tensor:
        return fill(nn.LayerNorm((4, 3, 3)), layer)(x)

    def move(self, x: Tensor, action: Action, element: str) -> Tensor:
        return act(x.flatten(1), action, element, 1).view(x.shape)


class TestInstanceNorm(TiedLayerContract):
    def make(self) -> InstanceNorm:
        return InstanceNorm(regular(D4), affine=True)

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(2, 8, 3, 3) + torch.randn(8, 1, 1),)

    def dense(self, layer: InstanceNorm, x: Tensor) -> Tensor:
        return fill(nn.InstanceNorm2d(8, affine=True), layer)(x)


class TestInstanceNormTracking(TestInstanceNorm):
    """In train mode it normalises as before, and keeps running statistics beside."""

    test_runs_in_onnxruntime = None

    def make(self) -> InstanceNorm:
        return InstanceNorm(regular(D4), affine=True, track_running_stats=True)


class TestInstanceNormTracked(TestInstanceNormTracking):
    """In eval mode it uses them."""

    test_runs_in_onnxruntime = TestInstanceNorm.test_runs_in_onnxruntime

    def make(self) -> InstanceNorm:
        return InstanceNorm(regular(D4), affine=True, track_running_stats=True).eval()

    def dense(self, layer: InstanceNorm, x: Tensor) -> Tensor:
        def wide(values: Tensor) -> Tensor:  # one field, so one number for all channels
            return values.expand(8)[:, None, None]

        centred = x - wide(layer.running_mean)
        scale = wide(layer.weight_scheme.psi) / (wide(layer.running_var) + 1e-5).sqrt()
        return centred * scale + wide(layer.bias_scheme.psi)


class TestInstanceNorm1d(TiedLayerContract):
    test_runs_in_onnxruntime = None

    def make(self) -> InstanceNorm:
        return InstanceNorm(regular(D1, 2), 1, affine=True, eps=0.1)

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(2, 4, 5),)

    def dense(self, layer: InstanceNorm, x: Tensor) -> Tensor:
        return fill(nn.InstanceNorm1d(4, affine=True, eps=0.1), layer)(x)


@pytest.mark.parametrize("momentum", [0.1, 0.4, None])
def test_instance_norm_tracks_the_mean_over_every_orbit(momentum: float | None) -> None:
    """None means the plain mean over all batches, as for batch norm (torch's own stands still)."""
    action = side_by_side([regular(D4), quotient(D4, D1)])
    layer = InstanceNorm(action, track_running_stats=True, momentum=momentum).double()
    plain = nn.InstanceNorm2d(12).double()
    mean, var = torch.zeros(2).double(), torch.ones(2).double()
    for step in range(4):
        x = torch.randn(3, 12, 4, 4).double() * 2 + torch.randn(12, 1, 1).double()
        same(run(layer, x), run(plain, x))
        part = 1 / (step + 1) if momentum is None else momentum
        means, vars_ = x.mean((2, 3)).mean(0), x.var((2, 3)).mean(0)
        mean.lerp_(torch.stack([means[:8].mean(), means[8:].mean()]), part)
        var.lerp_(torch.stack([vars_[:8].mean(), vars_[8:].mean()]), part)
        same(layer.running_mean, mean)
        same(layer.running_var, var)
    assert int(layer.num_batches_tracked) == 4


@pytest.mark.parametrize("momentum", [0.1, 0.4])
def test_instance_norm_tracks_as_torch_does(momentum: float) -> None:
    layer = InstanceNorm(trivial(D4, 3), track_running_stats=True, momentum=momentum).double()
    plain = nn.InstanceNorm2d(3, track_running_stats=True, momentum=momentum).double()
    for _ in range(3):
        x = torch.randn(2, 3, 3, 3).double()
        same(run(layer, x), run(plain, x))
    same(layer.running_mean, plain.running_mean)
    same(layer.running_var, plain.running_var)


@pytest.mark.parametrize("kind", [InstanceNorm, BatchNorm])
def test_without_scale_and_shift(kind: Callable[..., Any]) -> None:
    layer = kind(regular(D4), affine=False, track_running_stats=False)
    assert list(layer.state_dict()) == []
    x = torch.randn(2, 8, 3, 3)
    for mode in (True, False):
        same(run(layer.train(mode), x).mean(), torch.tensor(0.0), 1e-6)
    layer.retie(iso.group("C2"))
    assert layer.group == iso.group("C2")


def test_scales_begin_at_one_and_shifts_at_zero() -> None:
    for layer in (GroupNorm(1, regular(D4)), LayerNorm(regular(D4)), BatchNorm(regular(D4))):
        assert torch.equal(layer.weight, torch.ones(8))
        assert torch.equal(layer.bias, torch.zeros(8))


@pytest.mark.parametrize(
    "make",
    [BatchNorm, InstanceNorm, LayerNorm, PReLU, lambda action: GroupNorm(1, action)],
    ids=["batch", "instance", "layer", "prelu", "group"],
)
def test_sign_changes_are_refused(make: Callable[[Action], nn.Module]) -> None:
    """What is not odd does not commute with them."""
    with pytest.raises(InputError, match="sign"):
        make(side_by_side([regular(D4), vectors(D4)]))


def test_blocks_that_cut_fields_are_refused() -> None:
    with pytest.raises(InputError, match="mixes its blocks"):
        GroupNorm(4, regular(D4))


def test_blocks_that_do_not_divide_channels_are_refused() -> None:
    with pytest.raises(InputError, match="num_groups"):
        GroupNorm(3, regular(D4))
