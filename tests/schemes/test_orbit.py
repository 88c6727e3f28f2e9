"""OrbitScheme: the contract on plain, signed, forced-to-zero, empty and real partitions."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import cached_property
from typing import ClassVar

import numpy as np
import pytest
import torch

import isotropy as iso
from isotropy.errors import InputError
from isotropy.groups import (
    PermutationGroup,
    grid,
    natural,
    quotient,
    regular,
    side_by_side,
    trivial,
    vectors,
)
from isotropy.schemes import OrbitScheme, Partition, Tie
from tests.contracts import EXACT, SchemeContract, same
from tests.schemes.signed import contains, matrix, partition, random_partition, random_refinement

D4 = iso.group("D4")


class OrbitContract(SchemeContract):
    """What hard sharing must do beyond the contract of all schemes."""

    orthonormal: ClassVar[bool] = False

    def tied(self) -> Partition:
        raise NotImplementedError

    @cached_property
    def of(self) -> Partition:
        return self.tied()

    def make(self) -> OrbitScheme:
        return OrbitScheme(self.of, self.orthonormal)

    def test_columns_are_the_orbits(self) -> None:
        basis = self.made().basis().numpy()
        expected = matrix(self.of)
        if self.orthonormal:
            expected = expected / np.sqrt(np.maximum(self.of.sizes, 1))
        np.testing.assert_allclose(basis, expected, rtol=0, atol=EXACT)
        gram = np.eye(self.free) if self.orthonormal else np.diag(self.of.sizes)
        np.testing.assert_allclose(basis.T @ basis, gram, rtol=0, atol=EXACT)

    def test_remembers_its_partition(self) -> None:
        assert self.make().partition.equals(self.of)
        assert self.make().bfloat16().partition.equals(self.of)

    def test_project_is_the_orthogonal_projection(self) -> None:
        scheme, weight = self.made(), torch.randn(self.shape, dtype=torch.float64)
        assert scheme.project_(weight) is scheme
        projected = scheme()
        basis = scheme.basis()
        nearest = basis @ torch.linalg.lstsq(basis, weight.reshape(-1, 1)).solution
        same(projected, nearest.view(self.shape))
        same(scheme.project_(projected)(), projected)
        same(scheme.project_(weight, factor=-2.5)(), -2.5 * projected)
        # what is left over is orthogonal to every tied weight
        left = basis.T @ (weight - projected).reshape(-1)
        assert float(left.detach().abs().sum()) <= EXACT * weight.numel()

    def test_project_takes_any_dtype_and_keeps_its_own(self) -> None:
        scheme = self.make()
        scheme.project_(torch.ones(self.shape, dtype=torch.bfloat16))
        assert scheme.psi.dtype == torch.float32

    def test_project_refuses_another_shape(self) -> None:
        with pytest.raises(InputError, match="shape"):
            self.make().project_(torch.zeros(*self.shape, 2))

    def test_reset_gives_the_root_mean_square(self) -> None:
        scheme, rms, draws = self.made(), 0.3, 400
        if self.free == 0:
            assert not scheme.reset(rms)().any()
            return
        squares = torch.stack([scheme.reset(rms)().detach() ** 2 for _ in range(draws)])
        filled = float((self.of.labels >= 0).mean())
        # the variance of u² is 4/5 of its squared mean; large orbits weigh more
        weights = self.of.sizes / self.of.sizes.sum()
        sigma = math.sqrt(0.8 * (weights**2).sum() / draws)
        assert abs(float(squares.mean()) / rms**2 - 1) < 5 * sigma
        assert float(squares.max()) <= 3 * rms**2 / filled * (1 + 1e-6)

    def test_refined_keeps_the_weight(self) -> None:
        rng = np.random.default_rng(0)
        scheme = self.made().eval()
        finest = Partition.discrete(self.shape)
        for finer in [self.of, finest, *(random_refinement(self.of, rng) for _ in range(15))]:
            refined, how = scheme.refined(finer)
            same(refined(), scheme())
            assert refined.free_parameters == finer.count == how.parent.size
            assert refined.partition.equals(finer)
            assert refined.orthonormal == scheme.orthonormal
            assert not refined.training
            assert refined.psi.dtype == scheme.psi.dtype
            assert refined.psi.requires_grad
        scheme.psi.requires_grad_(False)
        assert not scheme.refined(finest)[0].psi.requires_grad

    def test_refined_refuses_what_is_not_finer(self) -> None:
        rng = np.random.default_rng(0)
        scheme = self.made()
        refused = 0
        for other in (random_partition(self.shape, rng) for _ in range(30)):
            if contains(matrix(other), matrix(self.of)):
                scheme.refined(other)
                continue
            refused += 1
            with pytest.raises(InputError, match="not a refinement"):
                scheme.refined(other)
        assert refused or self.free == 0


class TestUnsigned(OrbitContract):
    shape, free = (2, 3), 3

    def tied(self) -> Partition:
        return partition([[0, 1, 0], [2, 1, 1]])


class TestSigned(OrbitContract):
    shape, free = (2, 3), 3

    def tied(self) -> Partition:
        return partition([[0, 1, 0], [2, 1, 1]], [[1, 1, -1], [1, -1, 1]])


class TestForcedZeros(OrbitContract):
    shape, free = (2, 4), 3

    def tied(self) -> Partition:
        return partition([[0, -1, 0, 1], [-1, 1, 2, 0]], [[1, 1, -1, 1], [1, -1, 1, 1]])


class TestUnsignedForcedZeros(OrbitContract):
    shape, free = (5,), 2

    def tied(self) -> Partition:
        return partition([-1, 0, 0, -1, 1])


class TestFirstClassWithoutEntryZero(OrbitContract):
    """A zero in front, whose stand-in index is that of a class."""

    shape, free = (2, 2), 1

    def tied(self) -> Partition:
        return partition([[-1, -1], [0, 0]], [[1, 1], [1, -1]])


class TestAllZero(OrbitContract):
    shape, free = (2, 3), 0

    def tied(self) -> Partition:
        return partition(-np.ones((2, 3), int))


class TestAllZeroOrthonormal(TestAllZero):
    orthonormal = True


class TestDiscrete(OrbitContract):
    shape, free = (2, 2, 3), 12

    def tied(self) -> Partition:
        return Partition.discrete((2, 2, 3))


class TestOrthonormal(TestUnsigned):
    orthonormal = True


class TestSignedOrthonormal(TestSigned):
    orthonormal = True


class TestForcedZerosOrthonormal(TestForcedZeros):
    orthonormal = True


class TestGroupConvolution(OrbitContract):
    """001, Eq. 1: C_out · C_in · |G| · k² numbers."""

    shape, free = (8, 8, 3, 3), 8 * 9

    def tied(self) -> Partition:
        return Tie(regular(D4), regular(D4), (3, 3)).weight(D4)


class TestGroupConvolutionOrthonormal(TestGroupConvolution):
    orthonormal = True


class TestVectorsToQuotient(OrbitContract):
    """Signs, and zeros that they force: the middle of a vector filter, for one."""

    shape, free = (4, 2, 3, 3), 9

    def tied(self) -> Partition:
        return Tie(quotient(D4, iso.group("D1")), vectors(D4), (3, 3)).weight(D4)


class TestVectorsToScalar(OrbitContract):
    """No linear map from vectors to invariants."""

    shape, free = (2, 2), 0

    def tied(self) -> Partition:
        return Tie(trivial(D4, 2), vectors(D4)).weight(D4)


class TestDepthwise(OrbitContract):
    shape, free = (8, 1, 3, 3), 2 * 9

    def tied(self) -> Partition:
        return Tie(regular(D4), regular(D4), (3, 3), blocks=8).weight(iso.group("C4"))


class TestDeepSet(OrbitContract):
    """The two numbers of a layer under all shuffles of five points, from two generators."""

    shape, free = (5, 5), 2

    def tied(self) -> Partition:
        shuffles = natural(PermutationGroup([[1, 2, 3, 4, 0], [1, 0, 2, 3, 4]]))
        return Tie(shuffles, shuffles).weight(shuffles.group)


class TestFlattenedMap(OrbitContract):
    """A linear layer after a flatten: the group acts on channel and pixel together."""

    shape, free = (2, 72), 2 * 9

    def tied(self) -> Partition:
        return Tie(trivial(D4, 2), regular(D4) * grid(D4, (3, 3))).weight(D4)


class TestFieldsAlike(OrbitContract):
    """Several fields of one kind: the pattern repeats, labels counting on."""

    shape, free = (12, 10), 15

    def tied(self) -> Partition:
        inp = side_by_side([regular(D4), vectors(D4)])
        return Tie(quotient(D4, iso.group("D1"), 3), inp).weight(D4)


class TestFieldsAlikeOrthonormal(TestFieldsAlike):
    orthonormal = True


class TestVectorsAlike(OrbitContract):
    """A repeated pattern with zeros in it."""

    shape, free = (6, 4), 6

    def tied(self) -> Partition:
        vector, D2 = vectors(iso.group("D2")), iso.group("D2")
        return Tie(side_by_side([vector] * 3), side_by_side([vector, trivial(D2, 2)])).weight(D2)


@pytest.mark.parametrize("orthonormal", [False, True])
@pytest.mark.parametrize("copies", [1, 2, 5])
def test_random_partitions_and_copies_of_them(copies: int, orthonormal: bool) -> None:
    """A pattern that repeats along the first axis, as fields of one kind make it, or nearly."""
    rng = np.random.default_rng(copies)
    for case in range(40):
        part = random_partition((int(rng.integers(1, 5)), int(rng.integers(1, 5))), rng)
        shift = part.count * np.arange(copies)[:, None, None]
        labels = np.where(part.labels < 0, -1, part.labels + shift).reshape(-1, part.shape[1])
        signs = np.tile(part.flat_signs().reshape(part.shape), (copies, 1))
        if case % 4 == 0:  # nearly: one sign or one entry differs
            signs[-1, -1] *= -1
        if case % 4 == 1:
            labels[-1, -1], signs[-1, -1] = labels[0, 0], 1
        tied = partition(labels, signs)
        scheme = OrbitScheme(tied, orthonormal).double()
        assert scheme.partition.equals(tied)
        basis = torch.from_numpy(matrix(tied))
        if orthonormal:
            basis = basis / torch.from_numpy(np.sqrt(tied.sizes))
        torch.nn.init.normal_(scheme.psi)
        same(scheme.basis(), basis)
        same(scheme().flatten(), basis @ scheme.psi)
        direction = torch.randn(tied.shape).double()
        if tied.count:
            (scheme() * direction).sum().backward()
            same(scheme.psi.grad, basis.T @ direction.flatten())
        scheme.project_(direction)
        nearest = basis @ (torch.linalg.pinv(basis) @ direction.flatten())
        same(scheme().flatten(), nearest, 1e-11)


def test_refining_a_group_convolution_along_a_chain() -> None:
    tie = Tie(regular(D4), vectors(D4), (3, 3))
    scheme = OrbitScheme(tie.weight(D4), orthonormal=True).double()
    torch.nn.init.normal_(scheme.psi)
    before = scheme()
    for name in ("D2", "C2", "C1"):
        scheme, how = scheme.refined(tie.weight(iso.group(name)))
        same(scheme(), before)
        assert how.share.min() > 0


def seconds(call: Callable[[], object]) -> float:
    """The processor time of the fastest of a few calls."""
    found = []
    for _ in range(5):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


@pytest.mark.parametrize("size", [20, 19], ids=["orbits of one size", "orbits of several sizes"])
def test_the_gradient_is_gathered_at_the_speed_of_a_scatter(size: int) -> None:
    """Torch's adjoint of a gather is 50 times slower by indices of 32 bits."""
    c4 = iso.group("C4")
    scheme = OrbitScheme(Tie(grid(c4, (size, size)), grid(c4, (size, size))).weight(c4))
    gradient = torch.randn(scheme.shape)
    plain = torch.zeros(scheme.psi.numel())
    index = torch.from_numpy(scheme.partition.labels.ravel().astype(np.int64))

    def ours() -> None:
        torch.autograd.grad(scheme(), scheme.psi, gradient)

    expected = seconds(lambda: plain.scatter_add_(0, index, gradient.flatten()))
    assert seconds(ours) < 12 * expected
