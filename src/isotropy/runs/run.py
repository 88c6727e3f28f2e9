"""The run directory: what ran, in full, and what came of it, each file whole or not there.

`config.toml` says what was asked for and on what; reading it back is how a run is repeated and how
one that was interrupted is known again. `result.json` is what came out, `model.safetensors` the
trained model, `scaling.json` what data go through before it. Whatever else a command keeps
(checkpoints, a study) lies beside them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotropy._replacing import write_text
from isotropy.errors import FileFormatError, InputError
from isotropy.runs.facts import FORMAT, facts_of
from isotropy.runs.text import read_toml, to_json, to_toml

if TYPE_CHECKING:
    from torch import nn

    from isotropy.data import DataSet, Splits

CONFIG = "config.toml"
RESULT = "result.json"
MODEL = "model.safetensors"
SCALING = "scaling.json"
HOME = Path("runs")


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
        facts = facts_of(command, config, data)
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
            before._tidy()
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

    def _tidy(self) -> None:
        """Remove what a writer that was killed has left half done."""
        for path in self.folder.glob(".*.tmp"):
            path.unlink(missing_ok=True)

    @contextmanager
    def unless_refused(self) -> Iterator[None]:
        """While this lasts, an input error takes a run that holds nothing yet away again."""
        try:
            yield
        except InputError:
            if [path.name for path in self.folder.iterdir()] == [CONFIG]:
                self.path(CONFIG).unlink()
                self.folder.rmdir()
            raise

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

    def save_scaling(self, data: DataSet) -> None:
        """Keep what the model's inputs, and targets, go through."""
        kept = {"inputs": data.scaling, "targets": data.target_scaling}
        found = {name: None if s is None else vars(s) for name, s in kept.items()}
        write_text(self.path(SCALING), to_json(found) + "\n")

    def scaled(self, data: DataSet) -> DataSet:
        """Data as the model is used to them: as they are, if nothing was kept."""
        from isotropy.data import Scaling

        where = self.path(SCALING)
        if not where.is_file():
            return data
        try:
            found = json.loads(where.read_text(encoding="utf-8"))
            inputs, targets = (
                None if part is None else Scaling(tuple(part["shift"]), tuple(part["scale"]))
                for part in (found["inputs"], found["targets"])
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FileFormatError(f"{where} cannot be read: {error!r}") from None
        return replace(data, scaling=inputs, target_scaling=targets)


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
