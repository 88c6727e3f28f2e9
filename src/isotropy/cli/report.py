"""`isotropy report`: the page of a run, written anew from what the run has kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import typer

from isotropy.cli.result import Result
from isotropy.cli.shared import RunFolder, Speaking, add
from isotropy.errors import InputError

PAGE, SAMPLES = "report.html", "samples.npz"


@dataclass(frozen=True)
class Where:
    """Where the page goes.

    Args:
        out: The file to write; by default RUN/report.html.
    """

    out: Path | None = field(default=None, metadata={"metavar": "FILE", "show_default": False})


def report(run: RunFolder, where: Where, speaking: Speaking) -> Result:
    """Write the page of a run: one HTML file that needs no other and fetches nothing.

    Example: isotropy report runs/discover-digits-1

    There is a page of every finished run of discover and of search.
    """
    from isotropy.report import page_of, read_images, write
    from isotropy.runs import Run

    opened = Run.open(run)
    result = opened.result()
    if "format" not in result:
        raise InputError(
            f"{run} is a run of {opened.command}, which has no page; runs of discover and search do"
        )
    kept = opened.path(SAMPLES)
    page = page_of(result, read_images(kept) if kept.is_file() else None)
    file = where.out or opened.path(PAGE)
    write(file, page)
    speaking.say(f"{len(page.encode()) / 1000:,.0f} kB in one file, for any browser")
    return Result({"run": str(run), "report": str(file)}, str(file))


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, report)
