"""Flags from records: a parameter that is a dataclass becomes a flag for every field.

So options that several commands share, or that a dataclass of the library has already, are named
and explained in one place: names and defaults are the fields', the help is the class's docstring,
whose first line heads the record's flags in the help of a command. A field's metadata are further
arguments of `typer.Option`, and "names" the flag's own names.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from isotropy.cli.result import Result

Command = Callable[..., Result]

_METAVARS: dict[Any, str] = {int: "N", float: "X", str: "NAME"}


def flags(function: Command, unseen: type | None = None) -> Command:
    """A command whose parameters that are records are flags, for typer to read.

    Args:
        function: a command; its other parameters stay as they are.
        unseen: a record whose flags the command has too, but is not told of.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Size:
    ...     '''How large.
    ...
    ...     Args:
    ...         width: of the first layer.
    ...     '''
    ...
    ...     width: int = 8
    >>> def build(name: str, size: Size) -> Result:
    ...     return Result({"name": name, "width": size.width})
    >>> flags(build)(name="cnn", width=16).data
    {'name': 'cnn', 'width': 16}
    >>> list(inspect.signature(flags(build)).parameters)
    ['name', 'width']
    """
    hints = typing.get_type_hints(function, include_extras=True)
    given = inspect.signature(function).parameters
    records = {name: hints[name] for name in given if dataclasses.is_dataclass(hints[name])}
    parameters: list[inspect.Parameter] = []
    for name, parameter in given.items():
        if name in records:
            parameters += _from_record(records[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name]))
    hidden = [] if unseen is None else list(_from_record(unseen))
    parameters += hidden

    def command(**values: Any) -> Result:
        for parameter in hidden:
            values.pop(parameter.name, None)
        made = {name: _make(record, values) for name, record in records.items()}
        return function(**values, **made)

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__module__ = function.__module__
    keyword = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    command.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _make(record: Any, values: dict[str, Any]) -> Any:
    """A record of its fields' values, which are taken out of all values."""
    return record(**{field.name: values.pop(field.name) for field in dataclasses.fields(record)})


def _from_record(record: Any) -> Iterator[inspect.Parameter]:
    types, helps = typing.get_type_hints(record), explained(record)
    head = (inspect.getdoc(record) or "").partition("\n")[0].partition(".")[0]
    for field in dataclasses.fields(record):
        kind = types[field.name]
        extra = {**_looks(field, kind), "rich_help_panel": head, **field.metadata}
        names = extra.pop("names", ())
        option = typer.Option(*names, help=_sentence(helps.get(field.name, "")), **extra)
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=Annotated[kind, option],
        )


def _looks(field: dataclasses.Field[Any], kind: Any) -> dict[str, Any]:
    """How a flag stands in the help: in few words, so that what it does has room."""
    if kind is bool and field.default is False:
        return {"names": (f"--{field.name.replace('_', '-')}",), "show_default": False}
    shown = {"show_default": bool(field.default) or field.default == 0}
    given = next((part for part in typing.get_args(kind) if part in _METAVARS), kind)
    return {**shown, **({"metavar": _METAVARS[given]} if given in _METAVARS else {})}


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def explained(record: type) -> dict[str, str]:
    """What a class's docstring says of each of its arguments, in one line.

    >>> explained(Result)["data"]
    'what `--json` prints.'
    """
    _, _, listed = (inspect.getdoc(record) or "").partition("Args:\n")
    found: dict[str, str] = {}
    name = ""
    for line in listed.splitlines():
        begun = re.match(r"    (\w+): (.*)", line)
        if begun:
            name = begun[1]
            found[name] = begun[2]
        elif name and line.startswith(" " * 8):
            found[name] += " " + line.strip()
        else:
            break
    return found


def unwrapped(text: str) -> str:
    r"""Paragraphs on one line each, for a terminal to break where it ends.

    >>> unwrapped("One\ntwo.\n\nThree.")
    'One two.\n\nThree.'
    """
    return "\n\n".join(" ".join(part.split("\n")) for part in text.split("\n\n"))
