"""iso.audit finds every cause at its layer and at no other, and what it claims is so."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import isotropy as iso
from isotropy.groups import regular, trivial
from isotropy.nn.audit import Audit
from tests.models import MLP, VGG, Lambda, ResNet18, UNet, as_if_trained
from tests.turns import ELEMENTS, SUBGROUPS, pixel_permutation

EXACT = 1e-12
CLEAR = 1e-3


def causes(audit: Audit) -> dict[str, str]:
    """The rows that have a cause; each must have a clear error, and every other one none."""
    for row in audit.rows:
        assert (row.error > CLEAR) if row.cause else (row.error <= EXACT), row
    return {row.layer: row.cause for row in audit.rows if row.cause}


def field_conv(group: str, kernel: int = 3, **settings: object) -> nn.Module:
    return iso.nn.GroupConv2d(1, 1, kernel, group, **settings)


def between_convolutions(fault: nn.Module, group: str = "C4") -> nn.Module:
    """An exact layer, the one to be examined (as "2"), an exact one again."""
    lift = iso.nn.LiftingConv2d(1, 1, 3, group, padding=1)
    return nn.Sequential(lift, nn.ReLU(), fault, nn.ReLU(), field_conv(group, padding=1))


# -- each cause by itself -------------------------------------------------------------------

STRIDE = r"stride {stride} on size {size} leaves {left} pixel\(s\) over"
FAULTS: dict[str, tuple[Callable[[], nn.Module], int, str, str]] = {
    "conv": (
        lambda: field_conv("C4", stride=2),
        8,
        "2",
        STRIDE.format(stride=2, size=8, left=1) + r" \(kernel 3, padding 0\)",
    ),
    "conv with padding": (
        lambda: field_conv("C4", stride=2, padding=1),
        8,
        "2",
        STRIDE.format(stride=2, size=8, left=1) + r" \(kernel 3, padding 1\)",
    ),
    "conv with dilation": (
        lambda: field_conv("C4", stride=3, dilation=2),
        10,
        "2",
        STRIDE.format(stride=3, size=10, left=2),
    ),
    "conv 1x1": (
        lambda: field_conv("C4", kernel=1, stride=2),
        8,
        "2",
        STRIDE.format(stride=2, size=8, left=1),
    ),
    "max pool": (
        lambda: nn.MaxPool2d(3, 2),
        8,
        "max_pool2d in 2",
        STRIDE.format(stride=2, size=8, left=1),
    ),
    "max pool with dilation": (
        lambda: nn.MaxPool2d(2, 3, dilation=3),
        9,
        "max_pool2d in 2",
        STRIDE.format(stride=3, size=9, left=2),
    ),
    "max pool, default stride": (
        lambda: nn.MaxPool2d(2),
        9,
        "max_pool2d in 2",
        STRIDE.format(stride=2, size=9, left=1),
    ),
    "max pool, ceil mode": (
        lambda: nn.MaxPool2d(2, ceil_mode=True),
        9,
        "max_pool2d in 2",
        STRIDE.format(stride=2, size=9, left=1),
    ),
    "average pool": (
        lambda: nn.AvgPool2d(3, 2),
        8,
        "avg_pool2d in 2",
        STRIDE.format(stride=2, size=8, left=1),
    ),
    "average pool, ceil mode": (
        lambda: nn.AvgPool2d(3, 3, ceil_mode=True),
        11,
        "avg_pool2d in 2",
        STRIDE.format(stride=3, size=11, left=2),
    ),
    "Lp pool": (
        lambda: nn.LPPool2d(2, 3, 2),
        8,
        "lp_pool2d in 2",
        STRIDE.format(stride=2, size=8, left=1),
    ),
    "same, even kernel": (
        lambda: field_conv("C4", kernel=2, padding="same"),
        8,
        "2",
        r'asymmetric padding \("same" with an even kernel\)',
    ),
    "unequal padding": (
        lambda: nn.ZeroPad2d((0, 1, 0, 1)),
        8,
        "pad in 2",
        "asymmetric padding",
    ),
    "output padding": (
        lambda: iso.nn.ConvTranspose2d.tied(
            regular(iso.group("C4")), regular(iso.group("C4")), 3, stride=2, output_padding=1
        ),
        6,
        "2",
        "asymmetric output padding",
    ),
    "nearest by 1.5": (
        lambda: nn.Upsample(scale_factor=1.5),
        8,
        "interpolate in 2",
        'upsampling mode "nearest" by a factor that is no whole number',
    ),
    "nearest to a size": (
        lambda: nn.Upsample(size=(11, 11)),
        8,
        "interpolate in 2",
        'upsampling mode "nearest" by a factor that is no whole number',
    ),
    "nearest downwards": (
        lambda: nn.Upsample(scale_factor=0.5),
        8,
        "interpolate in 2",
        'upsampling mode "nearest" by a factor that is no whole number',
    ),
    "nearest-exact by 1.5": (
        lambda: nn.Upsample(scale_factor=1.5, mode="nearest-exact"),
        8,
        "interpolate in 2",
        'interpolation in upsampling mode "nearest-exact"',
    ),
}


# torch's own words about the copy that it makes
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_where_it_is(name: str) -> None:
    make, size, layer, words = FAULTS[name]
    audit = iso.audit(between_convolutions(make()), torch.randn(2, 1, size, size), "C4")
    found = causes(audit)
    assert list(found) == [r.layer for r in audit.rows if r.layer.endswith(layer)] != []
    assert len(found) == 1, "the layers after it have no error of their own"
    (cause,) = found.values()
    assert re.match(words, cause), cause
    assert audit.worst.cause == cause


HARMLESS: dict[str, Callable[[], nn.Module]] = {
    "stride that fits": lambda: field_conv("C4", stride=2, padding=1),
    "stride without overlap": lambda: field_conv("C4", stride=3),
    "max pool that fits": lambda: nn.MaxPool2d(3, 2),
    "average pool that fits": lambda: nn.AvgPool2d(3),
    "same, odd kernel": lambda: field_conv("C4", padding="same"),
    "same, even kernel, even dilation": lambda: field_conv(
        "C4", kernel=2, dilation=2, padding="same"
    ),
    "equal padding": lambda: nn.ReflectionPad2d(2),
    "nearest by 2": lambda: nn.Upsample(scale_factor=2),
    "nearest to twice the size": lambda: nn.Upsample(size=(18, 18)),
    "bilinear": lambda: nn.Upsample(scale_factor=2, mode="bilinear"),
    "bilinear by 1.5, corners": lambda: nn.Upsample(
        scale_factor=1.5, mode="bilinear", align_corners=True
    ),
    "bicubic": lambda: nn.Upsample(size=(13, 13), mode="bicubic"),
    "adaptive average": lambda: nn.AdaptiveAvgPool2d(4),
    "transposed": lambda: iso.nn.ConvTranspose2d.tied(
        regular(iso.group("C4")), regular(iso.group("C4")), 2, stride=2
    ),
    "circular": lambda: field_conv("C4", padding=1, padding_mode="circular"),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_exact_has_no_cause(name: str) -> None:
    model = between_convolutions(HARMLESS[name]())
    assert causes(iso.audit(model, torch.randn(2, 1, 9, 9), "C4")) == {}


FUNCTIONS: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {
    "max_pool2d by place": (lambda x: F.max_pool2d(x, 3, 2), "stride 2 on size 8 leaves 1"),
    "max_pool2d by name": (
        lambda x: F.max_pool2d(x, kernel_size=(3, 3), stride=(2, 2)),
        "stride 2 on size 8 leaves 1",
    ),
    "torch.max_pool2d": (lambda x: torch.max_pool2d(x, 3, 2), "stride 2 on size 8 leaves 1"),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, [3], [2]), "stride 2 on size 8 leaves 1"),
    "avg_pool2d with padding": (lambda x: F.avg_pool2d(x, 3, 2, 1), "stride 2 on size 8 leaves 1"),
    "pad by place": (lambda x: F.pad(x, (1, 0)), "asymmetric padding"),
    "pad by name": (lambda x: F.pad(x, pad=(2, 1, 2, 1)), "asymmetric padding"),
    "interpolate": (
        lambda x: F.interpolate(x, (11, 11)),
        'upsampling mode "nearest" by a factor that is no whole number',
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_audited_too(name: str) -> None:
    function, words = FUNCTIONS[name]
    model = Lambda(
        lambda m, x: m["b"](torch.relu(function(m["a"](x)))),
        a=iso.nn.LiftingConv2d(1, 1, 3, "D1", padding=1),
        b=field_conv("D1", padding=1),
    )
    ((layer, cause),) = causes(iso.audit(model, torch.randn(2, 1, 8, 8), "D1")).items()
    assert layer.endswith(" in the model")
    assert cause.startswith(words)


# -- "exact at size ..." is so --------------------------------------------------------------


def sizes_said_to_be_exact(cause: str) -> list[int]:
    found = re.search(r"exact at size (-?\d+) or (-?\d+)", cause)
    assert found, cause
    return [int(size) for size in found.groups()]


def alone(kind: str, group: str, dimensions: int, k: int, s: int, p: int, d: int) -> nn.Module:
    """One layer with these settings, on fields of the group or on plain channels."""
    if kind == "conv":
        own = iso.group(group)
        tied = (iso.nn.Conv1d, iso.nn.Conv2d, iso.nn.Conv3d)[dimensions - 1].tied
        return tied(regular(own), trivial(own, 1), k, stride=s, padding=p, dilation=d)
    if kind == "max":
        pool = (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)[dimensions - 1]
        return nn.Sequential(pool(k, s, p, d))
    pool = (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)[dimensions - 1]
    return nn.Sequential(pool(k, s, p))


SETTINGS = [
    # kind, group, dimensions, kernel, stride, padding, dilation, size
    ("conv", "C4", 2, 3, 2, 0, 1, 8),
    ("conv", "C4", 2, 3, 2, 1, 1, 12),
    ("conv", "D4", 2, 2, 3, 0, 1, 9),
    ("conv", "C2", 2, 5, 4, 2, 1, 12),
    ("conv", "D1", 2, 3, 2, 2, 2, 10),
    ("conv", "D1", 1, 4, 3, 1, 1, 9),
    ("conv", "O", 3, 3, 2, 1, 1, 6),
    ("conv", "D4", 3, 2, 2, 0, 1, 5),
    ("max", "C4", 2, 2, 2, 0, 1, 7),
    ("max", "D4", 2, 3, 2, 1, 1, 8),
    ("max", "C4", 2, 2, 3, 1, 2, 9),
    ("max", "D1", 1, 5, 4, 2, 1, 12),
    ("max", "O", 3, 2, 2, 0, 1, 5),
    ("avg", "C4", 2, 2, 2, 0, 1, 7),
    ("avg", "D4", 2, 3, 2, 1, 1, 8),
    ("avg", "D1", 1, 3, 3, 0, 1, 10),
    ("avg", "Oh", 3, 3, 2, 0, 1, 6),
]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_sizes_it_names_are_exact(
    setting: tuple[str, str, int, int, int, int, int, int],
) -> None:
    kind, group, dimensions, k, s, p, d, size = setting
    layer = alone(kind, group, dimensions, k, s, p, d)

    def row(n: int) -> iso.nn.audit.AuditRow:
        (found,) = iso.audit(layer, torch.randn(1, 1, *[n] * dimensions), group).rows
        return found

    bad = row(size)
    assert bad.error > CLEAR
    named = sizes_said_to_be_exact(bad.cause)
    assert named[0] < size < named[1]
    assert named[1] - named[0] == s
    for n in named:
        good = row(n)
        assert good.error <= EXACT
        assert good.cause == ""


def test_nothing_between_the_sizes_it_names_is_exact() -> None:
    layer = alone("conv", "C4", 2, 3, 4, 1, 1)
    errors = {
        n: iso.audit(layer, torch.randn(1, 1, n, n), "C4").rows[0].error for n in range(9, 14)
    }
    assert [n for n, error in errors.items() if error <= EXACT] == [9, 13]


def test_it_names_the_axis_that_the_group_moves() -> None:
    """A mirror left-right does not mind what happens to the rows."""
    layer = iso.nn.LiftingConv2d(1, 1, 3, "D1", stride=2)
    (row,) = iso.audit(layer, torch.randn(1, 1, 8, 10), "D1").rows
    assert row.error > CLEAR
    assert "on size 10" in row.cause
    (row,) = iso.audit(layer, torch.randn(1, 1, 8, 9), "D1").rows
    assert row.error <= EXACT


# -- layers that are not tied ---------------------------------------------------------------


def test_every_layer_of_a_plain_network() -> None:
    model = as_if_trained(VGG())
    found = causes(iso.audit(model, torch.randn(2, 1, 12, 12), "D4"))
    layers = {n: type(m) for n, m in model.named_modules()}
    expected = {
        name: "batch norm per channel" if kind is nn.BatchNorm2d else "untied layer"
        for name, kind in layers.items()
        if kind in (nn.Conv2d, nn.BatchNorm2d, nn.Linear)
    }
    assert found == expected


def test_both_causes_of_one_layer() -> None:
    (row,) = iso.audit(nn.Sequential(nn.Conv2d(1, 8, 3, 2)), torch.randn(1, 1, 8, 8), "C4").rows
    assert row.cause.startswith("untied layer; stride 2 on size 8")


PER_CHANNEL: list[tuple[nn.Module, str]] = [
    (nn.BatchNorm2d(8), "batch norm per channel"),
    (nn.GroupNorm(2, 8), "GroupNorm per channel"),
    (nn.InstanceNorm2d(8, affine=True), "InstanceNorm2d per channel"),
    (nn.LayerNorm((8, 7, 7)), "LayerNorm per channel"),
    (nn.PReLU(8), "PReLU per channel"),
]


@pytest.mark.parametrize(("norm", "cause"), PER_CHANNEL, ids=[c for _, c in PER_CHANNEL])
def test_parameters_per_channel(norm: nn.Module, cause: str) -> None:
    for parameter in norm.parameters():
        nn.init.uniform_(parameter, 0.5, 1.5)
    model = nn.Sequential(
        iso.nn.LiftingConv2d(1, 2, 3, "C4", padding=1),
        norm,
        iso.nn.GroupConv2d(2, 1, 3, "C4"),
    )
    assert causes(iso.audit(model, torch.randn(2, 1, 7, 7), "C4")) == {"1": cause}


@pytest.mark.parametrize("layer", ["features.0", "features.1", "features.10", "head.1", "head.4"])
def test_the_one_layer_that_is_not_tied(layer: str) -> None:
    x = torch.randn(2, 1, 12, 12)
    model = iso.fold(as_if_trained(iso.equivariant(VGG(16), "D4", x)))
    assert causes(iso.audit(model, x, "D4")) == {}
    with torch.no_grad():
        broken = model.get_submodule(layer)
        broken.weight.add_(torch.randn_like(broken.weight))
    what = "batch norm per channel" if isinstance(broken, nn.BatchNorm2d) else "untied layer"
    assert causes(iso.audit(model, x, "D4")) == {layer: what}


def test_statistics_per_channel_are_found() -> None:
    x = torch.randn(2, 1, 12, 12)
    model = iso.fold(iso.equivariant(VGG(), "D4", x))
    model.features[4].running_mean.add_(torch.randn(8))
    assert causes(iso.audit(model, x, "D4")) == {"features.4": "batch norm per channel"}


def test_a_bias_per_channel_is_found() -> None:
    x = torch.randn(2, 1, 12, 12)
    model = iso.fold(iso.equivariant(VGG(), "D4", x))
    with torch.no_grad():
        model.features[0].bias.add_(torch.randn(8))
    assert causes(iso.audit(model, x, "D4")) == {"features.0": "untied layer"}


def test_a_folded_layer_with_a_bad_stride_is_still_tied() -> None:
    """Its weights are symmetric; only the stride is to blame."""
    layer = iso.fold(nn.Sequential(iso.nn.LiftingConv2d(1, 1, 3, "C4", stride=2)))
    (row,) = iso.audit(layer, torch.randn(1, 1, 8, 8), "C4").rows
    assert row.error > CLEAR
    assert row.cause.startswith("stride 2 on size 8")


# -- whole networks -------------------------------------------------------------------------

NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], str]] = {
    "VGG": (VGG, (1, 12, 12), "invariant"),
    "ResNet": (ResNet18, (1, 17, 17), "invariant"),
    "U-Net": (UNet, (1, 12, 12), "image"),
}


@pytest.mark.parametrize("form", ["tied", "folded"])
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_without_fault(name: str, form: str) -> None:
    make, shape, output = NETWORKS[name]
    x = torch.randn(2, *shape)
    model = iso.equivariant(make(), "D4", x, output=output)
    if form == "folded":
        model = iso.fold(model)
    audit = iso.audit(model, x, "D4")
    assert causes(audit) == {}
    layers = {r.layer for r in audit.rows}
    assert {n for n, m in model.named_modules() if hasattr(m, "weight")} <= layers


@pytest.mark.parametrize("name", SUBGROUPS)
def test_a_network_under_every_subgroup(name: str) -> None:
    x = torch.randn(2, 1, 12, 12)
    model = iso.equivariant(VGG(), "D4", x)
    audit = iso.audit(model, x, name)
    assert causes(audit) == {}
    assert str(audit.group) == name
    assert len(audit.rows) == len(iso.audit(model, x).rows)


@pytest.mark.parametrize("name", ["C2", "C4", "D1", "D1d", "D2"])
def test_a_relaxed_layer_is_equivariant_to_what_it_keeps(name: str) -> None:
    x = torch.randn(2, 1, 9, 9)
    plain = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8), nn.Conv2d(8, 8, 3)
    )
    model = iso.relax(iso.equivariant(plain, "D4", x, output="field"), "2", name)
    assert causes(iso.audit(model, x, "D4")) == {}, "the function is unchanged so far"
    for layer in (model[2], model[4]):
        layer.reset_parameters()
    assert causes(iso.audit(model, x, name)) == {}
    assert causes(iso.audit(model, x)) == {}, "by default the group that all layers keep"
    assert str(iso.audit(model, x).group) == name
    assert set(causes(iso.audit(model, x, "D4"))) == {"2", "4"}


def test_a_network_with_input_action_and_labels() -> None:
    x = torch.randn(4, 9)
    turns = {g: pixel_permutation(g, 3) for g in ELEMENTS}
    labels = {"s": [1, 0, 2, 3, 4]}
    model = iso.equivariant(
        MLP(), "D2", x, output=labels, action={g: turns[g] for g in ("r2", "s")}
    )
    assert causes(iso.audit(model, x)) == {}
    assert causes(iso.audit(model, x, "D1")) == {}
    with torch.no_grad():
        model.layers[0].bias_scheme.psi.add_(1)
        model.layers[5] = copy.deepcopy(iso.fold(model.layers[5]))
        model.layers[5].weight[0, 0] += 1
    assert causes(iso.audit(model, x)) == {"layers.5": "untied layer"}


def test_the_given_action_is_used() -> None:
    x = torch.randn(4, 9)
    own = iso.group("C4")
    turn = iso.groups.permuting(own, {"r": pixel_permutation("r", 3)})
    layer = nn.Sequential(iso.nn.Linear.tied(regular(own, 2), turn))
    assert causes(iso.audit(layer, x, "C4", action=turn)) == {}


def test_an_early_error_does_not_make_later_layers_look_bad() -> None:
    x = torch.randn(2, 1, 12, 12)
    model = iso.fold(iso.equivariant(VGG(), "D4", x))
    with torch.no_grad():
        model.features[0].weight.normal_()
    assert iso.equivariance_error(model, x, "D4") > CLEAR
    audit = iso.audit(model, x, "D4")
    assert causes(audit) == {"features.0": "untied layer"}
    assert audit.worst.layer == "features.0"
    assert max(r.error for r in audit.rows if r.layer != "features.0") <= EXACT


def test_float32_networks_are_measured_in_float64() -> None:
    x = torch.randn(2, 1, 12, 12)
    model = iso.equivariant(VGG(), "D4", x)
    assert next(model.parameters()).dtype == torch.float32
    assert max(row.error for row in iso.audit(model, x).rows) <= EXACT


# -- order, shape, side effects -------------------------------------------------------------


def test_rows_come_in_order_of_execution() -> None:
    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        y = m["z"](m["c"](x))
        return m["a"](F.max_pool2d(m["z"](y), 3, 2))

    model = Lambda(
        forward,
        a=field_conv("C4"),
        z=field_conv("C4", padding=1),
        c=iso.nn.LiftingConv2d(1, 1, 3, "C4"),
    )
    rows = iso.audit(model, torch.randn(1, 1, 11, 11), "C4").rows
    assert [row.layer for row in rows] == [
        "layers.c",
        "layers.z",
        "layers.z",
        "max_pool2d in the model",
        "layers.a",
    ]


def test_the_table_reads_well() -> None:
    model = nn.Sequential(
        iso.nn.LiftingConv2d(1, 1, 3, "C4", padding=1), nn.MaxPool2d(3, 2), field_conv("C4")
    )
    audit = iso.audit(model, torch.randn(1, 1, 8, 8), "C4")
    head, *lines = str(audit).splitlines()
    assert head.split() == ["layer", "error", "cause", "(C4)"]
    assert len(lines) == len(audit.rows) == 3
    for line, row in zip(lines, audit.rows, strict=True):
        assert line.startswith(row.layer)
        assert float(line[head.index("error") :].split()[0]) == pytest.approx(row.error, rel=0.1)
        assert line[head.index("cause") :] == row.cause
    assert lines[1].endswith("exact at size 7 or 9")
    assert lines[0][head.index("cause") :] == ""


def test_the_model_is_untouched() -> None:
    x = torch.randn(2, 1, 12, 12)
    model = iso.equivariant(VGG(), "D4", x).train()
    model.head[3].eval()
    before = copy.deepcopy(model.state_dict())
    modes = [m.training for m in model.modules()]
    x_before = x.clone()
    iso.audit(model, x)
    assert [m.training for m in model.modules()] == modes
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    assert torch.equal(x, x_before)
    assert not hasattr(x, "_isotropy_layout")
    assert {p.dtype for p in model.parameters()} == {torch.float32}


# -- what is refused ------------------------------------------------------------------------


def test_a_group_that_does_not_act_on_the_fields_is_refused() -> None:
    x = torch.randn(2, 1, 12, 12)
    model = iso.equivariant(VGG(), "C4", x)
    with pytest.raises(iso.InputError, match="carries fields of C4, on which D4 does not act"):
        iso.audit(model, x, "D4")


def test_a_plain_network_needs_a_group() -> None:
    with pytest.raises(iso.InputError, match="group: say which"):
        iso.audit(VGG(), torch.randn(2, 1, 12, 12))


@pytest.mark.parametrize("name", ["C8", "C3", "S3"])
def test_a_group_without_geometry_is_refused_on_pictures(name: str) -> None:
    with pytest.raises(iso.InputError, match=f"{name} does not act exactly on a pixel grid"):
        iso.audit(nn.Sequential(nn.Conv2d(1, 8, 3)), torch.randn(2, 1, 12, 12), name)


def test_vectors_need_an_action() -> None:
    with pytest.raises(iso.InputError, match="action"):
        iso.audit(MLP(), torch.randn(2, 9), "C4")


def test_an_action_of_another_size_is_refused() -> None:
    turn = iso.groups.permuting(iso.group("C4"), {"r": pixel_permutation("r", 3)})
    with pytest.raises(
        iso.InputError, match="action is of C4 on 9 entries; needed is one of C4 on 8"
    ):
        iso.audit(MLP(8), torch.randn(2, 8), "C4", action=turn)


def test_what_cannot_be_followed_is_refused() -> None:
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.PixelShuffle(2))
    with pytest.raises(iso.NotSupportedError, match=r"1 \(PixelShuffle\)"):
        iso.audit(model, torch.randn(2, 1, 8, 8), "C4")
