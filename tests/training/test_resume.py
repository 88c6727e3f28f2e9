"""A training that was stopped, however and whenever, comes to the same as one that was not."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from isotropy.data import split
from isotropy.errors import FileFormatError, InputError
from isotropy.training import CHECKPOINT, Fit, Settings, Watch, fit
from tests.training.problems import pictures, same, small_net

ALWAYS = 1e-9  # minutes between checkpoints: one after every step

TRAIN, VALIDATION = split(pictures(30), (0.7, 0.3))
BASE: dict[str, Any] = {"epochs": 3, "batch_size": 6, "lr": 0.02}
STEPS = 3 * 4

CASES: dict[str, dict[str, Any]] = {
    "adamw": {},
    "sgd": {"optimizer": "sgd"},
    "adam, averaged": {"optimizer": "adam", "ema": 0.8},
    "augmented, last": {"augment": "D4", "keep": "last"},
    "channels last": {"channels_last": True},
    "patience": {"patience": 1, "epochs": 6},
    "bfloat16": {"precision": "bfloat16"},
}


class LostError(Exception):
    """Stands for whatever ends a program."""


class At(Watch):
    """Does something after so many steps, or epochs."""

    def __init__(self, action: Callable[[], object], steps: int = 0, epochs: int = 0) -> None:
        self.action, self.steps, self.epochs = action, steps, epochs

    def step(self, epoch: int, step: int) -> None:
        self.steps -= 1
        if self.steps == 0:
            self.action()

    def epoch(self, found: Mapping[str, float]) -> None:
        self.epochs -= 1
        if self.epochs == 0:
            self.action()


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def terminate() -> None:
    signal.raise_signal(signal.SIGTERM)


def lose() -> None:
    raise LostError


def train(model: nn.Module, settings: Settings, **more: Any) -> Fit:
    return fit(model, TRAIN, VALIDATION, settings, seed=3, **more)


def without_seconds(found: Fit) -> list[dict[str, float]]:
    return [{k: v for k, v in e.items() if "seconds" not in k} for e in found.history]


def assert_same_end(found: Fit, expected: Fit) -> None:
    assert same(found.model, expected.model)
    assert without_seconds(found) == without_seconds(expected)
    assert (found.best_epoch, found.stopped) == (expected.best_epoch, expected.stopped)


@pytest.mark.parametrize("name", CASES)
def test_losing_the_program_after_any_step_changes_nothing(name: str, tmp_path: Path) -> None:
    settings = Settings(**{**BASE, **CASES[name]})
    expected = train(small_net(), settings)
    for step in range(2, len(expected.history) * 4, 2):
        folder = tmp_path / str(step)
        folder.mkdir()
        with pytest.raises(LostError):
            train(small_net(), settings, folder=folder, minutes=ALWAYS, watch=[At(lose, step)])
        torch.manual_seed(step)  # whatever the new program's state is
        found = train(small_net(seed=9), settings, folder=folder, resume=True)
        assert_same_end(found, expected)


@pytest.mark.parametrize("action", [interrupt, terminate])
def test_a_signal_after_any_step_leaves_a_checkpoint_of_that_step(
    action: Callable[[], None], tmp_path: Path
) -> None:
    settings = Settings(**BASE)
    expected = train(small_net(), settings)
    handler = signal.getsignal(signal.SIGINT)
    for step in range(1, STEPS + 1, 3):
        folder = tmp_path / str(step)
        folder.mkdir()
        stopped = train(small_net(), settings, folder=folder, watch=[At(action, step)])
        assert stopped.stopped == "interrupted"
        assert len(stopped.history) == (step - 1) // 4
        assert signal.getsignal(signal.SIGINT) is handler
        steps_left = Counted()
        found = train(small_net(), settings, folder=folder, resume=True, watch=[steps_left])
        assert_same_end(found, expected)
        assert steps_left.count == STEPS - step


class Counted(Watch):
    """Counts steps."""

    count = 0

    def step(self, epoch: int, step: int) -> None:
        self.count += 1


def test_losing_it_again_and_again_changes_nothing(tmp_path: Path) -> None:
    settings = Settings(**BASE, augment="C4", ema=0.5)
    expected = train(small_net(), settings)
    more: dict[str, Any] = {"folder": tmp_path, "resume": True, "minutes": ALWAYS}
    for _ in range(STEPS - 1):
        with pytest.raises(LostError):
            train(small_net(), settings, watch=[At(lose, 2)], **more)
    assert_same_end(train(small_net(), settings, folder=tmp_path, resume=True), expected)


def test_without_minutes_an_epoch_is_lost_at_most(tmp_path: Path) -> None:
    settings = Settings(**BASE)
    with pytest.raises(LostError):
        train(small_net(), settings, folder=tmp_path, watch=[At(lose, epochs=2)])
    left = Counted()
    train(small_net(), settings, folder=tmp_path, resume=True, watch=[left])
    assert left.count == 4


def test_a_finished_training_is_not_begun_again(tmp_path: Path) -> None:
    settings = Settings(**BASE)
    expected = train(small_net(), settings, folder=tmp_path)
    left = Counted()
    found = train(small_net(seed=9), settings, folder=tmp_path, resume=True, watch=[left])
    assert_same_end(found, expected)
    assert left.count == 0


def test_nothing_there_is_a_beginning(tmp_path: Path) -> None:
    settings = Settings(**BASE)
    found = train(small_net(), settings, folder=tmp_path, resume=True)
    assert_same_end(found, train(small_net(), settings))


def test_nothing_but_the_checkpoint_is_left_in_the_folder(tmp_path: Path) -> None:
    train(small_net(), Settings(**BASE), folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT]


# -- what cannot go on --------------------------------------------------------------------------

OTHER: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"lr": 0.5}, {}, "lr = 0.02, and now it is 0.5"),
    ({"epochs": 4}, {}, "epochs = 3, and now it is 4"),
    ({"augment": "C4"}, {}, "augment = '', and now it is 'C4'"),
    ({}, {"signature": {"model": "abc"}}, "model = None, and now it is 'abc'"),
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    train(small_net(), Settings(**BASE), folder=folder)
    return folder


@pytest.mark.parametrize(("changed", "more", "words"), OTHER)
def test_another_configuration_is_refused(
    finished: Path, changed: dict[str, Any], more: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=f"resume: .*{CHECKPOINT} was written with {words}"):
        train(small_net(), Settings(**{**BASE, **changed}), folder=finished, resume=True, **more)


def test_another_seed_is_refused(finished: Path) -> None:
    with pytest.raises(InputError, match="seed = 3, and now it is 4"):
        fit(small_net(), TRAIN, VALIDATION, Settings(**BASE), seed=4, folder=finished, resume=True)


def test_another_model_is_refused(finished: Path) -> None:
    wider = nn.Sequential(nn.Flatten(), nn.Linear(36, 3))
    with pytest.raises(FileFormatError, match="does not fit this model"):
        train(wider, Settings(**BASE), folder=finished, resume=True)


def test_resuming_needs_a_folder() -> None:
    with pytest.raises(InputError, match="resume: say in which folder"):
        train(small_net(), Settings(**BASE), resume=True)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9, 0.999])
def test_a_damaged_checkpoint_is_refused(finished: Path, part: float, tmp_path: Path) -> None:
    content = (finished / CHECKPOINT).read_bytes()
    (tmp_path / CHECKPOINT).write_bytes(content[: int(part * len(content))])
    with pytest.raises(FileFormatError, match=CHECKPOINT):
        train(small_net(), Settings(**BASE), folder=tmp_path, resume=True)


@pytest.mark.parametrize("place", range(1, 8))
def test_an_altered_checkpoint_is_refused(finished: Path, place: int, tmp_path: Path) -> None:
    content = bytearray((finished / CHECKPOINT).read_bytes())
    content[-len(content) * place // 16] ^= 1
    (tmp_path / CHECKPOINT).write_bytes(content)
    with pytest.raises(FileFormatError, match=CHECKPOINT):
        train(small_net(), Settings(**BASE), folder=tmp_path, resume=True)
