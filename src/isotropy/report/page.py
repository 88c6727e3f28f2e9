"""One page in one file: template, style and script together, nothing fetched from outside."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotropy._replacing import write_text
from isotropy.report.charts.svg import clean

if TYPE_CHECKING:
    from jinja2 import Environment


def write(path: str | Path, html: str) -> None:
    """Write a page; an existing one is replaced only when the new one is complete.

    >>> import tempfile
    >>> page = Path(tempfile.mkdtemp()) / "report.html"
    >>> write(page, "<!doctype html>")
    >>> page.read_text()
    '<!doctype html>'
    """
    write_text(Path(path), html)


def render(template: str, **values: Any) -> str:
    """A page from a template; its style and script are named by their hashes, nothing else runs.

    Args:
        template: a file of templates/.
        values: what it shows; texts among them are escaped.
    """
    style, script = asset("page.css"), asset("page.js")
    page = _environment().get_template(template)
    html = page.render(
        style=style,
        script=script,
        style_hash=content_hash(style),
        script_hash=content_hash(script),
        **values,
    )
    return clean(html)


@cache
def asset(name: str) -> str:
    """A file of templates/, as text."""
    return files("isotropy.report").joinpath("templates", name).read_text(encoding="utf-8")


def content_hash(text: str) -> str:
    """What a content security policy calls a text by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
