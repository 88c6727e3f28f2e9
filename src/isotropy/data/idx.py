"""The IDX format of MNIST: a header of sizes, then the numbers, perhaps compressed by gzip."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotropy.data.npy import reading
from isotropy.errors import FileFormatError

TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def read_idx(path: Path) -> NDArray[Any]:
    """The array in an IDX file.

    Args:
        path: the file; one that ends in .gz is decompressed on the way.
    """
    with reading(path):
        opened = gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")  # noqa: SIM115
        with opened as file:
            content = file.read()
    return parse_idx(content, str(path))


def parse_idx(content: bytes, where: str) -> NDArray[Any]:
    """The array in the bytes of an IDX file.

    >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9]), "example")
    array([7, 9], dtype=uint8)
    """
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in TYPES or not content[3]:
        raise FileFormatError(f"{where}: is not an IDX file")
    kind, axes = np.dtype(TYPES[content[2]]), content[3]
    start = 4 + 4 * axes
    if len(content) < start:
        raise FileFormatError(f"{where}: ends within its header")
    shape = struct.unpack(f">{axes}I", content[4:start])
    needed = kind.itemsize * _product(shape)
    if len(content) - start != needed:
        raise FileFormatError(
            f"{where}: holds {len(content) - start} bytes of numbers, but its header says {needed}"
        )
    return np.frombuffer(content, kind, offset=start).reshape(shape)


def _product(sizes: tuple[int, ...]) -> int:
    """Exact: sizes from a damaged header may be anything."""
    total = 1
    for size in sizes:
        total *= size
    return total
