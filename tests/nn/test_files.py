"""iso.save and iso.load: bit for bit the same network, and no file that is not ours gets in."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jaxtyping
import numpy as np
import pytest
import safetensors.torch
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import isotropy as iso
from isotropy._tensor_file import checksum
from isotropy.groups import natural, quotient, regular, trivial, vectors
from isotropy.nn.files import FORMAT
from tests.models import MLP, VGG, ResNet18, UNet, as_if_trained
from tests.turns import pixel_permutation

ROOT = Path(__file__).parents[2]


def numbers(model: nn.Module) -> dict[str, Tensor]:
    """Every parameter and every buffer, persistent or not."""
    return dict(model.named_parameters()) | dict(model.named_buffers())


def assert_same(a: nn.Module, b: nn.Module, x: Tensor | None = None) -> None:
    """Two networks that are the same in all but identity, to the bit."""
    assert type(a) is type(b)
    assert repr(a) == repr(b)
    mine, theirs = numbers(a), numbers(b)
    assert list(mine) == list(theirs)
    for name, value in mine.items():
        other = theirs[name]
        assert value.dtype == other.dtype, name
        assert torch.equal(value, other), name
        assert value.requires_grad == other.requires_grad, name
        assert type(value) is type(other), name
        assert value.data_ptr() != other.data_ptr() or not value.numel(), name
    assert list(a.state_dict()) == list(b.state_dict())
    assert [m.training for m in a.modules()] == [m.training for m in b.modules()]
    if x is None:
        return
    for training in (a.training, not a.training):
        outputs = []
        for model in (a.train(training), b.train(training)):
            torch.manual_seed(0)
            outputs.append(model(x))
        assert torch.equal(*outputs)


def there_and_back(model: nn.Module, folder: Path, **options: Any) -> nn.Module:
    iso.save(model, folder / "network.safetensors")
    return iso.load(folder / "network.safetensors", **options)


# -- layers ---------------------------------------------------------------------------------


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users run it: without the tests' check of annotations, which would speak up first."""
    off = property(lambda config: True)
    monkeypatch.setattr(type(jaxtyping.config), "jaxtyping_disable", off, raising=False)


C4, D1, D4 = iso.group("C4"), iso.group("D1"), iso.group("D4")
SWAPS = iso.PermutationGroup({"a": [1, 0, 2], "b": [1, 2, 0]}, "S3")

TIED_LAYERS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "Linear": (lambda: iso.nn.Linear.tied(trivial(C4, 3), regular(C4, 2)), (8,)),
    "Linear, no bias": (lambda: iso.nn.Linear.tied(trivial(C4, 3), regular(C4), False), (4,)),
    "Linear, signed": (lambda: iso.nn.Linear.tied(vectors(D4), regular(D4)), (8,)),
    "Linear, orthonormal": (
        lambda: iso.nn.Linear.tied(regular(C4), regular(C4), orthonormal=True),
        (4,),
    ),
    "Linear, permutations": (
        lambda: iso.nn.Linear.tied(natural(SWAPS, 2), natural(SWAPS)),
        (3,),
    ),
    "Linear, quotient": (
        lambda: iso.nn.Linear.tied(regular(D4), quotient(D4, iso.group("C2"), 2)),
        (8,),
    ),
    "Conv1d": (
        lambda: iso.nn.Conv1d.tied(regular(D1), trivial(D1, 2), 3, stride=2),
        (2, 9),
    ),
    "Conv2d": (
        lambda: iso.nn.Conv2d.tied(regular(D4), trivial(D4, 1), 3, padding=1),
        (1, 5, 5),
    ),
    "Conv2d, reflect, groups": (
        lambda: iso.nn.Conv2d.tied(
            regular(C4, 2), regular(C4, 2), 3, groups=2, padding="same", padding_mode="reflect"
        ),
        (8, 5, 5),
    ),
    "Conv2d, subgroup": (
        lambda: iso.nn.Conv2d.tied(regular(D4), regular(D4), 3, group=C4, dilation=2),
        (8, 7, 7),
    ),
    "Conv3d": (
        lambda: iso.nn.Conv3d.tied(trivial(iso.group("O"), 2), trivial(iso.group("O"), 1), 3),
        (1, 4, 4, 4),
    ),
    "ConvTranspose1d": (
        lambda: iso.nn.ConvTranspose1d.tied(regular(D1), trivial(D1, 2), 2, stride=2),
        (2, 5),
    ),
    "ConvTranspose2d": (
        lambda: iso.nn.ConvTranspose2d.tied(regular(C4), regular(C4), 3, output_padding=0),
        (4, 5, 5),
    ),
    "ConvTranspose3d": (
        lambda: iso.nn.ConvTranspose3d.tied(regular(C4), trivial(C4, 1), 2),
        (1, 3, 3, 3),
    ),
    "GroupConv2d": (lambda: iso.nn.GroupConv2d(1, 2, 3, "D4"), (8, 5, 5)),
    "LiftingConv2d": (lambda: iso.nn.LiftingConv2d(3, 1, 3, "C4"), (3, 5, 5)),
    "BatchNorm": (lambda: iso.nn.BatchNorm(regular(C4, 2)), (8, 5, 5)),
    "BatchNorm, averaging": (
        lambda: iso.nn.BatchNorm(regular(C4, 2), 0, momentum=None, affine=False),
        (8,),
    ),
    "BatchNorm, no statistics": (
        lambda: iso.nn.BatchNorm(regular(C4, 2), track_running_stats=False),
        (8, 5, 5),
    ),
    "MixedBatchNorm": (
        lambda: iso.nn.MixedBatchNorm(regular(D4), 2, [D4, C4], nn.Parameter(torch.zeros(2))),
        (8, 5, 5),
    ),
    "InstanceNorm": (
        lambda: iso.nn.InstanceNorm(regular(C4, 2), affine=True, track_running_stats=True),
        (8, 5, 5),
    ),
    "GroupNorm": (lambda: iso.nn.GroupNorm(2, regular(C4, 4)), (16, 5, 5)),
    "LayerNorm": (lambda: iso.nn.LayerNorm(regular(C4, 2)), (8,)),
    "PReLU": (lambda: iso.nn.PReLU(regular(C4, 2), 0.1), (8, 5, 5)),
    "GroupPool": (lambda: iso.nn.GroupPool(D4, "max"), (16, 5, 5)),
    "FieldDropout": (lambda: iso.nn.FieldDropout(regular(C4, 8), 0.3), (32, 5, 5)),
}

PLAIN_LAYERS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "Linear": (lambda: nn.Linear(4, 3), (4,)),
    "Conv2d": (lambda: nn.Conv2d(2, 4, 3, 2, 1, 1, 2, False, "circular"), (2, 6, 6)),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(2, 4, 3, 2, 1, 1), (2, 6, 6)),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(4), (4, 5, 5)),
    "LayerNorm": (lambda: nn.LayerNorm((4, 5)), (4, 5)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), (4, 5)),
    "PReLU": (lambda: nn.PReLU(4), (4, 5)),
    "pools": (
        lambda: nn.Sequential(
            nn.MaxPool2d(2), nn.AvgPool2d(2, 1), nn.AdaptiveAvgPool2d((1, None)), nn.Flatten()
        ),
        (2, 8, 8),
    ),
    "activations": (
        lambda: nn.Sequential(
            nn.ReLU(True), nn.GELU("tanh"), nn.LeakyReLU(0.2), nn.Hardtanh(), nn.Softmax(1)
        ),
        (6,),
    ),
    "resizing": (
        lambda: nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"), nn.ZeroPad2d(1)),
        (2, 4, 4),
    ),
    "containers": (
        lambda: nn.Sequential(nn.Identity(), nn.Sequential(), nn.Unflatten(1, (2, 2))),
        (4,),
    ),
}


@pytest.mark.parametrize("name", TIED_LAYERS)
def test_every_tied_layer(name: str, tmp_path: Path) -> None:
    make, shape = TIED_LAYERS[name]
    layer = make()
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    x = torch.randn(3, *shape)
    layer(x)  # moves running statistics
    assert_same(layer, there_and_back(layer, tmp_path), x)


@pytest.mark.parametrize("name", PLAIN_LAYERS)
def test_plain_layers(name: str, tmp_path: Path) -> None:
    make, shape = PLAIN_LAYERS[name]
    layer = make()
    assert_same(layer, there_and_back(layer, tmp_path), torch.randn(3, *shape))


def test_every_class_of_the_package_is_among_them() -> None:
    made = {type(make()) for make, _ in TIED_LAYERS.values()}
    named = {c for name in iso.nn.__all__ if isinstance(c := getattr(iso.nn, name), type)}
    assert named - made <= {iso.nn.TiedModule}


# -- networks -------------------------------------------------------------------------------


def tied_network(name: str) -> tuple[nn.Module, Tensor]:
    if name == "VGG":
        x = torch.randn(3, 1, 12, 12)
        return iso.equivariant(VGG(), "D4", x), x
    if name == "ResNet, in parts":
        x = torch.randn(3, 1, 17, 17)
        return iso.equivariant(ResNet18(), {"stem.0": "D4", "stages.4.conv1": "C4"}, x), x
    if name == "U-Net":
        x = torch.randn(3, 1, 12, 12)
        return iso.equivariant(UNet(), "C4", x, output="image"), x
    if name == "labels":
        x = torch.randn(3, 1, 12, 12)
        return iso.equivariant(VGG(), "C2", x, output={"r2": [1, 0, 2, 3, 4]}), x
    if name == "vectors":
        x = torch.randn(3, 9)
        return iso.equivariant(MLP(), "C4", x, action={"r": pixel_permutation("r", 3)}), x
    if name == "permutations":
        x = torch.randn(3, 3)
        plain = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 2))
        return iso.equivariant(plain, SWAPS, x, fields="input"), x
    if name == "relaxed":
        x = torch.randn(3, 1, 12, 12)
        return iso.relax(iso.equivariant(VGG(), "D4", x), "features.7", "C2"), x
    if name == "exact strides":
        x = torch.randn(3, 1, 8, 8)
        plain = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(3, 2))
        return iso.equivariant(plain, "C4", x, output="field", exact=True), x
    if name == "plain":
        return VGG(), torch.randn(3, 1, 12, 12)
    assert name == "folded"
    x = torch.randn(3, 1, 12, 12)
    return iso.fold(iso.equivariant(VGG(), "D4", x)), x


NETWORKS = [
    "VGG",
    "ResNet, in parts",
    "U-Net",
    "labels",
    "vectors",
    "permutations",
    "relaxed",
    "exact strides",
    "plain",
    "folded",
]


@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name: str, tmp_path: Path) -> None:
    model, x = tied_network(name)
    loaded = there_and_back(model, tmp_path)
    assert_same(model, loaded, x)
    groups = {n: str(g) for n, g in iso.groups_of(model).items()}
    assert {n: str(g) for n, g in iso.groups_of(loaded).items()} == groups
    again = there_and_back(loaded, tmp_path)
    assert_same(loaded, again, x)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_types_of_numbers(dtype: torch.dtype, tmp_path: Path) -> None:
    model = tied_network("VGG")[0].to(dtype)
    loaded = there_and_back(model, tmp_path)
    assert_same(model, loaded)
    assert {p.dtype for p in loaded.parameters()} == {dtype}


def test_values_that_are_hard_to_write(tmp_path: Path) -> None:
    layer = nn.Linear(7, 1, bias=False)
    values = [0.0, -0.0, float("inf"), -float("inf"), 1e-45, 3.4028235e38, 1 / 3]
    layer.weight.data.copy_(torch.tensor(values))
    loaded = there_and_back(layer, tmp_path)
    assert loaded.weight.view(torch.int32).tolist() == layer.weight.view(torch.int32).tolist()


class Assorted(nn.Module):
    """All sorts of attributes that models have."""

    def __init__(self) -> None:
        super().__init__()
        self.act = F.relu
        self.more = [F.gelu, F.softplus, F.max_pool2d]
        self.flag, self.count, self.rate, self.word, self.nothing = True, 3, 0.25, "ä\n", None
        self.huge, self.nan = float("inf"), float("nan")
        self.sizes = (1, (2, 3), [4, 5])
        self.shape = torch.Size([2, 2])
        self.by_name = {"a": 1, 2: ("b",), (3, 4): None, "nested": {"c": [1.5]}}
        self.names = {"x", "y"}
        self.kind = torch.float16
        self.table = np.arange(6).reshape(2, 3)
        self.group = iso.group("D1d")
        self.conv = nn.Conv2d(1, 4, 3)
        self.none = None
        self.register_module("missing", None)
        self.register_parameter("bias", None)
        self.register_parameter("scale", nn.Parameter(torch.randn(1)))
        self.register_buffer("kept", torch.arange(3))
        self.register_buffer("lost", torch.randn(2, 3), persistent=False)
        self.register_buffer("mask", torch.tensor([True, False]))
        self.register_buffer("never", None)

    def forward(self, x: Tensor) -> Tensor:
        return self.act(self.conv(x)) * self.scale


def test_attributes(tmp_path: Path) -> None:
    model = Assorted()
    loaded = there_and_back(model, tmp_path)
    assert_same(model, loaded, torch.randn(2, 1, 5, 5))
    assert loaded.act is F.relu
    assert loaded.more == [F.gelu, F.softplus, F.max_pool2d]
    for name in ("flag", "count", "rate", "word", "nothing", "huge", "sizes", "shape", "by_name"):
        assert getattr(loaded, name) == getattr(model, name), name
        assert isinstance(getattr(loaded, name), type(getattr(model, name)) | tuple)
    assert loaded.flag is True
    assert loaded.names == {"x", "y"}
    assert loaded.nan != loaded.nan
    assert loaded.kind is torch.float16
    assert np.array_equal(loaded.table, model.table)
    assert loaded.group == model.group
    assert str(loaded.group) == "D1d"
    assert loaded.missing is loaded.bias is loaded.never is None
    assert "lost" not in loaded.state_dict()
    assert torch.equal(loaded.lost, model.lost)


def test_shared_layers_stay_shared(tmp_path: Path) -> None:
    class Shared(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one = nn.Linear(3, 3)
            self.again = nn.Sequential(self.one, nn.ReLU(), self.one)
            self.tied = nn.Linear(3, 3)
            self.tied.weight = self.one.weight

    loaded = there_and_back(Shared(), tmp_path, classes=[Shared])
    assert loaded.again[0] is loaded.again[2] is loaded.one
    assert loaded.tied.weight is loaded.one.weight
    assert loaded.tied.bias is not loaded.one.bias
    assert len(list(loaded.parameters())) == 3


def test_names_do_not_clash(tmp_path: Path) -> None:
    """A layer may be called as arrays are called in the file."""

    class Clash(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = np.arange(3.0)
            self.array = nn.ParameterList([torch.randn(3), torch.randn(3), torch.randn(3)])

    model = Clash()
    loaded = there_and_back(model, tmp_path, classes=[Clash])
    assert_same(model, loaded)
    assert loaded.table.tolist() == [0, 1, 2]


def test_modes_and_what_trains_are_kept(tmp_path: Path) -> None:
    model, _ = tied_network("VGG")
    model.train()
    model.features[1].eval()
    model.features[0].scheme.psi.requires_grad_(False)
    loaded = there_and_back(model, tmp_path)
    assert [n for n, m in loaded.named_modules() if not m.training] == ["features.1"] + [
        f"features.1.{n}" for n in ("weight_scheme", "bias_scheme")
    ]
    frozen = [n for n, p in loaded.named_parameters() if not p.requires_grad]
    assert frozen == ["features.0.scheme.psi"]


def test_numbers_in_any_order_of_memory(tmp_path: Path) -> None:
    model = nn.Conv2d(4, 4, 3).to(memory_format=torch.channels_last)
    model.register_buffer("part", torch.randn(6, 6)[::2, 1:3])
    assert_same(model, there_and_back(model, tmp_path))


# -- a loaded network is a network ----------------------------------------------------------


def test_a_loaded_network_can_do_everything(tmp_path: Path) -> None:
    model, x = tied_network("VGG")
    model = as_if_trained(model)
    x = x.double()
    loaded = there_and_back(model, tmp_path)
    assert iso.equivariance_error(loaded, x) <= 1e-12
    assert all(row.cause == "" for row in iso.audit(loaded, x).rows)
    assert iso.cost(loaded, x) == iso.cost(model, x)
    y = model(x)
    folded = iso.fold(loaded)
    assert (folded(x) - y).abs().max() <= 1e-12
    relaxed = iso.relax(loaded, "features.7", "C4")
    assert str(iso.groups_of(relaxed)["features.7"]) == "C4"
    assert (relaxed(x) - y).abs().max() <= 1e-12
    assert torch.equal(copy.deepcopy(loaded)(x), y)
    assert_same(relaxed, there_and_back(relaxed, tmp_path), x)


def test_a_loaded_network_trains_as_the_other_does(tmp_path: Path) -> None:
    model, x = tied_network("VGG")
    loaded = there_and_back(model, tmp_path)
    results = []
    for network in (model, loaded):
        torch.manual_seed(0)
        optimizer = torch.optim.Adam(network.train().parameters())
        for _ in range(3):
            optimizer.zero_grad()
            F.cross_entropy(network(x), torch.tensor([0, 1, 2])).backward()
            optimizer.step()
        results.append(network.eval()(x))
    assert torch.equal(*results)
    assert_same(model, loaded)


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A program of its own, which knows isotropy and the tests' models."""
    paths = [str(Path(iso.__file__).parents[1]), str(ROOT)]
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        check=False,
    )


def test_in_another_process(tmp_path: Path) -> None:
    """Loaded there, run there, relaxed and saved there; read here. And a class it does not know."""
    model, x = tied_network("VGG")
    model.eval()
    iso.save(model, tmp_path / "model.safetensors")
    iso.save(Assorted(), tmp_path / "unknown.safetensors")
    safetensors.torch.save_file({"x": x}, tmp_path / "x.safetensors")
    code = """
import sys, torch, isotropy as iso, safetensors.torch
from pathlib import Path
folder = Path(sys.argv[1])
try:
    iso.load(folder / "model.safetensors")
except iso.InputError as error:
    print(error)
import tests.models
torch.set_num_threads(1)
model = iso.load(folder / "model.safetensors")
x = safetensors.torch.load_file(folder / "x.safetensors")["x"]
safetensors.torch.save_file({"y": model(x).detach()}, folder / "y.safetensors")
iso.save(iso.relax(model, "features.7", "C4"), folder / "relaxed.safetensors")
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "needs the class VGG of tests.models: import it first" in done.stdout
    y = safetensors.torch.load_file(tmp_path / "y.safetensors")["y"]
    assert torch.equal(model(x), y)
    relaxed = iso.load(tmp_path / "relaxed.safetensors")
    assert_same(iso.relax(model, "features.7", "C4"), relaxed, x)


# -- classes --------------------------------------------------------------------------------


def test_a_class_that_is_not_known_is_refused_with_advice(tmp_path: Path) -> None:
    class Local(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 2)

    path = tmp_path / "network.safetensors"
    model = Local()
    iso.save(model, path)
    with pytest.raises(iso.InputError, match=r"needs the class .*Local of .*: import it first, or"):
        iso.load(path)
    assert_same(model, iso.load(path, classes=[Local]))


def test_a_class_whose_maker_wants_arguments(tmp_path: Path) -> None:
    class Particular(nn.Linear):
        def __init__(self, *, width: int) -> None:
            super().__init__(width, width)
            raise_if_called_again.append(width)

    raise_if_called_again: list[int] = []
    loaded = there_and_back(Particular(width=3), tmp_path, classes=[Particular])
    assert raise_if_called_again == [3], "nothing of the class's own runs on loading"
    assert loaded(torch.zeros(1, 3)).shape == (1, 3)


# -- what cannot be saved -------------------------------------------------------------------


def holding(value: Any) -> nn.Module:
    model = nn.Sequential(nn.Linear(2, 2))
    model[0].extra = value
    return model


def helper(x: Tensor) -> Tensor:
    return x


@pytest.mark.parametrize(
    "value",
    [
        lambda x: x,
        helper,
        os.system,
        object(),
        open,
        torch.relu,
        {"a": [helper]},
        torch.Generator(),
        torch.zeros(2),
    ],
    ids=lambda v: type(v).__name__,
)
def test_what_cannot_be_saved_is_named(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "network.safetensors"
    with pytest.raises(iso.InputError, match=r"cannot save 0\.extra: a \w+ is no number") as caught:
        iso.save(holding(value), path)
    assert isinstance(caught.value, ValueError)
    assert list(tmp_path.iterdir()) == []


def test_hooks_are_not_dropped_in_silence(tmp_path: Path) -> None:
    """What a hook does to the outputs would be lost."""
    model = nn.Sequential(nn.Linear(2, 2))
    model[0].register_forward_hook(lambda m, args, out: 2 * out)
    with pytest.raises(iso.InputError, match="hook"):
        iso.save(model, tmp_path / "network.safetensors")


def test_no_module_is_refused(tmp_path: Path, unchecked: None) -> None:
    with pytest.raises(iso.InputError, match="Module"):
        iso.save({"a": torch.zeros(2)}, tmp_path / "network.safetensors")


# -- writing --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["missing folder", "file as folder", "is a folder", "read-only"])
def test_where_it_cannot_write(kind: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    path = {
        "missing folder": tmp_path / "nowhere" / "a.safetensors",
        "file as folder": tmp_path / "file" / "a.safetensors",
        "is a folder": tmp_path / "folder",
        "read-only": Path("/proc/a.safetensors"),
    }[kind]
    with pytest.raises(iso.InputError, match=f"cannot write {path}: ") as caught:
        iso.save(nn.Linear(2, 2), path)
    assert isinstance(caught.value, ValueError)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["file", "folder"]


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        safetensors.SafetensorError("I/O error"),
        MemoryError(),
    ],
    ids=lambda e: type(e).__name__,
)
def test_a_failing_write_leaves_the_old_file(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "network.safetensors"
    iso.save(nn.Linear(2, 2), path)
    before = path.read_bytes()

    def fail(tensors: object, where: Path, metadata: object) -> None:
        Path(where).write_bytes(b"half")
        assert path.read_bytes() == before
        raise error

    monkeypatch.setattr(safetensors.torch, "save_file", fail)
    expected = MemoryError if isinstance(error, MemoryError) else iso.InputError
    with pytest.raises(expected, match="cannot write" if expected is iso.InputError else None):
        iso.save(nn.Linear(3, 3), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path], "nothing is left lying about"


def test_a_model_that_cannot_be_saved_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "network.safetensors"
    iso.save(nn.Linear(2, 2), path)
    before = path.read_bytes()
    with pytest.raises(iso.InputError):
        iso.save(holding(helper), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_new_file_appears_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads meanwhile sees the old file or the new one, whole."""
    path = tmp_path / "network.safetensors"
    old, new = nn.Linear(2, 2), nn.Linear(3, 3)
    iso.save(old, path)
    write = safetensors.torch.save_file
    seen = []

    def watched(*arguments: Any) -> None:
        write(*arguments)
        seen.append(iso.load(path))

    monkeypatch.setattr(safetensors.torch, "save_file", watched)
    iso.save(new, path)
    assert_same(seen[0], old)
    assert_same(iso.load(path), new)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", [str, Path])
def test_paths_of_every_kind(kind: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    layer = nn.Linear(2, 2)
    iso.save(layer, kind("ünï code.any"))
    assert_same(layer, iso.load(kind("ünï code.any")))
    assert_same(layer, iso.load(kind(tmp_path / "ünï code.any")))


def test_saving_does_not_change_the_model(tmp_path: Path) -> None:
    model, _ = tied_network("VGG")
    before = copy.deepcopy(model)
    iso.save(model, tmp_path / "network.safetensors")
    assert_same(model, before)


# -- files that are not ours, or not whole --------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "network.safetensors"
    iso.save(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), path)
    return path


def assert_refused(path: Path, words: str = "", kind: type = iso.FileFormatError) -> None:
    with pytest.raises(kind, match=words or None) as caught:
        iso.load(path)
    assert isinstance(caught.value, iso.InputError)
    assert isinstance(caught.value, iso.IsotropyError)
    assert isinstance(caught.value, ValueError)
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message


def test_every_truncation_is_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    for length in range(len(whole)):
        saved.write_bytes(whole[:length])
        assert_refused(saved, "truncated or no safetensors file")


@pytest.mark.parametrize("flip", [0x01, 0x80])
def test_every_altered_byte_is_refused(saved: Path, flip: int) -> None:
    """Its length, its header, the description of the modules, the numbers."""
    whole = bytearray(saved.read_bytes())
    for position in range(len(whole)):
        altered = bytearray(whole)
        altered[position] ^= flip
        saved.write_bytes(altered)
        assert_refused(saved)


@pytest.mark.parametrize("place", ["before", "after"])
def test_bytes_added_are_refused(saved: Path, place: str) -> None:
    whole = saved.read_bytes()
    saved.write_bytes(b"x" + whole if place == "before" else whole + b"x")
    assert_refused(saved)


def test_numbers_altered_with_the_right_length_are_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    saved.write_bytes(whole[:-8] + b"\0" * 8)
    assert_refused(saved, "has been altered: its checksum does not fit")


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    safetensors.torch.save_file({"weight": torch.zeros(2)}, path)
    assert_refused(path, f"was not written by iso.save .no {FORMAT} description")
    safetensors.torch.save_file({"weight": torch.zeros(2)}, path, {"format": "pt"})
    assert_refused(path, "was not written by iso.save")
    safetensors.torch.save_file({}, path, {"format": FORMAT})
    assert_refused(path)


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for content in (b"", b"\0", b"{}", b"weights = 3\n", b"\xff" * 100, b"\0" * 100):
        path.write_bytes(content)
        assert_refused(path, "truncated or no safetensors file")
    torch.save({"weight": torch.zeros(2)}, path)
    assert_refused(path, "truncated or no safetensors file")


def test_where_there_is_no_file(tmp_path: Path) -> None:
    assert_refused(tmp_path / "missing", "no such file", iso.InputError)
    assert_refused(tmp_path, "", iso.InputError)


# -- files made to do harm: everything is in order but for what they ask for ----------------


def rewrite(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the description of the modules and write a checksum that fits."""
    with safetensors.safe_open(path, "pt") as file:
        metadata = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    structure = json.loads(metadata["structure"])
    replacement = change(structure)
    text = replacement if isinstance(replacement, str) else json.dumps(structure)
    metadata |= {"structure": text, "sha256": checksum(text, tensors)}
    safetensors.torch.save_file(tensors, path, metadata)


def test_rewriting_alone_does_no_harm(saved: Path) -> None:
    before = iso.load(saved)
    rewrite(saved, lambda s: None)
    assert_same(before, iso.load(saved))


CLASSES = [
    "os:system",
    "posix:system",
    "builtins:eval",
    "builtins:dict",
    "subprocess:Popen",
    "torch:Tensor",
    "torch.nn.modules.module:torch.os.system",
    "torch.nn.functional:relu",
    "torch.nn.modules.linear:Linear.forward",
    "torch.nn.nowhere:Linear",
    "torch.nn.modules.linear:Nothing",
    "isotropy.nowhere:Linear",
    "isotropy.nn.linear:Tie",
    "isotropy",
    ":",
    "",
    "nn.Linear",
]


@pytest.mark.parametrize("name", CLASSES)
def test_what_is_no_module_class_is_not_made(name: str, saved: Path, unchecked: None) -> None:
    rewrite(saved, lambda s: s["root"]["modules"]["0"].update({"class": name}))
    with pytest.raises(iso.InputError, match=r"class|isotropy") as caught:
        iso.load(saved)
    assert isinstance(caught.value, ValueError)


def test_nothing_is_imported_for_a_file(saved: Path) -> None:
    """Not even a module that lies in the search path."""
    assert "antigravity" not in sys.modules
    rewrite(saved, lambda s: s["root"].update({"class": "antigravity:fly"}))
    with pytest.raises(iso.InputError, match="import it first"):
        iso.load(saved)
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize("name", ["torch", "math", "nothing", "Tensor", "__builtins__", "__doc__"])
def test_only_functions_of_torch_are_given_back(name: str, saved: Path) -> None:
    rewrite(saved, lambda s: s["root"]["settings"].update({"act": {"function": name}}))
    with pytest.raises(iso.InputError, match=name) as caught:
        iso.load(saved)
    assert isinstance(caught.value, ValueError)


def setting(value: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda s: s["root"]["settings"].update({"a": value})


def objects(*bodies: Any) -> Callable[[dict[str, Any]], Any]:
    def change(structure: dict[str, Any]) -> None:
        structure["objects"] = list(bodies)
        structure["root"]["settings"]["a"] = {"object": 0}

    return change


def first(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda s: s["root"]["modules"]["0"].update(changes)


WRONG: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no JSON": lambda s: "{",
    "nothing": lambda s: "",
    "a list": lambda s: "[]",
    "a number": lambda s: "3",
    "null": lambda s: "null",
    "no root": lambda s: s.pop("root") and None,
    "no objects": lambda s: s.pop("objects") and None,
    "root is text": lambda s: s.update(root="x"),
    "no settings": lambda s: s["root"].pop("settings") and None,
    "no class": lambda s: s["root"].pop("class") and None,
    "class is a number": lambda s: s["root"].update({"class": 3}),
    "no mode": lambda s: s["root"].pop("training"),
    "deep": lambda s: '{"root": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "unknown twin": lambda s: s["root"]["modules"].update({"1": {"same_as": "elsewhere"}}),
    "unknown dtype": setting({"dtype": "torch.float7"}),
    "unknown key": setting({"pickle": "gASVAAA="}),
    "two keys": setting({"tuple": [], "set": []}),
    "no key": setting({}),
    "a set of lists": setting({"set": [[1]]}),
    "a dict of threes": setting({"dict": [[1, 2, 3]]}),
    "unknown object": setting({"object": 7}),
    "object by name": setting({"object": "a"}),
    "object before": setting({"object": -1}),
    "object within itself": objects({"kind": "Signed", "parts": [{"object": 0}, None]}),
    "object of another kind": objects({"kind": "Popen", "parts": ["ls"]}),
    "object with too many parts": objects({"kind": "Signed", "parts": [1, 2, 3, 4]}),
    "object of nothing": objects({}),
    "no group": objects({"kind": "FiniteGroup", "parts": [[[0, 0], [0, 0]], None, "", None, []]}),
    "no group at all": objects({"kind": "FiniteGroup", "parts": []}),
    "array of nothing": objects({"array": "nothing"}),
    "parameter of nothing": first(parameters={"weight": {"tensor": "nothing"}}),
    "parameter that is a number": first(parameters={"weight": {"tensor": 3}}),
    "parameter with a dot": first(parameters={"a.b": {"tensor": None}}),
    "buffer without persistence": first(buffers={"a": {"tensor": None}}),
    "module with a dot": lambda s: s["root"]["modules"].update({"a.b": None}),
}


@pytest.mark.parametrize("name", WRONG)
def test_descriptions_that_make_no_sense_are_refused(
    name: str, saved: Path, unchecked: None
) -> None:
    rewrite(saved, WRONG[name])
    with pytest.raises(iso.InputError) as caught:
        iso.load(saved)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value)


def test_numbers_of_another_shape_are_read_but_run_as_torch_says(saved: Path) -> None:
    """A file may hold a network that does not run; that is no fault of reading it."""
    rewrite(
        saved, lambda s: s["root"]["modules"]["0"]["parameters"]["weight"].update(tensor="0.bias")
    )
    assert iso.load(saved)[0].weight.shape == (2,)


def test_there_is_no_pickle(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("pickled")

    for name in ("dump", "dumps", "load", "loads", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    monkeypatch.setattr(torch, "save", refuse)
    monkeypatch.setattr(torch, "load", refuse)
    model = iso.load(saved)
    iso.save(model, saved)
    assert_same(model, iso.load(saved))
    for path in (ROOT / "src").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        # between processes it is another matter (pickle.loads): whoever sends there is trusted
        for reader in ("pickle.load(", "pickle.dump(", "Unpickler", "torch.load(", "torch.save("):
            assert reader not in source, path
