"""Tensors and a text in one file that is either whole or refused, and replaced all at once.

A safetensors file whose metadata holds the text, the name of its format, and a sha256 over the
text and all tensors. Nothing in it is ever run.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import torch
from torch import Tensor

from isotropy._replacing import replacing
from isotropy.errors import FileFormatError, InputError


def write_tensors(path: Path, tensors: dict[str, Tensor], text: str, kind: str) -> None:
    """Write a file of a kind; an existing one is replaced only when the new one is complete."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    metadata = {"format": kind, "structure": text, "sha256": checksum(text, tensors)}
    packed = {name: value.contiguous() for name, value in tensors.items()}
    with replacing(path) as temporary:
        try:
            save_file(packed, temporary, metadata)
        except SafetensorError as error:
            raise OSError(str(error)) from None
        _sort_metadata(temporary)


def _sort_metadata(path: Path) -> None:
    """Bring a file's metadata into one order: safetensors' own differs from process to process."""
    with path.open("r+b") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
        assert len(text) <= length, "the same text in another order is as long"
        file.seek(8)
        file.write(text.ljust(length))


def read_tensors(path: Path, kind: str, writer: str) -> tuple[dict[str, Tensor], str]:
    """Tensors and text of a file of a kind; `writer` is what makes such files, for messages."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise InputError(f"no such file: {path}")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise FileFormatError(f"{path} is truncated or no safetensors file ({error})") from None
    if metadata.get("format") != kind:
        raise FileFormatError(f"{path} was not written by {writer} (no {kind} description)")
    text = metadata.get("structure", "")
    if metadata.get("sha256") != checksum(text, tensors):
        raise FileFormatError(f"{path} has been altered: its checksum does not fit")
    return tensors, text


def checksum(text: str, tensors: dict[str, Tensor]) -> str:
    """The sha256 over a text and tensors with their names, types and shapes."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        value = tensors[name].detach().cpu().contiguous()
        digest.update(f"{name}{value.dtype}{tuple(value.shape)}".encode())
        digest.update(value.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()
