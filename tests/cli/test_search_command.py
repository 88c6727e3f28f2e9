"""`isotropy search`: what it prints and leaves, and that it goes on where it was stopped."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import isotropy as iso
from tests.cli import sources
from tests.cli.conftest import Command

EVOLVE = (
    *("search", "evolve", "data.npz", "--model", "cnn", "--width", "8", "--option", "stages=1"),
    *("--group", "C4", "--generations", "2", "--parents", "2", "--epochs", "1", "--workers", "1"),
    *("--batch-size", "16", "--test", "0.25"),
)
MIX = (
    *("search", "mix", "data.npz", "--model", "cnn", "--width", "8", "--option", "stages=1"),
    *("--groups", "C1,C4", "--epochs", "2", "--batch-size", "16", "--out", "run"),
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    np.savez(tmp_path / "data.npz", **sources.pictures(60))
    return tmp_path


def without_times(result: dict[str, Any]) -> dict[str, Any]:
    """What must be the same whenever and wherever it was run."""
    kept = {k: v for k, v in result.items() if not k.endswith("seconds") and k != "run"}
    kept["population"] = [{**row, "seconds": 0} for row in result["population"]]
    kept["model"] = {**result["model"], "files": [], "usage": {}}
    return kept


def test_evolve(isotropy: Command, source: Path) -> None:
    done = isotropy(*EVOLVE, "--no-baselines", "--out", "run", "--json", "--quiet")
    assert (done.status, done.err) == (0, "")
    found = done.json
    assert {"front", "trials", "max_morphism_error", "seconds"} <= set(found)
    assert found["trials"] == len(found["population"]) - 1
    assert found["max_morphism_error"] <= 1e-5
    ids = [row["id"] for row in found["population"]]
    assert set(found["front"]) <= set(ids)
    assert found["best"] in ids
    assert found["model"]["layers"] == list(found["found"]["groups"])
    assert json.loads((source / "run" / "result.json").read_text()) == found
    model = iso.load(source / "run" / "model.safetensors")
    assert {k: str(g) for k, g in iso.groups_of(model).items()} == found["found"]["groups"]
    page = (source / "run" / "report.html").read_text()
    assert "Which group should each layer have?" in page


def test_other_commands_take_the_run(isotropy: Command, source: Path) -> None:
    assert isotropy(*EVOLVE, "--no-baselines", "--out", "run", "--quiet").status == 0
    error = json.loads((source / "run" / "result.json").read_text())["found"]["test_error"]["mean"]
    said = isotropy("predict", "run", "data.npz", "--out", "answers.csv", "--json", "--quiet")
    assert said.status == 0
    assert isotropy("check", "run", "--quiet").status == 0
    assert isotropy("report", "run", "--quiet").status == 0
    assert 0 <= error <= 1


def test_it_goes_on_to_the_same_end(isotropy: Command, source: Path) -> None:
    first = isotropy(*EVOLVE, "--no-baselines", "--out", "a", "--json", "--quiet").json
    again = isotropy(*EVOLVE, "--no-baselines", "--out", "a", "--json", "--quiet", "--resume").json
    other = isotropy(*EVOLVE, "--no-baselines", "--out", "b", "--json", "--quiet").json
    assert without_times(first) == without_times(again) == without_times(other)
    for name in ("model.safetensors",):
        assert (source / "a" / name).read_bytes() == (source / "b" / name).read_bytes()


def test_baselines_and_what_may_be_said(isotropy: Command, source: Path) -> None:
    options = ("--generations", "1", "--group", "C2")
    once = isotropy(*EVOLVE, *options, "--out", "once", "--quiet")
    assert once.status == 0
    assert "one search cannot tell whether searching helps" in once.out
    twice = isotropy(*EVOLVE, *options, "--out", "twice", "--repeats", "2", "--json", "--quiet")
    found = twice.json
    assert {row["name"] for row in found["baselines"]} >= {"C1", "C2", "C1 (prior: C2)", "RPP"}
    assert all(row["test_error"]["runs"] == 2 for row in found["baselines"])
    assert {"mean", "low", "high"} <= set(found["helped"]["gain"])


def test_progress(isotropy: Command, source: Path) -> None:
    lines = isotropy(*EVOLVE, "--no-baselines", "--out", "run").err.splitlines()
    told = [line for line in lines if line.startswith("generation")]
    assert [line.split()[1] for line in told] == ["1/2", "2/2"]
    assert all("left" in line and "validation error" in line for line in told)


@pytest.mark.usefixtures("source")
def test_ctrl_c_while_the_guide_is_asked_ends_the_command(
    isotropy: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = SimpleNamespace(stopped="interrupted", final={})
    monkeypatch.setattr("isotropy.cli.search_commands.mixed", lambda *_: stopped)
    said = isotropy(*EVOLVE, "--no-baselines", "--guide", "1", "--out", "run")
    assert said.status == 130
    assert "go on with --resume" in said.out + said.err


def test_a_guide_is_asked_first(isotropy: Command, source: Path) -> None:
    said = isotropy(*EVOLVE, "--no-baselines", "--guide", "1", "--out", "run")
    assert said.status == 0
    assert "asking a mixture of C1, C2, C4 first" in said.err
    assert json.loads((source / "run" / "result.json").read_text())["settings"]["guided"] is True


def test_mix(isotropy: Command, source: Path) -> None:
    done = isotropy(*MIX, "--json", "--quiet")
    assert (done.status, done.err) == (0, "")
    found = done.json
    assert {"weights", "test", "seconds"} <= set(found)
    for weights in found["weights"].values():
        assert set(weights) == {"C1", "C4"}
        assert all(len(z) == 3 for z in weights.values())
    assert 0 <= found["test"]["accuracy"] <= 1
    assert "search by mixture" in (source / "run" / "report.html").read_text()
    assert isotropy("export", "run", "net.pt2", "--quiet").status == 0


BAD = [
    (("--groups", "C3"), "C3 is no subgroup of C4"),
    (("--group", "D5"), "D5"),
    (("--generations", "0"), "generations"),
    (("--epochs", "0"), "epochs must be above 0"),
    (("--validation", "0"), "validation: a search chooses by it"),
    (("--storage", "nonsense"), "no database URL"),
    (("--budget", "1"), "budget must be at least 2 passes"),
    (("--backend", "threads"), "backend must be one of"),
    (("--model", "nobody"), "unknown model 'nobody'"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_input(isotropy: Command, source: Path, options: tuple[str, ...], message: str) -> None:
    done = isotropy(*EVOLVE, "--no-baselines", "--out", "run", "--quiet", *options)
    assert done.status == 2
    assert message in done.error


def test_another_search_in_the_folder(isotropy: Command, source: Path) -> None:
    assert isotropy(*EVOLVE, "--no-baselines", "--out", "run", "--quiet").status == 0
    again = isotropy(*EVOLVE, "--no-baselines", "--out", "run", "--quiet")
    assert again.status == 2
    assert "holds a run already" in again.error
    other = isotropy(
        *EVOLVE, "--no-baselines", "--out", "run", "--quiet", "--resume", "--seed", "1"
    )
    assert other.status == 2
    assert "seed" in other.error
