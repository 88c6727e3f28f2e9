"""Arrays in HDF5 files, mapped: from the file itself, or from what it is unpacked to once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotropy.data.npy import load_npy, reading
from isotropy.data.options import Progress
from isotropy.data.samples import CHUNK_BYTES
from isotropy.data.unpack import kept_as_npy
from isotropy.errors import FileFormatError, InputError


def load_hdf5(path: Path, name: str, progress: Progress | None = None) -> NDArray[Any]:
    """An array of an HDF5 file, mapped.

    One that lies there in pieces or compressed is written beside it, as an .npy, when it is first
    asked for: single samples out of pieces that hold parts of many would be slow each time.

    Args:
        path: the file.
        name: of the array.
        progress: is told how the unpacking goes on.
    """
    h5py = _h5py()
    with reading(path), h5py.File(path, "r") as file:
        array = file.get(name)
        if not isinstance(array, h5py.Dataset):
            raise FileFormatError(f"{path}: has no array {name!r}; it holds {', '.join(file)}")
        offset = array.id.get_offset()
        if offset is not None:
            return np.memmap(path, array.dtype, "r", offset, array.shape)
        unpacked = path.with_name(f"{path.stem}.{name}.npy")
        if not unpacked.is_file():
            kept_as_npy(unpacked, array.shape, array.dtype, _rows(array, path.name, progress))
    return load_npy(unpacked)


def _rows(array: Any, what: str, progress: Progress | None) -> Iterator[NDArray[Any]]:
    """The array in slabs of moderate size, in whole pieces as it is stored."""
    each = max(array.dtype.itemsize * int(np.prod(array.shape[1:])), 1)
    stored = array.chunks[0]
    step = max(CHUNK_BYTES // each // stored, 1) * stored
    for start in range(0, len(array), step):
        yield array[start : start + step]
        if progress is not None:
            progress(f"unpacking {what}", min(start + step, len(array)), len(array))


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise InputError("HDF5 files need h5py: pip install 'isotropy[hdf5]'") from None
    return h5py
