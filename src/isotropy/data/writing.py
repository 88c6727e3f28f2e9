"""Files that are whole or not there, however long they take to write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format

from isotropy._replacing import replacing
from isotropy.errors import InputError


@contextmanager
def writing(path: Path, advice: str = "") -> Iterator[BufferedIOBase]:
    """A file to write to, which takes its name when all is written.

    Args:
        path: what it will be; its folder is made.
        advice: what to do if it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}{advice}") from None
    with replacing(path, advice) as temporary, open(temporary, "wb") as file:
        yield file


def write_npy_header(file: Any, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
    """What an .npy begins with; the numbers follow, in C order."""
    header = {"descr": npy_format.dtype_to_descr(dtype), "fortran_order": False}
    npy_format.write_array_header_1_0(file, {**header, "shape": tuple(shape)})
