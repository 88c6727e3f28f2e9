"""`isotropy report`: pages of runs, and runs that have none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isotropy.cli.app import run
from isotropy.runs import Run
from tests.report import examples


def finished(folder: Path, command: str, result: dict[str, Any]) -> Path:
    """A run as a command leaves it."""
    Run.start(folder, command, {"seed": 0}).write_result(result)
    return folder


@pytest.fixture
def discovered(tmp_path: Path) -> Path:
    """A run of discover with the pictures it keeps."""
    folder = finished(tmp_path / "run", "discover", examples.image_result())
    images = examples.images()
    turned = {f"turned_{element}": values for element, values in images["turned"].items()}
    np.savez(folder / "samples.npz", samples=images["samples"], **turned)
    return folder


def test_the_page_is_written_into_the_run(
    discovered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", str(discovered)]) == 0
    said = capsys.readouterr()
    assert said.out.strip() == str(discovered / "report.html")
    assert "kB in one file" in said.err
    page = (discovered / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png") == 4 * 5


def test_as_json_to_another_file(discovered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = discovered.parent / "page.html"
    assert run(["report", str(discovered), "--out", str(where), "--json", "--quiet"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == {"run": str(discovered), "report": str(where)}
    assert said.err == ""
    assert where.is_file()
    assert not (discovered / "report.html").exists()


def test_a_search_has_a_page_too(tmp_path: Path) -> None:
    folder = finished(tmp_path / "run", "search", examples.mix_result(3))
    assert run(["report", str(folder), "--quiet"]) == 0
    assert "search by mixture" in (folder / "report.html").read_text(encoding="utf-8")


def broken(folder: Path, how: str) -> tuple[Path, str]:
    """A run without a page, and what is said of it."""
    if how == "no run":
        return folder, "is no run"
    if how == "unfinished":
        return Run.start(folder / "run", "discover", {}).folder, "the run is not finished"
    if how == "train":
        return finished(
            folder / "run", "train", {"test": 1}
        ), "is a run of train, which has no page"
    if how == "another format":
        return finished(folder / "run", "x", {"format": "other-9"}), "result is of format 'other-9'"
    made = finished(folder / "run", "discover", examples.image_result())
    (made / "samples.npz").write_bytes(b"PK\x03\x04 cut off")
    return made, "samples.npz"


@pytest.mark.parametrize("how", ["no run", "unfinished", "train", "another format", "pictures"])
def test_what_has_no_page_is_said_in_a_line(
    tmp_path: Path, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, said = broken(tmp_path, how)
    assert run(["report", str(folder)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (folder / "report.html").exists()


def test_a_page_that_cannot_be_written(
    discovered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = discovered / "missing" / "page.html"
    assert run(["report", str(discovered), "--out", str(where)]) == 2
    assert "cannot write" in capsys.readouterr().err
