"""Models as users bring them: what can be tied is, what cannot is refused with the reason."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

import isotropy as iso
from tests.models import Lambda, as_if_trained
from tests.real_models import (
    CBAM,
    FPN,
    VGG,
    ConvNeXt,
    CroppedUNet,
    DenseNet,
    GoogLeNet,
    LeNet,
    MNISTExample,
    MobileNet,
    Res2Net,
    ResNet,
    ShuffleNet,
    SqueezeNet,
    UNet,
    WideResNet,
)
from tests.turns import SUBGROUPS, distance, turn

EXACT = 1e-10
Make = Callable[[], nn.Module]


def resnet18() -> nn.Module:
    return ResNet((2, 2, 2, 2))


def run(model: nn.Module, x: Tensor) -> Tensor:
    """The output; dropout falls on the same fields every time."""
    torch.manual_seed(0)
    with torch.no_grad():
        return model(x)


def worst(model: nn.Module, x: Tensor, group: str, image: bool) -> float:
    """The largest error over all elements, turned by torch.rot90 and flip."""
    reference = run(model, x)
    moved = {g: turn(reference, g) if image else reference for g in SUBGROUPS[group]}
    return max(distance(run(model, turn(x, g)), y) for g, y in moved.items())


# -- what can be tied ---------------------------------------------------------------------------


def patches() -> nn.Module:
    """Tokens of a vision transformer, without the attention."""

    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        tokens = m["embed"](x).flatten(2).transpose(1, 2)
        return m["head"](m["mlp"](m["norm"](tokens)).mean(dim=1))

    return Lambda(
        forward,
        embed=nn.Conv2d(3, 16, 4, 4),
        norm=nn.LayerNorm(16),
        mlp=nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)),
        head=nn.Linear(16, 5),
    )


def recomputed() -> nn.Module:
    """A block whose activations are computed again in the backward pass."""

    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        y = checkpoint(m["block"], m["stem"](x), use_reentrant=False)
        return m["head"](y.mean((2, 3)))

    block = nn.Sequential(nn.Conv2d(16, 16, 3), nn.ReLU())
    return Lambda(forward, stem=nn.Conv2d(3, 16, 3), block=block, head=nn.Linear(16, 5))


def chosen_entry_by_entry() -> nn.Module:
    """torch.where and the like, and tensors made like others."""

    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        y = m["conv1"](x)
        y = torch.where(y > 0, y, 0.1 * y)
        y = torch.maximum(y, torch.zeros_like(y)).masked_fill(y > 3, 3.0)
        y = m["conv2"](y) * torch.ones_like(x[:, :1])
        return m["head"](torch.where(y.new_ones(()) > 0, y, -y).mean((2, 3)))

    conv2 = nn.Conv2d(16, 16, 3, padding=1)
    return Lambda(forward, conv1=nn.Conv2d(1, 16, 3, padding=1), conv2=conv2, head=nn.Linear(16, 5))


def memory_format() -> nn.Module:
    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        x = m["conv"](x.contiguous(memory_format=torch.channels_last))
        return m["head"](x.to(memory_format=torch.contiguous_format).mean((2, 3)))

    return Lambda(forward, conv=nn.Conv2d(3, 16, 3), head=nn.Linear(16, 5))


def pooled_in_three_ways() -> nn.Module:
    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        x = F.relu(m["conv"](x))
        pooled = [x.mean((2, 3)), x.std((2, 3)), x.flatten(2).max(-1).values]
        return 16 * m["head"](F.normalize(torch.cat(pooled, 1), dim=1))

    return Lambda(forward, conv=nn.Conv2d(3, 16, 3), head=nn.Linear(48, 5, bias=False))


class GeM(nn.Module):
    """Generalised mean pooling, its exponent trained."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, 16, 3), nn.Linear(16, 5)
        self.p = nn.Parameter(torch.ones(1) * 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x).clamp(min=1e-6).pow(self.p)
        return self.fc(F.avg_pool2d(x, x.shape[2:]).pow(1.0 / self.p).flatten(1))


TIED: dict[str, tuple[Make, tuple[int, ...], str]] = {
    "ResNet-18": (resnet18, (3, 33, 33), "invariant"),
    "ResNet-34": (lambda: ResNet((3, 4, 6, 3)), (3, 33, 33), "invariant"),
    "VGG": (VGG, (3, 16, 16), "invariant"),
    "MobileNetV3": (MobileNet, (3, 17, 17), "invariant"),
    "DenseNet": (DenseNet, (3, 8, 8), "invariant"),
    "ConvNeXt": (ConvNeXt, (3, 16, 16), "invariant"),
    "SqueezeNet": (SqueezeNet, (3, 15, 15), "invariant"),
    "WideResNet": (WideResNet, (3, 9, 9), "invariant"),
    "Res2Net": (Res2Net, (3, 7, 7), "invariant"),
    "CBAM": (CBAM, (3, 7, 7), "invariant"),
    "PyTorch's MNIST example": (MNISTExample, (1, 16, 16), "invariant"),
    "LeNet": (lambda: LeNet((8, 16, 24, 16)), (3, 32, 32), "invariant"),
    "U-Net": (lambda: UNet(bilinear=False), (3, 8, 8), "image"),
    "U-Net, bilinear": (lambda: UNet(bilinear=True), (3, 8, 8), "image"),
    "U-Net, cropped": (CroppedUNet, (1, 14, 14), "image"),
    "FPN": (FPN, (3, 8, 8), "image"),
    "patches": (patches, (3, 8, 8), "invariant"),
    "checkpoint": (recomputed, (3, 7, 7), "invariant"),
    "where": (chosen_entry_by_entry, (1, 7, 7), "invariant"),
    "memory format": (memory_format, (3, 7, 7), "invariant"),
    "three poolings": (pooled_in_three_ways, (3, 7, 7), "invariant"),
    "GeM": (GeM, (3, 7, 7), "invariant"),
}


@pytest.mark.parametrize("name", TIED)
def test_real_models_are_tied(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact in eval and in train mode, and still after a step; folded it is the plain model.

    But for dropout of single pixels: its mask does not turn, though any mask is as likely turned.
    """
    monkeypatch.setattr(F, "dropout", lambda x, *_, **__: x)
    make, shape, output = TIED[name]
    original, x = as_if_trained(make()), torch.randn(3, *shape, dtype=torch.float64)
    tied = iso.equivariant(original, "D4", x, output=output)
    image = output == "image"
    optimizer = torch.optim.SGD(tied.parameters(), lr=1e-3)
    tied.train()(x).square().mean().backward()
    optimizer.step()
    assert worst(copy.deepcopy(tied), x, "D4", image) < EXACT
    assert worst(tied.eval(), x, "D4", image) < EXACT
    y = run(tied, x)
    assert y.std(0).max() > 1e-6 * y.abs().max()
    folded = iso.fold(tied)
    assert distance(run(folded, x), y) < 1e-12
    original.load_state_dict(folded.state_dict())
    assert distance(run(original, x), y) < 1e-12


def test_a_head_that_runs_in_training_only() -> None:
    """GoogLeNet's second head is left as it is, and that is said."""
    original, x = as_if_trained(GoogLeNet()), torch.randn(3, 3, 9, 9, dtype=torch.float64)
    with pytest.warns(iso.IsotropyWarning, match=r"^not tied, .* in eval mode: aux\.2$"):
        tied = iso.equivariant(original, "D4", x)
    assert worst(tied.eval(), x, "D4", image=False) < EXACT
    logits, second = tied.train()(x)
    assert logits.shape == second.shape == (3, 5)


def test_even_sizes_are_named_and_can_be_mended() -> None:
    """ResNet-18 on the usual even sizes: every stride in it is off by a pixel."""
    x = torch.randn(2, 3, 32, 32, dtype=torch.float64)
    original = as_if_trained(resnet18())
    with pytest.warns(iso.IsotropyWarning) as caught:
        tied = iso.equivariant(original, "C4", x)
    message = str(caught[0].message)
    places = ["conv1", "max_pool2d in maxpool", "layer2.0.conv1", "layer2.0.downsample.0"]
    assert [place for place in places if f"{place}: stride 2 on size" not in message] == []
    assert worst(tied.eval(), x, "C4", image=False) > 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tied = iso.equivariant(original, "C4", x, exact=True)
    assert worst(tied.eval(), x, "C4", image=False) < EXACT
    assert distance(run(iso.fold(tied), x), run(tied, x)) < 1e-12


@pytest.mark.parametrize("shape", [(1, 2), (1, None), (2, 1)])
def test_a_grid_with_an_axis_of_size_one(shape: tuple[int | None, ...]) -> None:
    """Signals as pictures of one row, or pooled to one: mirrors leave them what they are."""
    x = torch.randn(3, 1, 4, 6, dtype=torch.float64)
    sizes = [n or m for n, m in zip(shape, x.shape[2:], strict=True)]
    model = nn.Sequential(
        nn.Conv2d(1, 8, (1, 3)),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(tuple(sizes)),
        nn.Flatten(),
        nn.Linear(8 * sizes[0] * sizes[1], 8),
        nn.ReLU(),
        nn.Unflatten(1, (8, 1, 1)),
        nn.Flatten(1),
        nn.Linear(8, 5),
    ).double()
    tied = iso.equivariant(model, "D2", x)
    assert worst(tied, x, "D2", image=False) < EXACT


def test_a_flattened_row_can_be_opened_again() -> None:
    """The same with the grid made anew behind the flatten."""
    for size in ((1, 6), (6, 1)):
        x = torch.randn(3, 2, *size, dtype=torch.float64)
        model = Lambda(
            lambda m, x: m["b"](m["a"](x).flatten(1).view(len(x), 4, *x.shape[2:])),
            a=nn.Conv2d(2, 4, 1),
            b=nn.Conv2d(4, 1, (size[0] // 2 + 1, size[1] // 2 + 1)),
        ).double()
        tied = iso.equivariant(model, "D2", x, output="image")
        assert worst(tied, x, "D2", image=True) < EXACT


# -- what cannot ----------------------------------------------------------------------------------


def of(step: Callable[[Tensor], Tensor], channels: int = 16) -> Make:
    """A step between a convolution and a head."""

    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        return m["head"](step(m["conv"](x)).mean((2, 3)))

    return lambda: Lambda(forward, conv=nn.Conv2d(3, 16, 3), head=nn.Linear(channels, 5))


def ended_by(*layers: nn.Module) -> Make:
    """Layers between a convolution and a head."""
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5)]
    return lambda: nn.Sequential(nn.Conv2d(3, 16, 3), *layers, *head)


class InAList(nn.Module):
    """Its convolution is in a plain list, so it is no layer of the model."""

    def __init__(self) -> None:
        super().__init__()
        self.convs = [nn.Conv2d(3, 16, 3)]
        self.fc = nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.convs[0](x).mean((2, 3)))


class Numpy(nn.Module):
    """Leaves torch on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 16, 3), nn.Conv2d(16, 16, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.from_numpy(self.a(x).detach().numpy()))


UNLIKE = "its output has another shape when the picture turns"
REFUSED: dict[str, tuple[Make, str]] = {
    "LayerNorm2d": (
        lambda: ConvNeXt(own_norm=True),
        "norm (LayerNorm2d): it is a subclass of LayerNorm with a forward of its own",
    ),
    "layer scale": (
        lambda: ConvNeXt(layer_scale=True),
        "mul in the model: a parameter of shape (16, 1, 1) acts on single channels or pixels; only "
        "torch.nn layers can be tied (a depthwise 1×1 convolution scales single channels)",
    ),
    "channel shuffle": (ShuffleNet, "view in the model: turns (channels) of sizes [16] into"),
    "layers in a list": (
        InAList,
        "conv2d in the model cannot be made equivariant: a weight used outside a layer cannot be "
        "tied; use the torch.nn layer (and an nn.ModuleList for a list of them)",
    ),
    "numpy": (Numpy, "a constant; what came into b could not be followed from there (TorchScript"),
    "SyncBatchNorm": (
        ended_by(nn.SyncBatchNorm(16)),
        "1 (SyncBatchNorm): its statistics over several processes",
    ),
    "stride on one axis": (
        ended_by(nn.Conv2d(16, 16, 3, (2, 1), 1)),
        f"1: not equivariant to D4 ({UNLIKE}",
    ),
    "pooling on one axis": (
        ended_by(nn.MaxPool2d((2, 1))),
        f"max_pool2d in 1: not equivariant to D4 ({UNLIKE}",
    ),
    "stack": (
        of(lambda x: torch.stack([x, -x]).sum(0)),
        "stack in the model cannot be made equivariant: it makes a new dimension; add the tensors",
    ),
    "noise": (
        of(lambda x: x + torch.randn_like(x)),
        "randn_like in the model cannot be made equivariant: random numbers do not turn",
    ),
    "Fourier transform": (of(lambda x: torch.fft.rfft2(x).abs()), "rfft2 in the model cannot"),
    "places of entries": (of(lambda x: x + torch.where(x > 0)[0].sum()), "where in the model: how"),
    "zero padding of channels": (
        of(lambda x: F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 8, 8)), 32),
        "pad in the model: only the grid can be padded, not (channels)",
    ),
    "cut off centre": (
        of(lambda x: x[:, :, 1:, 1:]),
        "getitem in the model: asymmetric cut: its middle is not that of the grid",
    ),
    "every other pixel of an even number": (
        of(lambda x: x[..., ::2, ::2]),
        "getitem in the model: asymmetric cut",
    ),
    "mixing of pixels": (
        of(lambda x: nn.Linear(36, 36)(x.flatten(2)).unflatten(2, (6, 6))),
        "linear in the model cannot be made equivariant: a weight used outside a layer",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_real_models_are_refused(name: str) -> None:
    make, words = REFUSED[name]
    with pytest.raises(iso.NotSupportedError, match=re.escape(words)) as caught:
        iso.equivariant(make().eval(), "D4", torch.randn(2, 3, 8, 8))
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_torchscript_on_the_way_is_named() -> None:
    """What it computes cannot be followed; the layer behind it says where the trail ends."""
    script = torch.jit.CompilationUnit("def swish(x):\n    return x * x.sigmoid()\n")
    model = of(lambda x: script.swish(x))()
    with pytest.raises(iso.NotSupportedError, match=r"a constant; what came into layers\.head co"):
        iso.equivariant(model, "D4", torch.randn(2, 3, 8, 8))


def test_widths_that_do_not_divide() -> None:
    with pytest.raises(iso.InputError, match=r"^conv1: 6 channels .* \|D4\| = 8; .* are 8$"):
        iso.equivariant(LeNet(), "D4", torch.randn(2, 3, 32, 32))


class TakesTwo(nn.Module):
    """A model of two tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.conv(x) + y


class WantsItsSize(TakesTwo):
    """A model that asserts the size of its input."""

    def forward(self, x: Tensor, y: Any = None) -> Tensor:
        assert x.shape[-1] == 224, "pictures must be 224 wide\nand high"
        return self.conv(x)


DO_NOT_RUN: dict[str, tuple[nn.Module, tuple[int, ...], str]] = {
    "two tensors": (TakesTwo(), (3, 8, 8), r"TypeError: .*missing 1 required .* 'y'"),
    "an assertion": (WantsItsSize(), (3, 8, 8), "AssertionError: pictures must be 224 wide"),
    "other channels": (nn.Conv2d(3, 16, 3), (1, 8, 8), "expected input.* to have 3 channels"),
    "no pictures": (nn.Conv2d(3, 16, 3), (64,), "Expected 3D"),
}


@pytest.mark.parametrize(
    ("ask", "argument"),
    [
        (lambda model, x: iso.equivariant(model, "C4", x), "example"),
        (lambda model, x: iso.cost(model, x), "example"),
        (lambda model, x: iso.audit(model, x, "C4"), "x"),
        (lambda model, x: iso.equivariance_error(model, x, "C4", "image"), "x"),
    ],
    ids=["equivariant", "cost", "audit", "equivariance_error"],
)
@pytest.mark.parametrize("name", DO_NOT_RUN)
def test_models_that_do_not_run_on_the_example(
    name: str, ask: Callable[[nn.Module, Tensor], object], argument: str
) -> None:
    model, shape, words = DO_NOT_RUN[name]
    start = rf"^{argument}: the model does not run on a batch of shape \(2, .*"
    with pytest.raises(iso.InputError, match=start + words) as caught:
        ask(model, torch.randn(2, *shape))
    assert "\n" not in str(caught.value)
