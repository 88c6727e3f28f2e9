"""What is known of a data set that goes by a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from isotropy.data.cache import FOLDER_VARIABLE, Cache
from isotropy.data.download import Remote
from isotropy.data.options import Options
from isotropy.data.splits import Splits
from isotropy.errors import InputError


@dataclass(frozen=True)
class Entry:
    """A data set by name.

    Args:
        name: its name.
        about: what it is, in a line: numbers of samples, shape.
        read: gives it, from the files of an entry, with options.
        files: what it needs of the cache and can be fetched.
        local: files it needs that cannot be fetched: they are in the cache or they are not.
        note: what to say beside every number got from it.
    """

    name: str
    about: str
    read: Callable[[Entry, Cache, Options], Splits]
    files: tuple[Remote, ...] = ()
    local: tuple[str, ...] = ()
    note: str = ""

    def load(self, cache: Cache, options: Options) -> Splits:
        """The data, from the cache or from its makers."""
        return self.read(self, cache, options)

    def fetch(self, cache: Cache) -> list[Path]:
        """Where its files are, downloaded if they are not there."""
        for path in map(cache.path, self.local):
            if not path.is_file():
                raise InputError(
                    f"{self.name}: cannot be downloaded, and {path} is not there; put it there, "
                    f"or set {FOLDER_VARIABLE} to the folder that holds {path.name}"
                )
        return [cache.fetch(file) for file in self.files] + [cache.path(p) for p in self.local]

    @property
    def paths(self) -> list[str]:
        """Its files' places in a cache."""
        return [*(file.path for file in self.files), *self.local]

    @property
    def origin(self) -> dict[str, str]:
        """How its data came to be."""
        return {"source": self.name, **({"note": self.note} if self.note else {})}

    def is_here(self, cache: Cache) -> bool:
        """Whether all its files are in the cache."""
        return all(cache.path(path).exists() for path in self.paths)
