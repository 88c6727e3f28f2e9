"""What is written as an .npz is read back as the same data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import isotropy as iso
from isotropy.data import DataSet, Splits, from_arrays, load, save_npz, symmetrised
from tests.data.drawing import draw_classes

DRAWS = np.random.default_rng(0)
X = DRAWS.integers(0, 256, size=(8, 3, 4, 4)).astype(np.uint8)
Y = [0, 1] * 4

KINDS: dict[str, DataSet] = {
    "pictures": from_arrays(X, Y),
    "channels last": from_arrays(np.moveaxis(X, 1, -1), Y, classes=["no", "yes"]),
    "an ambiguous shape": from_arrays(X[:, :, :3], Y, layout="nhwc"),
    "no channel axis": from_arrays(X[:, 0], Y),
    "text labels": from_arrays(X, ["b", "ä"] * 4),
    "vectors": from_arrays(X.reshape(8, -1) / 7, Y),
    "signals": from_arrays(DRAWS.normal(size=(8, 2, 9)), Y, layout="ncl"),
    "volumes": from_arrays(DRAWS.normal(size=(8, 1, 3, 3, 3)), Y),
    "whole numbers": from_arrays(X.astype(np.int16) - 100, Y),
    "regression": from_arrays(X, DRAWS.normal(size=8)),
    "columns": from_arrays(X, DRAWS.normal(size=(8, 3))),
    "dense": from_arrays(X, DRAWS.integers(0, 3, size=(8, 4, 4))),
    "a class without samples": from_arrays(X, Y, classes=["a", "b", "c"]),
    "part of a set": from_arrays(X, Y).subset([1, 2, 5, 6]),
}


def same(one: DataSet, other: DataSet) -> None:
    """The same samples, targets, task and names."""
    assert (one.task, one.classes, one.shape) == (other.task, other.classes, other.shape)
    for first, second in zip(
        *(data.batch(np.arange(len(data))) for data in (one, other)), strict=True
    ):
        assert torch.equal(first, second)


@pytest.mark.parametrize("kind", KINDS)
def test_written_and_read(kind: str, tmp_path: Path) -> None:
    save_npz(KINDS[kind], tmp_path / "x.npz")
    same(load(tmp_path / "x.npz").train, KINDS[kind])


@pytest.mark.parametrize("parts", [("test",), ("validation",), ("test", "validation")])
def test_parts(parts: tuple[str, ...], tmp_path: Path) -> None:
    data = KINDS["text labels"]
    others: dict[str, Any] = {name: data.subset([0, 1, 2, 3]) for name in parts}
    save_npz(Splits(data, **others), tmp_path / "x.npz")
    found = load(tmp_path / "x.npz")
    same(found.train, data)
    assert (found.test is not None, found.validation is not None) == (
        "test" in parts,
        "validation" in parts,
    )
    for part in list(found.parts())[1:]:
        same(part, data.subset([0, 1, 2, 3]))


def test_pictures_stay_as_small_as_they_were(tmp_path: Path) -> None:
    """Bytes stay bytes, also moved ones; and they can be mapped."""
    save_npz(symmetrised(KINDS["pictures"], "C4, rotation"), tmp_path / "x.npz")
    found = np.load(tmp_path / "x.npz")
    assert found["X"].dtype == np.uint8
    samples = load(tmp_path / "x.npz").train.samples
    assert isinstance(samples, iso.data.ArraySamples)
    assert isinstance(samples.array, np.memmap)


def test_a_folder_becomes_a_file(tmp_path: Path) -> None:
    data = load(draw_classes(tmp_path / "set"))
    save_npz(data, tmp_path / "x.npz")
    same(load(tmp_path / "x.npz").train, data.train)


def test_notes_are_kept(tmp_path: Path) -> None:
    save_npz(symmetrised(KINDS["pictures"], "C4"), tmp_path / "x.npz")
    assert load(tmp_path / "x.npz").note == "every sample was moved at random by C4, seed 0"


def test_an_old_file_stays_until_the_new_one_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full in the middle leaves what was there, and nothing else."""
    path = tmp_path / "x.npz"
    save_npz(KINDS["pictures"], path)
    before = path.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("isotropy.data.save._about", full)
    with pytest.raises(iso.InputError, match=r"cannot write .*x\.npz: No space left on device"):
        save_npz(KINDS["vectors"], path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["x.npz"]
