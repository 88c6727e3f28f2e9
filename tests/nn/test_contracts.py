"""The tables of the contracts are complete: every public layer is in them, in every setting."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from torch import nn

import isotropy as iso
from isotropy.nn.conv import PADDING_MODES
from tests.contracts import LayerContract

HERE = Path(__file__).parent
BASES = {iso.nn.TiedModule}  # nobody makes one
CONVOLUTIONS = ("Conv1d", "Conv2d", "Conv3d")
TRANSPOSED = tuple(f"ConvTranspose{n}d" for n in (1, 2, 3))


@cache
def layers() -> tuple[tuple[type, Any], ...]:
    """Every contract's test class of this folder, and the layer it makes."""
    return tuple((contract, contract().make()) for contract in _contracts())


def _contracts() -> Iterator[type[Any]]:
    for path in sorted(HERE.glob("test_*.py")):
        if path.name == Path(__file__).name or "Contract" not in path.read_text():
            continue
        module = importlib.import_module(f"tests.nn.{path.stem}")
        found = (value for name, value in vars(module).items() if name.startswith("Test"))
        yield from (c for c in found if isinstance(c, type) and issubclass(c, LayerContract))


def made(kind: str) -> list[Any]:
    return [layer for _, layer in layers() if type(layer).__name__ == kind]


def test_every_public_layer_has_its_contract() -> None:
    public = {getattr(iso.nn, name) for name in iso.nn.__all__}
    wanted = {kind for kind in public if isinstance(kind, type) and issubclass(kind, nn.Module)}
    tried = {type(layer) for _, layer in layers()}
    assert wanted - BASES - tried == set()


@pytest.mark.parametrize("kind", ["Conv2d", "Linear", *TRANSPOSED, "Conv1d", "Conv3d", "BatchNorm"])
def test_nothing_of_the_contract_is_left_out(kind: str) -> None:
    """A class may switch a test off (to save time) only if a sister runs it."""
    classes = [contract for contract, layer in layers() if type(layer).__name__ == kind]
    for test in (name for name in dir(classes[0]) if name.startswith("test_")):
        assert any(callable(getattr(contract, test, None)) for contract in classes), test


@pytest.mark.parametrize("mode", PADDING_MODES)
@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_every_padding(kind: str, mode: str) -> None:
    assert [c for c in made(kind) if c.padding_mode == mode and c.padding != "valid"]


@pytest.mark.parametrize("kind", [*CONVOLUTIONS, *TRANSPOSED])
def test_strides_blocks_and_no_bias(kind: str) -> None:
    layers = made(kind)
    assert [c for c in layers if max(c.stride) > 1]
    assert [c for c in layers if c.groups > 1]
    assert [c for c in layers if c.bias_scheme is None]


@pytest.mark.parametrize("kind", [*CONVOLUTIONS, *TRANSPOSED])
def test_dilation(kind: str) -> None:
    assert [c for c in made(kind) if max(c.dilation) > 1]
