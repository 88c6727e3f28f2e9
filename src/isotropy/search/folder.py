"""The folder in which a search keeps what it finds."""

from __future__ import annotations

from pathlib import Path

from isotropy.errors import InputError


def made_folder(out: Path | str) -> Path:
    """A folder, made if it is not there; its whole path, for workers that start elsewhere."""
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"out: cannot make the folder {out}: {error.strerror}") from None
    return Path(out).resolve()
