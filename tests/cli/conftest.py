"""Commands as their users run them, in this process or in one of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from isotropy.cli.app import run
from tests.cli import sources


@dataclass(frozen=True)
class Outcome:
    """What a command left: exit status, standard output, standard error."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What is on standard output, which must be one JSON object."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def error(self) -> str:
        """The one line of an error; anything else on standard error fails the test."""
        (line,) = self.err.splitlines()
        start = "isotropy: error: "
        assert line.startswith(start)
        return line.removeprefix(start)


Command = Callable[..., Outcome]


@pytest.fixture
def isotropy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """Runs a command in this process, in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ISOTROPY_DATA", raising=False)

    def command(*arguments: object) -> Outcome:
        capfd.readouterr()
        status = run([str(a) for a in arguments])
        return Outcome(status, *capfd.readouterr())

    return command


@pytest.fixture
def process(tmp_path: Path) -> Command:
    """Runs a command in a process of its own, in the test's folder."""

    def command(*arguments: object, **environment: str) -> Outcome:
        line = [sys.executable, "-m", "isotropy", *map(str, arguments)]
        done = subprocess.run(
            line,
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return command


QUICK = ("--epochs", "2", "--width", "4", "--batch-size", "16", "--quiet")


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes a run, once for all tests that ask for the same: model, source and options."""
    made: dict[tuple[str, ...], Path] = {}

    def make(model: str, source: str, *options: str) -> Path:
        key = (model, source, *options)
        if key not in made:
            folder = tmp_path_factory.mktemp("run")
            path = sources.write(folder, source)
            out = folder / "run"
            train_once([model, str(path), *QUICK, *options, "--out", str(out)])
            made[key] = out
        return made[key]

    return make


def train_once(arguments: Sequence[str]) -> None:
    """Train; what goes wrong is no result of the test that asked for it."""
    status = run(["train", *arguments, "--json"])
    assert status == 0, f"training {arguments} ended with {status}"
