"""Batch norm over orbits of channels: by hand, and against torch's own over merged fields."""

from __future__ import annotations

import copy
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import isotropy as iso
from isotropy.groups import Action, FiniteGroup, quotient, regular, side_by_side, trivial
from isotropy.nn import BatchNorm
from tests.contracts import TiedLayerContract, dense_weight, randomise, relative, run, same

D4, D1 = iso.group("D4"), iso.group("D1")
MIXED = side_by_side([regular(D4), trivial(D4, 2), quotient(D4, D1)])


def orbits(action: Action, group: FiniteGroup) -> list[list[int]]:
    """The channels of every orbit, by moving each by all elements."""
    images = np.stack([action.of(g).target for g in group.elements])
    found = [sorted(set(images[:, c].tolist())) for c in range(action.size)]
    return [orbit for c, orbit in enumerate(found) if orbit[0] == c]


def by_hand(layer: BatchNorm, x: Tensor) -> Tensor:
    """Every orbit's channels normalised with their common mean and variance."""
    y = torch.empty_like(x)
    weight, bias = (dense_weight(s, s.psi) for s in (layer.weight_scheme, layer.bias_scheme))
    for k, orbit in enumerate(orbits(layer.channels, layer.group)):
        part = x[:, orbit]
        mean, var = part.mean(), ((part - part.mean()) ** 2).mean()
        if not layer.training:
            mean, var = layer.running_mean[k], layer.running_var[k]
        y[:, orbit] = (part - mean) / (var + layer.eps).sqrt()
    wide = (1, -1, *[1] * (x.ndim - 2))
    return y * weight.view(wide) + bias.view(wide)


class BatchNormContract(TiedLayerContract):
    training: ClassVar[bool] = True
    subgroup: ClassVar[str] = "D4"
    dimensions: ClassVar[int] = 2
    space: ClassVar[tuple[int, ...]] = (3, 3)
    test_runs_in_onnxruntime = None

    def fields(self) -> Action:
        return regular(D4, 2)

    def make(self) -> BatchNorm:
        group = iso.group(self.subgroup)
        return BatchNorm(self.fields(), self.dimensions, group=group).train(self.training)

    def inputs(self) -> tuple[Tensor, ...]:
        channels = self.fields().size
        shift = torch.randn(channels, *[1] * len(self.space))
        return (2 * torch.randn(3, channels, *self.space) + shift,)

    def dense(self, layer: BatchNorm, x: Tensor) -> Tensor:
        return by_hand(layer, x)


class TestTrain(BatchNormContract):
    """Contiguous orbits of one size: torch's own batch norm over longer signals."""


class TestEval(BatchNormContract):
    training = False
    test_runs_in_onnxruntime = TiedLayerContract.test_runs_in_onnxruntime


class TestTrainSubgroup(BatchNormContract):
    """Orbits of one size that are not contiguous."""

    subgroup = "D2d"


class TestEvalSubgroup(BatchNormContract):
    subgroup, training = "D1", False
    test_runs_in_onnxruntime = TiedLayerContract.test_runs_in_onnxruntime


class TestTrainUnequalOrbits(BatchNormContract):
    def fields(self) -> Action:
        return MIXED


class TestEvalUnequalOrbits(TestTrainUnequalOrbits):
    training = False


class TestTrainUnequalOrbitsOfASubgroup(TestTrainUnequalOrbits):
    subgroup = "C4"


class TestTrainVectors(BatchNormContract):
    """After a linear layer there is no space."""

    dimensions, space = 0, ()


class TestTrainSignals(BatchNormContract):
    dimensions, space, subgroup = 1, (5,), "D2"

    def fields(self) -> Action:
        return regular(iso.group("D2"), 3)


class TestTrainVolumes(BatchNormContract):
    dimensions, space = 3, (2, 2, 2)

    def fields(self) -> Action:
        return regular(D4)


# --- running statistics -------------------------------------------------------------------------


def merged(orbit: list[int], x: Tensor) -> Tensor:
    """All that one orbit's channels hold, as one channel."""
    return x[:, orbit].flatten(1).unsqueeze(1)


@pytest.mark.parametrize("momentum", [0.1, 0.7, None])
@pytest.mark.parametrize("name", ["C1", "C2", "D1d", "D2", "C4", "D4"])
@pytest.mark.parametrize("fields", [regular(D4, 2), MIXED], ids=["equal", "unequal"])
def test_running_statistics_are_those_of_the_merged_fields(
    fields: Action, name: str, momentum: float | None
) -> None:
    group = iso.group(name)
    layer = randomise(BatchNorm(fields, group=group, momentum=momentum)).double()
    found = orbits(fields, group)
    plains = [nn.BatchNorm1d(1, momentum=momentum).double() for _ in found]
    with torch.no_grad():
        for k, plain in enumerate(plains):
            plain.running_mean.copy_(layer.running_mean[k])
            plain.running_var.copy_(layer.running_var[k])
            plain.weight.copy_(layer.weight_scheme.psi[k])
            plain.bias.copy_(layer.bias_scheme.psi[k])
    for step in range(4):
        x = 3 * torch.randn(2, fields.size, 3, 2).double() + step
        output = run(layer, x)
        for orbit, plain in zip(found, plains, strict=True):
            same(merged(orbit, output), run(plain, merged(orbit, x)))
    for name in ("running_mean", "running_var"):
        same(getattr(layer, name), torch.cat([getattr(p, name) for p in plains]), what=name)
    assert int(layer.num_batches_tracked) == 4
    # and so do the folded layer's, channel by channel
    folded = layer.eval().folded()
    for orbit, plain in zip(found, plains, strict=True):
        same(folded.running_var[orbit], plain.running_var.expand(len(orbit)))
    assert int(folded.num_batches_tracked) == 4


def test_the_running_variance_is_unbiased() -> None:
    for fields in (regular(D4), side_by_side([quotient(D4, D1), trivial(D4, 1)])):
        layer = BatchNorm(fields, momentum=1.0).double()
        x = torch.randn(2, fields.size, 1, 1).double()
        run(layer, x)
        expected = [x[:, orbit].var(correction=1) for orbit in orbits(fields, D4)]
        same(layer.running_var, torch.stack(expected))


def test_a_field_that_never_varies() -> None:
    layer = BatchNorm(MIXED).double()
    assert run(layer, torch.ones(2, MIXED.size, 2, 2).double()).isfinite().all()
    assert layer.running_var.isfinite().all()


def test_eval_mode_leaves_statistics_alone() -> None:
    layer = BatchNorm(regular(D4)).eval()
    before = copy.deepcopy(layer.state_dict())
    run(layer, torch.randn(2, 8, 3, 3))
    assert all(torch.equal(v, before[k]) for k, v in layer.state_dict().items())


def test_without_running_statistics_eval_is_train() -> None:
    layer = randomise(BatchNorm(MIXED, track_running_stats=False)).double()
    x = torch.randn(2, MIXED.size, 3, 3).double()
    same(run(layer.eval(), x), run(layer.train(), x))
    same(run(layer, x), by_hand(layer, x))


def test_statistics_survive_a_retie_in_train_mode() -> None:
    """The next steps are those of a layer that was tied so from the start."""
    small = iso.group("D1d")
    layer, other = (randomise(BatchNorm(regular(D4), group=g)).double() for g in (D4, small))
    layer.retie(small)
    other.load_state_dict(layer.state_dict())
    for _ in range(3):
        x = torch.randn(2, 8, 3, 3).double()
        same(run(layer, x), run(other, x))
    same(layer.running_var, other.running_var)
    assert relative(layer.running_var, layer.running_var.mean().expand(4)) > 1e-3


def test_the_plain_layer_forgets_the_symmetry() -> None:
    """Why there is a tied one: statistics per channel break equivariance."""
    plain, x = nn.BatchNorm2d(8).double(), torch.randn(2, 8, 3, 3).double()
    run(plain, torch.randn(4, 8, 3, 3).double() + torch.randn(8, 1, 1).double())
    plain.eval()
    turned = [0, 3, 2, 1, 7, 4, 5, 6]
    assert relative(run(plain, x[:, turned]), run(plain, x)[:, turned]) > 1e-2
