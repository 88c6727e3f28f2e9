"""What people are told: a line for every epoch, and TensorBoard's files."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from isotropy.errors import InputError
from isotropy.training import Board, Lines, Plan, Settings, clock, fit
from tests.training.problems import linear_net, pictures, small_net, vectors

TIMES = [(0.4, "0:00"), (59.6, "1:00"), (3599, "59:59"), (3600, "1:00:00"), (90061, "25:01:01")]


@pytest.mark.parametrize(("seconds", "words"), TIMES)
def test_clock(seconds: float, words: str) -> None:
    assert clock(seconds) == words


def test_a_line_for_every_epoch_with_the_time_left(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    lines = Lines(file.open("w"))
    lines.start(Plan(epochs=10, steps=5, samples=500))
    found = {"loss": 1.25, "training_seconds": 0.5, "seconds": 1.0, "validation_accuracy": 0.9}
    lines.epoch({"epoch": 1.0, **found})
    lines.epoch({"epoch": 2.0, **found, "seconds": 3.0})
    lines.end()
    lines.stream.close()
    assert file.read_text().splitlines() == [
        "epoch  1/10  loss 1.2500  validation accuracy 0.9000  1,000 images/s  0:09 left",
        "epoch  2/10  loss 1.2500  validation accuracy 0.9000  1,000 images/s  0:16 left",
    ]


def test_samples_are_called_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    data = vectors()
    fit(linear_net(), data, data, Settings(epochs=1), watch=[Lines()])
    (line,) = capsys.readouterr().err.splitlines()
    assert " vectors/s " in line
    assert "validation mse" in line


def test_tensorboard_can_read_what_is_written(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    data = pictures()
    found = fit(small_net(), data, data, Settings(epochs=3), watch=[Board(tmp_path)])
    events = EventAccumulator(str(tmp_path)).Reload()
    for name in ("loss", "validation/accuracy", "validation/nll"):
        points = events.Scalars(name)
        assert [p.step for p in points] == [1, 2, 3]
        key = name.replace("/", "_")
        assert [p.value for p in points] == pytest.approx([e[key] for e in found.history])


def test_without_tensorboard_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any) -> Any:
        if name.startswith("torch.utils.tensorboard"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(InputError, match=r"pip install 'isotropy\[tensorboard\]'"):
        Board(tmp_path)
