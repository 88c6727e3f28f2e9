"""Linear layers: the contract between all kinds of fields."""

from __future__ import annotations

from typing import ClassVar

import pytest
import torch
from torch import Tensor, nn

import isotropy as iso
from isotropy.errors import InputError
from isotropy.groups import (
    Action,
    PermutationGroup,
    grid,
    natural,
    permuting,
    quotient,
    regular,
    side_by_side,
    trivial,
    vectors,
)
from isotropy.nn import Linear
from isotropy.schemes import OrbitScheme, Partition
from tests.contracts import TiedLayerContract, dense_weight, run, same

D4 = iso.group("D4")
D1 = iso.group("D1")


class LinearContract(TiedLayerContract):
    """Between any two actions on vectors."""

    grid = False
    channel_dim = -1
    bias: ClassVar[bool] = True
    orthonormal: ClassVar[bool] = False
    batch: ClassVar[tuple[int, ...]] = (4,)

    def fields(self) -> tuple[Action, Action]:
        """On the output and on the input."""
        raise NotImplementedError

    def make(self) -> Linear:
        return Linear.tied(*self.fields(), bias=self.bias, orthonormal=self.orthonormal)

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(*self.batch, self.fields()[1].size),)

    def dense(self, layer: Linear, x: Tensor) -> Tensor:
        out, inp = self.fields()
        plain = nn.Linear(inp.size, out.size, self.bias).double()
        with torch.no_grad():
            plain.weight.copy_(dense_weight(layer.scheme, layer.scheme.psi))
            if layer.bias_scheme is not None:
                plain.bias.copy_(dense_weight(layer.bias_scheme, layer.bias_scheme.psi))
        return plain(x)


class Variant(LinearContract):
    """Exporting to ONNX takes most of a second: one case of every kind is enough."""

    test_runs_in_onnxruntime = None


class TestRegular(LinearContract):
    def fields(self) -> tuple[Action, Action]:
        return regular(D4, 2), regular(D4)


class TestRegularOrthonormal(Variant, TestRegular):
    orthonormal = True


class TestNoBias(Variant, TestRegular):
    bias = False


class TestSequences(Variant, TestRegular):
    """(batch, time, features), as torch's own Linear takes them."""

    batch = (2, 3)


class TestQuotients(Variant):
    def fields(self) -> tuple[Action, Action]:
        return quotient(D4, D1, 2), side_by_side([quotient(D4, iso.group("C4")), trivial(D4, 2)])


class TestVectors(LinearContract):
    """Signs in the weight; the bias of vectors is forced to zero."""

    def fields(self) -> tuple[Action, Action]:
        return side_by_side([vectors(D4), trivial(D4, 2)]), side_by_side([vectors(D4), regular(D4)])


class TestVectorsOrthonormal(Variant, TestVectors):
    orthonormal = True


class TestNothingFree(Variant):
    """From vectors to invariants there is no map; under a mirror there is."""

    bias = False

    def fields(self) -> tuple[Action, Action]:
        return trivial(D4, 2), vectors(D4)


class TestFlattenedMap(Variant):
    """After a flatten the group acts on channel and pixel together."""

    def fields(self) -> tuple[Action, Action]:
        return regular(D4), regular(D4) * grid(D4, (2, 2))


class TestLabels(Variant):
    """A half turn swaps 6 and 9."""

    def fields(self) -> tuple[Action, Action]:
        return permuting(D4, {"r": [1, 0, 2], "s": [1, 0, 2]}), regular(D4)


def test_a_group_known_by_generators() -> None:
    shuffles = natural(PermutationGroup({"turn": [1, 2, 3, 4, 0], "swap": [1, 0, 2, 3, 4]}, "S5"))
    layer = Linear.tied(shuffles, shuffles).double()
    assert (layer.scheme.free_parameters, layer.bias_scheme.free_parameters) == (2, 1)
    x, order = torch.randn(3, 5).double(), torch.randperm(5)
    same(run(layer, x[:, order]), run(layer, x)[:, order])
    smaller = layer.tie.group.subgroup(["turn"], "C5")
    before = run(layer, x)
    layer.retie(smaller)
    assert layer.scheme.free_parameters == 5
    same(run(layer, x), before)


def test_a_scheme_alone() -> None:
    """Any scheme will do; no group is needed, and without one there is nothing to retie."""
    scheme = OrbitScheme(Partition.from_labels([[0, 1, 0], [1, 0, 1]]))
    layer = Linear(scheme)
    layer.reset_parameters()
    assert layer.group is None
    assert layer(torch.randn(2, 3)).shape == (2, 2)
    assert torch.equal(layer.folded().weight, layer.weight)
    with pytest.raises(InputError, match="scheme alone"):
        layer.retie(D4)


@pytest.mark.parametrize("name", ["C1", "D1", "C2", "D2d", "C4", "D4"])
def test_tied_to_a_subgroup_from_the_start(name: str) -> None:
    out, inp = vectors(D4) + regular(D4), regular(D4)
    small = iso.group(name)
    layer, retied = Linear.tied(out, inp, group=small), Linear.tied(out, inp)
    retied.retie(small)
    assert layer.group == small == retied.group
    assert layer.layout == D4
    for scheme in ("scheme", "bias_scheme"):
        a, b = getattr(layer, scheme).partition, getattr(retied, scheme).partition
        assert a.equals(b)


def test_a_group_that_is_no_subgroup_is_refused() -> None:
    layer = Linear.tied(regular(D1), regular(D1))
    with pytest.raises(InputError, match="C4 is not a subgroup of D1"):
        layer.retie(iso.group("C4"))
    with pytest.raises(InputError, match="C4 is not a subgroup of D1"):
        Linear.tied(regular(D1), regular(D1), group=iso.group("C4"))


def test_a_failed_retie_changes_nothing() -> None:
    layer = Linear.tied(regular(D4), regular(D4), group=iso.group("C4"))
    state = {k: v.clone() for k, v in layer.state_dict().items()}
    with pytest.raises(InputError):
        layer.retie(iso.group("D2"))  # a subgroup of the layout, but not of the tie now
    assert str(layer.group) == "C4"
    assert all(torch.equal(v, state[k]) for k, v in layer.state_dict().items())
