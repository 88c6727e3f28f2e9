"""Models by name."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from torch import nn

from isotropy.errors import InputError
from isotropy.models.arguments import require_count
from isotropy.models.cnn import plain_cnn
from isotropy.models.equinas import equinas
from isotropy.models.mlp import plain_mlp
from isotropy.models.resnet import ResNet
from isotropy.models.unet import UNet
from isotropy.models.vgg import plain_vgg
from isotropy.models.wrn import WideResNet

_FACTORIES: dict[str, Callable[..., nn.Module]] = {
    "cnn": plain_cnn,
    "equinas": equinas,
    "mlp": plain_mlp,
    "resnet": ResNet,
    "unet": UNet,
    "vgg": plain_vgg,
    "wrn": WideResNet,
}
_COMMON = ("example_shape", "outputs", "width")


def names() -> tuple[str, ...]:
    """The names that `make` knows.

    >>> names()
    ('cnn', 'equinas', 'mlp', 'resnet', 'unet', 'vgg', 'wrn')
    """
    return tuple(_FACTORIES)


def make(
    name: str,
    example_shape: Sequence[int],
    outputs: int,
    width: int | None = None,
    **options: Any,
) -> nn.Module:
    """A plain PyTorch model, whose windows fit its input so that it can be tied exactly.

    Args:
        name: one of `names()`.
        example_shape: of one example, without the batch: (channels, *grid) or (features,).
        outputs: numbers per example, or per pixel for "unet".
        width: channels of the first layer, of which all others are multiples; the model's default
            unless given. Any multiple of |G| can be tied under G.
        options: the model's own, as depth=28 for "wrn".

    >>> import torch, isotropy as iso
    >>> x = torch.randn(2, 1, 13, 13)
    >>> tied = iso.equivariant(make("resnet", x.shape[1:], 10, width=8), "D4", x)
    >>> iso.equivariance_error(tied, x) < 1e-12
    True
    """
    function = factory(name)
    outputs = require_count(outputs, "outputs")
    if width is not None:
        options["width"] = require_count(width, "width")
    known = inspect.signature(function).parameters
    unknown = [option for option in options if option not in known]
    if unknown:
        own = ", ".join(option for option in known if option not in _COMMON) or "none"
        raise InputError(f"{name} has no option {unknown[0]!r}. Its options: {own}")
    return function(example_shape, outputs, **options)


def factory(name: str) -> Callable[..., nn.Module]:
    """The function behind a name; its signature has the model's options and their defaults.

    >>> factory("cnn")((1, 8, 8), 10).__class__.__name__
    'Sequential'
    """
    if name in _FACTORIES:
        return _FACTORIES[name]
    near = difflib.get_close_matches(str(name).lower(), names(), n=1, cutoff=0.3)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise InputError(f"unknown model {name!r}. Known: {', '.join(names())}.{hint}")
