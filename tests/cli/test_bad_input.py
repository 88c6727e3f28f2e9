"""Bad input: one line that names the file or argument, exit status 2, no traceback, no run left."""

from __future__ import annotations

import os
import resource
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.cli import sources
from tests.cli.conftest import QUICK, Command
from tests.cli.test_train_command import FACTORY

# -- sources ------------------------------------------------------------------------------------


def changed(**arrays: object) -> Callable[[Path], None]:
    """An .npz of pictures with something else in it."""

    def write(path: Path) -> None:
        np.savez(path, **{**sources.pictures(), **arrays})

    return write


def not_finite(value: float) -> Callable[[Path], None]:
    X = sources.pictures()["X"].copy()
    X[7, 2, 3] = value
    return changed(X=X)


def constant(path: Path) -> None:
    shades = np.arange(48, dtype=np.float32)[:, None, None]
    np.savez(path, X=np.broadcast_to(shades, (48, 8, 8)), y=np.arange(48) % 2)


def two(path: Path) -> None:
    np.savez(path, **{name: array[:2] for name, array in sources.pictures().items()})


def text(path: Path) -> None:
    path.write_text("no zip at all")


def cut_short(path: Path) -> None:
    changed()(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def damaged_picture(path: Path) -> None:
    """A folder of class folders, in which one JPEG ends too early."""
    draws = np.random.default_rng(0)
    for label in ("cats", "dogs"):
        (path / label).mkdir(parents=True)
        for number in range(8):
            pixels = draws.integers(0, 255, (8, 8, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(path / label / f"{number}.jpg")
    victim = path / "dogs" / "3.jpg"
    victim.write_bytes(victim.read_bytes()[:200])


SOURCES: list[tuple[str, Callable[[Path], None] | None, str]] = [
    ("gone.npz", None, "gone.npz: there is no such file"),
    ("gone", None, "'gone' is no data set's name, nor a file or folder that is there"),
    ("text.npz", text, "text.npz: is not an .npz"),
    ("cut.npz", cut_short, "cut.npz: is not an .npz, or is damaged or cut short"),
    ("pickled.npz", changed(X=np.array([{}] * 48, dtype=object)), "pickled Python objects"),
    ("short.npz", changed(y=np.arange(40) % 2), "short.npz: X: 48 samples, but 40 targets"),
    ("nan.npz", not_finite(float("nan")), "nan.npz: X: sample 7 has a value that is NaN"),
    ("inf.npz", not_finite(float("inf")), "inf.npz: X: sample 7 has a value that is NaN, inf"),
    ("one.npz", changed(y=np.zeros(48, dtype=int)), "one.npz: X: there must be two classes"),
    ("constant.npz", constant, "constant.npz: X: every sample is constant"),
    ("two.npz", two, "two.npz: X: 2 samples are too few"),
    ("other.npz", changed(X=np.zeros((48, 8, 8), dtype=complex)), "other.npz: X"),
    ("pictures", damaged_picture, "pictures/dogs/3.jpg"),
    ("X.npy", None, "X.npy: one .npy holds inputs or targets; give both as X.npy,y.npy"),
]


@pytest.mark.parametrize(("name", "write", "words"), SOURCES, ids=[case[0] for case in SOURCES])
def test_sources(
    name: str, write: Callable[[Path], None] | None, words: str, isotropy: Command
) -> None:
    if write is not None:
        write(Path(name))
    found = isotropy("train", "cnn", name, *QUICK)
    assert (found.status, found.out) == (2, "")
    assert words in found.error
    assert not Path("runs").exists()


def test_damaged_pictures_can_be_skipped_and_are_counted(isotropy: Command) -> None:
    damaged_picture(Path("pictures"))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        found = isotropy("train", "cnn", "pictures", *QUICK, "--skip-bad", "--out", "a")
    assert found.status == 0
    (line,) = found.err.splitlines()
    assert line.startswith("isotropy: warning: pictures: 1 pictures cannot be read")


def test_a_wrong_checksum_removes_the_file_and_says_so(isotropy: Command) -> None:
    file = Path("cache/mnist/train-images-idx3-ubyte.gz")
    file.parent.mkdir(parents=True)
    file.write_bytes(b"not what was published")
    found = isotropy("train", "cnn", "mnist", *QUICK, "--cache", "cache")
    assert found.status == 2
    assert f"{file}: has another checksum than md5:" in found.error
    assert "it was removed" in found.error
    assert not file.exists()


# -- models and options -------------------------------------------------------------------------

FILES = {
    "good.py": FACTORY,
    "broken.py": "import nothing_of_that_name\n",
    "syntax.py": "def net(:\n",
    "wrong.py": "number = 3\ndef net(): return 3\ndef fails(): raise KeyError('x')\n",
    "big.py": "import torch\ndef net(): return torch.nn.Linear(9, 2)\n",
}

ARGUMENTS: list[tuple[list[str], str]] = [
    (["cn", "p.npz"], "unknown model 'cn'. Known: cnn, "),
    (["gone.py:net", "p.npz"], "no such file: gone.py"),
    (["broken.py:net", "p.npz"], "broken.py cannot be imported: ModuleNotFoundError"),
    (["syntax.py:net", "p.npz"], "syntax.py cannot be imported: SyntaxError"),
    (["good.py", "p.npz"], "model must be a name or path/to/file.py:factory, not 'good.py'"),
    (["good.py:nett", "p.npz"], "good.py has no function 'nett'"),
    (["wrong.py:number", "p.npz"], "wrong.py has no function 'number'"),
    (["wrong.py:net", "p.npz"], "wrong.py:net must return a torch.nn.Module, not int"),
    (["wrong.py:fails", "p.npz"], "wrong.py:fails failed: KeyError: 'x'"),
    (["wrong.py:net", "p.npz", "--width", "3"], "wrong.py:net has no parameter 'width'"),
    (["big.py:net", "p.npz"], "the model does not run on a batch of shape (1, 1, 8, 8)"),
    (["cnn", "p.npz", "--option", "depth"], "option must be NAME=VALUE, not 'depth'"),
    (["cnn", "p.npz", "--option", "depth=3"], "cnn has no option 'depth'. Its options: stages"),
    (["cnn", "p.npz", "--option", "stages=99"], "stages must be at most 6, not 99"),
    (["cnn", "p.npz", "--group", "nope"], "unknown group 'nope'"),
    (["cnn", "p.npz", "--group", "C3"], "C3 does not act exactly on a pixel grid"),
    (["cnn", "p.npz", "--group", '{"x": '], "group is no JSON"),
    (["cnn", "p.npz", "--group", '{"x": "C4"}'], "group names the layer 'x'"),
    (["cnn", "p.npz", "--group", "D4"], "4 channels are no multiple of |D4| = 8"),
    (["cnn", "p.npz", "--output", "image"], "output says what a group does; give --group too"),
    (["cnn", "p.npz", "--action", "{}"], "action says what a group does; give --group too"),
    (["cnn", "p.npz", "--match", "params"], "match compares a tied model with a plain one"),
    (["cnn", "p.npz", "--match", "size"], "match must be one of"),
    (["cnn", "p.npz", "--augment", "nope"], "unknown group 'nope'"),
    (["cnn", "p.npz", "--epochs", "0"], "epochs must be at least 1, not 0"),
    (["cnn", "p.npz", "--lr", "-1"], "lr must be above 0, not -1.0"),
    (["cnn", "p.npz", "--optimizer", "adan"], "optimizer must be one of"),
    (["cnn", "p.npz", "--precision", "half"], "precision must be one of"),
    (["cnn", "p.npz", "--devices", "none"], "lightning-fabric cannot start with devices=none"),
    (["cnn", "p.npz", "--validation", "0.6", "--test", "0.5"], "nothing is left to train on"),
    (["cnn", "p.npz", "--validation", "2"], "Invalid value for '--validation'"),
    (["cnn", "p.npz", "--layout", "hwc"], "layout"),
    (["cnn", "p.npz", "--target", "mass"], "p.npz: has no array 'mass' to predict"),
    (["cnn", "p.npz", "--task", "clustering"], "task must be one of"),
    (["cnn", "v.npz", "--task", "classification"], "v.npz"),
    (["cnn", "v.npz"], "example_shape: cnn needs (channels, *grid)"),
    (["mlp", "v.npz", "--class-weights", "balanced"], "this is a regression"),
    (["mlp", "v.npz", "--group", "C2"], "action: say how the group permutes the entries"),
    (["unet", "p.npz"], "model gives"),
    (["cnn", "p.npz", "--resume"], "resume: say with --out which run to go on with"),
    (["cnn", "p.npz", "--out", "p.npz"], "out: cannot make the folder p.npz: File exists"),
    (["cnn", "p.npz", "--out", "p.npz/run"], "out: cannot make the folder p.npz/run"),
]


@pytest.mark.parametrize(("arguments", "words"), ARGUMENTS)
def test_arguments(arguments: list[str], words: str, isotropy: Command) -> None:
    for name, content in FILES.items():
        Path(name).write_text(content)
    np.savez("p.npz", **sources.pictures())
    np.savez("v.npz", **sources.vectors())
    narrow = ["--width", "4"] if arguments[0] in ("cnn", "unet") else []
    found = isotropy("train", *arguments, "--quiet", "--json", *narrow)
    assert found.status == 2
    assert found.json == {"error": found.error, "status": 2}
    assert words in found.error
    assert not list(Path().glob("runs/*/*"))


# -- folders and disks --------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written_in(isotropy: Command) -> None:
    np.savez("p.npz", **sources.pictures())
    found = isotropy("train", "cnn", "p.npz", *QUICK, "--out", "/sys/run")  # nor by root
    assert found.status == 2
    assert "out: cannot make the folder /sys/run: " in found.error


def test_a_full_disk_leaves_the_last_checkpoint(isotropy: Command, tmp_path: Path) -> None:
    np.savez("p.npz", **sources.pictures())
    line = ["train", "cnn", "p.npz", *QUICK, "--out", "a", "--epochs", "3"]
    whole = isotropy(*line[:-4], "--epochs", "3", "--out", "whole")
    assert whole.status == 0
    size = (tmp_path / "whole/checkpoint.safetensors").stat().st_size
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, most))
    try:
        full = isotropy(*line)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
    assert full.status == 2
    assert "cannot write a/checkpoint.safetensors" in full.error
    assert isotropy(*line, "--resume").status == 0
    assert Path("a/model.safetensors").read_bytes() == Path("whole/model.safetensors").read_bytes()


def test_a_disk_that_fills_up_later_leaves_the_checkpoint_before(
    isotropy: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez("p.npz", **sources.pictures())
    line = ["train", "cnn", "p.npz", *QUICK, "--epochs", "4"]
    assert isotropy(*line, "--out", "whole").status == 0
    full = FullAfter(3)
    monkeypatch.setattr("safetensors.torch.save_file", full)
    found = isotropy(*line, "--out", "a")
    assert found.status == 2
    assert "cannot write a/checkpoint.safetensors: No space left on device" in found.error
    assert not list(Path("a").glob(".*.tmp"))
    monkeypatch.undo()
    os.chdir(tmp_path)
    left = isotropy(*line, "--out", "a", "--resume", "--json")
    assert left.json["epochs"] == 4
    assert Path("a/model.safetensors").read_bytes() == Path("whole/model.safetensors").read_bytes()


class FullAfter:
    """Writes so many files, and of all others only the beginning."""

    def __init__(self, count: int) -> None:
        from safetensors.torch import save_file

        self.count, self.save_file = count, save_file

    def __call__(self, tensors: object, path: Path, metadata: object) -> None:
        self.save_file(tensors, path, metadata)
        self.count -= 1
        if self.count < 0:
            os.truncate(path, 100)
            raise OSError(28, "No space left on device")


def test_a_run_without_its_configuration(isotropy: Command) -> None:
    np.savez("p.npz", **sources.pictures())
    isotropy("train", "cnn", "p.npz", *QUICK, "--out", "a")
    Path("a/config.toml").write_text("format = 3\n")
    assert "a/config.toml was not written by a run" in isotropy("check", "a").error
    Path("a/config.toml").unlink()
    assert "a is no run: it has no config.toml" in isotropy("predict", "a", "p.npz").error


@pytest.mark.parametrize("part", [0, 0.5, 0.99])
def test_a_damaged_model(part: float, isotropy: Command) -> None:
    np.savez("p.npz", **sources.pictures())
    isotropy("train", "cnn", "p.npz", *QUICK, "--out", "a")
    path = Path("a/model.safetensors")
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    for command in (["check", "a", "--group", "C4"], ["export", "a", "x.pt2"]):
        found = isotropy(*command)
        assert found.status == 2
        assert "a/model.safetensors" in found.error
    shutil.rmtree("a")
