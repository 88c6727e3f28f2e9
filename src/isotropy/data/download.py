"""Files of data sets, fetched from where their makers keep them, and checked.

A checksum is only held against a file where one is published. Elsewhere the first download's
sha256 is recorded beside the file, and later downloads are held against that.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from isotropy._replacing import write_text
from isotropy.data.options import Progress
from isotropy.data.resume import Resuming
from isotropy.errors import FileFormatError, InputError


@dataclass(frozen=True)
class Remote:
    """A file somewhere in the world.

    Args:
        path: where it is in a cache, and on a mirror.
        address: where its makers keep it.
        checksum: "md5:..." or "sha256:..." as they publish it; None if they do not.
    """

    path: str
    address: str
    checksum: str | None = None


def fetch(
    file: Remote, folder: Path, mirror: str | None = None, progress: Progress | None = None
) -> Path:
    """Where a file is in a folder, downloaded if it is not there yet.

    Args:
        file: which one.
        folder: where files are kept.
        mirror: where to download from instead of the file's own address.
        progress: is told how a download goes on.
    """
    path = folder / file.path
    if not path.is_file():
        _download(file, path, mirror, progress)
    _check(path, expected(path, file))
    return path


def expected(path: Path, file: Remote) -> str | None:
    """The checksum a file must have: the published one, else that of its first download."""
    if file.checksum is not None:
        return file.checksum
    with suppress(OSError, IndexError):
        return "sha256:" + record_of(path).read_text("utf-8").split()[0]
    return None


def checked_against(path: Path, file: Remote) -> str:
    """In words, what a file's checksum was held against."""
    if file.checksum is not None:
        return f"its {file.checksum.split(':')[0]} is the published one"
    known = expected(path, file)
    if known is None:
        return "no checksum is published for it, and none was recorded"
    return (
        "no checksum is published for it; the sha256 of the first download is recorded in "
        f"{record_of(path).name}, and later ones are held against it"
    )


def record_of(path: Path) -> Path:
    """Where the sha256 of a file's first download is kept, as sha256sum writes it."""
    return path.with_name(f"{path.name}.sha256")


def _download(file: Remote, path: Path, mirror: str | None, progress: Progress | None) -> None:
    url = file.address if mirror is None else f"{mirror.rstrip('/')}/{file.path}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(path.parent):
            if not path.is_file():  # another process may have been quicker
                _retrieve(url, path, expected(path, file), progress)
                if expected(path, file) is None:
                    write_text(record_of(path), f"{_digest(path, 'sha256')}  {path.name}\n")
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"cannot write {path}: {reason}; set ISOTROPY_DATA to a folder that can"
        ) from None


def _retrieve(url: str, path: Path, known: str | None, progress: Progress | None) -> None:
    import pooch

    resuming = Resuming(path.with_name(f"{path.name}.part"), path.name, progress)
    pooch.get_logger().setLevel("WARNING")
    try:
        pooch.retrieve(url, known, path.name, path.parent, downloader=resuming)
    except InputError:
        raise
    except ValueError:  # pooch's word for a wrong checksum; it has removed the file
        raise FileFormatError(
            f"{url}: the file that came has another checksum than {known}; it was removed"
        ) from None


def _check(path: Path, known: str | None) -> None:
    """Hold a file against a checksum, and remove it if it is another one."""
    state = path.stat()
    if known is None or _is_good(path, known, (state.st_size, state.st_mtime_ns)):
        return
    try:
        path.unlink()
        outcome = "it was removed; run again to download it afresh"
    except OSError:
        outcome = "it cannot be removed from here; replace it"
    raise FileFormatError(f"{path}: has another checksum than {known}; {outcome}")


@lru_cache(maxsize=256)
def _is_good(path: Path, known: str, state: tuple[int, int]) -> bool:  # noqa: ARG001
    """Whether a file in this state has the checksum; read once in a process."""
    algorithm, _, digest = known.partition(":")
    return _digest(path, algorithm) == digest


def _digest(path: Path, algorithm: str) -> str:
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False))
    return found.hexdigest()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keeps other processes out of a folder meanwhile, where the system can (not on Windows)."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
