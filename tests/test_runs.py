"""Run directories: begun once, found again, refused when something differs, never half written."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from isotropy.data import DataSet, Scaling, Splits, from_arrays
from isotropy.errors import FileFormatError, InputError
from isotropy.runs import CONFIG, RESULT, SCALING, Run, describe_data, read_toml, to_json, to_toml

OPTIONS = {"model": "cnn", "epochs": 3, "lr": 1e-3, "group": None, "names": ["a", "b"]}


def data(seed: int = 0) -> DataSet:
    return from_arrays(np.random.default_rng(seed).normal(size=(8, 1, 4, 4)), [0, 1] * 4)


# -- text ---------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
PLAIN = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    TEXT,
    st.lists(st.one_of(st.integers(-9, 9), TEXT), max_size=3),
)


@given(st.dictionaries(TEXT, PLAIN, max_size=5), st.dictionaries(TEXT, PLAIN, max_size=5))
def test_toml_is_read_back_as_it_was(plain: dict[str, Any], table: dict[str, Any]) -> None:
    plain.pop("options", None)
    facts = {**plain, "options": table}
    assert tomllib.loads(to_toml(facts)) == facts


def test_toml_says_what_is_not_set() -> None:
    assert to_toml({"options": {"a": None}}) == "\n[options]\n# a is not set\n"
    assert tomllib.loads(to_toml({"t": {"inner": {"x": 1, "y z": "w"}}})) == {
        "t": {"inner": {"x": 1, "y z": "w"}}
    }


JSON = [
    (math.nan, None),
    (math.inf, None),
    ([1, (2, 3.5)], [1, [2, 3.5]]),
    (np.arange(3), [0, 1, 2]),
    (np.float64("nan"), None),
    (torch.tensor([[1.0, math.inf]]), [[1.0, None]]),
    ({1: Path("a/b")}, {"1": "a/b"}),
    (True, True),
]


@pytest.mark.parametrize(("value", "expected"), JSON)
def test_json_is_what_every_reader_takes(value: Any, expected: Any) -> None:
    assert json.loads(to_json({"value": value})) == {"value": expected}


# -- beginning and finding again ----------------------------------------------------------------


def start(folder: Path | None, options: dict[str, Any] = OPTIONS, **more: Any) -> Run:
    return Run.start(folder, "train", options, data(), **more)


def test_a_run_is_found_as_it_was_begun(tmp_path: Path) -> None:
    begun = start(tmp_path / "deep" / "run")
    found = Run.open(tmp_path / "deep" / "run")
    assert found.facts == begun.facts
    assert found.command == "train"
    assert found.options == {k: v for k, v in OPTIONS.items() if v is not None}
    assert found.data["fingerprint"] == data().fingerprint()
    assert set(found.facts) == {
        "format",
        "command",
        "line",
        "options",
        "data",
        "versions",
        "machine",
    }


def test_names_are_taken_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = [start(None).folder for _ in range(3)]
    assert names == [Path("runs") / f"train-data-{i}" for i in (1, 2, 3)]


def test_names_of_data_make_names_of_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    odd = from_arrays(np.random.default_rng(0).normal(size=(8, 3)), [0, 1] * 4, name="../a b/c")
    assert Run.start(None, "train", {}, odd).folder == Path("runs/train-a-b-c-1")


def test_the_same_goes_on(tmp_path: Path) -> None:
    begun = start(tmp_path / "run")
    before = begun.path(CONFIG).read_bytes()
    assert start(tmp_path / "run", resume=True).facts == begun.facts
    assert start(tmp_path / "run", {**OPTIONS, "epochs": 9}, resume=True, free=["epochs"])
    assert begun.path(CONFIG).read_bytes() == before


def test_nothing_there_is_a_beginning(tmp_path: Path) -> None:
    assert start(tmp_path / "run", resume=True).path(CONFIG).is_file()


def test_what_a_killed_writer_left_is_cleared_away(tmp_path: Path) -> None:
    run = start(tmp_path / "run")
    run.path(".model.safetensors.123.tmp").write_text("half")
    start(tmp_path / "run", resume=True)
    assert [p.name for p in run.folder.iterdir()] == [CONFIG]


DIFFERENT = [
    ({**OPTIONS, "epochs": 4}, "epochs = 3, and now it is 4"),
    ({**OPTIONS, "group": "C4"}, "group = not set, and now it is 'C4'"),
    ({k: v for k, v in OPTIONS.items() if k != "lr"}, "lr = 0.001, and now it is not set"),
]


@pytest.mark.parametrize(("options", "words"), DIFFERENT)
def test_other_options_are_refused(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    start(tmp_path / "run")
    with pytest.raises(InputError, match=f"was begun with {words}"):
        start(tmp_path / "run", options, resume=True)


def test_other_data_and_commands_are_refused(tmp_path: Path) -> None:
    start(tmp_path / "run")
    with pytest.raises(InputError, match="data fingerprint"):
        Run.start(tmp_path / "run", "train", OPTIONS, data(1), resume=True)
    with pytest.raises(InputError, match="command = 'train', and now it is 'search'"):
        Run.start(tmp_path / "run", "search", OPTIONS, data(), resume=True)


def test_a_run_is_not_begun_over_another_or_over_files(tmp_path: Path) -> None:
    start(tmp_path / "run")
    with pytest.raises(InputError, match="holds a run already"):
        start(tmp_path / "run")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "one").write_text("dear")
    with pytest.raises(InputError, match="holds other files and no run"):
        start(tmp_path / "letters")
    (tmp_path / "empty").mkdir()
    assert start(tmp_path / "empty").path(CONFIG).is_file()


def test_a_refused_run_is_taken_away_unless_it_holds_something(tmp_path: Path) -> None:
    run = start(tmp_path / "run")
    with pytest.raises(InputError), run.unless_refused():
        raise InputError("no")
    assert not run.folder.exists()
    run = start(tmp_path / "run")
    run.path("checkpoint").write_text("x")
    with pytest.raises(InputError), run.unless_refused():
        raise InputError("no")
    assert run.path(CONFIG).is_file()


BAD_CONFIGS = [
    ("", "was not written by a run"),
    ('format = "other"', "was not written by a run"),
    ("format =", "is no TOML file"),
]


@pytest.mark.parametrize(("text", "words"), BAD_CONFIGS)
def test_what_is_no_run(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / CONFIG).write_text(text)
    with pytest.raises(InputError, match=words):
        Run.open(tmp_path)


def test_read_toml_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file: .*gone\.toml"):
        read_toml(tmp_path / "gone.toml")
    with pytest.raises(InputError, match="cannot read"):
        read_toml(tmp_path)


# -- what it holds ------------------------------------------------------------------------------


def test_results_come_back(tmp_path: Path) -> None:
    run = start(tmp_path / "run")
    with pytest.raises(InputError, match=r"has no result\.json: the run is not finished"):
        run.result()
    run.write_result({"accuracy": 0.5, "bad": math.nan})
    assert run.result() == {"accuracy": 0.5, "bad": None}
    for text in ("[1]", "{"):
        run.path(RESULT).write_text(text)
        with pytest.raises(FileFormatError, match=RESULT):
            run.result()


def test_models_come_back_in_eval_mode(tmp_path: Path) -> None:
    run = start(tmp_path / "run")
    with pytest.raises(InputError, match="the run is not finished"):
        run.model()
    model = nn.Sequential(nn.Linear(3, 2), nn.Dropout()).train()
    run.save_model(model)
    found, x = run.model(), torch.randn(4, 3)
    assert not found.training
    assert torch.equal(found(x), model.eval()(x))


@pytest.mark.parametrize("targets", [None, Scaling((1.0,), (2.0,))])
@pytest.mark.parametrize("inputs", [None, Scaling((0.1, -3.0), (2.0, 1 / 3))])
def test_scalings_come_back(
    inputs: Scaling | None, targets: Scaling | None, tmp_path: Path
) -> None:
    run = start(tmp_path / "run")
    plain = from_arrays(np.random.default_rng(0).normal(size=(8, 2)), np.arange(8.0))
    assert run.scaled(plain) is plain
    run.save_scaling(
        DataSet(plain.samples, plain.targets, "regression", ("y",), "", {}, inputs, targets)
    )
    found = run.scaled(plain)
    assert (found.scaling, found.target_scaling) == (inputs, targets)


@pytest.mark.parametrize("text", ["", "{}", '{"inputs": 3, "targets": null}'])
def test_a_damaged_scaling_is_refused(text: str, tmp_path: Path) -> None:
    run = start(tmp_path / "run")
    run.path(SCALING).write_text(text)
    with pytest.raises(FileFormatError, match=SCALING):
        run.scaled(data())


def test_data_are_described(tmp_path: Path) -> None:
    found = describe_data(Splits(data(), test=data(1)))
    assert (found["samples"], found["shape"], found["classes"]) == (8, [1, 4, 4], ["0", "1"])
    assert (found["test_samples"], found["test_fingerprint"]) == (8, data(1).fingerprint())
