"""What archives in a cache hold, unpacked beside them once, and mapped from there.

So large sets are decompressed when they are first used and never again, and no set is ever held in
memory as a whole.
"""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotropy.data.cache import FOLDER_VARIABLE
from isotropy.data.npy import reading
from isotropy.data.writing import write_npy_header, writing
from isotropy.errors import FileFormatError

ADVICE = f"; set {FOLDER_VARIABLE} to a folder that can"


@contextmanager
def beside(path: Path) -> Iterator[BufferedIOBase]:
    """A file of a cache to be written, all at once."""
    with writing(path, ADVICE) as file:
        yield file


def unpacked(archive: Path, members: Sequence[str]) -> list[Path]:
    """Files of a tar archive, unpacked into its folder if they are not there.

    Args:
        archive: it, compressed in any way.
        members: the files' names in it; nothing else is unpacked.
    """
    wanted = {name: archive.parent / name for name in members}
    missing = {name: path for name, path in wanted.items() if not path.is_file()}
    if missing:
        with reading(archive), tarfile.open(archive, "r|*") as opened:
            for member in opened:
                path = missing.pop(member.name.removeprefix("./"), None)
                source = None if path is None else opened.extractfile(member)
                if path is not None and source is not None:
                    with beside(path) as file:
                        shutil.copyfileobj(source, file)
                if not missing:
                    break
    if missing:
        raise FileFormatError(f"{archive}: has no {next(iter(missing))} in it")
    return list(wanted.values())


def records(path: Path, size: int) -> NDArray[np.uint8]:
    """A file of records of so many bytes, mapped, one record in each row."""
    length = path.stat().st_size
    if not length or length % size:
        raise FileFormatError(f"{path}: is no file of records of {size} bytes, it has {length}")
    return np.memmap(path, np.uint8, "r").reshape(-1, size)


def kept_as_npy(
    path: Path, shape: Sequence[int], dtype: np.dtype[Any], parts: Iterable[NDArray[Any]]
) -> None:
    """Write an array that comes in parts along its first axis, never held as a whole.

    Args:
        path: the .npy to write.
        shape: of all of it.
        dtype: of all of it.
        parts: it, in order.
    """
    with beside(path) as file:
        write_npy_header(file, shape, dtype)
        for part in parts:
            file.write(np.ascontiguousarray(part, dtype).data)
