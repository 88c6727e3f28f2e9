"""Saving a network as numbers and JSON, never as pickled code.

A file is one safetensors file: every tensor by name, and in its metadata a JSON description of the
modules (their classes, settings and children) and a checksum over everything. Loading makes
modules of torch.nn and isotropy, and of classes of your own that your program has imported;
nothing in a file is run.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from isotropy._tensor_file import read_tensors, write_tensors
from isotropy.errors import FileFormatError, InputError
from isotropy.nn.arguments import require_module
from isotropy.nn.encoding import Decoder, Encoder

FORMAT = "isotropy-network-1"
_SENSELESS = (LookupError, TypeError, ValueError, AttributeError, RecursionError, ImportError)
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_SKIPPED = frozenset(nn.Module().__dict__)


def save(model: nn.Module, path: str | os.PathLike[str]) -> None:
    """Write a network to a file (by convention *.safetensors).

    Args:
        model: a tied or plain network whose settings are numbers, strings, groups and the like.
        path: where to; an existing file is replaced only when the new one is complete.

    >>> import tempfile, os, torch, isotropy as iso
    >>> where = os.path.join(tempfile.mkdtemp(), "layer.safetensors")
    >>> layer = iso.nn.GroupConv2d(1, 2, 3, "D4")
    >>> iso.save(layer, where)
    >>> torch.equal(iso.load(where).weight, layer.weight)
    True
    """
    encoder = Encoder()
    root = _describe(require_module(model), "", encoder, {})
    structure = {"root": root, "objects": encoder.objects}
    write_tensors(Path(path), encoder.tensors, json.dumps(structure), FORMAT)


def load(path: str | os.PathLike[str], classes: Iterable[type[nn.Module]] = ()) -> nn.Module:
    """Read a network that `save` wrote.

    Args:
        path: the file.
        classes: your own module classes that it needs, unless they are imported already.

    >>> import tempfile, isotropy as iso
    >>> path = Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> iso.save(nn.Linear(2, 3), path)
    >>> load(path)
    Linear(in_features=2, out_features=3, bias=True)
    """
    target = Path(path)
    tensors, text = read_tensors(target, FORMAT, "iso.save")
    known = {_qualified(kind): kind for kind in classes}
    try:
        structure = json.loads(text)
        decoder = Decoder(structure["objects"], tensors)
        return _rebuild(structure["root"], decoder, known, {})
    except InputError:
        raise
    except _SENSELESS as error:
        raise FileFormatError(f"{target}: its description makes no sense ({error!r})") from None


def _qualified(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _describe(
    module: nn.Module, path: str, encoder: Encoder, seen: dict[int, str]
) -> dict[str, Any]:
    """A module's class, settings, tensors and children; shared ones are named once."""
    if id(module) in seen:
        return {"same_as": seen[id(module)]}
    seen[id(module)] = path
    if any(getattr(module, hooks) for hooks in _HOOKS):
        raise InputError(f"cannot save {path or 'the model'}: it has hooks, which are code")
    settings = {
        key: encoder.encode(value, f"{path or 'the model'}.{key}")
        for key, value in module.__dict__.items()
        if key not in _SKIPPED
    }
    persistent = set(module._buffers) - module._non_persistent_buffers_set
    return {
        "class": _qualified(type(module)),
        "training": module.training,
        "settings": settings,
        "parameters": {
            key: _tensor(p, f"{path}.{key}", encoder) for key, p in module._parameters.items()
        },
        "buffers": {
            key: {**_tensor(b, f"{path}.{key}", encoder), "persistent": key in persistent}
            for key, b in module._buffers.items()
        },
        "modules": {
            key: None
            if child is None
            else _describe(child, f"{path}.{key}".strip("."), encoder, seen)
            for key, child in module._modules.items()
        },
    }


def _tensor(value: Tensor | None, name: str, encoder: Encoder) -> dict[str, Any]:
    if value is None:
        return {"tensor": None}
    trains = isinstance(value, nn.Parameter) and value.requires_grad
    return {"tensor": encoder.tensor(value, name.strip(".")), "requires_grad": trains}


def _rebuild(
    node: dict[str, Any],
    decoder: Decoder,
    known: dict[str, type[nn.Module]],
    built: dict[str, nn.Module],
    path: str = "",
) -> nn.Module:
    if "same_as" in node:
        return built[node["same_as"]]
    kind = _resolve(node["class"], known)
    module = kind.__new__(kind)
    nn.Module.__init__(module)
    built[path] = module
    for key, value in node["settings"].items():
        module.__dict__[key] = decoder.decode(value)
    for key, entry in node["parameters"].items():
        value = decoder.parameter(entry["tensor"], entry.get("requires_grad", True))
        module.register_parameter(key, value)
    for key, entry in node["buffers"].items():
        module.register_buffer(key, decoder.tensor(entry["tensor"]), entry["persistent"])
    for key, child in node["modules"].items():
        inner = f"{path}.{key}".strip(".")
        made = None if child is None else _rebuild(child, decoder, known, built, inner)
        module.add_module(key, made)
    module.training = node["training"]
    return module


def _resolve(name: str, known: dict[str, type[nn.Module]]) -> type[nn.Module]:
    """A module class by name: torch.nn's, isotropy's, given, or imported already."""
    home, _, path = name.partition(":")
    found: Any = known.get(name)
    if found is None:
        ours = home == "isotropy" or home.startswith(("isotropy.", "torch.nn."))
        if ours and home not in sys.modules:
            __import__(home)
        found = sys.modules.get(home)
        for part in path.split("."):
            found = getattr(found, part, None)
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise InputError(
            f"the file needs the class {path} of {home}: import it first, or pass classes=[{path}]"
        )
    return found
