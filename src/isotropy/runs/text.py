"""What a run directory says, as text: JSON that every reader takes, and TOML."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isotropy.errors import FileFormatError, InputError


def to_json(value: Any) -> str:
    """As JSON that every reader takes: what is not finite is null, arrays are lists.

    >>> to_json({"a": float("nan"), "b": Path("x")})
    '{"a": null, "b": "x"}'
    """
    return json.dumps(_plain(value), allow_nan=False, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):  # arrays, tensors and their numbers
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def to_toml(facts: Mapping[str, Any]) -> str:
    """As TOML: plain values first, then a table for every mapping; None is said in a comment.

    >>> print(to_toml({"a": 1, "t": {"x": [1.5, "y"], "z": None}}), end="")
    a = 1
    <BLANKLINE>
    [t]
    x = [1.5, "y"]
    # z is not set
    """
    plain = {k: v for k, v in facts.items() if not isinstance(v, Mapping)}
    lines = [_toml_line(k, v) for k, v in plain.items()]
    for name, table in facts.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{_toml_key(name)}]", *(_toml_line(k, v) for k, v in table.items())]
    return "\n".join(lines) + "\n"


def _toml_line(key: str, value: Any) -> str:
    if value is None:
        return f"# {key} is not set"
    return f"{_toml_key(key)} = {_toml_value(value)}"


def _toml_key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if bare else _toml_value(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, str):  # JSON's escapes are TOML's, but for DEL
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        inner = (f"{_toml_key(k)} = {_toml_value(v)}" for k, v in value.items())
        return f"{{{', '.join(inner)}}}"
    return f"[{', '.join(_toml_value(v) for v in value)}]"


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file; one line if it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"no such file: {path}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path} is no TOML file: {error}") from None
