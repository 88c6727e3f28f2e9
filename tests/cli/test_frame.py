"""The frame of all commands: help, exit status, one JSON object or words, errors in a line."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import pytest
import typer

from isotropy import __version__
from isotropy.cli import app as frame
from isotropy.cli.result import Result
from isotropy.cli.shared import Speaking, add
from isotropy.errors import InputError, IsotropyError, IsotropyWarning, NotSupportedError
from tests.cli.conftest import Command


def test_help_names_every_command(isotropy: Command) -> None:
    found = isotropy("--help")
    assert found.status == 0
    assert all(name in found.out for name in frame.COMMANDS)


def test_nothing_asked_is_help(isotropy: Command) -> None:
    assert isotropy() == isotropy("--help")


@pytest.mark.parametrize("name", frame.COMMANDS)
def test_every_command_has_help(name: str, isotropy: Command) -> None:
    found = isotropy(name, "--help")
    assert (found.status, found.err) == (0, "")
    assert f"isotropy {name}" in found.out


def test_version(isotropy: Command) -> None:
    assert isotropy("--version").out == f"isotropy {__version__}\n"


def test_it_runs_as_a_module(process: Command) -> None:
    assert process("--version").out == f"isotropy {__version__}\n"


USAGE = [
    (["trian"], "No such command 'trian'. Did you mean 'train'?"),
    (["train"], "Missing argument 'MODEL'."),
    (["train", "cnn"], "Missing argument 'SOURCE'."),
    (["train", "cnn", "digits", "--gruop", "C4"], "No such option: --gruop"),
    (["train", "cnn", "digits", "more"], "(more)"),
    (["train", "cnn", "digits", "--epochs", "many"], "Invalid value for '--epochs'"),
    (["train", "cnn", "digits", "--seed", "-1"], "Invalid value for '--seed'"),
]


@pytest.mark.parametrize(("arguments", "words"), USAGE)
def test_wrong_usage_is_one_line_and_status_2(
    arguments: list[str], words: str, isotropy: Command
) -> None:
    found = isotropy(*arguments)
    assert (found.status, found.out) == (2, "")
    assert words in found.error


# -- what a command may come to -----------------------------------------------------------------


@pytest.fixture
def doing(monkeypatch: pytest.MonkeyPatch, isotropy: Command) -> Any:
    """Runs a command that does what it is given."""

    def command(action: Any, *arguments: str) -> Any:
        def act(speaking: Speaking) -> Result:
            """Do it."""
            speaking.say("working")
            found: Result = action()
            return found

        module = ModuleType("isotropy.cli.act")
        module.register = lambda app: add(app, act)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(frame.COMMANDS, "act", ("act", "Do it."))
        return isotropy("act", *arguments)

    return command


def raising(error: BaseException) -> Any:
    def action() -> Result:
        raise error

    return action


ERRORS = [
    (InputError("x must be\n  small"), 2, "x must be small"),
    (NotSupportedError("no rule"), 2, "no rule"),
    (typer.BadParameter("not so"), 2, "not so"),
    (IsotropyError("it failed"), 1, "it failed"),
    (OSError(28, "No space left on device"), 1, "No space left on device"),
    (MemoryError(), 1, "out of memory"),
    (KeyboardInterrupt(), 130, "interrupted"),
]


@pytest.mark.parametrize(("error", "status", "words"), ERRORS)
def test_errors(error: BaseException, status: int, words: str, doing: Any) -> None:
    found = doing(raising(error), "--quiet")
    assert (found.status, found.out) == (status, "")
    assert words in found.error


@pytest.mark.parametrize(("error", "status", "words"), ERRORS)
def test_errors_in_json(error: BaseException, status: int, words: str, doing: Any) -> None:
    found = doing(raising(error), "--json")
    assert found.json["status"] == status
    assert words in found.json["error"]
    assert "Traceback" not in found.err


def test_an_error_of_ours_is_not_hidden(doing: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        doing(raising(ZeroDivisionError()))


@pytest.mark.parametrize("status", [0, 1, 130])
def test_results_in_words_or_json(status: int, doing: Any) -> None:
    def action() -> Result:
        print("a library says something")
        return Result({"a": [1, float("nan")]}, "the words", status)

    plain = doing(action)
    assert (plain.status, plain.out) == (status, "a library says something\nthe words\n")
    assert plain.err == "working\n"
    told = doing(action, "--json")
    assert (told.status, json.loads(told.out)) == (status, {"a": [1, None]})
    assert told.err == "working\na library says something\n"
    assert doing(action, "--quiet").err == ""


def test_warnings_of_ours_are_one_line(doing: Any) -> None:
    import warnings

    def action() -> Result:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("mind this", IsotropyWarning, stacklevel=1)
        return Result({}, "done")

    assert doing(action, "--quiet").err == "isotropy: warning: mind this\n"
