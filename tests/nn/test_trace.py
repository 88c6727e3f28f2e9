"""What a network may do with its tensors: each way is followed rightly or refused by name."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations, parametrize

import isotropy as iso
from isotropy.nn.trace import Channels, trace
from isotropy.nn.trace.names import COMPARE, ODD, POINTWISE
from isotropy.nn.trace.operations import _RULES
from tests.models import VGG, Lambda, UNet

EXACT = 1e-12
Step = Callable[[Tensor], Tensor]
Forward = Callable[[nn.ModuleDict, Tensor], Tensor]


def between(step: Step) -> nn.Module:
    """A step between two convolutions, on positive numbers in eight channels."""
    return Lambda(
        lambda m, x: m["b"](step(m["a"](x).abs() + 0.1)),
        a=nn.Conv2d(1, 8, 3, padding=1),
        b=nn.Conv2d(8, 8, 3, padding=1),
    ).double()


def pictures(size: int = 8, channels: int = 1) -> Tensor:
    return torch.randn(2, channels, size, size, dtype=torch.float64)


def assert_accepted(model: nn.Module, x: Tensor, group: str = "C4", output: str = "field") -> None:
    tied = iso.equivariant(model, group, x, output=output)
    assert iso.equivariance_error(iso.fold(tied), x, group, output) <= EXACT


def assert_refused(
    model: nn.Module, x: Tensor, words: str, group: str = "C4", **options: Any
) -> str:
    options = {"output": "field", **options}
    with pytest.raises(iso.NotSupportedError, match=words) as caught:
        iso.equivariant(model, group, x, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


# -- functions of single numbers: every one, in every form that torch has -------------------

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "dropout": (0.5, False),
    "alpha_dropout": (0.5, False),
    "feature_dropout": (0.5, False),
    "feature_alpha_dropout": (0.5, False),
    "dropout1d": (0.5, False),
    "dropout2d": (0.5, False),
    "dropout3d": (0.5, False),
    "pow": (2,),
    "clamp": (0.2, 0.9),
    "clip": (0.2, 0.9),
    "clamp_min": (0.3,),
    "clamp_max": (0.3,),
    "threshold": (0.5, 0.1),
    "prelu": (torch.tensor([0.25], dtype=torch.float64),),
    "logit": (0.1,),
    "to": (torch.float64,),
    "type": (torch.float64,),
}
AGAIN_IN_FLOAT64 = ("float", "half", "bfloat16")
ELSEWHERE = ("cuda",)  # needs one


def forms(name: str) -> dict[str, Step]:
    """torch.relu, F.relu, Tensor.relu, and each with an underscore, where there is one."""
    found: dict[str, Step] = {}
    for home, label in ((torch, "torch"), (F, "F"), (Tensor, "Tensor")):
        for ending in ("", "_"):
            function = getattr(home, name + ending, None)
            if callable(function) and runs(function, ARGUMENTS.get(name, ())):
                found[f"{label}.{name}{ending}"] = call(function, ARGUMENTS.get(name, ()))
    return found


def call(function: Callable[..., Tensor], arguments: tuple[Any, ...]) -> Step:
    return lambda x: function(x, *arguments).double()


def runs(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    x = torch.rand(2, 8, 4, 4, dtype=torch.float64)
    try:
        y = function(x, *arguments)
    except (TypeError, RuntimeError, NotImplementedError):
        return False
    return isinstance(y, Tensor) and y.shape == x.shape


NAMES = [name for name in (ODD + " " + POINTWISE).split() if name not in ELSEWHERE]


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_single_numbers(name: str) -> None:
    """All forms are followed, and are one function to the tracer."""
    found = forms(name)
    assert found or name in ("dropout1d", "dropout3d")
    for label, step in found.items():
        names = {call.name.split(" ")[0] for call in trace(between(step), pictures(4)).calls}
        assert name in names, label
    for step in list(found.values())[:1]:
        assert_accepted(between(step), pictures(4))


# -- all else that is followed --------------------------------------------------------------


def squeeze_excite(x: Tensor) -> Tensor:
    return x * torch.sigmoid(x.mean((2, 3), keepdim=True))


C = torch.tensor(1.5, dtype=torch.float64)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return 2 * x

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return 2 * gradient


FOLLOWED: dict[str, Step] = {
    # two tensors
    "x + y": lambda x: x + x.tanh(),
    "x - y": lambda x: x - x.tanh(),
    "x * y": lambda x: x * x.tanh(),
    "x / y": lambda x: x / (x + 1),
    "x += y": lambda x: x.__iadd__(x.tanh()),
    "x -= y": lambda x: x.__isub__(x.tanh()),
    "x *= y": lambda x: x.__imul__(x.tanh()),
    "x /= y": lambda x: x.__itruediv__(x + 1),
    "x **= 2": lambda x: x.__ipow__(2),
    "x.add_": lambda x: x.add_(x.tanh(), alpha=2),
    "x.sub_": lambda x: x.sub_(x.tanh()),
    "x.mul_": lambda x: x.mul_(x.tanh()),
    "x.div_": lambda x: x.div_(x + 1),
    "torch.add": lambda x: torch.add(x, x.tanh(), alpha=3),
    "torch.sub": lambda x: torch.sub(x, x.tanh()),
    "torch.subtract": lambda x: torch.subtract(x, x.tanh()),
    "torch.rsub": lambda x: torch.rsub(x, x.tanh()),
    "torch.mul": lambda x: torch.mul(x, x.tanh()),
    "torch.multiply": lambda x: torch.multiply(x, x.tanh()),
    "torch.div": lambda x: torch.div(x, x + 1),
    "torch.divide": lambda x: torch.divide(x, x + 1),
    "torch.true_divide": lambda x: torch.true_divide(x, x + 1),
    "torch.maximum": lambda x: torch.maximum(x, x.sin()),
    "torch.minimum": lambda x: torch.minimum(x, x.sin()),
    "torch.fmax": lambda x: torch.fmax(x, x.sin()),
    "torch.fmin": lambda x: torch.fmin(x, x.sin()),
    "torch.atan2": lambda x: torch.atan2(x, x.sin()),
    "x ** y": lambda x: x ** x.sin(),
    "max of two": lambda x: torch.max(x, x.sin()),
    "min of two": lambda x: torch.min(x, x.sin()),
    "sum of a list": lambda x: sum([x, x.sin(), x.cos()]),
    # a tensor and a number
    "x + 1": lambda x: x + 1,
    "1 + x": lambda x: 1 + x,
    "1 - x": lambda x: 1 - x,
    "x - 1": lambda x: x - 1,
    "2 * x": lambda x: 2 * x,
    "x / 2": lambda x: x / 2,
    "1 / x": lambda x: 1 / x,
    "x ** 2": lambda x: x**2,
    "2 ** x": lambda x: 2**x,
    "-x": lambda x: -x,
    "+x": lambda x: +x,
    "abs(x)": abs,
    "x + number of a tensor": lambda x: x + C,
    "tensor * x": lambda x: C * x,
    "where": lambda x: torch.where(x > 1, x, x.sin()),
    "where, of numbers": lambda x: torch.where(x > 1, 1.0, 2.0) * x,
    "where, one for all channels": lambda x: torch.where(x.mean(1, keepdim=True) > 1, x, -x),
    "masked_fill": lambda x: x.masked_fill(x > 1, 0.5),
    "zeros_like": lambda x: torch.maximum(x - 1, torch.zeros_like(x)),
    "ones_like": lambda x: x + torch.ones_like(x),
    "full_like": lambda x: x * torch.full_like(x, 2.0),
    "x.new_zeros": lambda x: x + x.new_zeros(8, 1, 1) + x.new_full((1,), 2.0),
    "x += 1": lambda x: x.__iadd__(1),
    # by keyword
    "F.relu(input=x)": lambda x: F.relu(input=x),
    "torch.add(x, other=y)": lambda x: torch.add(x, other=x.tanh()),
    "torch.mul(input=x, other=y)": lambda x: torch.mul(input=x, other=x.tanh()),
    "torch.clamp(x, min=0)": lambda x: torch.clamp(x, min=0.3),
    "torch.cat(tensors=, dim=)": lambda x: (
        torch.cat(tensors=[x, x], dim=1).mean(1, keepdim=True) + x
    ),
    "F.max_pool2d(input=x)": lambda x: F.max_pool2d(input=x, kernel_size=2),
    "torch.transpose(x, dim0=, dim1=)": lambda x: torch.transpose(x, dim0=2, dim1=3).transpose(
        dim0=2, dim1=3
    ),
    "x.mean(axis=)": lambda x: x * x.mean(axis=(2, 3), keepdims=True),
    # the grid
    "max pool": lambda x: F.max_pool2d(x, 2),
    "average pool": lambda x: F.avg_pool2d(x, 2),
    "Lp pool": lambda x: F.lp_pool2d(x, 2, 2),
    "adaptive average pool": lambda x: F.adaptive_avg_pool2d(x, 4),
    "adaptive max pool": lambda x: F.adaptive_max_pool2d(x, 4),
    "torch's own names": lambda x: torch.max_pool2d(x, 2),
    "nearest": lambda x: F.interpolate(x, scale_factor=2),
    "bilinear": lambda x: F.interpolate(x, (12, 12), mode="bilinear"),
    "to the size of another": lambda x: F.interpolate(F.avg_pool2d(x, 2), x.shape[2:]) + x,
    "F.upsample": lambda x: F.interpolate(x, None, 2.0, "nearest"),
    "padding": lambda x: F.pad(x, (1, 1, 1, 1)),
    "reflection": lambda x: F.pad(x, (2, 2, 2, 2), "reflect"),
    "padding nothing": lambda x: F.pad(x, (1, 1, 1, 1, 0, 0)),
    # shapes
    "twice transposed": lambda x: x.transpose(2, 3).transpose(-1, -2),
    "permuted and back": lambda x: x.permute(0, 2, 3, 1).permute(0, 3, 1, 2),
    "permuted by a list": lambda x: torch.permute(x, [0, 2, 3, 1]).permute([0, 3, 1, 2]),
    "movedim": lambda x: x.movedim(1, -1).movedim(-1, 1),
    "movedim of two": lambda x: x.movedim((2, 3), (0, 1)).movedim((0, 1), (2, 3)),
    "moveaxis": lambda x: x.moveaxis(1, 3).moveaxis(3, 1),
    "swapaxes": lambda x: x.swapaxes(1, 2).swapaxes(1, 2),
    "swapdims": lambda x: x.swapdims(1, 2).swapdims(1, 2),
    "flatten and back": lambda x: x.flatten(1).view(len(x), 8, *x.shape[2:]),
    "flatten and unflatten": lambda x: x.flatten(1).unflatten(1, (8, *x.shape[2:])),
    "reshape_as": lambda x: x.reshape(len(x), -1).reshape_as(x),
    "view_as": lambda x: x.view(x.size(0), -1).view_as(x),
    "unsqueeze and squeeze": lambda x: x.unsqueeze(2).squeeze(2),
    "with an axis more": lambda x: x[:, :, None].squeeze(2),
    "x[:]": lambda x: x[:],
    "x[...]": lambda x: x[...],
    "x[..., None]": lambda x: x[..., None].squeeze(-1),
    "x[:, :, :, :]": lambda x: x[:, :, :, :],
    "the middle": lambda x: x[:, :, 1:-1, 1:-1],
    "the middle, from behind": lambda x: x[..., 2:6, 2:6],
    "every other pixel of an odd number": lambda x: F.max_pool2d(x, 2, 1)[..., ::2, ::2],
    "two maps of one channel": lambda x: (
        x * torch.cat([x.max(1)[0].unsqueeze(1), x.mean(1).unsqueeze(1)], 1).sum(1, keepdim=True)
    ),
    # reductions
    "squeeze and excite": squeeze_excite,
    "mean of one axis, then the other": lambda x: x + x.mean(3, True).mean(2, True),
    "excite by view and expand_as": lambda x: x * x.mean((2, 3)).view(len(x), 8, 1, 1).expand_as(x),
    "excite by view and expand": lambda x: (
        x * x.mean((2, 3)).view(len(x), 8, 1, 1).expand(-1, -1, *x.shape[2:])
    ),
    "excite by pooling and expand": lambda x: (
        x * F.adaptive_avg_pool2d(x, 1).expand(-1, -1, *x.shape[2:])
    ),
    "excite by indexing": lambda x: x * x.amax((2, 3))[:, :, None, None],
    "spatial attention": lambda x: x * torch.sigmoid(x.mean(1, keepdim=True)),
    "spatial attention by max": lambda x: x * x.max(1, keepdim=True)[0],
    "sum": lambda x: x * x.sum((-2, -1), keepdim=True),
    "amin": lambda x: x - x.amin((1, 2, 3), keepdim=True),
    "std": lambda x: x / x.std((2, 3), keepdim=True),
    "var": lambda x: x / x.var((2, 3), keepdim=True),
    "norm": lambda x: x / x.norm(dim=(2, 3), keepdim=True),
    "norm over channels": lambda x: x / torch.norm(x, 2, 1, True),
    "logsumexp": lambda x: x - torch.logsumexp(x, (2, 3), keepdim=True),
    "prod over channels": lambda x: x * x.prod(1, keepdim=True),
    "median over channels": lambda x: x - x.median(1, keepdim=True).values,
    "min over channels": lambda x: x - x.min(1, keepdim=True).values,
    "softmax": lambda x: x.softmax(1),
    "F.softmax": lambda x: F.softmax(x, dim=1),
    "softmin": lambda x: F.softmin(x, dim=1),
    "log_softmax": lambda x: torch.log_softmax(x, 1),
    "normalize": lambda x: F.normalize(x),
    # several channels side by side, and apart
    "torch.cat": lambda x: sum(torch.cat([x, x.sin()], 1).chunk(2, 1)),
    "torch.concat": lambda x: sum(torch.concat([x, x.sin()], 1).chunk(2, dim=1)),
    "torch.concatenate": lambda x: sum(torch.concatenate([x, x.sin()], dim=1).split(8, 1)),
    "split into sizes": lambda x: torch.cat(list(torch.split(x, [4, 4], dim=1))[::-1], 1),
    "tensor_split": lambda x: torch.cat(list(x.tensor_split(2, dim=1))[::-1], 1),
    "gates": lambda x: torch.cat([x.chunk(2, 1)[0] * x.chunk(2, 1)[1].sigmoid()] * 2, 1),
    # a function with a gradient of its own is followed inside
    "autograd.Function": lambda x: Doubled.apply(x),
    # what is no tensor
    "x.shape": lambda x: x * x.shape[-1] / x.size(2) * x.dim() / x.numel() * len(x),
    "x.dtype": lambda x: x.to(x.dtype).to(x.device) if x.is_floating_point() else x,
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_followed(name: str) -> None:
    assert_accepted(between(FOLLOWED[name]), pictures())


TRIED_ELSEWHERE = (
    "chunk split tensor_split max min median any all "  # their results are not recorded as one
    "max_pool1d max_pool3d avg_pool1d avg_pool3d lp_pool1d lp_pool3d dropout1d dropout3d "
    "adaptive_avg_pool1d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool3d "
    "cuda upsample "
    "rdiv truediv rtruediv radd rmul iadd isub imul"  # names that other versions of torch may use
)


def test_every_rule_is_tried() -> None:
    """All names that have a rule, against all that the tests of this file call."""
    seen = {*NAMES, *COMPARE.split()}
    for step in FOLLOWED.values():
        with suppress(iso.NotSupportedError, IndexError):  # which fail their own test
            calls = trace(between(step), pictures()).calls
            seen |= {call.name.split(" ")[0] for call in calls if not call.is_module}
    assert set(_RULES) - seen <= set(TRIED_ELSEWHERE.split())


ON_SIGNALS: dict[str, Step] = {
    "max_pool1d": lambda x: F.max_pool1d(x, 2),
    "avg_pool1d": lambda x: F.avg_pool1d(x, 2),
    "lp_pool1d": lambda x: F.lp_pool1d(x, 2, 2),
    "adaptive_avg_pool1d": lambda x: F.adaptive_avg_pool1d(x, 4),
    "adaptive_max_pool1d": lambda x: F.adaptive_max_pool1d(x, 4),
    "dropout1d": lambda x: F.dropout1d(x, 0.5, False),
    "linear": lambda x: F.interpolate(x, scale_factor=2, mode="linear"),
    "pad": lambda x: F.pad(x, (1, 1)),
}
ON_VOLUMES: dict[str, Step] = {
    "max_pool3d": lambda x: F.max_pool3d(x, 2),
    "avg_pool3d": lambda x: F.avg_pool3d(x, 2),
    "lp_pool3d": lambda x: F.lp_pool3d(x, 2, 2),
    "adaptive_avg_pool3d": lambda x: F.adaptive_avg_pool3d(x, 2),
    "adaptive_max_pool3d": lambda x: F.adaptive_max_pool3d(x, 2),
    "dropout3d": lambda x: F.dropout3d(x, 0.5, False),
    "nearest": lambda x: F.interpolate(x, scale_factor=2),
}


@pytest.mark.parametrize("name", ON_SIGNALS)
def test_on_signals(name: str) -> None:
    model = Lambda(
        lambda m, x: m["b"](ON_SIGNALS[name](m["a"](x))), a=nn.Conv1d(1, 4, 3), b=nn.Conv1d(4, 2, 1)
    )
    assert_accepted(model.double(), torch.randn(2, 1, 10, dtype=torch.float64), "D1")


@pytest.mark.parametrize("name", ON_VOLUMES)
def test_on_volumes(name: str) -> None:
    model = Lambda(
        lambda m, x: m["b"](ON_VOLUMES[name](m["a"](x))), a=nn.Conv3d(1, 4, 3), b=nn.Conv3d(4, 4, 1)
    )
    assert_accepted(model.double(), torch.randn(2, 1, 6, 6, 6, dtype=torch.float64), "C4")


MODULES: list[nn.Module] = [
    nn.ReLU(),
    nn.ReLU(inplace=True),
    nn.ReLU6(),
    nn.LeakyReLU(0.1, True),
    nn.ELU(),
    nn.SELU(),
    nn.CELU(),
    nn.GELU(),
    nn.GELU("tanh"),
    nn.SiLU(),
    nn.Mish(),
    nn.Sigmoid(),
    nn.Tanh(),
    nn.Softplus(),
    nn.Softsign(),
    nn.Hardswish(),
    nn.Hardsigmoid(),
    nn.Hardtanh(),
    nn.Hardshrink(),
    nn.Softshrink(),
    nn.Tanhshrink(),
    nn.LogSigmoid(),
    nn.Threshold(0.5, 0.1),
    nn.RReLU(),
    nn.PReLU(),
    nn.PReLU(8),
    nn.Softmax(1),
    nn.Softmax2d(),
    nn.LogSoftmax(1),
    nn.Identity(),
    nn.Dropout(),
    nn.Dropout2d(),
    nn.AlphaDropout(),
    nn.MaxPool2d(2),
    nn.AvgPool2d(2),
    nn.LPPool2d(2, 2),
    nn.AdaptiveAvgPool2d(2),
    nn.AdaptiveMaxPool2d((2, 2)),
    nn.Upsample(scale_factor=2),
    nn.UpsamplingBilinear2d(scale_factor=2),
    nn.ZeroPad2d(1),
    nn.ReflectionPad2d(1),
    nn.ReplicationPad2d(1),
    nn.CircularPad2d(1),
    nn.ConstantPad2d(1, 0.5),
    nn.BatchNorm2d(8),
    nn.InstanceNorm2d(8, affine=True),
    nn.GroupNorm(2, 8),
    nn.LayerNorm((8, 8, 8)),
    nn.Conv2d(8, 8, 3, groups=8, padding=1),
    nn.Conv2d(8, 16, 1, groups=2),
    nn.ConvTranspose2d(8, 8, 2, 2),
    nn.Sequential(),
    nn.Sequential(nn.Flatten(), nn.Unflatten(1, (8, 8, 8))),
]


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_modules_that_are_followed(module: nn.Module) -> None:
    out = 16 if getattr(module, "out_channels", 8) == 16 else 8
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), copy.deepcopy(module), nn.Conv2d(out, 8, 1)
    )
    assert_accepted(model.double().eval(), pictures())


def test_heads() -> None:
    """From a map to labels, in all the ways that people write it."""
    heads: list[tuple[Step, int]] = [
        (lambda x: x.flatten(1), 8 * 16),
        (lambda x: torch.flatten(x, 1), 8 * 16),
        (lambda x: x.view(x.size(0), -1), 8 * 16),
        (lambda x: x.reshape(x.shape[0], 8 * 16), 8 * 16),
        (lambda x: x.flatten(start_dim=1, end_dim=-1), 8 * 16),
        (lambda x: x.mean((2, 3)), 8),
        (lambda x: x.mean(-1).mean(-1), 8),
        (lambda x: F.adaptive_avg_pool2d(x, 1).flatten(1), 8),
        (lambda x: F.adaptive_avg_pool2d(x, 1).squeeze(-1).squeeze(-1), 8),
        (lambda x: F.avg_pool2d(x, x.shape[2:]).view(-1, 8), 8),
        (lambda x: F.max_pool2d(x, kernel_size=x.size()[2:])[:, :, None].flatten(1), 8),
        (lambda x: x.amax(3).amax(2), 8),
    ]
    for head, features in heads:
        model = Lambda(
            lambda m, x, head=head: m["b"](head(m["a"](x))),
            a=nn.Conv2d(1, 8, 3),
            b=nn.Linear(features, 3),
        )
        assert_accepted(model.double(), pictures(6), output="invariant")


def test_a_head_that_needs_more_than_one_sample() -> None:
    """squeeze() takes the batch away too if there is one sample only; the example has two."""
    model = Lambda(
        lambda m, x: m["b"](F.adaptive_avg_pool2d(m["a"](x), 1).squeeze()),
        a=nn.Conv2d(1, 8, 3),
        b=nn.Linear(8, 3),
    )
    assert_accepted(model.double(), pictures(6), output="invariant")


def test_channels_last() -> None:
    """Layer norm and linear layers on the last dimension, as in ConvNeXt."""

    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        y = m["stem"](x)
        z = m["depthwise"](y).permute(0, 2, 3, 1)
        z = m["shrink"](F.gelu(m["grow"](m["norm"](z)))).permute(0, 3, 1, 2)
        return y + z

    model = Lambda(
        forward,
        stem=nn.Conv2d(1, 8, 2, 2),
        depthwise=nn.Conv2d(8, 8, 3, padding=1, groups=8),
        norm=nn.LayerNorm(8),
        grow=nn.Linear(8, 16),
        shrink=nn.Linear(16, 8),
    )
    assert_accepted(model.double(), pictures(), "D4")


def test_a_generator() -> None:
    """From features to a picture."""

    class Generator(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.down = nn.Conv2d(1, 8, 3)
            self.features = nn.Linear(8 * 36, 4 * 16)
            self.up = nn.ConvTranspose2d(4, 8, 2, 2)
            self.out = nn.Conv2d(8, 1, 1)

        def forward(self, x: Tensor) -> Tensor:
            y = self.features(self.down(x).flatten(1)).view(-1, 4, 4, 4)
            return self.out(torch.relu(self.up(y)))

    assert_accepted(Generator().double(), pictures(), "C4", "image")


# -- constants ------------------------------------------------------------------------------

RGB = torch.tensor([0.485, 0.456, 0.406], dtype=torch.float64).view(1, 3, 1, 1)
STEPS = torch.arange(8.0, dtype=torch.float64)


class Normalised(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", RGB.clone())
        self.register_buffer("std", RGB / 2)
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv((x - self.mean) / self.std)


def test_constants_per_colour_are_fine() -> None:
    assert_accepted(Normalised().double(), pictures(channels=3), "D4")


def test_constants_per_colour_are_refused_where_colours_are_exchanged() -> None:
    swap = {"s": [1, 0, 2]}
    x = pictures(channels=3)
    message = assert_refused(
        Normalised().double(),
        x,
        "a constant differs between channels that s of D1 exchanges",
        "D1",
        action=swap,
    )
    assert message.startswith("sub in the model")


def test_constants_alike_on_all_channels_are_fine() -> None:
    assert_accepted(between(lambda x: x * torch.full((1, 8, 1, 1), 2.0).double()), pictures())
    assert_accepted(between(lambda x: x + torch.ones(8, 1, 1).double()), pictures())


def test_constants_alike_within_fields_are_fine() -> None:
    fields = torch.tensor([1.0, 2.0]).repeat_interleave(4).view(8, 1, 1).double()
    assert_accepted(between(lambda x: x * fields), pictures())


def test_symmetric_masks_are_fine() -> None:
    mask = torch.zeros(8, 8, dtype=torch.float64)
    mask[2:6, 2:6] = 1
    assert_accepted(between(lambda x: x * mask), pictures(), "D4")


# -- what is refused, with the reason -------------------------------------------------------


def attention(x: Tensor) -> Tensor:
    q = x.permute(0, 2, 3, 1)
    return (q @ q.transpose(-2, -1)).permute(0, 3, 1, 2)


def shuffled(x: Tensor) -> Tensor:
    n, c, h, w = x.shape
    return x.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


REFUSED: dict[str, tuple[Step, str]] = {
    "pixel shuffle": (
        lambda x: F.pixel_shuffle(x, 2),
        "pixel_shuffle in the model .*turns channels into pixels",
    ),
    "pixel unshuffle": (
        lambda x: F.pixel_unshuffle(x, 2),
        "pixel_unshuffle in the model .*turns pixels into channels",
    ),
    "attention": (
        lambda x: F.scaled_dot_product_attention(x, x, x),
        "scaled_dot_product_attention in the model .*attention is not supported",
    ),
    "attention by hand": (attention, "matmul in the model .*mixes channels or pixels"),
    "attention by hand, mT": (
        lambda x: x @ x.mT,
        "(mT|matmul) in the model .*",
    ),
    "torch.matmul": (lambda x: torch.matmul(x, x), "matmul in the model .*mixes channels"),
    "bmm": (lambda x: torch.bmm(x[:, :, 0], x[:, :, 0]), "in the model"),
    "einsum": (
        lambda x: torch.einsum("bchw,bdhw->bcd", x, x),
        "einsum in the model .*mixes channels or pixels",
    ),
    "some channels": (
        lambda x: x[:, :4],
        r"getitem in the model: indexing takes out some of .*use chunk or split",
    ),
    "one channel": (lambda x: x[:, 0], "getitem in the model: indexing takes out some"),
    "every other channel": (lambda x: x[:, ::2], "indexing takes out some"),
    "some pixels": (lambda x: x[:, :, :-1, :-1], "getitem in the model: asymmetric cut"),
    "every other pixel": (lambda x: x[..., ::2, ::2], "getitem in the model: asymmetric cut"),
    "one row": (lambda x: x[:, :, 0], "getitem in the model: indexing takes out some"),
    "rows by a list": (lambda x: x[:, :, [0, 7]], "indexing takes out some"),
    "one sample": (lambda x: x[0], "indexing takes out some"),
    "by a mask": (lambda x: x[x > 0], "(gt|getitem) in the model"),
    "by a list": (lambda x: x[:, [1, 0]], "indexing takes out some"),
    "channel shuffle by hand": (shuffled, "view in the model: .*"),
    "channel shuffle": (lambda x: torch.channel_shuffle(x, 2), "channel_shuffle in the model"),
    "native channel shuffle": (
        lambda x: F.channel_shuffle(x, 2) if hasattr(F, "channel_shuffle") else x[:, :1],
        "in the model",
    ),
    "pixels and channels confused": (
        lambda x: x.permute(0, 2, 3, 1).reshape(len(x), -1),
        "reshape in the model: .*channels and pixels cannot be told apart",
    ),
    "samples and channels confused": (
        lambda x: x.view(-1, *x.shape[2:]),
        "view in the model: .*",
    ),
    "mean over the batch": (
        lambda x: x - x.mean(0, keepdim=True),
        "mean in the model: mixes the samples of a batch",
    ),
    "mean over everything": (
        lambda x: x / x.mean(),
        "div in the model: mixes the samples of a batch",
    ),
    "norm over the batch": (lambda x: x / x.norm(), "div in the model: mixes the samples"),
    "stacked samples": (
        lambda x: torch.cat([x, x], 0),
        r"cat in the model: concatenates along \(batch\); only channels can be",
    ),
    "tiled": (lambda x: torch.cat([x, x], 3), r"cat in the model: concatenates along \(axis\)"),
    "split pictures": (
        lambda x: x.chunk(2, 2)[0],
        "chunk in the model: only channels can be split",
    ),
    "divided twice": (
        lambda x: torch.cat([*x.split([4, 4], 1), *x.split([2, 6], 1)], 1),
        "split in the model: the channels are already divided in another way",
    ),
    "stack": (lambda x: torch.stack([x, x]).sum(0), "stack in the model .*makes a new dimension"),
    "two maps beside eight channels": (
        lambda x: torch.cat([x[:, :, None], x[:, :, None]], 2),
        r"cat in the model: concatenates along \(one\); only channels can be",
    ),
    "roll": (lambda x: x.roll(1, 2), "roll in the model .*a shift along an axis"),
    "flip": (lambda x: x.flip(-1), "flip in the model"),
    "rot90": (lambda x: torch.rot90(x, 1, (2, 3)), "rot90 in the model"),
    "cumsum": (lambda x: x.cumsum(2), "cumsum in the model"),
    "sort": (lambda x: x.sort(1)[0], "sort in the model"),
    "grid sample": (
        lambda x: F.grid_sample(x, torch.zeros(2, 8, 8, 2).double(), align_corners=False),
        "grid_sample in the model .*interpolates at fixed places",
    ),
    "local response": (
        lambda x: F.local_response_norm(x, 3),
        "local_response_norm in the model",
    ),
    "unfold": (lambda x: F.unfold(x, 3), "unfold in the model"),
    "gated linear unit": (lambda x: F.glu(x, 1), "glu in the model"),
    "indices": (
        lambda x: F.max_pool2d(x, 2, return_indices=True)[0],
        "max_pool2d.* in the model: return_indices is not supported",
    ),
    "constant per channel": (
        lambda x: x * STEPS.view(1, 8, 1, 1),
        "mul in the model: a constant differs between channels that r of C4 exchanges",
    ),
    "constant per channel, added": (
        lambda x: STEPS.view(8, 1, 1) + x,
        "add in the model: a constant differs between channels",
    ),
    "constant where": (
        lambda x: torch.where(x > 1, x, STEPS.view(8, 1, 1)),
        "where in the model: a constant differs between channels",
    ),
    "entries that are true": (lambda x: x + torch.where(x > 1)[0].sum(), "where in the model: how"),
    "noise": (lambda x: x + torch.rand_like(x), "rand_like in .*: random numbers do not turn"),
    "constant per column": (lambda x: x + STEPS, "add in the model: not equivariant to C4"),
    "constant with more dimensions": (
        lambda x: (x + torch.randn(3, 1, 1, 1, 1).double()).mean(0),
        "add in the model: a constant of shape .* adds dimensions",
    ),
    "coordinates beside": (
        lambda x: torch.cat([x, STEPS.view(1, 1, 1, 8).expand(len(x), 8, 8, 8)], 1),
        "cat in the model",
    ),
    "padding channels": (
        lambda x: F.pad(x, (0, 0, 0, 0, 0, 8)),
        r"pad in the model: only the grid can be padded, not \(channels\)",
    ),
    "softmax over one axis": (
        lambda x: x.softmax(2),
        "softmax in the model: not equivariant to C4",
    ),
    "different channels added": (
        lambda x: x + x.mean(1, keepdim=True).expand(-1, 8, -1, -1)[:, :4],
        "in the model",
    ),
    "axes combined wrongly": (
        lambda x: x + x.transpose(2, 3),
        r"add in the model: combines \(axis\) with \(axis\)",
    ),
    "channels and axes combined": (
        lambda x: x + x.transpose(1, 2),
        r"add in the model: combines \(channels\) with \(axis\)",
    ),
    "expanded batch": (lambda x: x[None].expand(3, -1, -1, -1, -1).mean(0), "in the model"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    step, words = REFUSED[name]
    message = assert_refused(between(step), pictures(), words)
    assert message


def test_refusals_name_the_module() -> None:
    class Block(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return F.pixel_shuffle(x, 2)

    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Sequential(nn.ReLU(), Block()))
    assert_refused(model, pictures().float(), "pixel_shuffle in 1.1 cannot be made equivariant")


REFUSED_MODULES: list[tuple[nn.Module, str]] = [
    (nn.PixelShuffle(2), r"1 \(PixelShuffle\): .*use Upsample and a convolution"),
    (nn.PixelUnshuffle(2), r"1 \(PixelUnshuffle\): .*use a strided convolution"),
    (nn.MultiheadAttention(8, 2), r"1 \(MultiheadAttention\): attention is not supported"),
    (nn.TransformerEncoderLayer(8, 2), r"1 \(TransformerEncoderLayer\): attention"),
    (nn.TransformerDecoderLayer(8, 2), r"1\S* \(\w+\): attention is not supported"),
    (
        nn.Transformer(8, 2, 1, 1, 8, batch_first=True),
        r"1 \(Transformer\): attention is not supported",
    ),
    (nn.LSTM(8, 8), r"1 \(LSTM\): recurrent layers are not supported"),
    (nn.GRU(8, 8), r"1 \(GRU\): recurrent"),
    (nn.RNN(8, 8), r"1 \(RNN\): recurrent"),
    (nn.LSTMCell(8, 8), r"1 \(LSTMCell\): recurrent"),
    (nn.Embedding(8, 8), r"1 \(Embedding\): embeddings look up integers"),
    (nn.Bilinear(8, 8, 8), r"1 \(Bilinear\): bilinear layers are not supported"),
    (nn.ChannelShuffle(2), r"1 \(ChannelShuffle\): it moves channels"),
    (nn.LocalResponseNorm(3), r"1 \(LocalResponseNorm\): it mixes neighbouring channels"),
    (nn.Unfold(3), r"1 \(Unfold\): fold and unfold are not supported"),
    (nn.Fold((8, 8), 1), r"1 \(Fold\): fold and unfold are not supported"),
    (nn.GLU(1), "glu in 1"),
    (nn.MaxPool2d(2, return_indices=True), "in 1: return_indices is not supported"),
    (nn.FractionalMaxPool2d(2, 4), "fractional_max_pool2d.* in 1"),
    (
        nn.Conv2d(8, 8, 2, padding="same"),
        r'1 \(Conv2d\): asymmetric padding: "same" with an even kernel',
    ),
    (
        nn.ConvTranspose2d(8, 8, 3, 2, 1, output_padding=1),
        r"1 \(ConvTranspose2d\): asymmetric padding: output_padding",
    ),
    (parametrizations.weight_norm(nn.Conv2d(8, 8, 3)), r"1 \(\w*Conv2d\): its weight is param"),
    (parametrizations.spectral_norm(nn.Conv2d(8, 8, 3)), r"1 \(\w*Conv2d\): its weight is param"),
    (nn.RMSNorm([8, 8, 8]), r"rms_norm in 1|1 \(RMSNorm\)"),
    (nn.LayerNorm(8), r"1: LayerNorm must cover the channels, not \(axis\)"),
    (nn.LayerNorm((8, 8)), r"1: LayerNorm must cover the channels, not \(axis, axis\)"),
    (nn.Linear(8, 8), r"1: mixes the \(axis\) dimension of"),
]


# torch's own words about the copy that "same" with an even kernel makes
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
@pytest.mark.parametrize(
    ("module", "words"), REFUSED_MODULES, ids=[type(m).__name__ for m, _ in REFUSED_MODULES]
)
def test_modules_that_are_refused(module: nn.Module, words: str) -> None:
    model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), module)
    x = pictures().float()
    assert_refused(model.eval(), x, words)
    with suppress(iso.NotSupportedError):
        trace(model, x)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_asymmetric_padding_is_named() -> None:
    """A warning, as for a stride on an unfortunate size, and the measured error."""
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(8, 8, 2)
    ).double()
    with pytest.raises(iso.NotSupportedError, match="pad in 1: asymmetric padding"):
        iso.equivariant(model, "C4", pictures(), output="field")


class OwnParameter(nn.Module):
    """A parameter of its own, used in some way."""

    def __init__(
        self, shape: tuple[int, ...], use: Callable[[Tensor, Tensor], Tensor], same: bool = False
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.own = nn.Parameter(torch.ones(shape) if same else torch.randn(shape))
        self.use = use

    def forward(self, x: Tensor) -> Tensor:
        return self.use(self.conv(x), self.own)


OWN_PARAMETERS: dict[str, tuple[tuple[int, ...], Callable[[Tensor, Tensor], Tensor], str]] = {
    "scale": (
        (1, 8, 1, 1),
        lambda x, p: x * p,
        r"mul in the model: a parameter of shape \(1, 8, 1, 1\) acts on single channels",
    ),
    "shift": ((8, 1, 1), lambda x, p: p + x, r"add in the model: a parameter of shape \(8, 1, 1\)"),
    "position": ((1, 1, 8, 8), lambda x, p: x + p, r"a parameter of shape \(1, 1, 8, 8\)"),
    "slopes": ((8,), F.prelu, r"prelu in the model: a parameter of shape \(8,\)"),
    "convolution": (
        (8, 8, 3, 3),
        lambda x, p: F.conv2d(x, p, padding=1),
        "conv2d in the model .*a weight used outside a layer cannot be tied; use the torch.nn",
    ),
    "linear": (
        (8, 8),
        lambda x, p: F.linear(x, p),
        "linear in the model .*a weight used outside a layer",
    ),
    "batch norm": (
        (8,),
        lambda x, p: F.batch_norm(x, p, p.abs(), p, p),
        "batch_norm in the model .*a weight used outside a layer",
    ),
    "product": ((8, 8), lambda x, p: x @ p, "matmul in the model"),
}


@pytest.mark.parametrize("same", [False, True], ids=["random", "ones"])
@pytest.mark.parametrize("name", OWN_PARAMETERS)
def test_parameters_outside_layers(name: str, same: bool) -> None:
    shape, use, words = OWN_PARAMETERS[name]
    assert_refused(OwnParameter(shape, use, same).eval(), pictures().float(), words)


@pytest.mark.parametrize("same", [False, True], ids=["random", "ones"])
@pytest.mark.parametrize(
    "use",
    [
        lambda x, p: x * p.view(1, 8, 1, 1),
        lambda x, p: x * p[:, None, None],
        lambda x, p: x * p.reshape(8, 1, 1).exp(),
        lambda x, p: torch.addcmul(x, x, p[:, None, None]),
    ],
    ids=["view", "index", "exp", "addcmul"],
)
def test_parameters_in_disguise(use: Callable[[Tensor, Tensor], Tensor], same: bool) -> None:
    """Ones are alike on all channels now, but not after the first step of training."""
    assert_refused(OwnParameter((8,), use, same), pictures().float(), "in the model")


def test_one_number_for_all_is_fine() -> None:
    model = OwnParameter((1,), lambda x, p: x * p + p.view(1, 1, 1, 1)).double()
    assert_accepted(model, pictures(), "D4")


# -- signs ----------------------------------------------------------------------------------

SIGNED_STEPS: dict[str, tuple[Step, bool]] = {
    "tanh": (torch.tanh, True),
    "neg": (torch.neg, True),
    "scaling": (lambda x: 3 * x / 2, True),
    "sum": (lambda x: x + x.sin(), True),
    "dropout": (lambda x: F.dropout(x, 0.5, False), True),
    "average pool": (lambda x: F.avg_pool2d(x, 2), True),
    "relu": (torch.relu, False),
    "abs": (torch.abs, False),
    "square": (lambda x: x**2, False),
    "product": (lambda x: x * x.sin(), False),
    "shift": (lambda x: x + 1, False),
    "max pool": (lambda x: F.max_pool2d(x, 2), False),
    "softmax": (lambda x: x.softmax(1), False),
    "mean over channels": (lambda x: x + x.mean(1, keepdim=True), False),
    "zeros like it": (lambda x: x - torch.zeros_like(x), True),
    "ones like it": (lambda x: x - torch.ones_like(x), False),
    "one of two": (lambda x: torch.where(x > 0, x, -x), False),
    "the middle": (lambda x: x[..., 1:-1, 1:-1], True),
}


@pytest.mark.parametrize("name", SIGNED_STEPS)
def test_what_commutes_with_signs(name: str) -> None:
    """The input is a field of vectors, whose components change sign in the mirror."""
    step, fine = SIGNED_STEPS[name]
    own = iso.group("D2")
    arrows = iso.groups.vectors(own)
    model = Lambda(lambda m, x: m["a"](step(x)), a=nn.Conv2d(2, 4, 3)).double()
    x = pictures(channels=2)
    if fine:
        tied = iso.equivariant(model, own, x, output="field", action=arrows)
        assert iso.equivariance_error(tied, x) <= EXACT
    else:
        assert_refused(
            model, x, "in the model: does not commute with the sign changes", own, action=arrows
        )


# -- control flow ---------------------------------------------------------------------------


def test_control_flow() -> None:
    """The model really runs, so Python may do what it likes."""

    class Flow(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2d(1, 8, 3, padding=1)
            self.blocks = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=1) for _ in range(3))
            self.unused = nn.Conv2d(8, 5, 3)
            self.depth = 2

        def forward(self, x: Tensor) -> Tensor:
            x = self.first(x)
            for i, block in enumerate(self.blocks[: self.depth]):
                x = x + block(x) if i % 2 else block(x)
            while x.shape[-1] > 4:
                x = F.avg_pool2d(x, 2)
            if self.training:
                x = self.unused(x)
            if max(x.abs().amax((1, 2, 3)).tolist()) > 1e-3:
                x = torch.tanh(x)
            return x

    model = Flow().double().eval()
    with pytest.warns(iso.IsotropyWarning, match=r"^not tied, .* in eval mode: blocks\.2, unused$"):
        tied = iso.equivariant(model, "D4", pictures(), output="field")
    assert list(iso.groups_of(tied)) == ["first", "blocks.0", "blocks.1"]
    assert iso.equivariance_error(tied, pictures()) <= EXACT
    assert type(tied.unused) is nn.Conv2d


def with_a_look(condition: Callable[[Tensor], Any]) -> nn.Module:
    def step(x: Tensor) -> Tensor:
        return torch.tanh(x) if condition(x) else torch.sigmoid(x)

    return between(step)


LOOKS: dict[str, Callable[[Tensor], Any]] = {
    "greatest": lambda x: float(x.abs().max()) < 1e6,
    "sum, item": lambda x: x.sum().item() > 0,
    "compared": lambda x: x.mean() > 0,
    "no NaN": lambda x: not torch.isnan(x).any(),
    "all finite": lambda x: torch.isfinite(x).all(),
    "any": lambda x: (x > 0).any(),
    "same": lambda x: torch.equal(x, x),
    "close": lambda x: torch.allclose(x, x),
}


@pytest.mark.parametrize("name", LOOKS)
def test_control_flow_that_looks_at_the_data(name: str) -> None:
    """What is only looked at, to decide where to go, mixes nothing into the result."""
    assert_accepted(with_a_look(LOOKS[name]), pictures())


# -- what comes out -------------------------------------------------------------------------


class Returning(nn.Module):
    def __init__(self, what: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.what = what

    def forward(self, x: Tensor) -> Any:
        return self.what(self.conv(x))


@pytest.mark.parametrize(
    ("what", "kind"),
    [
        (lambda y: (y, y), "tuple"),
        (lambda y: [y], "list"),
        (lambda y: {"out": y}, "dict"),
        (lambda y: None, "NoneType"),
        (lambda y: float(y.shape[0]), "float"),
        (lambda y: torch.zeros(2, 8, 6, 6), "a constant"),
    ],
    ids=["tuple", "list", "dict", "none", "float", "other tensor"],
)
def test_models_that_do_not_return_one_tensor_are_refused(what: Any, kind: str) -> None:
    words = f"the model must return one tensor made from its input, not {kind}"
    assert_refused(Returning(what), pictures().float(), words)


def test_a_single_channel_may_be_squeezed_away() -> None:
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Flatten(), nn.Linear(8 * 36, 1), nn.Flatten(0))
    x = pictures()
    tied = iso.equivariant(model.double(), "D4", x)
    assert tied(x).shape == (2,)
    assert iso.equivariance_error(tied, x) <= EXACT


def test_layers_called_with_more_than_a_tensor_are_refused() -> None:
    model = Lambda(lambda m, x: m["a"](input=x), a=nn.Conv2d(1, 8, 3))
    assert_refused(model, pictures().float(), "layers.a: call layers with one tensor")
    up = Lambda(lambda m, x: m["a"](x, output_size=(17, 17)), a=nn.ConvTranspose2d(1, 8, 3, 2))
    assert_refused(up, pictures().float(), "layers.a: call layers with one tensor")


# -- the trace itself -----------------------------------------------------------------------


def test_calls_are_listed_in_order() -> None:
    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        y = m["b"](m["a"](x)).relu()
        return torch.cat([m["b"](y), F.max_pool2d(y, 3, 1, 1)], 1)

    model = Lambda(forward, b=nn.Conv2d(8, 8, 1), a=nn.Conv2d(1, 8, 3))
    run = trace(model, pictures().float())
    assert [call.name for call in run.calls] == [
        "layers.a",
        "layers.b",
        "relu in the model",
        "layers.b",
        "max_pool2d in the model",
        "cat in the model",
    ]
    assert list(run.layers()) == ["layers.a", "layers.b"]
    assert run.output.shape == (2, 16, 6, 6)
    _, channels, *_ = run.output_layout
    assert isinstance(channels, Channels)
    assert [p.size for p in channels.space.root().parts or []] == [8, 8]
    assert run.dimensions == 2


def test_captured_tensors_are_as_they_were() -> None:
    """In-place operations after them do not reach them."""
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(inplace=True), nn.BatchNorm2d(8)).eval()
    x = pictures().float()
    conv, relu, norm = trace(model, x, capture=True).calls
    with torch.no_grad():
        y = model[0](x)
    assert torch.equal(conv.output, y)
    assert torch.equal(relu.args[0], y)
    assert torch.equal(relu.output, y.relu())
    assert torch.equal(norm.args[0], y.relu())
    assert torch.equal(relu.again(lambda t, layout: t.clone()), y.relu())
    assert torch.equal(relu.args[0], y)


def state(model: nn.Module) -> list[Any]:
    return [
        (name, type(m), m.training, set(vars(m)), len(m._forward_hooks), len(m._forward_pre_hooks))
        for name, m in model.named_modules()
    ]


@pytest.mark.parametrize("training", [True, False])
def test_the_model_is_untouched(training: bool) -> None:
    x = torch.randn(2, 1, 12, 12)
    for model, output in ((VGG(), "invariant"), (UNet(), "image")):
        model.train(training)
        model.register_forward_hook(lambda m, args, out: out)
        before, numbers = state(model), copy.deepcopy(model.state_dict())
        random = torch.get_rng_state()
        iso.equivariant(model, "C4", x, output=output, weights="project", check=False)
        assert state(model) == before
        assert all(torch.equal(v, numbers[k]) for k, v in model.state_dict().items())
        assert not any(hasattr(p, "_isotropy_layout") for p in model.parameters())
        assert not hasattr(x, "_isotropy_layout")
        assert random.shape == torch.get_rng_state().shape


@pytest.mark.parametrize(
    "step",
    [lambda x: F.pixel_shuffle(x, 2), lambda x: x.view(3, 5), lambda x: 1 / 0],
    ids=["refused", "torch's error", "another error"],
)
def test_the_model_is_untouched_when_the_run_fails(step: Step) -> None:
    model = between(step)
    before = state(model)
    with pytest.raises((iso.NotSupportedError, RuntimeError, ZeroDivisionError)):
        trace(model, pictures())
    assert state(model) == before
    ordinary = nn.Conv2d(1, 1, 3).double()
    assert not hasattr(ordinary(pictures()), "_isotropy_layout"), "the mode is left as well"
    assert len(trace(ordinary, pictures()).calls) == 1


def test_tracing_keeps_the_mode_and_the_statistics() -> None:
    model = VGG().eval()
    before = copy.deepcopy(model.state_dict())
    trace(model, torch.randn(2, 1, 12, 12))
    assert not any(m.training for m in model.modules())
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())


def test_parametrisations_can_be_removed_first() -> None:
    layer = parametrizations.weight_norm(nn.Conv2d(1, 8, 3))
    parametrize.remove_parametrizations(layer, "weight")
    assert_accepted(nn.Sequential(layer).double(), pictures())
