"""The run directory: what ran, in full, and what came of it, each file whole or not there.

`config.toml` says what was asked for and on what; reading it back is how a run is repeated and how
one that was interrupted is known again. `result.json` is what came out, `model.safetensors` the
trained model. Whatever else a command keeps (checkpoints, a study) lies beside them.
"""

from __future__ import annotations

import json
import math
import os
import platform
import shlex
import sys
import tomllib
from collections.abc import Collection, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotropy._tensor_file import write_text
from isotropy.errors import FileFormatError, InputError

if TYPE_CHECKING:
    from torch import nn

    from isotropy.data import DataSet, Splits

CONFIG = "config.toml"
RESULT = "result.json"
MODEL = "model.safetensors"
FORMAT = "isotropy-run-1"
HOME = Path("runs")

_PACKAGES = ("torch", "numpy", "scipy", "scikit-learn")


class Run:
    """A directory that holds one run of one command.

    Args:
        folder: where it is.
        facts: all of its config.toml.
    """

    def __init__(self, folder: Path, facts: dict[str, Any]) -> None:
        self.folder = folder
        self.facts = facts

    # -- beginning --------------------------------------------------------------------------

    @classmethod
    def start(
        cls,
        folder: str | os.PathLike[str] | None,
        command: str,
        config: Mapping[str, Any],
        data: Splits | DataSet | None = None,
        *,
        resume: bool = False,
        free: Collection[str] = (),
    ) -> Run:
        """Make a run's directory and write down what runs; or find it again.

        Args:
            folder: where; by default the first of runs/<command>-<data>-1, -2, … that is not there.
            command: the command's name.
            config: its options with their values, as JSON; None is an option that is not set.
            data: what it runs on.
            resume: go on with the run in the folder, if it is one of the same configuration and
                data; begin it, if nothing is there.
            free: options that may differ when a run is resumed, because the result does not
                depend on them.

        >>> import tempfile
        >>> where = Path(tempfile.mkdtemp()) / "run"
        >>> run = Run.start(where, "train", {"model": "cnn", "epochs": 3})
        >>> Run.open(where).options["epochs"]
        3
        """
        facts = _facts(command, config, data)
        if folder is None:
            if resume:
                raise InputError("resume: say with --out which run to go on with")
            return cls._new(_unused(command, facts), facts)
        where = Path(folder)
        if (where / CONFIG).exists():
            before = cls.open(where)
            if not resume:
                raise InputError(
                    f"out: {where} holds a run already; go on with it by --resume, or choose "
                    "another folder"
                )
            before._require_same(facts, free)
            return before
        if where.is_dir() and any(not p.name.startswith(".") for p in where.iterdir()):
            raise InputError(f"out: {where} holds other files and no run; choose another folder")
        return cls._new(where, facts)

    @classmethod
    def _new(cls, folder: Path, facts: dict[str, Any]) -> Run:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"out: cannot make the folder {folder}: {error.strerror}") from None
        write_text(folder / CONFIG, to_toml(facts))
        return cls.open(folder)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Run:
        """The run that is in a folder."""
        where = Path(folder)
        if not (where / CONFIG).is_file():
            raise InputError(f"{where} is no run: it has no {CONFIG}")
        facts = read_toml(where / CONFIG)
        if facts.get("format") != FORMAT:
            raise FileFormatError(f"{where / CONFIG} was not written by a run (format {FORMAT})")
        return cls(where, facts)

    def _require_same(self, facts: dict[str, Any], free: Collection[str]) -> None:
        """Refuse to go on with another command, configuration or data, and say what differs."""
        before, now = _comparable(self.facts, free), _comparable(facts, free)
        for key in [*before, *(k for k in now if k not in before)]:
            if before.get(key) != now.get(key):
                raise InputError(
                    f"resume: {self.folder} was begun with {key} = {_shown(before.get(key))}, and "
                    f"now it is {_shown(now.get(key))}; go on as you began, or choose another --out"
                )

    # -- what it holds ----------------------------------------------------------------------

    @property
    def command(self) -> str:
        """The command's name."""
        return str(self.facts["command"])

    @property
    def options(self) -> dict[str, Any]:
        """The options that were set, with their values."""
        return dict(self.facts["options"])

    @property
    def data(self) -> dict[str, Any]:
        """What it ran on: name, shape, fingerprint and so on."""
        return dict(self.facts.get("data", {}))

    def path(self, name: str) -> Path:
        """Where a file of the run is, or is to be."""
        return self.folder / name

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Write result.json, all at once."""
        write_text(self.path(RESULT), to_json(result) + "\n")

    def result(self) -> dict[str, Any]:
        """What came out."""
        where = self.path(RESULT)
        try:
            found = json.loads(where.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(f"{self.folder} has no {RESULT}: the run is not finished") from None
        except (OSError, ValueError) as error:
            raise FileFormatError(f"{where} cannot be read: {error}") from None
        if not isinstance(found, dict):
            raise FileFormatError(f"{where} holds no JSON object")
        return found

    def save_model(self, model: nn.Module, name: str = MODEL) -> Path:
        """Write a model, all at once."""
        from isotropy.nn.files import save

        save(model, self.path(name))
        return self.path(name)

    def model(self, name: str = MODEL) -> nn.Module:
        """The model that was written, in eval mode."""
        from isotropy.nn.files import load

        if not self.path(name).is_file():
            raise InputError(f"{self.folder} has no {name}: the run is not finished")
        return load(self.path(name)).eval()


# -- what ran -----------------------------------------------------------------------------------


def _facts(
    command: str, config: Mapping[str, Any], data: Splits | DataSet | None
) -> dict[str, Any]:
    facts: dict[str, Any] = {"format": FORMAT, "command": command}
    facts["line"] = shlex.join(["isotropy", *sys.argv[1:]])
    facts["options"] = json.loads(to_json(config))
    if data is not None:
        facts["data"] = describe_data(data)
    facts["versions"] = versions()
    facts["machine"] = machine()
    return facts


def describe_data(data: Splits | DataSet) -> dict[str, Any]:
    """What a run ran on: enough to know it again."""
    from isotropy.data import Splits

    whole = data if isinstance(data, Splits) else Splits(data)
    train, test = whole.train, whole.test
    found = {
        "name": train.name,
        "task": train.task,
        "kind": train.kind,
        "samples": len(train),
        "shape": list(train.shape),
        "classes": list(train.classes),
        "fingerprint": train.fingerprint(),
        "note": str(train.origin.get("note", "")),
    }
    if test is not None:
        found |= {"test_samples": len(test), "test_fingerprint": test.fingerprint()}
    return found


def versions() -> dict[str, str]:
    """Of everything that numbers depend on."""
    from isotropy._version import __version__

    found = {"isotropy": __version__, "python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _PACKAGES}


def machine() -> dict[str, Any]:
    """What numbers may depend on, without names: the kind of processor, threads, devices."""
    import torch

    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count() or 1,
        "threads": torch.get_num_threads(),
        "gpus": [torch.cuda.get_device_name(i) for i in range(gpus)],
    }


def _unused(command: str, facts: dict[str, Any]) -> Path:
    """The first folder of a command and its data that is not there."""
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in _short_name(facts)).strip("-")
    number = 1
    while (HOME / f"{command}-{name}-{number}").exists():
        number += 1
    return HOME / f"{command}-{name}-{number}"


def _short_name(facts: dict[str, Any]) -> str:
    return str(facts.get("data", {}).get("name", "run")) or "run"


def _comparable(facts: dict[str, Any], free: Collection[str]) -> dict[str, Any]:
    """What must be the same for a run to go on."""
    data = facts.get("data", {})
    options = {k: v for k, v in facts["options"].items() if v is not None and k not in free}
    kept = {"command": facts["command"], **options}
    for key in ("fingerprint", "test_fingerprint"):
        if key in data:
            kept[f"data {key.replace('_', ' ')}"] = data[key]
    return kept


def _shown(value: Any) -> str:
    return "not set" if value is None else repr(value)


# -- text ---------------------------------------------------------------------------------------


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
