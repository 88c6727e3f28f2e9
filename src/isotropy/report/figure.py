"""A chart in the page: drawn for wide and for narrow screens, with its numbers as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

WIDE, NARROW = 880.0, 340.0


@dataclass(frozen=True)
class Table:
    """Rows of texts under a head; `numeric` says which columns are set to the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Figure:
    """A chart in two widths, and the same as a table."""

    wide: Markup
    narrow: Markup
    table: Table


def figure(
    draw: Callable[..., Markup], data: Sequence[Any], table: Table, **options: Any
) -> Figure:
    """A chart function's pictures of some data; falsy if there is nothing to draw."""
    return Figure(draw(data, width=WIDE, **options), draw(data, width=NARROW, **options), table)


def drawn(candidate: Figure) -> Figure | None:
    """The figure, or None if its chart is empty."""
    return candidate if candidate.wide else None


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numeric: Iterable[int] = ()) -> Table:
    """A table from lists."""
    return Table(tuple(head), tuple(tuple(row) for row in rows), frozenset(numeric))
