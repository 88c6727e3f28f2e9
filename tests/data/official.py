"""Small files in the official formats of the named sets, as their makers would have made them."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import struct
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from PIL import Image

from isotropy.data.named.entry import Entry

DRAWS = np.random.default_rng(11)


def pixels(*shape: int) -> np.ndarray:
    """Random bytes."""
    return DRAWS.integers(0, 256, size=shape).astype(np.uint8)


def made_of(entry: Entry, contents: Sequence[bytes]) -> Entry:
    """An entry whose files are others, with their own checksums where it has some."""
    files = tuple(
        replace(file, checksum=file.checksum and f"md5:{hashlib.md5(content).hexdigest()}")
        for file, content in zip(entry.files, contents, strict=True)
    )
    return replace(entry, files=files)


def idx(array: np.ndarray) -> bytes:
    """MNIST's format, compressed."""
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return gzip.compress(header + array.tobytes(), mtime=0)


def tar_gz(members: Mapping[str, bytes]) -> bytes:
    """A compressed tar archive."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def labelled(pictures: np.ndarray, *labels: Sequence[int]) -> bytes:
    """CIFAR's records: labels, then a picture."""
    columns = [np.array(column, np.uint8)[:, None] for column in labels]
    return np.hstack([*columns, pictures.reshape(len(pictures), -1)]).tobytes()


def jpeg(height: int, width: int, value: int) -> bytes:
    """A picture of nearly one colour, not quite constant."""
    file = io.BytesIO()
    picture = np.full((height, width, 3), value, np.uint8)
    picture[: height // 2] += 40
    Image.fromarray(picture).save(file, "JPEG")
    return file.getvalue()


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """A table of comma-separated values."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue().encode()
