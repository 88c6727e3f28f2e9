"""`isotropy discover`: which symmetries data have, and how sure that is."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import typer

from isotropy.cli.model import factory_of
from isotropy.cli.result import Result
from isotropy.cli.shared import (
    Context,
    DataFlags,
    Kept,
    Seeded,
    Source,
    Speaking,
    add,
    load_data,
    start_run,
)
from isotropy.discovery.plan import Plan
from isotropy.errors import InputError

if TYPE_CHECKING:
    from isotropy.data import DataSet
    from isotropy.discovery import Progress


@dataclass(frozen=True)
class Question:
    """What is asked, and how long it may take.

    Args:
        candidate: Ask only about this symmetry, as C4 or reversal; may be given again and again.
        symmetry: Ask about permutations of a sample's entries, from a .npy file of their images;
            may be given again and again.
        blocks: Of vectors, how many consecutive columns move together.
        budget: How long it may take in all, as 90s or 2m, and again when resumed; the result then
            depends on the machine.
        method: race compares networks tied as a whole; mix asks too in which layers it helps.
        model: Compare your own model, path/to/file.py:factory, instead of a small built-in one.
        width: Channels of the first layer of the network without symmetry.
        workers: How many networks train at once; by default one for every core.
    """

    candidate: list[str] | None = field(
        default=None, metadata={"metavar": "NAME", "show_default": False}
    )
    symmetry: list[Path] | None = field(
        default=None, metadata={"metavar": "FILE", "show_default": False}
    )
    blocks: int = field(default=1, metadata={"min": 1})
    budget: str | None = field(default=None, metadata={"metavar": "TIME", "show_default": False})
    method: str = field(default="race", metadata={"metavar": "race|mix"})
    model: str | None = field(default=None, metadata={"metavar": "MODEL", "show_default": False})
    width: int | None = field(
        default=None, metadata={"metavar": "CHANNELS", "min": 1, "show_default": False}
    )
    workers: int | None = field(
        default=None, metadata={"metavar": "N", "min": 1, "show_default": False}
    )


FREE = ("workers",)
"""Options that may differ when a run is resumed: the result does not depend on them."""


def discover(
    context: Context,
    source: Source,
    question: Question,
    plan: Plan,
    data: DataFlags,
    seeded: Seeded,
    kept: Kept,
    speaking: Speaking,
) -> Result:
    """Find out which symmetries data have, and how sure that is.

    Example: isotropy discover digits --budget 1m

    The run's folder gets result.json, report.html (open it in a browser), and the recommended
    network, trained: model.safetensors, and model.onnx where onnx is installed.
    """
    from isotropy.discovery.asked import ask
    from isotropy.discovery.course import Course

    loaded = load_data(source, data, speaking, seeded.seed)
    asked = ask(
        loaded,
        candidates_of(question),
        question.budget,
        seeded.seed,
        plan,
        model_of(question, loaded.train),
        question.width,
        question.blocks,
        method=question.method,
    )
    run = start_run(context, loaded, kept, FREE)
    speaking.say(f"{run.folder}: {len(loaded.train):,} samples, {len(asked.candidates)} candidates")
    with run.unless_refused():
        telling = progress(speaking)
        found = Course(asked, run.folder, question.workers, telling, _line(), context.obj).run()
    return Result(found.to_json(), f"{found}\n\n{run.path('report.html')}")


def candidates_of(question: Question) -> Any:
    """Names, or permutations by the names of their files; None for the usual ones."""
    if not question.symmetry:
        return question.candidate or None
    if question.candidate:
        raise InputError("symmetry: permutations of entries and candidates by name go apart")
    found: dict[str, Any] = {}
    for path in question.symmetry:
        if path.stem in found:
            raise InputError(f"symmetry: two files are called {path.stem}; rename one")
        found[path.stem] = moves_in(path)
    return found


def moves_in(path: Path) -> Any:
    """The array in a .npy file."""
    import numpy as np

    try:
        with path.open("rb") as file:  # numpy leaves one that it opened itself open in an error
            found = np.load(file, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"no such file: {path}") from None
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise InputError(f"{path} is no .npy file of whole numbers ({error})") from None
    if not isinstance(found, np.ndarray):
        raise InputError(f"{path} is no .npy file of whole numbers (it holds several arrays)")
    return found


def model_of(question: Question, data: DataSet) -> Any:
    """What makes the user's own model by width, or None."""
    return None if question.model is None else factory_of(question.model, data, {})


def progress(speaking: Speaking) -> Progress:
    """Who tells how it goes."""
    from isotropy.discovery import Bar, Lines, Progress

    if speaking.quiet:
        return Progress()
    return Bar() if sys.stderr.isatty() else Lines()


def _line() -> str:
    import shlex

    return shlex.join(["isotropy", *sys.argv[1:]])


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, discover)
