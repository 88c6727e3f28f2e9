"""`isotropy check`: the audit of a run's model on its own data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.cli import sources
from tests.cli.conftest import Command

Trained = Callable[..., Path]

KEPT: list[tuple[str, str, list[str]]] = [
    ("cnn", "pictures", ["--group", "C4"]),
    ("unet", "maps", ["--group", "C2"]),
    ("cnn", "pictures", ["--group", "C2", "--output", '{"r2": [1, 0, 2]}']),
    ("mlp", "vectors", ["--group", "C2", "--action", '{"r2": [1, 0, 2, 3]}']),
]


@pytest.mark.parametrize(("model", "source", "options"), KEPT)
def test_tied_models_are_equivariant(
    model: str, source: str, options: list[str], trained: Trained, isotropy: Command
) -> None:
    found = isotropy("check", trained(model, source, *options), "--json")
    assert (found.status, found.err) == (0, "")
    result = found.json
    assert result["equivariant"] is True
    assert result["group"] == options[1]
    assert result["error"] < 1e-10
    assert result["layers"]
    assert all(row["error"] < 1e-10 and row["cause"] == "" for row in result["layers"])


def test_a_plain_model_is_not(trained: Trained, isotropy: Command) -> None:
    run = trained("cnn", "pictures")
    found = isotropy("check", run, "--group", "C4", "--json")
    assert found.status == 1
    result = found.json
    assert result["equivariant"] is False
    assert result["error"] > 1e-3
    causes = {row["layer"]: row["cause"] for row in result["layers"]}
    assert causes["stage1.block1.conv"] == "untied layer"
    words = isotropy("check", run, "--group", "C4")
    assert words.status == 1
    assert "NOT equivariant to C4" in words.out
    assert isotropy("check", run, "--group", "C4", "--tolerance", "100").status == 0


def test_the_table_names_every_layer(trained: Trained, isotropy: Command) -> None:
    run = trained("cnn", "pictures", "--group", "C4")
    words = isotropy("check", run).out.splitlines()
    rows = isotropy("check", run, "--json").json["layers"]
    assert words[0].split() == ["layer", "error", "cause", "(C4)"]
    assert [line.split("  ")[0] for line in words[1:-1]] == [row["layer"] for row in rows]


def test_a_plain_model_needs_a_group(trained: Trained, isotropy: Command) -> None:
    found = isotropy("check", trained("cnn", "pictures"))
    assert found.status == 2
    assert "group: the model of" in found.error


def test_a_vector_model_needs_an_action(trained: Trained, isotropy: Command) -> None:
    run = trained("mlp", "vectors")
    assert "action" in isotropy("check", run, "--group", "C2").error
    alone = isotropy("check", run, "--action", '{"r2": [1, 0, 2, 3]}', "--group", "C2")
    assert alone.status == 1


def test_data_that_have_changed_are_refused(isotropy: Command, tmp_path: Path) -> None:
    source = sources.write(tmp_path, "pictures")
    isotropy("train", "cnn", source, "--epochs", "1", "--width", "4", "--out", "a", "--quiet")
    np.savez(source, **sources.pictures(seed=4))
    found = isotropy("check", "a", "--group", "C4")
    assert found.status == 2
    assert "has changed since the run a was made" in found.error


def test_what_is_no_run(isotropy: Command) -> None:
    Path("empty").mkdir()
    assert isotropy("check", "empty").error == "empty is no run: it has no config.toml"


def test_a_run_that_is_not_finished(trained: Trained, isotropy: Command, tmp_path: Path) -> None:
    whole = trained("cnn", "pictures")
    (tmp_path / "half").mkdir()
    (tmp_path / "half/config.toml").write_text((whole / "config.toml").read_text())
    found = isotropy("check", "half", "--group", "C4")
    assert found.status == 2
    assert found.error == "half has no model.safetensors: the run is not finished"
