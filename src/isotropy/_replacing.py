"""Files that are replaced all at once: whole, or as they were."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from isotropy.errors import InputError


@contextmanager
def replacing(path: Path, advice: str = "", ending: str = "") -> Iterator[Path]:
    """Where to write what takes the file's place when it is complete; if that fails, nothing does.

    Args:
        path: the file.
        advice: what to do if it cannot be written.
        ending: that the name must have meanwhile, for writers that go by it.

    >>> with replacing(Path("notes.txt")) as temporary:
    ...     _ = temporary.write_text("all of it")
    >>> Path("notes.txt").read_text(), temporary.exists()
    ('all of it', False)
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp{ending}")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}{advice}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file, replaced all at once."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
