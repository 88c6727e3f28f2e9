"""isotropy discover: its output, its folder, kills, and bad input in one line."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli import processes, sources
from tests.cli.conftest import Command

PLAN = ["--rounds", "2", "--more-rounds", "2", "--settling-rounds", "2", "--epochs", "2"]
QUICK = [*PLAN, "--width", "4", "--workers", "1", "--quiet"]


@pytest.fixture
def without_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the extra is not installed; to write one takes seconds."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


def pictures(count: int = 60) -> None:
    np.savez("p.npz", **sources.pictures(count))


def test_a_run_and_what_it_leaves(isotropy: Command) -> None:
    pictures()
    found = isotropy("discover", "p.npz", *QUICK, "--candidate", "C2", "--out", "a", "--json")
    assert (found.status, found.err) == (0, "")
    result = found.json
    assert result == json.loads(Path("a/result.json").read_text())
    assert [row["name"] for row in result["candidates"]][:1] == ["C2"]
    assert "model.onnx" in result["model"]["files"]
    for name in (*result["model"]["files"], "config.toml", "trials.jsonl"):
        assert Path("a", name).stat().st_size
    page = Path("a/report.html").read_text()
    assert "half turns" in page
    table = isotropy("discover", "p.npz", *QUICK, "--candidate", "C2", "--out", "b")
    assert table.out.startswith("recommended: ")
    assert "C2" in table.out
    assert table.out.rstrip().endswith("b/report.html")


def test_without_quiet_it_tells_how_it_goes(isotropy: Command, without_onnx: None) -> None:
    pictures()
    line = [word for word in QUICK if word != "--quiet"]
    found = isotropy("discover", "p.npz", *line, "--candidate", "C2", "--out", "a", "--json")
    assert isinstance(found.json, dict)  # all else goes to standard error
    for part in ("looking whether moved samples look the same", "comparing all candidates"):
        assert part in found.err


def test_permutations_from_files(isotropy: Command, without_onnx: None) -> None:
    np.savez("v.npz", **sources.vectors())
    np.save("cycle.npy", np.array([1, 2, 3, 0]))
    np.save("swap.npy", np.array([1, 0, 2, 3]))
    files = ["--symmetry", "cycle.npy", "--symmetry", "swap.npy"]
    result = isotropy("discover", "v.npz", *QUICK, *files, "--out", "a", "--json").json
    assert {"cycle", "swap"} <= {row["name"] for row in result["candidates"]}
    assert result["metric"] == "r2"


# -- kills --------------------------------------------------------------------------------------


def begin(folder: Path, out: str) -> int:
    """Discover in a process of its own, and go on where one was stopped; its number."""
    line = ["discover", "p.npz", *QUICK, "--candidate", "C2", "--out", out, "--resume"]
    return processes.begin(folder, line)


def known(folder: Path) -> int:
    path = folder / "trials.jsonl"
    return path.read_text().count("\n") if path.exists() else 0


def test_killed_and_resumed_it_is_what_nobody_disturbed(
    isotropy: Command, tmp_path: Path, without_onnx: None
) -> None:
    pictures()
    line = ["discover", "p.npz", *QUICK, "--candidate", "C2", "--out"]
    assert isotropy(*line, "whole").status == 0
    for least in (1, 3, 6):
        number = begin(tmp_path, "killed")
        while known(tmp_path / "killed") < least:
            assert os.waitpid(number, os.WNOHANG) == (0, 0), "it ended before it was killed"
            time.sleep(0.002)
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)
        assert least <= known(tmp_path / "killed")
        assert not (tmp_path / "killed/result.json").exists()
    before = (tmp_path / "killed/trials.jsonl").read_text().splitlines()
    assert isotropy(*line, "killed", "--resume").status == 0
    assert timeless("killed") == timeless("whole")
    after = (tmp_path / "killed/trials.jsonl").read_text().splitlines()
    assert after[: len(before)] == before  # nothing that was known was trained again
    assert (
        Path("killed/model.safetensors").read_bytes()
        == Path("whole/model.safetensors").read_bytes()
    )


def timeless(folder: str) -> dict[str, Any]:
    result = json.loads(Path(folder, "result.json").read_text())
    return {key: value for key, value in result.items() if key not in ("time", "run", "model")}


# -- bad input ----------------------------------------------------------------------------------


def few(path: Path) -> None:
    found = sources.pictures(40)
    found["y"] = np.array([2] * 3 + [0, 1] * 18 + [0])
    np.savez(path, **found)


def broken(path: Path) -> None:
    found = sources.pictures()
    found["X"][3, 2, 2] = np.nan
    np.savez(path, **found)


def tiny(path: Path) -> None:
    np.savez(path, **sources.pictures(12))


def oblong(path: Path) -> None:
    found = sources.pictures(60)
    np.savez(path, X=found["X"][:, :, :6], y=found["y"])


def large(path: Path) -> None:
    draw = np.random.default_rng(0)
    np.savez(path, X=draw.normal(size=(40, 96, 96)).astype(np.float32), y=np.arange(40) % 2)


def maps(path: Path) -> None:
    np.savez(path, **sources.maps())


SOURCES: list[tuple[Callable[[Path], None], list[str], str]] = [
    (few, [], "class '2' has 3 samples, but every class needs 6"),
    (tiny, [], "12 samples are too few to compare networks on"),
    (broken, [], "x.npz: X: sample 3 has a value that is NaN"),
    (oblong, ["--candidate", "C4"], "C4 does not fit images of shape (1, 8, 6)"),
    (maps, [], "needs one label or some numbers for each sample, not maps"),
    (large, ["--budget", "0.01s"], "--resize 32"),
]


@pytest.mark.parametrize(
    ("write", "more", "words"), SOURCES, ids=[case[0].__name__ for case in SOURCES]
)
def test_sources(
    write: Callable[[Path], None], more: list[str], words: str, isotropy: Command
) -> None:
    write(Path("x.npz"))
    found = isotropy("discover", "x.npz", *QUICK, *more)
    assert (found.status, found.out) == (2, "")
    assert words in found.error


FILES: dict[str, Callable[[Path], object]] = {
    "short.npy": lambda path: np.save(path, np.arange(3)),
    "twice.npy": lambda path: np.save(path, np.zeros(4, int)),
    "floats.npy": lambda path: np.save(path, np.arange(4.0)),
    "still.npy": lambda path: np.save(path, np.arange(4)),
    "good.npy": lambda path: np.save(path, np.array([1, 0, 2, 3])),
    "pickled.npy": lambda path: np.save(path, np.array([{}, 1], dtype=object), allow_pickle=True),
    "several.npz": lambda path: np.savez(path, a=np.arange(4), b=np.arange(4)),
    "text.npy": lambda path: path.write_text("0 1 2 3"),
    "empty.npy": lambda path: path.write_bytes(b""),
    "zip.npy": lambda path: path.write_bytes(b"PK\x03\x04 cut short"),
    "other/good.npy": lambda path: np.save(path, np.array([0, 1, 3, 2])),
}

ARGUMENTS: list[tuple[str, list[str], str]] = [
    ("p", ["--candidate", "D5"], "D5 is none that is known for images"),
    ("p", ["--candidate", "reversal"], "known are C2, D1, D1v"),
    ("p", ["--candidate", "C4", "--candidate", "C4"], "C4 is there twice"),
    ("p", ["--blocks", "2"], "blocks: are of columns"),
    ("p", ["--budget", "soon"], "budget must be a time, as 90s, 2m or 1h, not 'soon'"),
    ("p", ["--budget", "nan"], "budget must be a time"),
    ("p", ["--budget", "0"], "budget must be a time"),
    ("p", ["--budget=-3s"], "budget must be a time"),
    ("p", ["--method", "guess"], "method must be one of"),
    ("p", ["--alpha", "nan"], "alpha must be between 0 and 1, not nan"),
    ("p", ["--alpha", "1e-9"], "alpha must be at least 0.001"),
    ("p", ["--margin", "0"], "margin must be above 0"),
    ("p", ["--rounds", "1"], "rounds must be at least 2"),
    ("p", ["--workers", "0"], "--workers"),
    ("p", ["--width", "0"], "--width"),
    ("p", ["--model", "gone.py:net"], "no such file: gone.py"),
    ("p", ["--resume"], "resume: say with --out which run to go on with"),
    ("p", ["--out", "p.npz"], "out: cannot make the folder p.npz: File exists"),
    ("p", ["--symmetry", "good.npy"], "good permutes 4 entries, but a sample"),
    ("v", ["--symmetry", "gone.npy"], "no such file: gone.npy"),
    (
        "v",
        ["--symmetry", "short.npy"],
        "short permutes 3 entries, but a sample of shape (4,)",
    ),
    ("v", ["--symmetry", "twice.npy"], "'twice' must list the image of every point once"),
    ("v", ["--symmetry", "floats.npy"], "floats must be whole numbers"),
    ("v", ["--symmetry", "still.npy"], "still: the permutations leave everything where it is"),
    ("v", ["--symmetry", "pickled.npy"], "pickled.npy is no .npy file of whole numbers"),
    ("v", ["--symmetry", "several.npz"], "several.npz is no .npy file of whole numbers"),
    ("v", ["--symmetry", "text.npy"], "text.npy is no .npy file of whole numbers"),
    ("v", ["--symmetry", "empty.npy"], "empty.npy is no .npy file of whole numbers"),
    ("v", ["--symmetry", "zip.npy"], "zip.npy is no .npy file of whole numbers"),
    ("v", ["--symmetry", "other"], "other is no .npy file of whole numbers"),
    ("v", ["--symmetry", "good.npy", "--symmetry", "other/good.npy"], "two files are called good"),
    ("v", ["--symmetry", "good.npy", "--candidate", "sign"], "and candidates by name go apart"),
    ("v", ["--blocks", "3"], "blocks of 3 columns do not divide the 4 columns"),
    ("gone", [], "gone.npz: there is no such file"),
]


@pytest.mark.parametrize(("source", "arguments", "words"), ARGUMENTS)
def test_arguments(source: str, arguments: list[str], words: str, isotropy: Command) -> None:
    Path("other").mkdir()
    for name, write in FILES.items():
        write(Path(name))
    np.savez("p.npz", **sources.pictures())
    np.savez("v.npz", **sources.vectors())
    found = isotropy("discover", f"{source}.npz", "--quiet", "--json", *arguments)
    assert found.status == 2
    assert found.json == {"error": found.error, "status": 2}
    assert words in found.error
    assert not list(Path().glob("runs/*"))


def test_another_question_is_no_continuation(isotropy: Command, without_onnx: None) -> None:
    pictures()
    line = ["discover", "p.npz", *QUICK, "--out", "a"]
    assert isotropy(*line, "--candidate", "C2").status == 0
    assert isotropy(*line, "--candidate", "C2").status == 2
    found = isotropy(*line, "--candidate", "C4", "--resume")
    assert found.status == 2
    assert "candidate" in found.error
