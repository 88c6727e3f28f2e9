"""PReLU, dropout of fields and pooling over the group, and pooling that a mirror survives."""

from __future__ import annotations

import math
from typing import ClassVar

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import isotropy as iso
from isotropy.errors import InputError, NotSupportedError
from isotropy.groups import Action, quotient, regular, side_by_side, trivial, vectors
from isotropy.nn import FieldDropout, GroupPool, PReLU
from isotropy.nn.subsample import SymmetricPool
from tests.contracts import (
    BROKEN,
    LayerContract,
    TiedLayerContract,
    dense_weight,
    run,
    same,
)

D4, D1 = iso.group("D4"), iso.group("D1")


# --- PReLU --------------------------------------------------------------------------------------


class TestPReLU(TiedLayerContract):
    def make(self) -> PReLU:
        return PReLU(side_by_side([regular(D4), trivial(D4, 1), quotient(D4, D1)]))

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(2, 13, 3, 3),)

    def dense(self, layer: PReLU, x: Tensor) -> Tensor:
        plain = nn.PReLU(13).double()
        with torch.no_grad():
            plain.weight.copy_(dense_weight(layer.weight_scheme, layer.weight_scheme.psi))
        return plain(x)


class TestPReLUOfVectors(TestPReLU):
    test_runs_in_onnxruntime = None
    grid = False

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(2, 13),)


def test_slopes_begin_where_they_are_told() -> None:
    assert PReLU(regular(D4)).weight.tolist() == [0.25] * 8
    assert PReLU(regular(D4), 0.5).weight_scheme.psi.tolist() == [0.5]


# --- dropout ------------------------------------------------------------------------------------


class TestFieldDropout(TiedLayerContract):
    """In eval mode it does nothing."""

    def make(self) -> FieldDropout:
        return FieldDropout(regular(D4, 2)).eval()

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(2, 16, 3, 3),)

    def dense(self, layer: FieldDropout, x: Tensor) -> Tensor:
        return x


class TestFieldDropoutInTraining(TestFieldDropout):
    """With the same random numbers, a turned input loses the same fields."""

    test_runs_in_onnxruntime = None
    test_float32_and_bfloat16 = None  # each dtype draws for itself

    def make(self) -> FieldDropout:
        return FieldDropout(regular(D4, 2), 0.4)

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(8, 16, 3, 3),)

    def dense(self, layer: FieldDropout, x: Tensor) -> Tensor:
        kept = (run(layer, x) != 0).double()
        return x * kept / 0.6

    def is_coarser(self, layer: FieldDropout, group: iso.FiniteGroup) -> bool:
        return group.order > layer.group.order

    def test_exports(self) -> None:
        """A program exported in train mode draws for itself: whole fields, too."""
        layer, (x,) = self.made(), self.doubles()
        output = run(torch.export.export(layer, (x,)).module(), x)
        gone = (output.unflatten(1, (2, 8)) == 0).double().mean((2, 3, 4))
        assert set(gone.unique().tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("name", ["C1", "C2", "D1d", "C4", "D4"])
@pytest.mark.parametrize("p", [0.2, 0.5])
def test_whole_orbits_are_dropped_and_the_others_scaled(name: str, p: float) -> None:
    group = iso.group(name)
    action = side_by_side([regular(D4, 2), trivial(D4, 1)])
    layer = FieldDropout(action, p, group=group)
    n = 2000
    y = layer(torch.ones(n, 17, 2, 2))
    scale = 1 / (1 - p)
    assert torch.isin(y, torch.tensor([0.0, scale])).all()
    kept = y[:, :, 0, 0] > 0
    assert torch.equal(y > 0, kept[:, :, None, None].expand(y.shape))  # all pixels alike
    labels = action.restrict(group).orbits().labels[0]
    orbits = [kept[:, torch.from_numpy(labels == k)] for k in range(labels.max() + 1)]
    assert all((orbit == orbit[:, :1]).all() for orbit in orbits)
    firsts = torch.stack([orbit[:, 0] for orbit in orbits], 1).double()
    sigma = math.sqrt(p * (1 - p) / n)
    assert float((firsts.mean(0) - (1 - p)).abs().max()) < 5 * sigma
    # orbits fall independently of each other
    together = torch.corrcoef(firsts.T) - torch.eye(len(orbits))
    assert float(together.abs().max()) < 5 / math.sqrt(n)


def test_components_of_a_vector_are_dropped_together() -> None:
    """Signs do not matter to what is dropped."""
    y = FieldDropout(side_by_side([vectors(D4), vectors(D4)]))(torch.ones(200, 4, 2, 2))
    kept = y[:, :, 0, 0] > 0
    assert torch.equal(kept[:, 0], kept[:, 1])
    assert torch.equal(kept[:, 2], kept[:, 3])
    assert not torch.equal(kept[:, 0], kept[:, 2])
    assert kept.any()


def test_the_ends_of_dropout() -> None:
    x = torch.randn(4, 8, 2, 2)
    assert torch.equal(FieldDropout(regular(D4), 0.0)(x), x)
    assert torch.equal(FieldDropout(regular(D4), 1.0)(x), torch.zeros_like(x))
    assert FieldDropout(regular(D4), 1.0).double()(x.double()).dtype == torch.float64


@pytest.mark.parametrize("p", [-0.1, 1.5])
def test_a_probability_that_is_none_is_refused(p: float) -> None:
    with pytest.raises(InputError, match="p must be"):
        FieldDropout(regular(D4), p)


@pytest.mark.parametrize(
    ("dimensions", "kind"),
    [(0, nn.Dropout), (1, nn.Dropout1d), (2, nn.Dropout2d), (3, nn.Dropout3d)],
)
def test_dropout_folds_to_that_of_its_dimensions(dimensions: int, kind: type[nn.Module]) -> None:
    plain = FieldDropout(regular(D4), 0.3, dimensions).folded()
    assert type(plain) is kind
    assert plain.p == 0.3
    assert plain.training


# --- pooling over the group ---------------------------------------------------------------------


class GroupPoolContract(LayerContract):
    mode: ClassVar[str] = "mean"
    space: ClassVar[tuple[int, ...]] = (3, 3)

    def make(self) -> GroupPool:
        return GroupPool(D4, self.mode)

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(2, 24, *self.space),)

    def actions(self, layer: GroupPool) -> tuple[Action, Action]:
        return regular(D4, 3), trivial(D4, 3)

    def folded(self, layer: GroupPool) -> nn.Module:
        return layer.folded(24, len(self.space))

    def dense(self, layer: GroupPool, x: Tensor) -> Tensor:
        fields = [x[:, 8 * c : 8 * c + 8] for c in range(3)]
        pooled = [f.mean(1) if self.mode == "mean" else f.max(1).values for f in fields]
        return torch.stack(pooled, 1)

    def test_folds_within_a_network(self) -> None:
        layer, (x,) = self.made(), self.doubles()
        net = nn.Sequential(nn.Tanh(), layer).double()
        same(run(iso.fold(net, x), x), run(net, x))


class TestGroupPoolMean(GroupPoolContract):
    pass


class TestGroupPoolMax(GroupPoolContract):
    mode = "max"


class TestGroupPoolVectors(GroupPoolContract):
    space = ()
    test_runs_in_onnxruntime = None


class TestGroupPoolMaxVectors(GroupPoolContract):
    mode, space = "max", ()
    test_runs_in_onnxruntime = None


class TestGroupPoolSignals(GroupPoolContract):
    """Half turns and mirrors of a signal; D2's regular fields, four channels each."""

    space, group = (5,), iso.group("D2")
    test_runs_in_onnxruntime = None

    def make(self) -> GroupPool:
        return GroupPool(self.group, "max")

    def actions(self, layer: GroupPool) -> tuple[Action, Action]:
        return regular(self.group, 6), trivial(self.group, 6)

    def dense(self, layer: GroupPool, x: Tensor) -> Tensor:
        return torch.stack([x[:, 4 * c : 4 * c + 4].amax(1) for c in range(6)], 1)


def test_pooling_volumes() -> None:
    layer, x = GroupPool(D4, "mean").double(), torch.randn(2, 8, 2, 2, 2).double()
    same(run(layer, x), x.mean(1, keepdim=True))
    with pytest.raises(NotSupportedError, match="volumes"):
        layer.folded(8, 3)


def test_pooling_refuses_what_is_no_field() -> None:
    with pytest.raises(InputError, match="multiple of 8"):
        GroupPool(D4)(torch.zeros(1, 12, 3, 3))
    with pytest.raises(InputError, match="mode"):
        GroupPool(D4, "median")


# --- pooling that a mirror survives -------------------------------------------------------------


class TestSymmetricPool(LayerContract):
    """Windows of 3 at every second pixel of 6 leave one over."""

    test_runs_in_onnxruntime = None

    def make(self) -> SymmetricPool:
        return SymmetricPool(nn.MaxPool2d(3, 1, padding=1), (2, 2), (1, 1))

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(2, 3, 6, 6),)

    def actions(self, layer: SymmetricPool) -> tuple[Action, Action]:
        return trivial(D4, 3), trivial(D4, 3)

    def dense(self, layer: SymmetricPool, x: Tensor) -> Tensor:
        padded = F.pad(x, (1, 1, 1, 1), value=-math.inf)
        placed = [
            F.max_pool2d(padded[:, :, i : i + 7, j : j + 7], 3, 2) for i in (0, 1) for j in (0, 1)
        ]
        return torch.stack(placed).mean(0)


def test_the_plain_pool_does_not_survive_it() -> None:
    x, pool = torch.randn(2, 3, 6, 6), nn.MaxPool2d(3, 2, padding=1)
    assert float((pool(x.flip(-1)) - pool(x).flip(-1)).abs().max()) > BROKEN
    exact = TestSymmetricPool().make()
    assert float((exact(x.flip(-1)) - exact(x).flip(-1)).abs().max()) < 1e-6
