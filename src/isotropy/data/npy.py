"""Arrays in .npy and .npz files, mapped from the file where they lie there uncompressed.

Nothing is ever unpickled. Of an array that is mapped only what is used is read, so a file larger
than memory does.
"""

from __future__ import annotations

import math
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from isotropy.errors import InputError

DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error),
    *(EOFError, ValueError, struct.error),
)
"""What the standard library raises where files are damaged or something else."""

LOCAL_HEADER = struct.Struct("<26xHH")  # of a zip member: lengths of its name and its extras


class Npz:
    """The arrays of an .npz file by name, each read when it is asked for.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(path), zipfile.ZipFile(path) as archive:
            members = [m for m in archive.infolist() if m.filename.endswith(".npy")]
        self._members = {m.filename.removesuffix(".npy"): m for m in members}
        if not members:
            raise InputError(f"{path}: is a zip file without arrays, not an .npz")

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its arrays."""
        return tuple(self._members)

    def __getitem__(self, name: str) -> NDArray[Any]:
        member = self._members[name]
        with reading(self.path):
            if member.compress_type == zipfile.ZIP_STORED and not member.flag_bits & 1:
                return self._mapped(member)
            with zipfile.ZipFile(self.path) as archive, archive.open(member) as opened:
                file = cast(BufferedIOBase, opened)  # typeshed promises less than it is
                shape, order, dtype = read_header(file, f"{self.path}: {name}")
                _require_bytes(math.prod(shape) * dtype.itemsize, member)
                return _read(file, shape, order, dtype)

    def _mapped(self, member: zipfile.ZipInfo) -> NDArray[Any]:
        with open(self.path, "rb") as file:
            file.seek(member.header_offset)
            name, extras = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
            file.seek(name + extras, 1)
            return _map(file, self.path, f"{self.path}: {member.filename}")


def load_npy(path: Path) -> NDArray[Any]:
    """The array of an .npy file, mapped."""
    with reading(path), open(path, "rb") as file:
        return _map(file, path, str(path))


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns what goes wrong while a file is read into one line that names it."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except DAMAGED as error:
        kind = "an .npz" if path.suffix == ".npz" else f"a {path.suffix or 'readable'} file"
        raise InputError(f"{path}: is not {kind}, or is damaged or cut short ({error})") from None
    except MemoryError:
        raise InputError(
            f"{path}: does not fit into memory; saved without compression (numpy.savez) it need not"
        ) from None
    except (RuntimeError, NotImplementedError) as error:  # zipfile: encrypted, exotic compression
        raise InputError(f"{path}: cannot be read: {error}") from None


def read_header(file: BufferedIOBase, where: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether the order is Fortran's, and type, from where an .npy begins."""
    version = npy_format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise InputError(f"{where}: has named fields, but must be an array of numbers or strings")
    newer = version == (2, 0)
    read = npy_format.read_array_header_2_0 if newer else npy_format.read_array_header_1_0
    shape, order, dtype = read(file)
    if dtype.hasobject:
        raise InputError(
            f"{where}: holds pickled Python objects, which are never loaded, as they can run any "
            "program; save plain numbers or strings instead"
        )
    return shape, order, dtype


def _map(file: BufferedIOBase, path: Path, where: str) -> NDArray[Any]:
    shape, order, dtype = read_header(file, where)
    if 0 in shape or not dtype.itemsize:
        return np.empty(shape, dtype)
    return np.memmap(path, dtype, "r", offset=file.tell(), shape=shape, order="F" if order else "C")


def _require_bytes(needed: int, member: zipfile.ZipInfo) -> None:
    """A damaged header may claim any size; memory is asked for only where there is so much."""
    if needed > member.file_size:
        raise EOFError(f"{needed} bytes of numbers in {member.file_size}")


def _read(
    file: BufferedIOBase, shape: tuple[int, ...], order: bool, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Straight into its final place, so that nothing is held twice."""
    flat = np.empty(math.prod(shape), dtype)
    view = flat.view(np.uint8).data if flat.nbytes else memoryview(b"")
    done = 0
    while done < len(view):
        got = file.readinto(view[done : done + 2**20])
        if not got:
            raise EOFError(f"{done} of {len(view)} bytes")
        done += got
    return flat.reshape(shape[::-1]).T if order else flat.reshape(shape)
