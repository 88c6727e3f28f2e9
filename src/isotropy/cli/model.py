"""The model of a command: by name or from a file of the user's own, tied or plain."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isotropy.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor, nn

    from isotropy.data import DataSet
    from isotropy.runs import Run

Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A name (cnn, equinas, mlp, resnet, unet, vgg, wrn) or path/to/file.py:factory.",
        show_default=False,
    ),
]
MATCHES = ("width", "params")


@dataclass(frozen=True)
class ModelFlags:
    """Which model, and what it is tied under.

    Args:
        group: Tie the model under this group, or under {"layer": "group"}.
        output: What the group does to the outputs: invariant, image, field, or a permutation of
            the labels for every element as {"r2": [0, 2, 1]}; by default image for dense
            predictions and invariant for others.
        action: What the group does to the entries of vectors or to channels, as
            {"r": [1, 2, 3, 0]}.
        match: What a tied model has in common with the plain one of --width: width, so that it is
            as fast, or params, so that it has as many numbers to train.
        width: Channels of the first layer; by default the model's own.
        option: An option of the model's factory, as depth=28; may be given again and again.
    """

    group: str | None = field(default=None, metadata={"metavar": "GROUP", "show_default": False})
    output: str | None = field(default=None, metadata={"metavar": "HOW", "show_default": False})
    action: str | None = field(default=None, metadata={"metavar": "JSON", "show_default": False})
    match: str = field(default="width", metadata={"metavar": "|".join(MATCHES)})
    width: int | None = field(
        default=None, metadata={"metavar": "CHANNELS", "min": 1, "show_default": False}
    )
    option: list[str] | None = field(
        default=None, metadata={"metavar": "NAME=VALUE", "show_default": False}
    )


def build(model: str, flags: ModelFlags, data: DataSet, seed: int) -> nn.Module:
    """The model, with fresh weights that depend on the seed alone.

    Args:
        model: a name, or path/to/file.py:factory.
        flags: its width, and what it is tied under.
        data: what it is for: the shape of its inputs, the number of its outputs.
        seed: of its weights.
    """
    import torch

    import isotropy as iso

    _require_sense(flags)
    make = factory_of(model, data, _options(flags.option or []))
    example, _ = data.batch([0, min(1, len(data) - 1)])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(iso.training.torch_seed(seed, "model"))
        if flags.group is None:
            return make(flags.width)
        return _tied(make, model, flags, example, data)


def _require_sense(flags: ModelFlags) -> None:
    if flags.match not in MATCHES:
        raise InputError(f"match must be one of {MATCHES}, not {flags.match!r}")
    if flags.group is None:
        for name in ("output", "action"):
            if getattr(flags, name) is not None:
                raise InputError(f"{name} says what a group does; give --group too")
        if flags.match != "width":
            raise InputError("match compares a tied model with a plain one; give --group too")


def _tied(
    make: Callable[[int | None], nn.Module],
    name: str,
    flags: ModelFlags,
    example: Tensor,
    data: DataSet,
) -> nn.Module:
    import isotropy as iso

    group = json_or_name(flags.group, "group")
    action = json_or_name(flags.action, "action")
    output = json_or_name(flags.output, "output")
    if output is None:
        output = "image" if data.task == "dense" else "invariant"
    width = flags.width
    if flags.match == "params":
        if isinstance(group, dict):
            raise InputError("match: params needs one group for all layers, not one for each")
        width = iso.matching_width(
            make, _own_width(name, width), group, example, "parameters", output, action
        )
    return iso.equivariant(make(width), group, example, output, action=action)


def json_or_name(text: str | None, argument: str) -> Any:
    """A name, or what a JSON object says."""
    if text is None or not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{argument} is no JSON: {error}") from None


def _options(given: list[str]) -> dict[str, Any]:
    """Options of a factory from NAME=VALUE; a value is JSON, or else text."""
    found = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not (equals and name):
            raise InputError(f"option must be NAME=VALUE, not {one!r}")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


# -- factories ----------------------------------------------------------------------------------


def factory_of(
    name: str, data: DataSet, options: dict[str, Any]
) -> Callable[[int | None], nn.Module]:
    """What makes the plain model of a width (None for its own)."""
    import isotropy as iso

    if ":" not in name and not name.endswith(".py"):
        return lambda width: iso.models.make(name, data.shape, data.outputs, width, **options)
    return lambda width: _call(name, _user_function(name), data, width, options)


def _call(
    name: str,
    function: Callable[..., Any],
    data: DataSet,
    width: int | None,
    options: dict[str, Any],
) -> nn.Module:
    """A user's model; the factory is given those of example_shape, outputs, width it asks for."""
    from torch import nn

    asked = inspect.signature(function).parameters
    offered = {"example_shape": data.shape, "outputs": data.outputs}
    given = {key: value for key, value in offered.items() if key in asked} | options
    if width is not None:
        given["width"] = width
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in asked.values())
    for key in given:
        if key not in asked and not takes_any:
            raise InputError(f"{name} has no parameter {key!r}, which was asked for")
    try:
        model = function(**given)
    except Exception as error:
        raise InputError(f"{name} failed: {type(error).__name__}: {error}") from None
    if not isinstance(model, nn.Module):
        raise InputError(f"{name} must return a torch.nn.Module, not {type(model).__name__}")
    return model


def _own_width(name: str, width: int | None) -> int:
    """The width that was asked for, or else the factory's own."""
    if width is not None:
        return width
    from isotropy.models import factory

    function = _user_function(name) if ":" in name else factory(name)
    parameter = inspect.signature(function).parameters.get("width")
    if parameter is None or not isinstance(parameter.default, int):
        raise InputError(f"match: say with --width which width of {name} is to be matched")
    return parameter.default


def _user_function(name: str) -> Callable[..., Any]:
    path, _, attribute = name.rpartition(":")
    if not path.endswith(".py"):
        raise InputError(f"model must be a name or path/to/file.py:factory, not {name!r}")
    function = getattr(user_module(Path(path)), attribute, None)
    if not callable(function):
        raise InputError(f"{path} has no function {attribute!r}")
    return function  # type: ignore[no-any-return]


def user_module(path: Path) -> ModuleType:
    """A user's file, run once; it is known by a name that does not depend on where it is."""
    if not path.is_file():
        raise InputError(f"no such file: {path}")
    name = f"user_{path.stem}"
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(path.resolve()):
        return known
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        words = f"{type(error).__name__}: {error}"
        raise InputError(f"{path} cannot be imported: {words}") from None
    return module


def source_of(model: str) -> str:
    """What a model is made by, to tell whether it is still the same: a file's sha256, or ""."""
    path, colon, _ = model.rpartition(":")
    return hashlib.sha256(Path(path).read_bytes()).hexdigest() if colon else ""


def model_of(run: Run) -> nn.Module:
    """The model of a run; its class may be of the user's own file, which is imported first."""
    name = str(run.options.get("model", ""))
    if ":" in name:
        _user_function(name)
    return run.model()
