"""Data sets written as an .npz, sample by sample, so that any size does."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotropy.data.dataset import DataSet
from isotropy.data.samples import READY
from isotropy.data.splits import Splits
from isotropy.data.writing import write_npy_header, writing
from isotropy.errors import InputError

LAYOUTS = {"vector": "nf", "signal": "ncl", "image": "nchw", "volume": "ncdhw"}


def save_npz(data: DataSet | Splits, path: Path) -> None:
    """Write data as an .npz that `load` reads back as the same data.

    It holds X and y (or train_X, train_y, test_X, ... where there are several parts), the names of
    the classes, the layout, and the note. It is not compressed, so that it can be mapped.

    Args:
        data: what to write; it is never all in memory.
        path: the file, which ends in .npz.

    >>> from isotropy.data import load
    >>> save_npz(load("digits"), Path("digits.npz"))
    >>> again = load("./digits.npz").train
    >>> len(again), again.shape, again.outputs
    (1797, (1, 8, 8), 10)
    """
    if path.suffix != ".npz":
        raise InputError(f"{path}: must end in .npz")
    whole = data if isinstance(data, Splits) else Splits(data)
    parts = {"train": whole.train, "test": whole.test, "validation": whole.validation}
    there = {name: part for name, part in parts.items() if part is not None}
    with writing(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, part in there.items():
            before = f"{name}_" if len(there) > 1 else ""
            _write(archive, f"{before}X", (len(part), *part.shape), _dtype(part), _pixels(part))
            targets = np.ascontiguousarray(part.targets)
            _write(archive, f"{before}y", targets.shape, targets.dtype, iter([targets]))
        for name, value in _about(whole).items():
            _write(archive, name, value.shape, value.dtype, iter([value]))


def _about(data: Splits) -> dict[str, NDArray[Any]]:
    """What is to be known beside the numbers."""
    said = {"layout": np.array(LAYOUTS[data.train.kind])}
    if data.train.classes:
        said["class_names"] = np.array(data.train.classes)
    if data.note:
        said["note"] = np.array(data.note)
    return said


def _dtype(data: DataSet) -> np.dtype[Any]:
    own = data.samples.dtype
    return own if own in READY else np.dtype(np.float32)


def _pixels(data: DataSet) -> Iterator[NDArray[Any]]:
    dtype = _dtype(data)
    for chunk in data.samples.chunks():
        yield chunk.numpy().astype(dtype, copy=False)


def _write(
    archive: zipfile.ZipFile,
    name: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    parts: Iterator[NDArray[Any]],
) -> None:
    # a fixed date, so that the same data are the same bytes
    info = zipfile.ZipInfo(f"{name}.npy")
    with archive.open(info, "w", force_zip64=True) as member:
        write_npy_header(member, shape, dtype)
        for part in parts:
            member.write(np.ascontiguousarray(part).data)
