"""iso.fold: torch's own modules only, the same outputs, and no need of isotropy."""

from __future__ import annotations

import copy
import io
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import isotropy as iso
from isotropy.groups import natural, quotient, regular, trivial, vectors
from isotropy.nn.subsample import SymmetricPool
from tests.models import MLP, VGG, Lambda, ResNet18, UNet, as_if_trained
from tests.turns import pixel_permutation

EXACT = 1e-12


def difference(a: Tensor, b: Tensor) -> float:
    assert a.shape == b.shape
    return float((a - b).detach().abs().max())


def assert_plain(model: nn.Module) -> None:
    """Nothing of isotropy is left in it, anywhere."""
    for name, module in model.named_modules():
        assert not type(module).__module__.startswith("isotropy"), name
        values = [*vars(module).values(), *vars(module).get("_buffers", {}).values()]
        assert not any(type(v).__module__.startswith("isotropy") for v in values), name


def as_in_use(layer: nn.Module) -> nn.Module:
    """In float64, with numbers in every parameter and statistic."""
    layer.double()
    for name, value in [*layer.named_parameters(), *layer.named_buffers()]:
        if "running" in name or isinstance(value, nn.Parameter):
            value.data.uniform_(0.5, 1.5)
    return layer


# -- layers ---------------------------------------------------------------------------------

C4, D1, D4, CUBE = iso.group("C4"), iso.group("D1"), iso.group("D4"), iso.group("O")
SWAPS = iso.PermutationGroup({"a": [1, 0, 2], "b": [1, 2, 0]}, "S3")
SETTINGS = {
    "stride": {"stride": 2},
    "padding": {"padding": (1, 2)},
    "same": {"padding": "same"},
    "valid": {"padding": "valid"},
    "dilation": {"dilation": 2},
    "circular": {"padding": 1, "padding_mode": "circular"},
    "reflect": {"padding": "same", "padding_mode": "reflect"},
    "replicate": {"padding": 1, "padding_mode": "replicate"},
    "no bias": {"bias": False},
    "groups": {"groups": 2},
    "subgroup": {"group": iso.group("C2")},
    "orthonormal": {"orthonormal": True},
}

LAYERS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], type[nn.Module]]] = {
    "Linear": (lambda: iso.nn.Linear.tied(trivial(C4, 3), regular(C4, 2)), (8,), nn.Linear),
    "Linear, no bias": (
        lambda: iso.nn.Linear.tied(trivial(C4, 3), regular(C4, 2), bias=False),
        (8,),
        nn.Linear,
    ),
    "Linear, signed": (
        lambda: iso.nn.Linear.tied(vectors(D4), regular(D4, 2)),
        (16,),
        nn.Linear,
    ),
    "Linear, on sequences": (
        lambda: iso.nn.Linear.tied(regular(C4), regular(C4, 2)),
        (5, 8),
        nn.Linear,
    ),
    "Linear, permutations": (
        lambda: iso.nn.Linear.tied(natural(SWAPS), natural(SWAPS, 2)),
        (6,),
        nn.Linear,
    ),
    "Linear, quotient": (
        lambda: iso.nn.Linear.tied(regular(D4), quotient(D4, iso.group("C2"), 2)),
        (8,),
        nn.Linear,
    ),
    **{
        f"Conv2d, {name}": (
            lambda options=options: iso.nn.Conv2d.tied(
                regular(C4, 2), regular(C4, 2), 3, **options
            ),
            (8, 7, 7),
            nn.Conv2d,
        )
        for name, options in SETTINGS.items()
    },
    "Conv1d": (
        lambda: iso.nn.Conv1d.tied(regular(D1), trivial(D1, 2), 3, stride=2),
        (2, 9),
        nn.Conv1d,
    ),
    "Conv3d": (
        lambda: iso.nn.Conv3d.tied(trivial(CUBE, 2), trivial(CUBE, 1), 3),
        (1, 4, 4, 4),
        nn.Conv3d,
    ),
    "ConvTranspose1d": (
        lambda: iso.nn.ConvTranspose1d.tied(regular(D1), trivial(D1, 2), 2, stride=2),
        (2, 5),
        nn.ConvTranspose1d,
    ),
    "ConvTranspose2d": (
        lambda: iso.nn.ConvTranspose2d.tied(
            regular(C4, 2), regular(C4, 2), 3, stride=2, padding=1, output_padding=1, groups=2
        ),
        (8, 5, 5),
        nn.ConvTranspose2d,
    ),
    "ConvTranspose3d": (
        lambda: iso.nn.ConvTranspose3d.tied(regular(C4), trivial(C4, 1), 2, dilation=2),
        (1, 4, 4, 4),
        nn.ConvTranspose3d,
    ),
    "GroupConv2d": (lambda: iso.nn.GroupConv2d(1, 2, 3, "D4"), (8, 5, 5), nn.Conv2d),
    "LiftingConv2d": (lambda: iso.nn.LiftingConv2d(3, 1, 3, "D4"), (3, 5, 5), nn.Conv2d),
    "MixedBatchNorm": (
        lambda: iso.nn.MixedBatchNorm(
            regular(C4, 2), 2, [C4, C4.trivial_subgroup], nn.Parameter(torch.tensor([0.3, -0.4]))
        ),
        (8, 5, 5),
        nn.BatchNorm2d,
    ),
    "BatchNorm, vectors": (lambda: iso.nn.BatchNorm(regular(C4, 2), 0), (8,), nn.BatchNorm1d),
    "BatchNorm, signals": (lambda: iso.nn.BatchNorm(regular(C4, 2), 1), (8, 5), nn.BatchNorm1d),
    "BatchNorm, images": (
        lambda: iso.nn.BatchNorm(regular(C4, 2), eps=0.1, momentum=0.3),
        (8, 5, 5),
        nn.BatchNorm2d,
    ),
    "BatchNorm, volumes": (
        lambda: iso.nn.BatchNorm(regular(C4, 2), 3, momentum=None),
        (8, 3, 3, 3),
        nn.BatchNorm3d,
    ),
    "BatchNorm, plain": (
        lambda: iso.nn.BatchNorm(regular(C4, 2), affine=False),
        (8, 5, 5),
        nn.BatchNorm2d,
    ),
    "InstanceNorm1d": (
        lambda: iso.nn.InstanceNorm(regular(C4, 2), 1),
        (8, 5),
        nn.InstanceNorm1d,
    ),
    "InstanceNorm2d": (
        lambda: iso.nn.InstanceNorm(regular(C4, 2), affine=True, track_running_stats=True),
        (8, 5, 5),
        nn.InstanceNorm2d,
    ),
    "GroupNorm": (lambda: iso.nn.GroupNorm(2, regular(C4, 4), eps=0.1), (16, 5), nn.GroupNorm),
    "GroupNorm, plain": (
        lambda: iso.nn.GroupNorm(2, regular(C4, 4), affine=False),
        (16, 5),
        nn.GroupNorm,
    ),
    "LayerNorm": (lambda: iso.nn.LayerNorm(regular(C4, 2)), (8,), nn.LayerNorm),
    "LayerNorm, no bias": (
        lambda: iso.nn.LayerNorm(regular(C4, 2), bias=False),
        (8,),
        nn.LayerNorm,
    ),
    "LayerNorm, plain": (
        lambda: iso.nn.LayerNorm(regular(C4, 2), elementwise_affine=False),
        (8,),
        nn.LayerNorm,
    ),
    "PReLU": (lambda: iso.nn.PReLU(regular(C4, 2), 0.1), (8, 5, 5), nn.PReLU),
    "FieldDropout, vectors": (
        lambda: iso.nn.FieldDropout(regular(C4, 2), 0.3, 0),
        (8,),
        nn.Dropout,
    ),
    "FieldDropout, images": (
        lambda: iso.nn.FieldDropout(regular(C4, 2), 0.3),
        (8, 5, 5),
        nn.Dropout2d,
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer(name: str) -> None:
    make, shape, kind = LAYERS[name]
    layer = as_in_use(make()).eval()
    before = copy.deepcopy(layer.state_dict())
    folded = iso.fold(layer)
    assert type(folded) is kind
    assert_plain(folded)
    assert not folded.training
    x = torch.randn(4, *shape, dtype=torch.float64)
    assert difference(folded(x), layer(x)) <= EXACT
    assert iso.fold(layer.train()).training
    assert all(torch.equal(v, before[k]) for k, v in layer.state_dict().items())


RANDOM_OR_SHARED = ("BatchNorm", "MixedBatchNorm", "FieldDropout")


@pytest.mark.parametrize("name", [n for n in LAYERS if not n.startswith(RANDOM_OR_SHARED)])
def test_every_layer_in_train_mode(name: str) -> None:
    """Batch norm takes its statistics per channel then, dropout falls per channel."""
    make, shape, _ = LAYERS[name]
    layer = as_in_use(make()).train()
    x = torch.randn(4, *shape, dtype=torch.float64)
    assert difference(iso.fold(layer)(x), layer(x)) <= EXACT


def test_every_class_of_the_package_is_among_them() -> None:
    made = {type(make()) for make, *_ in LAYERS.values()}
    named = {c for name in iso.nn.__all__ if isinstance(c := getattr(iso.nn, name), type)}
    assert named - made <= {iso.nn.TiedModule, iso.nn.GroupPool}


@pytest.mark.parametrize(
    "name", ["GroupConv2d", "Linear", "BatchNorm, images", "ConvTranspose2d", "PReLU", "LayerNorm"]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_types_of_numbers_stay(name: str, dtype: torch.dtype) -> None:
    make, shape, _ = LAYERS[name]
    layer = make().to(dtype).eval()
    folded = iso.fold(layer)
    tensors = [*folded.parameters(), *folded.buffers()]
    assert {t.dtype for t in tensors if t.is_floating_point()} == {dtype}
    x = torch.randn(4, *shape, dtype=dtype)
    assert torch.equal(folded(x), layer(x))


def test_settings_are_carried_over() -> None:
    folded = iso.fold(iso.nn.BatchNorm(regular(C4), eps=0.1, momentum=0.3))
    assert (folded.eps, folded.momentum) == (0.1, 0.3)
    layer = iso.nn.BatchNorm(regular(C4), momentum=None)
    layer(torch.randn(2, 4, 3, 3))
    folded = iso.fold(layer)
    assert folded.momentum is None
    assert int(folded.num_batches_tracked) == 1
    assert iso.fold(iso.nn.FieldDropout(regular(C4), 0.3)).p == 0.3
    conv = iso.fold(iso.nn.Conv2d.tied(regular(C4), regular(C4), 3, padding="same", dilation=2))
    assert (conv.padding, conv.dilation, conv.stride) == ("same", (2, 2), (1, 1))


def test_batch_norm_without_statistics_folds_to_the_same_or_not_at_all() -> None:
    """Its statistics are those of the batch in eval mode too, and shared over the field."""
    norm = iso.nn.BatchNorm(regular(C4, 2), track_running_stats=False).eval()
    x = torch.randn(4, 8, 5, 5)
    try:
        folded = iso.fold(norm)
    except iso.NotSupportedError:
        return
    assert difference(folded(x), norm(x)) <= 1e-6


def test_what_trains_is_kept() -> None:
    """A frozen layer stays frozen: fine-tuning the plain model begins where the tied one was."""
    x = torch.randn(2, 1, 12, 12)
    model = iso.equivariant(VGG(), "D4", x)
    for parameter in model.features.parameters():
        parameter.requires_grad_(False)
    folded = iso.fold(model)
    assert not any(p.requires_grad for p in folded.features.parameters())
    assert all(p.requires_grad for p in folded.head.parameters())


def test_folded_numbers_are_leaves_of_their_own() -> None:
    layer = iso.nn.GroupConv2d(1, 1, 3, "C4")
    folded = iso.fold(layer)
    before = layer.weight.detach().clone()
    assert folded.weight.is_leaf
    assert isinstance(folded.weight, nn.Parameter)
    folded(torch.randn(1, 4, 5, 5)).sum().backward()
    assert folded.weight.grad is not None
    assert all(p.grad is None for p in layer.parameters())
    with torch.no_grad():
        folded.weight.zero_()
    assert torch.equal(layer.weight, before)


# -- pooling over the group -----------------------------------------------------------------


@pytest.mark.parametrize("mode", ["mean", "max"])
@pytest.mark.parametrize("shape", [(), (5,), (5, 4)], ids=["vectors", "signals", "images"])
def test_group_pool(shape: tuple[int, ...], mode: str) -> None:
    x = torch.randn(3, 16, *shape, dtype=torch.float64)
    pool = iso.nn.GroupPool(D4, mode)
    for training in (True, False):
        folded = iso.fold(pool.train(training), x)
        assert_plain(folded)
        assert all(m.training == training for m in folded.modules())
        expected = torch.stack([x[:, :8], x[:, 8:]], 1)
        expected = expected.mean(2) if mode == "mean" else expected.amax(2)
        assert difference(folded(x), expected) <= EXACT
        assert difference(pool(x), expected) <= EXACT


def test_group_pool_within_a_network() -> None:
    x = torch.randn(2, 1, 9, 9, dtype=torch.float64)
    model = nn.Sequential(
        iso.nn.LiftingConv2d(1, 3, 3, "D4"),
        nn.ReLU(),
        iso.nn.GroupPool(D4, "max"),
        nn.Conv2d(3, 5, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    ).double()
    model[3].eval()
    folded = iso.fold(model, x)
    assert_plain(folded)
    assert difference(folded(x), model(x)) <= EXACT
    assert [m.training for m in model] == [True, True, True, False, True, True]
    assert not folded[3].training
    assert folded[2].training
    assert not any(m._forward_pre_hooks for m in [*model.modules(), *folded.modules()])


def test_group_pool_needs_an_example() -> None:
    with pytest.raises(iso.InputError, match="example: a network with a GroupPool needs a batch"):
        iso.fold(nn.Sequential(iso.nn.GroupPool(D4)))


def test_group_pool_over_volumes_is_refused() -> None:
    pool = iso.nn.GroupPool(D4)
    with pytest.raises(iso.NotSupportedError, match="GroupPool over volumes"):
        iso.fold(pool, torch.zeros(1, 8, 3, 3, 3))


def test_group_pool_that_does_not_run_is_refused() -> None:
    model = Lambda(
        lambda m, x: x if len(x) > 100 else m["a"](x), a=nn.ReLU(), b=iso.nn.GroupPool(D4)
    )
    with pytest.raises(iso.InputError, match="GroupPool"):
        iso.fold(model, torch.zeros(2, 8, 3, 3))


# -- strides made exact ---------------------------------------------------------------------

POOLS: list[tuple[nn.Module, tuple[int, ...]]] = [
    (SymmetricPool(nn.MaxPool2d(3, 1), (2, 2), (1, 1)), (2, 8, 8)),
    (SymmetricPool(nn.AvgPool2d(2, 1), (2, 2), (1, 1)), (2, 7, 7)),
    (SymmetricPool(nn.MaxPool1d(2, 1), (3,), (2,)), (2, 10)),
    (SymmetricPool(nn.AvgPool3d(2, 1), (2, 2, 2), (1, 0, 1)), (2, 5, 6, 5)),
]


@pytest.mark.parametrize(("pool", "shape"), POOLS, ids=lambda v: str(v)[:12])
def test_symmetric_pool(pool: nn.Module, shape: tuple[int, ...]) -> None:
    x = torch.randn(2, *shape, dtype=torch.float64)
    folded = iso.fold(pool)
    assert_plain(folded)
    assert difference(folded(x), pool(x)) <= EXACT
    assert iso.fold(pool.eval()).training is False
    assert iso.fold(pool.train()).training is True


def test_exact_strides() -> None:
    x = torch.randn(2, 1, 8, 8, dtype=torch.float64)
    plain = nn.Sequential(
        nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 8, 1), nn.MaxPool2d(3, 2)
    ).double()
    model = iso.equivariant(plain, "C4", x, output="field", exact=True)
    folded = iso.fold(model)
    assert_plain(folded)
    assert difference(folded(x), model(x)) <= EXACT
    assert iso.equivariance_error(folded, x, "C4", "field") <= EXACT


# -- networks -------------------------------------------------------------------------------


def network(name: str) -> tuple[nn.Module, Tensor]:
    if name == "VGG":
        x = torch.randn(3, 1, 12, 12, dtype=torch.float64)
        model = iso.equivariant(VGG().double(), "D4", x)
    elif name == "ResNet, in parts":
        x = torch.randn(3, 1, 17, 17, dtype=torch.float64)
        groups = {"stem.0": "D4", "stages.4.conv1": "C4"}
        model = iso.equivariant(ResNet18().double(), groups, x)
    elif name == "U-Net":
        x = torch.randn(3, 1, 12, 12, dtype=torch.float64)
        model = iso.equivariant(UNet().double(), "C4", x, output="image")
    elif name == "vectors":
        x = torch.randn(3, 9, dtype=torch.float64)
        turns = {"r": pixel_permutation("r", 3)}
        model = iso.equivariant(MLP().double(), "C4", x, action=turns)
    elif name == "lifted":
        x = torch.randn(3, 1, 9, 9, dtype=torch.float64)
        plain = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Conv2d(3, 2, 3))
        model = iso.equivariant(plain.double(), "D4", x, output="image", weights="lift")
    else:
        assert name == "relaxed"
        x = torch.randn(3, 1, 12, 12, dtype=torch.float64)
        model = iso.relax(iso.equivariant(VGG().double(), "D4", x), "features.7", "C2")
    return as_if_trained(model), x


NETWORKS = ["VGG", "ResNet, in parts", "U-Net", "vectors", "lifted", "relaxed"]


@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name: str) -> None:
    model, x = network(name)
    before = copy.deepcopy(model.state_dict())
    groups = iso.groups_of(model)
    folded = iso.fold(model)
    assert_plain(folded)
    assert type(folded) is type(model)
    assert difference(folded(x), model(x)) <= EXACT
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert iso.groups_of(model) == groups
    assert iso.groups_of(folded) == {}
    assert difference(iso.fold(folded)(x), folded(x)) == 0


@pytest.mark.parametrize("make", [VGG, ResNet18, UNet])
def test_the_state_is_that_of_the_plain_model(make: Callable[[], nn.Module]) -> None:
    """So that it loads into the model that one began with."""
    plain = make()
    size = 17 if make is ResNet18 else 12
    x = torch.randn(2, 1, size, size)
    output = "image" if make is UNet else "invariant"
    folded = iso.fold(iso.equivariant(plain, "D4", x, output=output))
    state = folded.state_dict()
    assert list(state) == list(plain.state_dict())
    plain.load_state_dict(state)
    assert torch.equal(plain.eval()(x), folded.eval()(x))


def test_train_mode_without_batch_norm() -> None:
    x = torch.randn(2, 1, 9, 9, dtype=torch.float64)
    plain = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.GroupNorm(1, 8), nn.PReLU(8), nn.Conv2d(8, 8, 3), nn.Dropout2d(0.0)
    ).double()
    model = iso.equivariant(plain, "D4", x, output="field").train()
    folded = iso.fold(model)
    assert folded.training
    assert difference(folded(x), model(x)) <= EXACT


def test_layers_that_are_shared_stay_shared() -> None:
    model = Lambda(
        lambda m, x: m["b"](m["b"](m["a"](x))), a=nn.Conv2d(1, 8, 3), b=nn.Conv2d(8, 8, 1)
    )
    model.again = model.layers["b"]
    x = torch.randn(2, 1, 7, 7)
    tied = iso.equivariant(model, "C4", x, output="field")
    folded = iso.fold(tied)
    assert_plain(folded)
    assert folded.again is folded.layers["b"]
    assert torch.equal(folded(x), tied(x))


def test_modes_of_layers_stay() -> None:
    x = torch.randn(2, 1, 12, 12)
    model = iso.equivariant(VGG(), "D4", x).train()
    model.features[1].eval()
    folded = iso.fold(model)
    assert [n for n, m in folded.named_modules() if not m.training] == ["features.1"]


def test_a_plain_model_is_copied() -> None:
    model, x = VGG().eval(), torch.randn(2, 1, 12, 12)
    folded = iso.fold(model)
    assert folded is not model
    assert torch.equal(folded(x), model(x))
    assert folded.features[0].weight is not model.features[0].weight


# -- shipping -------------------------------------------------------------------------------


def test_it_runs_where_there_is_no_isotropy(tmp_path: Path) -> None:
    """Pickled here, run in a process that cannot import isotropy; and so with its state alone."""
    x = torch.randn(2, 1, 12, 12)
    model = iso.equivariant(VGG(), "D4", x).eval()
    folded = iso.fold(model)
    with (tmp_path / "model.pickle").open("wb") as file:
        pickle.dump((folded, x, model(x).detach()), file)
    torch.save(folded.state_dict(), tmp_path / "state.pt")
    code = """
import sys
sys.modules["isotropy"] = None
import pickle, torch
torch.set_num_threads(1)
with open(sys.argv[1] + "/model.pickle", "rb") as file:
    model, x, y = pickle.load(file)
assert torch.equal(model(x), y)
from tests.models import VGG
fresh = VGG().eval()
fresh.load_state_dict(torch.load(sys.argv[1] + "/state.pt", weights_only=True))
assert torch.equal(fresh(x), y)
assert not any(name.startswith("isotropy") for name in sys.modules if sys.modules[name])
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


def test_torch_export() -> None:
    model, x = network("VGG")
    exported = torch.export.export(iso.fold(model), (x,))
    assert difference(exported.module()(x), model(x)) <= EXACT


def test_torch_export_with_group_pool_and_exact_strides() -> None:
    x = torch.randn(2, 1, 8, 8)
    model = nn.Sequential(
        iso.equivariant(nn.Sequential(nn.Conv2d(1, 8, 3, 2)), "C4", x, output="field", exact=True),
        iso.nn.GroupPool(C4, "max"),
    )
    exported = torch.export.export(iso.fold(model, x), (x,))
    assert difference(exported.module()(x), model(x)) <= 1e-6


def test_onnx() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    model, x = network("VGG")
    folded, x = iso.fold(model).float(), x.float()
    program = torch.onnx.export(folded, (x,), dynamo=True, verbose=False)
    file = io.BytesIO()
    program.save(file)
    session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    assert np.abs(y - folded(x).detach().numpy()).max() <= 1e-5


def test_it_trains_as_any_model_does() -> None:
    x = torch.randn(8, 1, 12, 12)
    folded = iso.fold(iso.equivariant(VGG(), "D4", x)).train()
    optimizer = torch.optim.SGD(folded.parameters(), 0.1)
    losses = []
    for _ in range(5):
        torch.manual_seed(0)
        optimizer.zero_grad()
        loss = F.cross_entropy(folded(x), torch.arange(8) % 5)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0]
