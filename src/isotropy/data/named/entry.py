"""What is known of a data set that goes by a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from isotropy.data.cache import Cache
from isotropy.data.download import Remote
from isotropy.data.options import Options
from isotropy.data.splits import Splits


@dataclass(frozen=True)
class Entry:
    """A data set by name.

    Args:
        name: its name.
        about: what it is, in a line: numbers of samples, shape.
        read: gives it, with options.
        files: what it needs of the cache and can be fetched.
        local: files it needs that cannot be fetched: they are in the cache or they are not.
        note: what to say beside every number got from it.
    """

    name: str
    about: str
    read: Callable[[Cache, Options], Splits]
    files: tuple[Remote, ...] = ()
    local: tuple[str, ...] = ()
    note: str = ""

    def is_here(self, cache: Cache) -> bool:
        """Whether all its files are in the cache."""
        wanted = [file.path for file in self.files] + list(self.local)
        return all(cache.path(path).exists() for path in wanted)
