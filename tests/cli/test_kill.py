"""Whenever and however a run is stopped, it goes on to the same bytes."""

from __future__ import annotations

import json
import os
import pty
import random
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isotropy._tensor_file import read_tensors
from isotropy.cli.app import run
from isotropy.training.checkpoint import FORMAT
from tests.cli import processes, sources

KILLS = 20
EPOCHS = 8
STEPS = EPOCHS * 5  # 33 samples to train on in batches of 8
LINE = ["train", "cnn", "pictures.npz", "--width", "4", "--epochs", str(EPOCHS)]
LINE += ["--batch-size", "8", "--augment", "D4", "--ema", "0.5", "--minutes", "1e-9", "--json"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, float]:
    """A folder with the data, the model of a run that nobody stopped, and how long it took."""
    folder = tmp_path_factory.mktemp("kills")
    source = sources.write(folder, "pictures")
    # once in this process, so that none of those forked from it has anything left to import
    assert run([*LINE[:2], str(source), *LINE[3:], "--out", str(folder / "here")]) == 0
    begun = time.monotonic()
    status, _ = wait(begin(folder, "whole"))
    assert status == 0
    return folder, (folder / "whole/model.safetensors").read_bytes(), time.monotonic() - begun


def begin(folder: Path, out: str) -> int:
    """Train in a process of its own, and go on where one was stopped; its number."""
    return processes.begin(folder, [*LINE, "--out", out, "--resume"], f"{out}.out")


def wait(number: int) -> tuple[int, int]:
    """Exit status and killing signal of a process."""
    _, ended = os.waitpid(number, 0)
    return os.waitstatus_to_exitcode(ended) if os.WIFEXITED(ended) else -1, os.WTERMSIG(ended)


def steps_done(folder: Path) -> int:
    """How far the checkpoint of a run is; every file of the run can be read."""
    readers: dict[str, Callable[[Path], Any]] = {
        ".toml": lambda path: tomllib.loads(path.read_text()),
        ".json": lambda path: json.loads(path.read_text()),
        ".safetensors": lambda path: len(path.read_bytes()),
    }
    if not folder.exists():
        return 0
    for path in folder.iterdir():
        if not path.name.startswith("."):
            readers[path.suffix](path)
    checkpoint = folder / "checkpoint.safetensors"
    if not checkpoint.exists():
        return 0
    _, text = read_tensors(checkpoint, FORMAT, "training")
    position = json.loads(text)["position"]
    return int(position["epoch"] * STEPS // EPOCHS + position["step"])


def test_kill_9_at_random_moments(whole: tuple[Path, bytes, float]) -> None:
    folder, expected, seconds = whole
    chance = random.Random(0)
    kills, trial, reached = 0, 0, set()
    while kills < KILLS:
        trial += 1
        out, done, finished = f"trial{trial}", 0, False
        while not finished:
            number = begin(folder, out)
            time.sleep(chance.uniform(0, seconds if kills < KILLS else 0))
            os.kill(number, signal.SIGKILL if kills < KILLS else 0)
            status, by = wait(number)
            finished = status == 0
            kills += by == signal.SIGKILL
            assert finished or by == signal.SIGKILL
            now = steps_done(folder / out)
            assert now >= done
            done = now
            reached.add(now)
        assert done == STEPS
        assert (folder / out / "model.safetensors").read_bytes() == expected
        assert not list((folder / out).glob(".*.tmp"))
    assert len(reached) > 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_polite_stop_keeps_a_checkpoint_and_says_so(
    number: signal.Signals, whole: tuple[Path, bytes, float]
) -> None:
    folder, expected, _ = whole
    out = number.name
    process = begin(folder, out)
    while not (folder / out / "checkpoint.safetensors").exists():
        time.sleep(0.002)
    os.kill(process, number)
    assert wait(process) == (130, 0)
    told = json.loads((folder / f"{out}.out").read_text())
    assert told == {"run": out, "stopped": "interrupted", "epochs": steps_done(folder / out) // 5}
    assert 0 < steps_done(folder / out) < STEPS
    assert wait(begin(folder, out)) == (0, 0)
    assert (folder / out / "model.safetensors").read_bytes() == expected


# -- on a terminal ------------------------------------------------------------------------------


def test_a_terminal_gets_a_bar_and_a_line_for_every_epoch(tmp_path: Path) -> None:
    sources.write(tmp_path, "pictures")
    leader, follower = pty.openpty()
    line = [sys.executable, "-m", "isotropy", "train", "mlp", "pictures.npz", "--epochs", "30"]
    with subprocess.Popen(
        line,
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=follower,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
    ) as process:
        os.close(follower)
        told = read_all(leader)
    os.close(leader)
    assert process.returncode == 0
    assert "epoch 30/30" in told
    assert "images/s" in told
    assert "━" in told  # the bar, which lines elsewhere do not have


def read_all(terminal: int) -> str:
    """Everything written to a terminal until nobody holds it any more."""
    pieces = []
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other end is closed
            return b"".join(pieces).decode()
        pieces.append(piece)


# -- several processes --------------------------------------------------------------------------


def test_two_processes_come_to_what_one_does(tmp_path: Path) -> None:
    """Equal up to the order in which float32 sums are taken: no batch norm, which would differ."""
    from isotropy.runs import Run

    sources.write(tmp_path, "pictures")
    start = [sys.executable, "-m", "isotropy", "train", "mlp", "pictures.npz", "--epochs", "3"]
    start += ["--batch-size", "7", "--augment", "D4", "--quiet", "--json", "--out"]
    for out, more in (("one", []), ("two", ["--devices", "2", "--strategy", "ddp"])):
        done = subprocess.run(
            [*start, out, *more], cwd=tmp_path, capture_output=True, text=True, timeout=200
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["run"] == out
    one, two = (Run.open(tmp_path / out) for out in ("one", "two"))
    for a, b in zip(one.model().parameters(), two.model().parameters(), strict=True):
        assert float((a - b).detach().abs().max()) < 1e-5
    assert one.result()["test"]["nll"] == pytest.approx(two.result()["test"]["nll"], abs=1e-5)
