"""Flags from records: names, defaults and helps are those of the record."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Annotated

import pytest
import typer

from isotropy.cli.flags import explained, flags, unwrapped
from isotropy.cli.result import Result
from isotropy.training import Settings


@dataclasses.dataclass(frozen=True)
class Size:
    """How large it is. And more.

    Args:
        width: of the first layer,
            and of others.
        square: as high as wide.
        name: what to call it.
        depth: of layers, if it is known.
    """

    width: int = 8
    square: bool = False
    name: str | None = dataclasses.field(default=None, metadata={"metavar": "WORD"})
    depth: int | None = None


@dataclasses.dataclass(frozen=True)
class Unseen:
    """What is not told.

    Args:
        secret: hidden.
    """

    secret: int = 0


def build(what: Annotated[str, typer.Argument()], size: Size) -> Result:
    """Build it."""
    return Result({"what": what, **dataclasses.asdict(size)})


def test_a_record_is_filled_from_its_flags() -> None:
    found = flags(build)(what="x", width=3, square=True, name=None, depth=None)
    assert found.data == {"what": "x", "width": 3, "square": True, "name": None, "depth": None}


def test_flags_of_an_unseen_record_are_taken_and_dropped() -> None:
    command = flags(build, Unseen)
    assert list(inspect.signature(command).parameters) == [
        "what",
        "width",
        "square",
        "name",
        "depth",
        "secret",
    ]
    found = command(what="x", width=3, square=True, name=None, depth=None, secret=9)
    assert "secret" not in found.data


def test_help_comes_from_the_docstring() -> None:
    parameters = inspect.signature(flags(build)).parameters
    option = parameters["width"].annotation.__metadata__[0]
    assert (option.help, option.metavar) == ("Of the first layer, and of others.", "N")
    assert option.rich_help_panel == "How large it is"
    assert parameters["name"].annotation.__metadata__[0].metavar == "WORD"
    assert parameters["depth"].annotation.__metadata__[0].metavar == "N"
    assert parameters["width"].default == 8


@pytest.mark.parametrize("record", [Settings, Size])
def test_every_field_is_explained(record: type) -> None:
    assert list(explained(record)) == [field.name for field in dataclasses.fields(record)]


def test_paragraphs_are_unwrapped() -> None:
    assert unwrapped("One\ntwo.\n\nThree\nfour.") == "One two.\n\nThree four."
