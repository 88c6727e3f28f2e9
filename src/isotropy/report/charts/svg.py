"""SVG elements as text: whatever is not made here is escaped, and no number is unfinished."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable

from markupsafe import Markup, escape

from isotropy.report.charts.scale import Number

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

CHARACTER = 6.6
"""Pixels that a letter of a chart's text takes, about; charts are 12 pixels high in type."""


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """One element; children that are no markup are text and are escaped, as attributes are.

    An underscore in an attribute's name is a hyphen, but for one at the end, which is dropped;
    attributes that are None are left out.

    >>> str(element("text", "a < b", class_="tick", x=0.1 + 0.2))
    '<text class="tick" x="0.3">a &lt; b</text>'
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_attribute(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    inside = "".join(str(escape(clean(child))) for child in children)
    return Markup(f"<{tag}{written}>{inside}</{tag}>")


def _attribute(value: object) -> str:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be drawn")
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return clean(str(value))


def clean(text: str) -> str:
    """Text without characters that no page may hold; what was escaped stays so."""
    replaced = _ILLEGAL.sub("\ufffd", text)
    return Markup(replaced) if isinstance(text, Markup) else replaced


def join(parts: Iterable[str]) -> Markup:
    """Elements one after another."""
    return Markup("").join(parts)


def drawing(
    width: Number, height: Number, title: str, description: str, parts: Iterable[str], kind: str
) -> Markup:
    """A whole picture that says what it shows, for those who do not see it too."""
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        *parts,
        class_=f"chart {kind}",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=round(width),
        height=round(height),
        role="img",
    )


def mark(tip: str, *shapes: str, class_: str = "") -> Markup:
    """Something that stands for a value, and says which when it is pointed at or reached by key."""
    return element("g", element("title", tip), *shapes, class_=f"mark {class_}".strip())


def text(x: Number, y: Number, value: str, class_: str = "", anchor: str = "start") -> Markup:
    """A line of text."""
    return element("text", value, x=x, y=y, class_=class_ or None, text_anchor=anchor)


def line(x1: Number, y1: Number, x2: Number, y2: Number, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def rectangle(x: Number, y: Number, width: Number, height: Number, class_: str) -> Markup:
    """A rectangle; a width below nothing is nothing."""
    return element("rect", x=x, y=y, width=max(width, 0.0), height=max(height, 0.0), class_=class_)


def path(points: Iterable[tuple[Number, Number]], class_: str, closed: bool = False) -> Markup:
    """A line through points, or the area it encloses."""
    steps = " ".join(f"{_attribute(float(x))},{_attribute(float(y))}" for x, y in points)
    return element("polygon" if closed else "polyline", points=steps, class_=class_)


def text_width(value: str) -> float:
    """Pixels that a text takes, about: Asian characters are twice as wide as others."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in value)
    return CHARACTER * (len(value) + wide)


def shortened(value: str, width: Number) -> str:
    """The text, cut so that it fits into a width.

    >>> shortened("a very long name", 60)
    'a very l…'
    """
    value = " ".join(clean(value).split())
    if text_width(value) <= width:
        return value
    kept = value
    while kept and text_width(kept) + CHARACTER > width:
        kept = kept[:-1]
    return kept.rstrip() + "…"
