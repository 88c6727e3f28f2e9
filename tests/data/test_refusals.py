"""Bad data are refused at the door, in one line that names the file or argument."""

from __future__ import annotations

import errno
import os
import pickle
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import isotropy as iso
from isotropy.data import load
from tests.data.test_forms import Listed, npy_pair, npz

DRAWS = np.random.default_rng(0)
X = DRAWS.integers(0, 256, size=(8, 6, 6)).astype(np.uint8)
Y = np.array([0, 1] * 4)


def refused(message: str, source: Any, **options: Any) -> None:
    """Loading fails with one line that has a message's parts in it."""
    with pytest.raises(iso.InputError) as caught:
        load(source, **options)
    assert "\n" not in str(caught.value)
    for part in message.split(" … "):
        assert part in str(caught.value)


def changed(array: Any, index: Any, value: Any) -> np.ndarray:
    """A copy with another value somewhere."""
    copy = np.array(array, dtype=np.float64)
    copy[index] = value
    return copy


# --- arrays ----------------------------------------------------------------------------------

ARRAYS: list[tuple[str, Any, Any]] = [
    ("X: 8 samples, but 7 targets", X, Y[:7]),
    ("X: 2 samples are too few, at least 4", X[:2], Y[:2]),
    ("X: 0 samples are too few", X[:0], Y[:0]),
    ("X: sample 3 has a value that is NaN", changed(X, (3, 0, 0), np.nan), Y),
    ("X: sample 7 has a value that is NaN, infinite", changed(X, (7, 5, 5), np.inf), Y),
    ("sample 2 has a value that is … too large", changed(X, (2, 0, 0), 1e300), Y),
    ("X: all 8 samples are the same", np.tile(X[:1], (8, 1, 1)), Y),
    ("X: every sample is constant", np.arange(8)[:, None, None] * np.ones((6, 6)), Y),
    ("X: a sample has no values", np.zeros((8, 6, 0)), Y),
    ("X: is ragged", [[1, 2], [3]], Y[:2]),
    ("X: must hold real numbers, not complex128", X.astype(complex), Y),
    ("X: must hold real numbers, not <U1", np.full((8, 2), "a"), Y),
    ("X: holds Python objects", X.astype(object), Y),
    ("X: no array can be made of this tensor", torch.eye(8).to_sparse(), Y),
    ("X: no array can be made of this tensor", torch.ones(8, 4, device="meta"), Y),
    ("labels must be integers or strings, not object", X, np.array([1, "a"] * 4, dtype=object)),
    ("X: shape (8,) is no set of samples", np.arange(8), Y),
    ("the targets must be an array", X, np.array(3)),
    ("two classes or more, but all are '1'", X, np.ones(8, int)),
    ("labels must be integers or strings, not complex128", X, Y.astype(complex)),
    ("labels must be integers or strings, not object", X, np.array([None] * 8)),
    ("labels must be of shape (n,), one for every sample, not (8, 2)", X, np.ones((8, 2), int)),
    ("sample 2 has a value that is NaN", X, changed(Y, 2, np.nan)),
]


IN_FILES = [
    row
    for row in ARRAYS
    if all(isinstance(a, np.ndarray) and a.dtype != object for a in row[1:])  # pickles nothing
]


@pytest.mark.parametrize(("message", "inputs", "targets"), ARRAYS)
def test_arrays(message: str, inputs: Any, targets: Any) -> None:
    refused(message, (inputs, targets))


@pytest.mark.parametrize(("message", "inputs", "targets"), IN_FILES)
def test_the_file_is_named(message: str, inputs: Any, targets: Any, tmp_path: Path) -> None:
    """The same, from an .npz: the line says which and what is wrong."""
    path = npz(tmp_path, X=inputs, y=targets)
    refused(f"{path}: X … {message.removeprefix('X: ')}", path)


OPTIONS: list[tuple[str, Any, dict[str, Any]]] = [
    ("layout must be one of", (X, Y), {"layout": "chw"}),
    ("X: layout nchw has 4 axes, but the shape is (8, 6, 6)", (X, Y), {"layout": "nchw"}),
    (
        "task must be one of classification, regression, dense, not 'cluster'",
        (X, Y),
        {"task": "cluster"},
    ),
    ("dense targets must be maps of the samples' grid (6, 6)", (X, Y), {"task": "dense"}),
    ("resize must be a number of pixels, at least 1, not 0", (X, Y), {"resize": 0}),
    ("resize is for pictures, not samples of shape (36,)", (X.reshape(8, 36), Y), {"resize": 4}),
    ("resize is for inputs alone", (X, X // 100), {"resize": 4}),
    ("target: means nothing for data from Python", (X, Y), {"target": "y"}),
    ("skip_bad: means nothing for data from Python", (X, Y), {"skip_bad": True}),
    ("layout: means nothing for data that are loaded", load((X, Y)), {"layout": "nhw"}),
    ("layout: means nothing for digits", "digits", {"layout": "nhw"}),
    ("skip_bad: means nothing for digits", "digits", {"skip_bad": True}),
    ("source must be a name, a path, (X, y)", 3, {}),
    ("source must be a name, a path, (X, y)", (X, Y, Y), {}),
]


@pytest.mark.parametrize(("message", "source", "options"), OPTIONS)
def test_options(message: str, source: Any, options: dict[str, Any]) -> None:
    refused(message, source, **options)


def test_class_names_must_reach() -> None:
    with pytest.raises(iso.InputError, match="there are 1 class names, but labels from 0 to 1"):
        iso.data.from_arrays(X, Y, classes=["one"])


class Endless(torch.utils.data.IterableDataset[Any]):
    """Samples without number."""

    def __iter__(self) -> Iterator[Any]:
        return iter(zip(X, Y, strict=True))


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (Listed([], []), "the torch Dataset is empty"),
        (Listed([*X[:7], X[7, :5]], Y), "sample 7 is uint8 of shape (5, 6), but sample 0 uint8"),
        (Listed([*X[:7], X[7] / 2], Y), "sample 7 is float64 of shape (6, 6), but sample 0 uint8"),
        (Listed(["a", "b"], [0, 1]), "sample 0: must hold real numbers, not <U1"),
        (Listed(changed(X, (4, 0, 0), np.nan), Y), "source: sample 4 has a value that is NaN"),
        (torch.utils.data.TensorDataset(torch.from_numpy(X)), "sample 0 is not (input, target)"),
        (Endless(), "must have a length and samples by number"),
    ],
)
def test_torch_datasets(dataset: Any, message: str) -> None:
    refused(message, dataset)


# --- names and paths -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("mnits", "'mnits' is no data set's name, nor a file or folder that is there; did you"),
        ("MNIST", "did you mean mnist"),
        ("fashion-mnist", "did you mean fashion_mnist"),
        ("qqqqqq", "known are digits, mnist"),
        ("nowhere/data.npz", "nowhere/data.npz: there is no such file"),
        ("nowhere/X.npy,nowhere/y.npy", "nowhere/X.npy: there is no such file"),
        ("./nowhere", "nowhere: there is no such file"),
        ("X.npy", "X.npy: one .npy holds inputs or targets; give both as X.npy,y.npy"),
        ("", "has no folders in it"),
        ("a" * 5000, "source: 'aaaa … aaaa ...' can be no path: File name too long"),
        ("./" + "a" * 5000, "can be no path: File name too long"),
        ("~nobody-of-this-name/x.npz", "can be no path: Could not determine home directory"),
        ("a\0b.npz", "a\0b.npz … embedded null"),
    ],
)
def test_sources_that_are_not_there(
    source: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(message, source)


def test_a_name_wins_over_a_folder_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "digits").mkdir()
    assert len(load("digits").train) == 1797
    refused("digits: has no folders in it", "./digits")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """A link to itself: what the system says is passed on."""
    path = tmp_path / "some.npz"
    path.symlink_to(path)
    refused(f"{path}: cannot be read: {os.strerror(errno.ELOOP)}", path)


# --- .npz ------------------------------------------------------------------------------------


class Bomb:
    """What an attacker pickles: unpickling it leaves a mark."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.mark,)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("place", ["X", "y", "class_names", "note"])
def test_pickled_arrays_are_never_loaded(save: Any, place: str, tmp_path: Path) -> None:
    mark = tmp_path / "it ran"
    arrays: dict[str, Any] = {"X": X, "y": Y, place: np.array([Bomb(mark)] * 8, dtype=object)}
    save(tmp_path / "evil.npz", **arrays)
    refused(
        f"evil.npz: {place} … pickled Python objects, which are never loaded", tmp_path / "evil.npz"
    )
    assert not mark.exists()


def test_a_pickle_is_no_npz(tmp_path: Path) -> None:
    mark = tmp_path / "it ran"
    for name in ("evil.npz", "evil"):
        (tmp_path / name).write_bytes(pickle.dumps(Bomb(mark)))
        refused(f"{name}: is not", tmp_path / name)
    (tmp_path / "X.npy").write_bytes(pickle.dumps(Bomb(mark)))
    np.save(tmp_path / "y.npy", Y)
    refused("X.npy: is not a .npy file, or is damaged", f"{tmp_path}/X.npy,{tmp_path}/y.npy")
    assert not mark.exists()


def test_named_fields_are_refused(tmp_path: Path) -> None:
    records = np.zeros(8, dtype=[("a", "f4"), ("b", "i4")])
    refused("some.npz: X … must hold real numbers", npz(tmp_path, X=records, y=Y))
    odd = np.zeros(8, dtype=[("λ", "f4")])
    with pytest.warns(UserWarning, match="format 3"):
        path = npz(tmp_path, X=odd, y=Y)
    refused("has named fields", path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_files_cut_short(save: Any, tmp_path: Path) -> None:
    """At every place: never anything but one line, and never wrong numbers."""
    save(tmp_path / "whole.npz", X=X, y=Y)
    content = (tmp_path / "whole.npz").read_bytes()
    for length in {*range(0, len(content), 37), len(content) - 1}:
        path = tmp_path / "cut.npz"
        path.write_bytes(content[:length])
        refused("cut.npz: is not an .npz, or is damaged or cut short", path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_files_with_flipped_bytes(save: Any, tmp_path: Path) -> None:
    """An error is one line; what is compressed carries a checksum, and is never read wrong."""
    save(tmp_path / "whole.npz", X=X, y=Y)
    content = (tmp_path / "whole.npz").read_bytes()
    for place in range(0, len(content), 11):
        path = tmp_path / "flipped.npz"
        path.write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
        try:
            found = load(path).train
        except iso.InputError:
            refused("flipped.npz", path)
        else:
            x, _ = found.batch(np.arange(8))
            assert save is np.savez or np.array_equal(x[:, 0].numpy(), X)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": X, "b": Y}, "must hold images and labels, X and y … it holds a, b"),
        ({"X": X}, "it holds X"),
        ({"train_X": X, "test_y": Y}, "it holds train_X, test_y"),
        ({"X": X, "y": Y, "layout": "nope"}, "layout must be one of"),
        (
            {"train_X": X, "train_y": Y, "test_X": X[:, :5], "test_y": Y},
            "test_X: samples are of shape (1, 5, 6), but those of … of (1, 6, 6)",
        ),
        (
            {"train_X": X, "train_y": Y, "test_X": X, "test_y": Y[:5]},
            "test_X: 8 samples, but 5 targets",
        ),
        (
            {"X": X, "y": Y, "class_names": ["one"]},
            "there are 1 class names, but labels from 0 to 1",
        ),
        ({"X": X, "y": Y + 5, "class_names": ["a", "b"]}, "labels from 5 to 6"),
    ],
)
def test_arrays_of_an_npz(arrays: dict[str, Any], message: str, tmp_path: Path) -> None:
    refused(message, npz(tmp_path, **arrays))


def test_a_target_that_is_not_there(tmp_path: Path) -> None:
    refused(
        "has no array 'angle' to predict; it holds X, y", npz(tmp_path, X=X, y=Y), target="angle"
    )


def test_zip_files_that_are_no_npz(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "texts.npz", "w") as archive:
        archive.writestr("readme.txt", "nothing")
    refused("texts.npz: is a zip file without arrays", tmp_path / "texts.npz")


def test_encrypted_files(tmp_path: Path) -> None:
    """A member that says it is encrypted: not read, and said."""
    path = npz(tmp_path, X=X, y=Y)
    content = bytearray(path.read_bytes())
    for sign, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(sign)
        while at >= 0:
            content[at + offset] |= 1
            at = content.find(sign, at + 1)
    path.write_bytes(content)
    refused("some.npz: cannot be read: … encrypted", path)


def test_a_header_that_claims_too_much(tmp_path: Path) -> None:
    """Sizes out of a damaged header ask for no memory."""
    with zipfile.ZipFile(tmp_path / "huge.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("X", "y"):
            with archive.open(f"{name}.npy", "w") as file:
                header = {"descr": "|u1", "fortran_order": False, "shape": (10**15, 8, 8)}
                np.lib.format.write_array_header_1_0(file, header)
                file.write(b"12345678")
    refused("huge.npz: … is damaged or cut short", tmp_path / "huge.npz")


def test_pairs_of_different_length(tmp_path: Path) -> None:
    refused("X.npy, … y.npy: 8 samples, but 7 targets", npy_pair(tmp_path, X, Y[:7]))
