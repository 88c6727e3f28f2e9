"""`isotropy train`: what it writes, and that a configuration repeats a run to the bit."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isotropy as iso
from isotropy.runs import Run
from tests.cli import sources
from tests.cli.conftest import QUICK, Command

FACTORY = """
from torch import nn


class Net(nn.Module):
    def __init__(self, channels, outputs, width):
        super().__init__()
        self.conv = nn.Conv2d(channels, width, 3, padding=1)
        self.head = nn.Linear(width, outputs)

    def forward(self, x):
        return self.head(self.conv(x).relu().mean((2, 3)))


def net(example_shape, outputs, width=4, depth=1):
    assert depth in (1, 2)
    return Net(example_shape[0], outputs, width)
"""


def weights(folder: Path | str) -> bytes:
    return (Path(folder) / "model.safetensors").read_bytes()


def test_the_issues_own_line_twice_gives_equal_bytes(process: Command, tmp_path: Path) -> None:
    line = ["train", "cnn", "digits", "--group", "C4", "--seed", "0", "--epochs", "1", "--quiet"]
    for name, salt in (("a", "1"), ("b", "2")):
        found = process(*line, "--out", name, PYTHONHASHSEED=salt)
        assert (found.status, found.err) == (0, "")
    assert weights(tmp_path / "a") == weights(tmp_path / "b")


def test_another_seed_gives_others(isotropy: Command, tmp_path: Path) -> None:
    source = sources.write(tmp_path, "pictures")
    for seed in ("0", "1"):
        isotropy("train", "cnn", source, *QUICK, "--seed", seed, "--out", seed)
    assert weights("0") != weights("1")


def test_what_is_written(isotropy: Command, tmp_path: Path) -> None:
    source = sources.write(tmp_path, "pictures")
    found = isotropy("train", "cnn", source, *QUICK, "--group", "C4", "--json")
    assert (found.status, found.err) == (0, "")
    result = found.json
    folder = Path(result["run"])
    assert folder == Path("runs/train-pictures-1")
    names = {"config.toml", "checkpoint.safetensors", "model.safetensors", "result.json"}
    assert {path.name for path in folder.iterdir()} == names | {"scaling.json"}
    assert json.loads((folder / "result.json").read_text()) == result
    assert result["epochs"] == len(result["history"]) == 2
    assert 0 <= result["test"]["accuracy"] <= 1
    model = Run.open(folder).model()
    assert set(map(str, iso.groups_of(model).values())) == {"C4"}
    assert result["parameters"] == sum(p.numel() for p in model.parameters())
    config = tomllib.loads((folder / "config.toml").read_text())
    assert config["options"]["group"] == "C4"
    assert config["options"]["lr"] == 0.003
    assert config["data"]["fingerprint"] == iso.data.load(source).train.fingerprint()
    assert set(config["versions"]) >= {"isotropy", "torch", "numpy", "python"}
    again = isotropy("train", "cnn", source, *QUICK, "--json").json
    assert again["run"] == "runs/train-pictures-2"


def test_it_tells_the_cost_first_and_then_every_epoch(isotropy: Command, tmp_path: Path) -> None:
    source = sources.write(tmp_path, "pictures")
    found = isotropy("train", "cnn", source, *QUICK[:-1], "--group", "C4")
    lines = found.err.splitlines()
    assert lines[0] == "runs/train-pictures-1: 33 samples to train on"
    assert lines[1].split() == ["layer", "trained", "plain", "twin", "mult-adds", "memory"]
    assert lines[-3].startswith("total")
    assert [line.split("  ")[0] for line in lines[-2:]] == ["epoch 1/2", "epoch 2/2"]
    assert "images/s" in lines[-1]
    assert found.out.splitlines()[0].startswith("runs/train-pictures-1: ")
    assert [line.split()[0] for line in found.out.splitlines()[1:]] == ["validation", "test"]


CASES = [
    ("mlp", "vectors", []),
    ("unet", "maps", []),
    ("unet", "maps", ["--group", "C2"]),
    ("cnn", "pictures", ["--group", '{"stage1.block1.conv": "C4", "head.linear": "C2"}']),
    ("cnn", "pictures", ["--augment", "D4", "--ema", "0.5", "--clip", "1"]),
    ("cnn", "pictures", ["--precision", "bfloat16", "--channels-last"]),
    ("cnn", "pictures", ["--class-weights", "balanced", "--label-smoothing", "0.1"]),
    ("cnn", "pictures", ["--validation", "0", "--test", "0"]),
    ("cnn", "pictures", ["--group", "C2", "--output", '{"r2": [1, 0, 2]}']),
    ("mlp", "vectors", ["--group", "C2", "--action", '{"r2": [1, 0, 2, 3]}']),
    ("cnn", "in_parts", ["--tensorboard"]),
]


@pytest.mark.parametrize(("model", "source", "options"), CASES)
def test_every_kind_of_run_repeats_from_its_configuration(
    model: str, source: str, options: list[str], isotropy: Command, tmp_path: Path
) -> None:
    path = sources.write(tmp_path, source)
    first = isotropy("train", model, path, *QUICK, *options, "--out", "a")
    assert (first.status, first.err) == (0, "")
    again = isotropy("train", "--config", "a/config.toml", "--out", "b", "--quiet")
    assert (again.status, again.err) == (0, "")
    assert weights("a") == weights("b")
    assert Run.open("a").options == Run.open("b").options


def test_parts_that_the_source_sets_apart_are_taken(isotropy: Command, tmp_path: Path) -> None:
    path = sources.write(tmp_path, "in_parts")
    found = isotropy("train", "cnn", path, *QUICK[:-1], "--out", "a")
    assert found.err.startswith("a: 36 samples to train on\n")
    model, run = Run.open("a").model(), Run.open("a")
    scores = iso.training.evaluate(model, run.scaled(iso.data.load(path).test))
    assert run.result()["test"] == pytest.approx(scores)


def test_flags_go_before_the_file(isotropy: Command, tmp_path: Path) -> None:
    path = sources.write(tmp_path, "pictures")
    Path("run.toml").write_text(
        f'[options]\nmodel = "cnn"\nsource = "{path}"\nepochs = 9\nwidth = 4\nseed = 5\n'
    )
    found = isotropy("train", "--config", "run.toml", "--epochs", "1", "--out", "a", "--quiet")
    assert (found.status, found.err) == (0, "")
    options = Run.open("a").options
    assert [options[name] for name in ("epochs", "width", "seed")] == [1, 4, 5]


BAD_FILES = [
    ("epochs = 3", "run.toml has no table [options]"),
    ("[options]\nepoch = 3", "run.toml: there is no option 'epoch'; did you mean 'epochs'?"),
    ('command = "search"\n[options]', "run.toml is of the command 'search', not 'train'"),
    ("[options", "run.toml is no TOML file"),
    ('[options]\nepochs = "many"', "Invalid value for '--epochs'"),
]


@pytest.mark.parametrize(("text", "words"), BAD_FILES)
def test_bad_configurations(text: str, words: str, isotropy: Command, tmp_path: Path) -> None:
    Path("run.toml").write_text(text)
    found = isotropy("train", "cnn", "digits", "--config", "run.toml")
    assert found.status == 2
    assert words in found.error


# -- widths -------------------------------------------------------------------------------------


def test_a_tied_model_has_as_many_numbers_as_the_plain_one(
    isotropy: Command, tmp_path: Path
) -> None:
    path = sources.write(tmp_path, "pictures")
    line = ["train", "cnn", path, "--epochs", "1", "--width", "16", "--quiet", "--json"]
    plain = isotropy(*line).json["parameters"]
    tied = isotropy(*line, "--group", "C4").json["parameters"]
    matched = isotropy(*line, "--group", "C4", "--match", "params").json["parameters"]
    assert tied < 0.3 * plain
    assert abs(matched / plain - 1) < 0.15


# -- a model of the user's own ------------------------------------------------------------------


def test_a_factory_in_a_file(isotropy: Command, tmp_path: Path) -> None:
    path = sources.write(tmp_path, "pictures")
    Path("mine.py").write_text(FACTORY)
    line = ["train", "mine.py:net", path, *QUICK, "--option", "depth=2", "--group", "C4"]
    found = isotropy(*line, "--json")
    assert (found.status, found.err) == (0, "")
    folder = found.json["run"]
    for command in (["check", folder], ["predict", folder, path], ["export", folder, "net.pt2"]):
        outcome = isotropy(*command)
        assert (outcome.status, outcome.err) == (0, "")


UNUSUAL = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = nn.Linear(8, outputs)

    def forward(self, x):
        rows = torch.fft.fft2(x).abs().squeeze(1)
        return self.head(torch.einsum("brc->bc", self.attention(rows, rows, rows)[0]))


def net(outputs):
    return Net(outputs)
"""


def test_a_plain_model_may_hold_anything(isotropy: Command, tmp_path: Path) -> None:
    path = sources.write(tmp_path, "pictures")
    Path("unusual.py").write_text(UNUSUAL)
    found = isotropy("train", "unusual.py:net", path, "--epochs", "1", "--out", "a")
    assert found.status == 0
    assert "315 numbers to train; what else it costs is not known" in found.err
    refused = isotropy("train", "unusual.py:net", path, "--group", "C4", "--quiet")
    assert refused.status == 2
    assert "attention is not supported" in refused.error
    for command in (["predict", "a", path, "--average", "D4"], ["export", "a", "net.pt2"]):
        assert isotropy(*command).status == 0


def test_a_run_knows_when_the_users_file_has_changed(isotropy: Command, tmp_path: Path) -> None:
    path = sources.write(tmp_path, "pictures")
    mine = Path("mine.py")
    mine.write_text(FACTORY)
    line = ["train", "mine.py:net", path, *QUICK, "--out", "a"]
    isotropy(*line)
    mine.write_text(FACTORY + "\n# another line\n")
    found = isotropy(*line, "--resume")
    assert found.status == 2
    assert "resume: a/checkpoint.safetensors was written with model = " in found.error


# -- beginning and going on ---------------------------------------------------------------------


def test_a_finished_run_resumes_to_itself(isotropy: Command, tmp_path: Path) -> None:
    path = sources.write(tmp_path, "pictures")
    line = ["train", "cnn", path, *QUICK, "--out", "a"]
    first = isotropy(*line)
    before = weights("a")
    again = isotropy(*line, "--resume")
    assert (again.status, again.out) == (0, first.out)
    assert weights("a") == before


RESUMES: list[tuple[list[Any], str]] = [
    ([], "out: a holds a run already; go on with it by --resume"),
    (["--resume", "--lr", "0.1"], "resume: a was begun with lr = 0.003, and now it is 0.1"),
    (["--resume", "--group", "C4"], "resume: a was begun with group = not set, and now it is 'C4'"),
    (["--resume", "--out", "full"], "out: full holds other files and no run"),
]


@pytest.mark.parametrize(("options", "words"), RESUMES)
def test_what_cannot_be_gone_on_with(
    options: list[str], words: str, isotropy: Command, tmp_path: Path
) -> None:
    path = sources.write(tmp_path, "pictures")
    Path("full").mkdir()
    Path("full/letter").write_text("dear")
    line = ["train", "cnn", path, *QUICK, "--out", "a"]
    isotropy(*line)
    before = weights("a")
    found = isotropy(*line, *options)
    assert found.status == 2
    assert words in found.error
    assert weights("a") == before


def test_other_data_are_refused(isotropy: Command, tmp_path: Path) -> None:
    path = sources.write(tmp_path, "pictures")
    line = ["train", "cnn", path, *QUICK, "--out", "a"]
    isotropy(*line)
    arrays = sources.pictures()
    arrays["X"][3, 0, 0] += 1
    np.savez(path, **arrays)
    found = isotropy(*line, "--resume")
    assert found.status == 2
    assert "resume: a was begun with data fingerprint = " in found.error


def test_minutes_and_tensorboard_may_change(isotropy: Command, tmp_path: Path) -> None:
    path = sources.write(tmp_path, "pictures")
    line = ["train", "cnn", path, *QUICK, "--out", "a"]
    isotropy(*line)
    assert isotropy(*line, "--resume", "--minutes", "3", "--tensorboard").status == 0
