"""A group as what it does to a sign without symmetry: the letter F in all its positions."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from isotropy.errors import InputError
from isotropy.report.charts.svg import element

MOST = 8
_STROKES = "M-3.2 5.5V-5.5H3.8M-3.2 -0.3H2"
_STEP = 18


def glyph(elements: Sequence[str]) -> Markup:
    """The letter F moved by elements of D4; nothing if one of them is none.

    >>> glyph(["e", "s"]).count("<path")
    2
    """
    matrices = [_matrix(name) for name in elements]
    if not matrices or len(matrices) > MOST or None in matrices:
        return Markup("")
    columns = 4 if len(matrices) > 4 else len(matrices)
    rows = -(-len(matrices) // columns)
    letters = [
        element(
            "path",
            d=_STROKES,
            transform=f"matrix({matrix} {_STEP * (i % columns) + 9} {_STEP * (i // columns) + 9})",
        )
        for i, matrix in enumerate(matrices)
    ]
    wide, high = _STEP * columns, _STEP * rows
    return element(
        "svg", *letters, class_="glyph", viewBox=f"0 0 {wide} {high}", width=wide, height=high,
        aria_hidden="true",
    )  # fmt: skip


def _matrix(name: str) -> str | None:
    """What an element does to (x, y), as SVG writes it; arrays are (row, column) = (y, x)."""
    from isotropy.groups import group
    from isotropy.groups.grid import axis_matrix

    try:
        (a, b), (c, d) = axis_matrix(group("D4"), name, 2)
    except InputError:
        return None
    return f"{d} {b} {c} {a}"
