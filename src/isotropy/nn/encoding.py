"""Settings of modules as JSON, and back: numbers, text, containers, groups and actions."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from inspect import isroutine
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from isotropy.errors import FileFormatError, InputError
from isotropy.groups.action import Action
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.permutation import PermutationGroup
from isotropy.groups.signed import Signed
from isotropy.nn.blueprint import Blueprint
from isotropy.schemes import Tie

_DATACLASSES: dict[str, type] = {"Tie": Tie, "Blueprint": Blueprint}
_DTYPES = {str(t): t for t in vars(torch).values() if isinstance(t, torch.dtype)}


class Encoder:
    """Collects the objects and tensors that settings refer to, each once."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.tensors: dict[str, Tensor] = {}
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        self._names: dict[int, str] = {}

    def tensor(self, value: Tensor, name: str) -> str:
        """Store a tensor under a name, or find the name it is stored under already."""
        if id(value) not in self._names:
            self._names[id(value)] = name
            self._kept.append(value)
            self.tensors[name] = value.detach().clone().contiguous().cpu()
        return self._names[id(value)]

    def encode(self, value: Any, where: str) -> Any:
        """A setting as JSON; `where` names it in errors."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, list):
            return [self.encode(v, where) for v in value]
        if isinstance(value, tuple):
            return {"tuple": [self.encode(v, where) for v in value]}
        if isinstance(value, dict):
            pairs = [[self.encode(k, where), self.encode(v, where)] for k, v in value.items()]
            return {"dict": pairs}
        if isinstance(value, set | frozenset):
            return {"set": [self.encode(v, where) for v in sorted(value)]}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value)}
        if _is_function(value):
            return {"function": value.__name__}
        return {"object": self._object(value, where)}

    def _object(self, value: Any, where: str) -> int:
        if id(value) not in self._numbers:
            body = self._body(value, where)
            self._numbers[id(value)] = len(self.objects)
            self._kept.append(value)
            self.objects.append(body)
        return self._numbers[id(value)]

    def _body(self, value: Any, where: str) -> dict[str, Any]:
        kind = type(value).__name__
        if isinstance(value, np.ndarray):
            name = f"array..{len(self.tensors)}"  # no tensor of a module has two dots
            return {"array": self.tensor(torch.from_numpy(value.copy()), name)}
        parts = _parts(value)
        if parts is None:
            raise InputError(
                f"cannot save {where}: a {kind} is no number, text, container, group or "
                "torch.nn.functional function"
            )
        return {"kind": kind, "parts": [self.encode(p, where) for p in parts]}


def _is_function(value: Any) -> bool:
    name = getattr(value, "__name__", None)
    return isinstance(name, str) and isroutine(value) and _function(name) is value


def _function(name: str) -> Any:
    """A function of torch.nn.functional by name, None for anything else that lives there."""
    found = None if name.startswith("_") else getattr(functional, name, None)
    return found if isroutine(found) else None


def _parts(value: Any) -> list[Any] | None:
    """What an object is made from, in the order its maker takes it."""
    if isinstance(value, FiniteGroup):
        if value.ambient is not value:
            return [value.ambient, list(value.elements), value.name]
        names = [[sorted(k), v] for k, v in value.subgroup_names.items()]
        return [value.table, list(value.elements), value.name, value.matrices, names]
    if isinstance(value, PermutationGroup):
        return [dict(value.natural), value.name]
    if isinstance(value, Action):
        return [value.group, dict(value.moves), value.size]
    if isinstance(value, Signed):
        return [value.target, value.sign]
    if type(value).__name__ in _DATACLASSES and is_dataclass(value):
        return [getattr(value, f.name) for f in fields(value)]
    return None


class Decoder:
    """Makes settings again from what an `Encoder` wrote."""

    def __init__(self, objects: list[Any], tensors: dict[str, Tensor]) -> None:
        self._bodies = objects
        self._made: dict[int, Any] = {}
        self._tensors = tensors
        self._parameters: dict[str, nn.Parameter] = {}

    def tensor(self, name: str | None) -> Tensor | None:
        """A stored tensor."""
        if name is None:
            return None
        if name not in self._tensors:
            raise FileFormatError(f"the file lacks the tensor {name}")
        return self._tensors[name]

    def parameter(self, name: str | None, requires_grad: bool) -> nn.Parameter | None:
        """A stored parameter, one object however often it is asked for."""
        value = self.tensor(name)
        if name is None or value is None:
            return None
        if name not in self._parameters:
            self._parameters[name] = nn.Parameter(value, requires_grad)
        return self._parameters[name]

    def decode(self, value: Any) -> Any:
        """A setting from JSON."""
        if isinstance(value, list):
            return [self.decode(v) for v in value]
        if not isinstance(value, dict):
            return value
        ((key, inner),) = value.items()
        if key == "tuple":
            return tuple(self.decode(v) for v in inner)
        if key == "dict":
            return {self.decode(k): self.decode(v) for k, v in inner}
        if key == "set":
            return {self.decode(v) for v in inner}
        if key == "dtype":
            return _DTYPES[inner]
        if key == "function":
            found = _function(inner)
            if found is None:
                raise FileFormatError(
                    f"the file names {inner!r}, no function of torch.nn.functional"
                )
            return found
        return self._object(inner)

    def _object(self, number: int) -> Any:
        if number not in self._made:
            self._made[number] = self._make(self._bodies[number])
        return self._made[number]

    def _make(self, body: dict[str, Any]) -> Any:
        if "array" in body:
            value = self.tensor(body["array"])
            return None if value is None else value.numpy()
        parts = [self.decode(p) for p in body["parts"]]
        return _MAKERS[body["kind"]](*parts)


def _group(*parts: Any) -> FiniteGroup:
    if isinstance(parts[0], FiniteGroup):
        ambient, elements, name = parts
        subgroup: FiniteGroup = ambient.subgroup(elements, name)
        return subgroup
    table, elements, name, matrices, names = parts
    group = FiniteGroup(table, elements, name, matrices)
    group.subgroup_names = {frozenset(members): known for members, known in names}
    return group


_MAKERS: dict[str, Any] = {
    "FiniteGroup": _group,
    "PermutationGroup": PermutationGroup,
    "Action": Action,
    "Signed": Signed,
    **_DATACLASSES,
}
