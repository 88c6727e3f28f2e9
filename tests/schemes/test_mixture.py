"""Mixtures and pathways: the contract, Eq. 10 = Eq. 11 for every set of groups, fixed norms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import isotropy as iso
from isotropy.errors import InputError
from isotropy.groups import regular, trivial, vectors
from isotropy.schemes import OrbitScheme, Partition, Tie
from isotropy.schemes.mixture import MixtureScheme
from isotropy.schemes.pathway import PathwayScheme
from tests.contracts import SchemeContract, same

D4 = iso.group("D4")
PAPER = ("C1", "D1", "C2", "D2", "C4", "D4")
ALL = tuple(str(group) for group in D4.subgroups())
KERNEL = Tie(regular(D4, 2), regular(D4), (3, 3))


def partitions(tie: Tie, groups: Sequence[str]) -> dict[str, Partition]:
    return {name: tie.weight(iso.group(name)) for name in groups}


def every_set(groups: Sequence[str]) -> list[tuple[str, ...]]:
    """All of its subsets that are not empty."""
    sizes = range(1, len(groups) + 1)
    return list(chain.from_iterable(combinations(groups, size) for size in sizes))


class MixtureContract(SchemeContract):
    groups: tuple[str, ...] = PAPER
    normalise = True

    def tie(self) -> Tie:
        return KERNEL

    def make(self) -> MixtureScheme:
        scheme = MixtureScheme(partitions(self.tie(), self.groups), normalise=self.normalise)
        return scheme.reset(0.4)

    def numbers(self, scheme: nn.Module) -> Tensor:
        assert isinstance(scheme, MixtureScheme)
        found = []
        for i, norm in enumerate(scheme.norms):
            psi = scheme.part(i).psi.detach()
            length = scheme.part(i)().detach().norm() if self.normalise else norm.new_ones(())
            found.append(psi * (norm / length if self.normalise else 1))
        return torch.cat(found)

    def test_norms_stay_whatever_the_numbers_are(self) -> None:
        scheme = self.made()
        if not self.normalise:
            return
        for name, norm in zip(scheme.names, scheme.norms, strict=True):
            same(scheme.kernel(name).norm(), norm)


class TestPaper(MixtureContract):
    """Between regular fields: all groups of the paper."""

    shape, free = (16, 8, 3, 3), 1152 + 576 + 576 + 288 + 288 + 144 + 6


class TestLifting(MixtureContract):
    """From pictures: orbits of several sizes, since a mirror fixes pixels."""

    groups = ("C1", "D1", "D4")
    shape, free = (8, 2, 3, 3), 144 + 72 + 18 + 3

    def tie(self) -> Tie:
        return Tie(regular(D4), trivial(D4, 2), (3, 3))


class TestNoSmallest(MixtureContract):
    """Without a group below all others."""

    groups = ("D1", "C2")
    shape, free = (8, 8), 32 + 32 + 2

    def tie(self) -> Tie:
        return Tie(regular(D4), regular(D4))


class TestSigned(MixtureContract):
    """With signs, and entries that must be zero under the larger groups."""

    groups = ("C1", "C2", "D4")
    shape, free = (2, 2, 3, 3), 36 + 20 + 5 + 3

    def tie(self) -> Tie:
        return Tie(vectors(D4), vectors(D4), (3, 3))


class TestBias(MixtureContract):
    """Without fixed norms."""

    groups = ("C2", "D4")
    normalise = False
    shape, free = (1, 16), 8 + 2 + 2

    def tie(self) -> Tie:
        return Tie(trivial(D4, 1), regular(D4, 2))


class TestPathway(SchemeContract):
    shape, free = (16, 8, 3, 3), 1152 + 144

    def make(self) -> PathwayScheme:
        return PathwayScheme(partitions(KERNEL, ("D4", "C1")), {"C1": 0.5}).reset(0.4)

    def numbers(self, scheme: nn.Module) -> Tensor:
        assert isinstance(scheme, PathwayScheme)
        return torch.cat([scheme.part(i).psi.detach() for i in range(2)])

    def test_penalty_is_of_the_free_part(self) -> None:
        scheme = self.make()
        assert isinstance(scheme, PathwayScheme)
        same(scheme.penalty(), 0.5 * scheme.part("C1")().square().sum(), 1e-6)
        tied = PathwayScheme(partitions(KERNEL, ("D4", "C1")), {"D4": 2.0}).reset(0.4)
        same(tied.penalty(), 2 * tied.part("D4")().square().sum(), 1e-6)

    def test_starts_at_the_size_that_is_asked_for(self) -> None:
        squares = [self.make()().detach().square().mean() for _ in range(30)]
        assert abs(float(torch.stack(squares).mean()) / 0.16 - 1) < 0.05


# -- Eqs. 10 and 11 ------------------------------------------------------------------------------


def mixture(tie: Tie, groups: Sequence[str]) -> MixtureScheme:
    scheme = MixtureScheme(partitions(tie, groups)).reset(0.7).double()
    with torch.no_grad():
        scheme.alpha.normal_()
    return scheme


@pytest.mark.parametrize(
    "tie", [KERNEL, Tie(regular(D4), trivial(D4, 1), (3, 3))], ids=["fields", "lifting"]
)
def test_mixed_outputs_are_outputs_of_the_mixed_kernel_for_every_set_of_groups(tie: Tie) -> None:
    """Eq. 10 with kernels expanded one by one by `OrbitScheme`, Eq. 11 as it is computed."""
    x = torch.randn(2, tie.inp.size, 5, 5, dtype=torch.float64)
    for groups in every_set(PAPER):
        scheme = mixture(tie, groups)
        outputs = torch.zeros((), dtype=torch.float64)
        for z, norm, name in zip(scheme.z, scheme.norms, groups, strict=True):
            kernel = scheme.part(name)()
            outputs = outputs + z * F.conv2d(x, kernel * (norm / kernel.norm()))
        same(F.conv2d(x, scheme()), outputs, 1e-10, str(groups))


def test_any_pair_of_subgroups_mixes() -> None:
    tie = Tie(regular(D4), regular(D4))
    for groups in combinations(ALL, 2):
        scheme = mixture(tie, groups)
        expected = sum(z * scheme.kernel(name) for z, name in zip(scheme.z, groups, strict=True))
        assert isinstance(expected, Tensor)
        same(scheme(), expected)
        for name in groups:
            assert _is_tied(scheme.kernel(name), tie.weight(iso.group(name)))


def _is_tied(weight: Tensor, partition: Partition) -> bool:
    projected = OrbitScheme(partition).double().project_(weight)()
    return torch.allclose(projected, weight, rtol=0, atol=1e-13)


def test_one_group_alone_is_its_own_weight() -> None:
    scheme = mixture(KERNEL, PAPER)
    with torch.no_grad():
        scheme.alpha.copy_(torch.tensor([0.0, 0, 0, 0, 0, 60]))
    same(scheme(), scheme.kernel("D4"), 1e-10)


def test_starts_at_the_size_that_is_asked_for() -> None:
    """Whatever the weights: independent parts add up by their squares."""
    for alpha in (torch.zeros(6), torch.tensor([0.0, 0, 0, 0, 0, 3])):
        squares = []
        for _ in range(30):
            scheme = MixtureScheme(partitions(KERNEL, PAPER), nn.Parameter(alpha))
            squares.append(scheme.reset(0.4)().detach().square().mean())
        assert abs(float(torch.stack(squares).mean()) / 0.16 - 1) < 0.1


def test_gradients_by_numbers_keep_the_norm() -> None:
    """ψ's gradient is orthogonal to ψ: only its direction counts."""
    scheme = mixture(KERNEL, PAPER)
    scheme().pow(3).sum().backward()
    for i in range(len(PAPER)):
        psi, gradient = scheme.part(i).psi.detach(), scheme.part(i).psi.grad
        assert gradient is not None
        along = (psi * gradient).sum() / psi.norm() / gradient.norm()
        assert abs(float(along)) < 1e-12


# -- bad input -----------------------------------------------------------------------------------


def test_bad_input() -> None:
    own = partitions(KERNEL, ("C1", "D4"))
    with pytest.raises(InputError, match="at least one"):
        MixtureScheme({})
    with pytest.raises(InputError, match="alpha must be of shape"):
        MixtureScheme(own, nn.Parameter(torch.zeros(3)))
    with pytest.raises(InputError, match="l2 names 'C4'"):
        PathwayScheme(own, {"C4": 1.0})
    with pytest.raises(InputError, match="l2 must be 0 or more"):
        PathwayScheme(own, {"C1": -1.0})
    with pytest.raises(InputError, match="different shapes"):
        MixtureScheme({"a": Partition.discrete((2, 2)), "b": Partition.discrete((4,))})


def test_a_pathway_comes_near_to_a_weight_by_its_tied_part_first() -> None:
    scheme = PathwayScheme(partitions(KERNEL, ("C1", "D4")), {"C1": 1.0})
    weight = torch.randn(scheme.shape)
    assert torch.allclose(scheme.project_(weight)(), weight, atol=1e-6)
    tied = scheme.part("D4")().detach().clone()
    assert torch.allclose(scheme.project_(tied)(), tied, atol=1e-6)
    assert scheme.part("C1").psi.abs().max() < 1e-6
