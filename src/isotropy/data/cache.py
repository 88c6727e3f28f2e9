"""The folder in which files of data sets are kept, and how they get there."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from isotropy.data.download import Remote, fetch
from isotropy.data.options import Options, Progress

FOLDER_VARIABLE = "ISOTROPY_DATA"
MIRROR_VARIABLE = "ISOTROPY_MIRROR"


@dataclass(frozen=True)
class Cache:
    """A folder of data files. One that cannot be written to does, for what is in it.

    Args:
        folder: where files are.
        mirror: where to fetch missing ones from instead of their official addresses; laid out as
            the folder is, so any such folder served by HTTP is one.
        progress: is told how downloads go on.
    """

    folder: Path
    mirror: str | None = None
    progress: Progress | None = None

    @classmethod
    def of(cls, options: Options) -> Cache:
        """The cache that options ask for, or else the environment, or else the platform's."""
        folder = options.cache or os.environ.get(FOLDER_VARIABLE) or platform_folder()
        mirror = options.mirror or os.environ.get(MIRROR_VARIABLE) or None
        return cls(Path(folder).expanduser(), mirror, options.progress)

    def path(self, *parts: str) -> Path:
        """Where a file is kept, or would be."""
        return self.folder.joinpath(*parts)

    def fetch(self, file: Remote) -> Path:
        """A file, downloaded if it is not there, with its checksum held against what is known."""
        return fetch(file, self.folder, self.mirror, self.progress)


def platform_folder() -> Path:
    """Where this kind of machine keeps what can be had again."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "isotropy"
