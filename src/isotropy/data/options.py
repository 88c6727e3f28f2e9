"""How a source is to be read: every option of `load` in one place."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Protocol, runtime_checkable

from isotropy.errors import InputError


@runtime_checkable
class Progress(Protocol):
    """Called as long work goes on: what is done, how much of it, and of how much if known."""

    def __call__(self, what: str, done: int, total: int | None, /) -> object: ...


@dataclass(frozen=True)
class Options:
    """The options of `load`, with its meanings and defaults."""

    layout: str | None = None
    task: str | None = None
    target: str | None = None
    resize: int | None = None
    skip_bad: bool = False
    cache: str | Path | None = None
    mirror: str | None = None
    seed: int = 0
    progress: Progress | None = None

    def refuse(self, source: str, *names: str) -> None:
        """Say so where an option is given that means nothing for a source."""
        for option in fields(self):
            if option.name in names and getattr(self, option.name) != option.default:
                raise InputError(f"{option.name}: means nothing for {source}")
