"""What several commands have in common: arguments, flags, the loading of data, what is said.

A command is a function with typed parameters that returns a `Result`, made one by `add`, which
gives it `--config` too:

    def count(source: Source, data: DataFlags, speaking: Speaking) -> Result:
        '''Count the samples.'''
        found = load_data(source, data)
        return Result({"samples": len(found.train)}, f"{len(found.train)} samples")

    def register(app: typer.Typer) -> None:
        add(app, count)

Heavy modules are imported inside functions, so that help is quick.
"""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isotropy.cli.flags import flags, unwrapped
from isotropy.cli.progress import progress
from isotropy.cli.result import Result
from isotropy.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from isotropy.data import Splits
    from isotropy.runs import Run
    from isotropy.training import Watch

    Context = typer.Context
else:  # typer asks for its own class in signatures, but hands over one of the class below it
    Context = typer.Context.__mro__[1]

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="Data: a name (see isotropy data list), an .npz file, X.npy,y.npy or a folder.",
        show_default=False,
    ),
]
RunFolder = Annotated[
    Path, typer.Argument(metavar="RUN", help="The folder of a run.", show_default=False)
]

NOT_OPTIONS = frozenset({"config", "out", "resume", "quiet", "json"})
"""Flags that say nothing of what runs, and so are not written to config.toml."""


def add(app: typer.Typer, function: Callable[..., Result], name: str | None = None) -> None:
    """Make a function a command; see this module's first lines.

    Args:
        app: what to add it to.
        function: its parameters that are records become flags.
        name: by default the function's.
    """
    text = unwrapped(inspect.getdoc(function) or "")
    app.command(name or function.__name__, help=text)(flags(function, Configured))


# -- flags --------------------------------------------------------------------------------------


def _configure(context: Context, path: Path | None) -> Path | None:
    """Let a file give the values that flags do not: what is on the command line goes first."""
    if path is not None:
        from isotropy.runs import read_toml

        known = [p.name for p in context.command.params if p.name not in NOT_OPTIONS]
        found = read_toml(path)
        _require_command(path, found, str(context.info_name))
        context.default_map = {**_options_of(path, found, known)}
    return path


def _require_command(path: Path, found: Mapping[str, Any], command: str) -> None:
    written = found.get("command", command)
    if written != command:
        raise InputError(f"{path} is of the command {written!r}, not {command!r}")


def _options_of(path: Path, found: Mapping[str, Any], known: list[str]) -> dict[str, Any]:
    options = found.get("options")
    if not isinstance(options, dict):
        raise InputError(f"{path} has no table [options] with the command's options")
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InputError(f"{path}: there is no option {name!r}{hint}")
    return options


@dataclass(frozen=True)
class Speaking:
    """What is said, and how.

    Args:
        quiet: Say nothing but the result.
        json: Print the result as one JSON object on standard output; all else goes to standard
            error.
    """

    quiet: bool = field(default=False, metadata={"names": ("--quiet",)})
    json: bool = field(default=False, metadata={"names": ("--json",)})

    def say(self, text: str) -> None:
        """Tell on standard error how it goes."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def watches(self) -> list[Watch]:
        """Who tells how training goes: a bar on a terminal, lines elsewhere, or nobody."""
        from isotropy.training import Bar, Lines

        if self.quiet:
            return []
        return [Bar() if sys.stderr.isatty() else Lines()]


@dataclass(frozen=True)
class Configured:
    """Options from a file.

    Args:
        config: A .toml file with a table of options; RUN/config.toml repeats a run. What is on the
            command line goes first.
    """

    config: Path | None = field(
        default=None,
        metadata={"callback": _configure, "is_eager": True, "metavar": "FILE"},
    )


@dataclass(frozen=True)
class Kept:
    """Where the results go.

    Args:
        out: The folder of the run; by default runs/<command>-<data>-<number>.
        resume: Go on with the run in --out, to the same result as if nothing had happened.
    """

    out: Path | None = field(default=None, metadata={"metavar": "FOLDER", "show_default": False})
    resume: bool = field(default=False, metadata={"names": ("--resume",)})


@dataclass(frozen=True)
class Seeded:
    """Randomness.

    Args:
        seed: The same seed gives the same result on the same machine.
    """

    seed: int = field(default=0, metadata={"min": 0})


@dataclass(frozen=True)
class DataFlags:
    """How a source is to be read.

    Args:
        layout: What the axes of an array mean, where its shape does not tell: nchw, nhwc, ncl, ...
        task: classification, regression or dense; by default told from the targets.
        target: Which array of an .npz file is to be predicted.
        resize: Make pictures squares of this many pixels.
        skip_bad: Leave out images that cannot be read, and count them.
        cache: Where downloaded data are kept; by default $ISOTROPY_DATA or the user's cache.
        mirror: Download from this address instead of the official one.
    """

    layout: str | None = field(default=None, metadata={"metavar": "AXES", "show_default": False})
    task: str | None = field(default=None, metadata={"metavar": "TASK", "show_default": False})
    target: str | None = field(default=None, metadata={"metavar": "NAME", "show_default": False})
    resize: int | None = field(
        default=None, metadata={"metavar": "PIXELS", "min": 1, "show_default": False}
    )
    skip_bad: bool = field(default=False, metadata={"names": ("--skip-bad",)})
    cache: Path | None = field(default=None, metadata={"metavar": "FOLDER", "show_default": False})
    mirror: str | None = field(default=None, metadata={"metavar": "URL", "show_default": False})


def load_data(source: str, options: DataFlags, speaking: Speaking, seed: int = 0) -> Splits:
    """The data of a source, its note said."""
    from isotropy.data import load

    with progress(speaking.quiet) as told:
        data = load(source, seed=seed, progress=told, **asdict(options))
    if data.note:
        speaking.say(f"{data.train.name}: {data.note}")
    return data


# -- runs ---------------------------------------------------------------------------------------


def start_run(
    context: Context,
    data: Splits,
    kept: Kept,
    free: tuple[str, ...] = (),
) -> Run:
    """The run directory of this command with all its options, or the one to go on with.

    Args:
        context: the command's.
        data: what it runs on.
        kept: where, and whether to go on.
        free: options that may differ when it is resumed.
    """
    from isotropy.runs import Run

    options = {k: v for k, v in context.params.items() if k not in NOT_OPTIONS}
    away = ("cache", "mirror", *free)  # where data come from is not what they are
    return Run.start(kept.out, str(context.info_name), options, data, resume=kept.resume, free=away)
