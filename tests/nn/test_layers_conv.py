"""Convolutions: the contract for every stride, padding, dilation and grouping, on 1 to 3 axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import isotropy as iso
from isotropy.errors import InputError
from isotropy.groups import Action, FiniteGroup, quotient, regular, side_by_side, trivial, vectors
from isotropy.nn import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    GroupConv2d,
    LiftingConv2d,
)
from tests.contracts import TiedLayerContract, act, dense_weight, relative, run, same, turn
from tests.turns import ELEMENTS
from tests.turns import turn as turn_by_rot90

D4, D2, D1 = iso.group("D4"), iso.group("D2"), iso.group("D1")
CUBE = iso.group("O")
# the rotations of a cube about a corner and two edges: all three axes change places
CORNER = CUBE.subgroup(["cdr", "-r-d-c"])

PLAIN = {
    Conv1d: nn.Conv1d,
    Conv2d: nn.Conv2d,
    Conv3d: nn.Conv3d,
    ConvTranspose1d: nn.ConvTranspose1d,
    ConvTranspose2d: nn.ConvTranspose2d,
    ConvTranspose3d: nn.ConvTranspose3d,
    GroupConv2d: nn.Conv2d,
    LiftingConv2d: nn.Conv2d,
}


class ConvContract(TiedLayerContract):
    """A convolution, `settings` those of torch's own layer."""

    layer: ClassVar[type[Any]] = Conv2d
    kernel: ClassVar[int | tuple[int, ...]] = 3
    settings: ClassVar[dict[str, Any]] = {}
    orthonormal: ClassVar[bool] = False
    size: ClassVar[tuple[int, ...]] = (5, 5)
    batch: ClassVar[int] = 2

    def fields(self) -> tuple[Action, Action]:
        """On the output and on the input."""
        return regular(D4), regular(D4)

    def make(self) -> Any:
        out, inp = self.fields()
        return self.layer.tied(out, inp, self.kernel, orthonormal=self.orthonormal, **self.settings)

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(self.batch, self.fields()[1].size, *self.size),)

    def dense(self, layer: Any, x: Tensor) -> Tensor:
        out, inp = self.fields()
        plain = PLAIN[self.layer](inp.size, out.size, self.kernel, **self.settings).double()
        with torch.no_grad():
            plain.weight.copy_(dense_weight(layer.scheme, layer.scheme.psi))
            if plain.bias is not None:
                plain.bias.copy_(dense_weight(layer.bias_scheme, layer.bias_scheme.psi))
        return plain(x)


class Variant(ConvContract):
    """Exporting to ONNX takes most of a second: one case of every layer and padding is enough."""

    test_runs_in_onnxruntime = None


# --- two axes -----------------------------------------------------------------------------------


class TestConv2d(ConvContract):
    settings: ClassVar = {"padding": 1}


class TestConv2dValid(Variant):
    settings: ClassVar = {"padding": "valid", "bias": False}


class TestConv2dStride(Variant):
    settings: ClassVar = {"stride": 2, "padding": 1}


class TestConv2dPatches(Variant):
    """An even kernel, one patch beside the other."""

    kernel, size = 2, (4, 4)
    settings: ClassVar = {"stride": 2, "bias": False}


class TestConv2dDilation(Variant):
    settings: ClassVar = {"dilation": 2, "padding": (2, 2)}


class TestConv2dSame(ConvContract):
    settings: ClassVar = {"padding": "same", "dilation": 2}


class TestConv2dCircular(ConvContract):
    settings: ClassVar = {"padding": 1, "padding_mode": "circular"}


class TestConv2dReflect(ConvContract):
    kernel = 5
    settings: ClassVar = {"padding": 2, "padding_mode": "reflect", "stride": 2}


class TestConv2dReplicate(ConvContract):
    settings: ClassVar = {"padding": (1, 1), "padding_mode": "replicate"}


class TestConv2dSameCircular(Variant):
    kernel = 5
    settings: ClassVar = {"padding": "same", "padding_mode": "circular", "bias": False}


class TestConv2dValidReflect(Variant):
    settings: ClassVar = {"padding": "valid", "padding_mode": "reflect"}


class TestConv2dDepthwise(Variant):
    settings: ClassVar = {"groups": 8, "padding": 1}


class TestConv2dBlocks(Variant):
    """Two blocks of one whole field each."""

    settings: ClassVar = {"groups": 2, "padding": 1}
    batch = 1

    def fields(self) -> tuple[Action, Action]:
        return regular(D4, 2), regular(D4, 2)


class TestConv2dDepthwiseVectors(Variant):
    settings: ClassVar = {"groups": 2, "padding": 1}

    def fields(self) -> tuple[Action, Action]:
        return vectors(D4), vectors(D4)


class TestConv2dLifting(Variant):
    kernel = 5
    settings: ClassVar = {"padding": 2}

    def fields(self) -> tuple[Action, Action]:
        return regular(D4), trivial(D4, 2)


class TestConv2dPictures(Variant):
    """From pictures to pictures: a filter that looks the same from all sides."""

    settings: ClassVar = {"padding": 1}

    def fields(self) -> tuple[Action, Action]:
        return trivial(D4, 2), trivial(D4, 3)


class TestConv2dPointwise(Variant):
    kernel = 1

    def fields(self) -> tuple[Action, Action]:
        return regular(D4), quotient(D4, D1)


class TestConv2dQuotients(Variant):
    settings: ClassVar = {"padding": 1}

    def fields(self) -> tuple[Action, Action]:
        return quotient(D4, iso.group("C4"), 2), side_by_side([quotient(D4, D1), trivial(D4, 1)])


class TestConv2dVectors(Variant):
    """Signs in the kernel and zeros that they force, as in the bias of a vector."""

    settings: ClassVar = {"padding": 1}

    def fields(self) -> tuple[Action, Action]:
        return side_by_side([vectors(D4), regular(D4)]), side_by_side([trivial(D4, 1), vectors(D4)])


class TestConv2dOrthonormal(Variant):
    orthonormal = True
    settings: ClassVar = {"padding": 1}

    def fields(self) -> tuple[Action, Action]:
        return side_by_side([vectors(D4), quotient(D4, D1)]), regular(D4)


class TestConv2dOblong(Variant):
    """Mirrors and half turns leave an oblong kernel and picture what they are."""

    kernel, size = (3, 5), (5, 6)
    settings: ClassVar = {"padding": (1, 2), "dilation": (2, 1)}

    def fields(self) -> tuple[Action, Action]:
        return regular(D2), quotient(D2, D1, 2)


class TestConv2dSmoothed(Variant):
    """A stride that does not fit, all its placements averaged (`exact=True`)."""

    size = (6, 6)
    settings: ClassVar = {"stride": 2, "padding": 1}

    def make(self) -> Conv2d:
        layer = super().make()
        layer.left_over = (1, 1)
        return layer

    def dense(self, layer: Conv2d, x: Tensor) -> Tensor:
        weight = dense_weight(layer.scheme, layer.scheme.psi)
        bias = dense_weight(layer.bias_scheme, layer.bias_scheme.psi)
        padded = F.pad(x, (1, 1, 1, 1))
        placements = [
            F.conv2d(padded[:, :, i : i + 7, j : j + 7], weight, bias, 2)
            for i in (0, 1)
            for j in (0, 1)
        ]
        return torch.stack(placements).mean(0)


class TestGroupConv2d(ConvContract):
    layer = GroupConv2d
    settings: ClassVar = {"padding": 1, "padding_mode": "circular", "bias": False}

    def make(self) -> GroupConv2d:
        return GroupConv2d(1, 2, 3, "D4", **self.settings)

    def fields(self) -> tuple[Action, Action]:
        return regular(D4, 2), regular(D4, 1)


class TestLiftingConv2d(ConvContract):
    layer = LiftingConv2d
    settings: ClassVar = {"padding": 1, "stride": 2}

    def make(self) -> LiftingConv2d:
        return LiftingConv2d(3, 1, 3, D4, **self.settings)

    def fields(self) -> tuple[Action, Action]:
        return regular(D4, 1), trivial(D4, 3)


class TestConvTranspose2d(ConvContract):
    layer = ConvTranspose2d
    settings: ClassVar = {"stride": 2, "padding": 1}
    size = (3, 3)


class TestConvTranspose2dPatches(Variant):
    layer, kernel = ConvTranspose2d, 2
    settings: ClassVar = {"stride": 2, "bias": False}
    size = (3, 3)

    def fields(self) -> tuple[Action, Action]:
        return quotient(D4, D1, 2), regular(D4)


class TestConvTranspose2dVectors(Variant):
    layer = ConvTranspose2d
    settings: ClassVar = {"dilation": 2}
    size = (3, 3)

    def fields(self) -> tuple[Action, Action]:
        return side_by_side([vectors(D4), trivial(D4, 1)]), regular(D4)


class TestConvTranspose2dDepthwise(Variant):
    layer = ConvTranspose2d
    settings: ClassVar = {"groups": 8, "stride": (2, 2)}
    size = (3, 3)


class TestConvTranspose2dBlocks(Variant):
    layer, batch = ConvTranspose2d, 1
    settings: ClassVar = {"groups": 2, "stride": 2}
    size = (3, 3)

    def fields(self) -> tuple[Action, Action]:
        return regular(D4, 2), regular(D4, 2)


class TestConvTranspose2dOrthonormal(Variant):
    layer, orthonormal = ConvTranspose2d, True
    size = (3, 3)


# --- one axis -----------------------------------------------------------------------------------


class TestConv1d(ConvContract):
    layer, size = Conv1d, (9,)
    settings: ClassVar = {"padding": 1, "stride": 2}

    def fields(self) -> tuple[Action, Action]:
        return regular(D1, 2), side_by_side([regular(D1), trivial(D1, 1)])


class TestConv1dSame(Variant):
    layer, kernel, size = Conv1d, 5, (9,)
    settings: ClassVar = {"padding": "same", "dilation": 2, "bias": False}

    def fields(self) -> tuple[Action, Action]:
        return regular(D1), regular(D1)


class TestConv1dReflect(Variant):
    layer, size = Conv1d, (6,)
    settings: ClassVar = {"padding": 2, "padding_mode": "reflect", "dilation": 2}

    def fields(self) -> tuple[Action, Action]:
        return regular(D1), trivial(D1, 2)


class TestConv1dReplicateBlocks(Variant):
    layer, size = Conv1d, (6,)
    settings: ClassVar = {"padding": 1, "padding_mode": "replicate", "groups": 2}

    def fields(self) -> tuple[Action, Action]:
        return regular(D1, 2), regular(D1, 2)


class TestConv1dCircularDepthwise(Variant):
    layer, kernel, size = Conv1d, 4, (6,)
    settings: ClassVar = {"padding": 3, "padding_mode": "circular", "groups": 2}

    def fields(self) -> tuple[Action, Action]:
        return regular(D1), regular(D1)


class TestConvTranspose1d(ConvContract):
    layer, kernel, size = ConvTranspose1d, 4, (5,)
    settings: ClassVar = {"padding": 1, "stride": 2}

    def fields(self) -> tuple[Action, Action]:
        return side_by_side([regular(D1), trivial(D1, 1)]), regular(D1, 2)


class TestConvTranspose1dBlocks(Variant):
    layer, size = ConvTranspose1d, (5,)
    settings: ClassVar = {"stride": 2, "dilation": 2, "padding": 1, "groups": 2, "bias": False}

    def fields(self) -> tuple[Action, Action]:
        return regular(D1, 2), regular(D1, 2)


# --- three axes ---------------------------------------------------------------------------------


class Variant3d(Variant):
    layer, size, batch = Conv3d, (3, 3, 3), 1
    settings: ClassVar = {"padding": 1}

    def fields(self) -> tuple[Action, Action]:
        return regular(CORNER), trivial(CORNER, 1)


class TestConv3d(Variant3d):
    test_runs_in_onnxruntime = ConvContract.test_runs_in_onnxruntime


class TestConv3dVectors(Variant3d):
    settings: ClassVar = {"stride": 2, "padding": 1, "bias": False}

    def fields(self) -> tuple[Action, Action]:
        return vectors(CORNER), vectors(CORNER)


class TestConv3dDilation(Variant3d):
    settings: ClassVar = {"dilation": 2, "padding": 2}

    def fields(self) -> tuple[Action, Action]:
        return quotient(CORNER, CORNER.subgroup(["cdr"])), trivial(CORNER, 1)


class TestConv3dCircular(Variant3d):
    settings: ClassVar = {"padding": 1, "padding_mode": "circular"}

    def fields(self) -> tuple[Action, Action]:
        return quotient(CORNER, CORNER.subgroup(["cdr"])), trivial(CORNER, 1)


class TestConv3dReplicateBlocks(Variant3d):
    settings: ClassVar = {"padding": "same", "padding_mode": "replicate", "groups": 2}

    def fields(self) -> tuple[Action, Action]:
        return trivial(CORNER, 2), trivial(CORNER, 2)


class TestConv3dReflectDepthwise(Variant3d):
    """Turns of the last two axes only, as on a film."""

    kernel = (1, 3, 3)
    settings: ClassVar = {"padding": (0, 1, 1), "padding_mode": "reflect", "groups": 4}

    def fields(self) -> tuple[Action, Action]:
        return quotient(D4, D1), quotient(D4, D1)


class TestConv3dRotationsOfTheCube(Variant3d):
    """All 24; of the 30 subgroups a few."""

    kernel, size = 2, (3, 3, 3)
    settings: ClassVar = {}

    def fields(self) -> tuple[Action, Action]:
        return vectors(CUBE) + trivial(CUBE, 1), quotient(CUBE, CORNER)

    def subgroups(self, group: FiniteGroup) -> Sequence[FiniteGroup]:
        return [group.trivial_subgroup, CORNER, group]


class TestConvTranspose3d(Variant3d):
    layer, kernel, size = ConvTranspose3d, 2, (2, 2, 2)
    settings: ClassVar = {"stride": 2}
    test_runs_in_onnxruntime = ConvContract.test_runs_in_onnxruntime

    def fields(self) -> tuple[Action, Action]:
        return trivial(CORNER, 1), regular(CORNER)


class TestConvTranspose3dBlocks(Variant3d):
    layer, kernel, size = ConvTranspose3d, 2, (2, 2, 2)
    settings: ClassVar = {"dilation": 2, "groups": 3, "bias": False}

    def fields(self) -> tuple[Action, Action]:
        return vectors(CORNER), vectors(CORNER)


# --- what no group keeps, but torch can do ------------------------------------------------------

LOPSIDED = [
    (Conv1d, 4, (7,), {"padding": "same"}),
    (Conv1d, 4, (7,), {"padding": "same", "padding_mode": "reflect"}),
    (Conv2d, 2, (4, 4), {"padding": "same"}),
    (Conv2d, 4, (5, 5), {"padding": "same", "padding_mode": "circular", "dilation": 1}),
    (Conv2d, 3, (6, 6), {"stride": 2, "padding": 1}),
    (Conv2d, 3, (6, 6), {"stride": (2, 1), "padding": (1, 0), "padding_mode": "replicate"}),
    (Conv2d, 3, (7, 6), {"stride": 3}),
    (Conv3d, 2, (3, 3, 3), {"padding": "same"}),
    (ConvTranspose1d, 3, (4,), {"stride": 2, "output_padding": 1}),
    (ConvTranspose2d, 3, (3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    (ConvTranspose2d, 3, (3, 4), {"stride": (2, 3), "output_padding": (1, 2), "bias": False}),
    (ConvTranspose3d, 2, (2, 2, 2), {"stride": 2, "output_padding": (0, 1, 0)}),
]


@pytest.mark.parametrize(("kind", "kernel", "size", "settings"), LOPSIDED)
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel:UserWarning")
def test_settings_that_no_group_keeps(
    kind: Any, kernel: int, size: tuple[int, ...], settings: dict[str, Any]
) -> None:
    """They equal torch's own all the same."""
    group = iso.group("C1") if len(size) < 2 else D1
    layer = kind.tied(regular(group, 2), regular(group, 1), kernel, **settings).double()
    plain = PLAIN[kind](group.order, 2 * group.order, kernel, **settings).double()
    with torch.no_grad():
        plain.weight.copy_(layer.weight)
        if plain.bias is not None:
            plain.bias.copy_(layer.bias)
    x = torch.randn(2, group.order, *size).double()
    same(run(layer, x), run(plain, x))
    same(run(layer.folded(), x), run(plain, x))


# --- making -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["C1", "D1d", "C2", "D2", "C4"])
@pytest.mark.parametrize("kind", [Conv2d, ConvTranspose2d])
def test_tied_to_a_subgroup_from_the_start(kind: Any, name: str) -> None:
    small = iso.group(name)
    layer = kind.tied(vectors(D4), regular(D4), 3, group=small)
    retied = kind.tied(vectors(D4), regular(D4), 3)
    retied.retie(small)
    assert layer.group == small == retied.group
    assert layer.layout == D4
    for scheme in ("scheme", "bias_scheme"):
        assert getattr(layer, scheme).partition.equals(getattr(retied, scheme).partition)


def test_parameters_are_counted_as_in_the_paper() -> None:
    """001: C_out · C_in · |G| · k² between fields, C_out · C_in · k² lifting."""
    assert GroupConv2d(3, 5, 3, "D4").scheme.free_parameters == 5 * 3 * 8 * 9
    assert GroupConv2d(3, 5, 3, "C4").scheme.free_parameters == 5 * 3 * 4 * 9
    assert LiftingConv2d(3, 5, 3, "D4").scheme.free_parameters == 5 * 3 * 9
    assert GroupConv2d(3, 5, 3, "D4").bias_scheme.free_parameters == 5


def test_blocks_that_cut_fields_are_refused() -> None:
    with pytest.raises(InputError, match="4 blocks"):
        Conv2d.tied(regular(D4), regular(D4), 3, groups=4)


def test_channels_that_blocks_do_not_divide_are_refused() -> None:
    with pytest.raises(InputError, match="groups"):
        Conv2d.tied(trivial(D4, 4), trivial(D4, 3), 3, groups=2)


def test_an_oblong_kernel_is_refused_for_quarter_turns() -> None:
    with pytest.raises(InputError, match="square"):
        Conv2d.tied(regular(D4), regular(D4), (3, 5))


@pytest.mark.parametrize("kind", [Conv2d, ConvTranspose2d])
def test_an_unknown_padding_mode_is_refused(kind: Any) -> None:
    with pytest.raises(InputError, match="mirror"):
        kind.tied(regular(D4), regular(D4), 3, padding_mode="mirror")


def test_a_transposed_convolution_pads_with_zeros_only() -> None:
    with pytest.raises(InputError, match="pads with zeros"):
        ConvTranspose2d.tied(regular(D4), regular(D4), 3, padding_mode="circular")


def test_a_single_picture_without_a_batch() -> None:
    """As torch's own layers take it."""
    layer = GroupConv2d(1, 1, 3, "C4", padding=1)
    x = torch.randn(4, 5, 5)
    same(run(layer, x), run(layer, x[None])[0], 1e-6)


# --- the contract's own tools -------------------------------------------------------------------


@pytest.mark.parametrize("element", ELEMENTS)
def test_pictures_turn_as_rot90_turns_them(element: str) -> None:
    x = torch.randn(2, 3, 4, 4)
    assert torch.equal(turn(x, D4, element, (2, 3)), turn_by_rot90(x, element))


def test_regular_fields_move_by_the_group_table() -> None:
    x = torch.randn(1, 8)
    for a, left in enumerate(D4.elements):
        moved = act(x, regular(D4), left, 1)
        for b in range(8):
            assert moved[0, D4.table[a, b]] == x[0, b]


def test_a_plain_convolution_is_not_equivariant() -> None:
    """The error that the contract looks at is there where it should be."""
    plain, x = nn.Conv2d(8, 8, 3, padding=1).double(), torch.randn(2, 8, 5, 5).double()
    action = regular(D4)
    y = run(plain, x)
    for g in D4.elements[1:]:
        moved = run(plain, turn(act(x, action, g, 1), D4, g, (2, 3)))
        assert relative(moved, turn(act(y, action, g, 1), D4, g, (2, 3))) > 0.1
