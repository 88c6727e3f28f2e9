"""The frame of all commands: arguments in, results and errors out, exit status.

Exit status 0: the command did its work. 2: something given does not fit (one line on standard
error says what). 1: something else failed. 130: stopped by Ctrl-C.
With `--json` standard output is exactly one JSON object, also when the command fails:
`{"error": "...", "status": 2}`. All else goes to standard error.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any

import typer

from isotropy.cli.flags import unwrapped
from isotropy.cli.result import Result
from isotropy.errors import InputError, IsotropyError, IsotropyWarning, NotSupportedError

COMMANDS = {
    "discover": ("discover", "Which symmetries data have, and how sure that is."),
    "search": ("search_commands", "Which group every layer should be tied under."),
    "train": ("train", "Train a model, tied under a group or plain."),
    "predict": ("predict", "What the model of a run says about data."),
    "check": ("check", "How far a trained model is from being equivariant, layer by layer."),
    "export": ("export", "Write the model of a run as a plain network: .onnx or .pt2."),
    "report": ("report", "Write the page of a run anew."),
    "data": ("data_commands", "Data sets by name: list and get them, make symmetrised ones."),
}
"""Every command, in the order of the help: its module in this package and its help in short.

A module has `register(app)`, which adds the command; it is imported only when the command is run.
"""

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

_UsageError: Any = typer.BadParameter.__mro__[1]  # of typer's own copy of click, or of click
_BAD_INPUT = (InputError, NotSupportedError, _UsageError)

HELP = """Find the symmetry in your data, build it into your network, ship a plain model.

SOURCE is a data set's name (digits, mnist, ...), an .npz file with X and y, a pair of .npy files
"X.npy,y.npy", or a folder with a folder of images for every class. RUN is the folder in which a
command has left its results.

Example: isotropy discover digits --budget 1m
"""


def main() -> None:
    """Run the command line, and leave with its exit status."""
    sys.exit(run(sys.argv[1:]))


def make_app(asked: str = "") -> typer.Typer:
    """The command that is asked for, and all others by name only."""
    app = typer.Typer(
        name="isotropy",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode="rich",
    )
    app.callback(help=unwrapped(HELP))(_options)
    for name, (module, help_text) in COMMANDS.items():
        if name == asked:
            importlib.import_module(f"isotropy.cli.{module}").register(app)
        else:
            app.command(name, help=help_text)(_not_asked)
    return app


def _not_asked() -> None:
    """Stands in the help for a command that is not loaded."""


def _command_of(arguments: Sequence[str]) -> str:
    """The first word that is no option: the command's name."""
    return next((word for word in arguments if not word.startswith("-")), "")


def _version(asked: bool | None) -> None:
    if asked:
        from isotropy._version import __version__

        print(f"isotropy {__version__}")
        raise typer.Exit


def _options(
    version: bool | None = typer.Option(
        None, "--version", callback=_version, is_eager=True, help="Print the version, and stop."
    ),
) -> None:
    pass


def run(arguments: Sequence[str]) -> int:
    """Run one command, print its result or its error, and give the exit status.

    Args:
        arguments: what stands on the command line after the program's name.
    """
    began = time.monotonic()  # imports and reading count as a command's time
    as_json = "--json" in arguments
    output = sys.stdout
    try:
        with _all_else_to_stderr(as_json), _plain_warnings():
            app = make_app(_command_of(arguments))
            asked = list(arguments) or ["--help"]
            found = app(asked, prog_name="isotropy", standalone_mode=False, obj=began)
        if isinstance(found, Result):
            _print_result(found, as_json, output)
            return found.status
        if found == INTERRUPTED:  # what typer makes of Ctrl-C
            raise KeyboardInterrupt
        return int(found or 0)
    except BrokenPipeError:  # the reader has gone; nothing more can be told
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", INTERRUPTED, as_json, output)
    except _BAD_INPUT as error:
        return _fail(_words(error), BAD_INPUT, as_json, output)
    except (IsotropyError, OSError) as error:
        return _fail(_words(error), FAILED, as_json, output)
    except MemoryError:
        return _fail("out of memory", FAILED, as_json, output)


def _print_result(result: Result, as_json: bool, output: Any) -> None:
    if not result.data:  # of a process that follows another, which prints it
        return
    if as_json:
        from isotropy.runs import to_json

        print(to_json(result.data), file=output, flush=True)
    elif result.text:
        print(result.text, file=output, flush=True)


def _fail(words: str, status: int, as_json: bool, output: Any) -> int:
    with suppress(OSError):
        print(f"isotropy: error: {words}", file=sys.stderr, flush=True)
    if as_json:
        _print_result(Result({"error": words, "status": status}), True, output)
    return status


def _words(error: BaseException) -> str:
    """An error in one line."""
    asked: Any = getattr(error, "format_message", error.__str__)
    words = " ".join(str(asked()).split())
    return words or type(error).__name__


@contextmanager
def _all_else_to_stderr(as_json: bool) -> Iterator[None]:
    """With --json, what libraries print by themselves must not come before the object."""
    if not as_json:
        yield
        return
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Our own warnings in one line, without the place in the code they come from."""
    shown = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        if issubclass(category, IsotropyWarning):
            print(f"isotropy: warning: {message}", file=sys.stderr, flush=True)
        else:
            shown(message, category, *rest, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown
