"""Every form of input that people bring gives the same samples, channels first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import isotropy as iso
from isotropy.data import ArraySamples, DataSet, Splits, load
from isotropy.data.layout import LAYOUTS, arrange, guess

LABELS = np.array([0, 1, 1, 0, 2, 2])
DRAWS = np.random.default_rng(3)


def pixels(*shape: int, dtype: Any = np.uint8) -> np.ndarray:
    """Six samples of a shape."""
    values = DRAWS.integers(0, 256, size=(6, *shape))
    return (values / 255).astype(dtype) if np.dtype(dtype).kind == "f" else values.astype(dtype)


def everything(data: DataSet) -> tuple[Tensor, Tensor]:
    """All samples and targets."""
    return data.batch(np.arange(len(data)))


# --- which axis means what -------------------------------------------------------------------

FIRST, LAST, NONE = "first", "last", "none"
TOLD = [
    ((5,), None, FIRST, "vector"),
    ((8, 9), None, NONE, "image"),
    ((3, 8, 8), None, FIRST, "image"),
    ((8, 8, 3), None, LAST, "image"),
    ((8, 9, 1), None, LAST, "image"),
    ((8, 9, 4), None, LAST, "image"),
    ((2, 9, 8), None, FIRST, "image"),
    ((40, 8, 8), None, FIRST, "image"),
    ((8, 8, 40), None, LAST, "image"),
    ((1, 6, 6, 6), None, FIRST, "volume"),
    ((6, 7, 8, 2), None, LAST, "volume"),
    ((10, 6, 6, 6), None, FIRST, "volume"),
    ((20,), "nl", NONE, "signal"),
    ((4, 20), "ncl", FIRST, "signal"),
    ((20, 4), "nlc", LAST, "signal"),
    ((3, 4), "nhw", NONE, "image"),
    ((4, 4, 4), "nchw", FIRST, "image"),
    ((4, 4, 4), "nhwc", LAST, "image"),
    ((5, 6, 7), "ndhw", NONE, "volume"),
    ((2, 5, 6, 7), "ncdhw", FIRST, "volume"),
    ((5, 6, 7, 2), "ndhwc", LAST, "volume"),
]
"""A sample's shape, the layout that is asked for, where the channels are, what a sample is."""


@pytest.mark.parametrize(("shape", "layout", "channels", "kind"), TOLD)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64, np.int16, bool, np.float16])
def test_layouts(
    shape: tuple[int, ...], layout: str | None, channels: str, kind: str, dtype: Any
) -> None:
    """Told from the shape or by name; values are the same whatever they are stored as."""
    X = (pixels(*shape) // 2).astype(dtype)
    X[0].flat[0] = 0
    data = load((X, LABELS), layout=layout).train
    expected = {FIRST: X, LAST: np.moveaxis(X, -1, 1), NONE: X[:, None]}[channels]
    x, y = everything(data)
    assert (data.shape, data.kind) == (expected.shape[1:], kind)
    assert (x.dtype, y.dtype) == (torch.float32, torch.int64)
    assert np.array_equal(x.numpy(), expected.astype(np.float32))
    assert y.tolist() == LABELS.tolist()


AMBIGUOUS = [(3, 8, 3), (4, 4, 4), (20, 21, 22), (2, 8, 8, 3), (8, 8, 8, 8), (7, 5, 9), (1, 9, 1)]


@pytest.mark.parametrize("shape", AMBIGUOUS)
def test_ambiguous_shapes_ask(shape: tuple[int, ...]) -> None:
    with pytest.raises(iso.InputError, match="ambiguous; say --layout n"):
        load((pixels(*shape), LABELS))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_a_guess_never_mixes_axes(grid: list[int]) -> None:
    """Whatever is guessed, the channels are one of the axes, and few or the only odd one."""
    shape = (6, *grid)
    try:
        found = guess(shape)
    except iso.InputError:
        assert len(grid) >= 3
        return
    samples = ArraySamples(np.zeros(shape), found)
    assert sorted(samples.shape) == sorted((1, *grid) if found == "none" else tuple(grid))
    if len(grid) >= 3:
        assert samples.shape[0] <= 4 or len(set(samples.shape[1:])) == 1


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_has_as_many_axes_as_letters(name: str) -> None:
    arrange(np.zeros((2,) * len(name)), name)
    with pytest.raises(iso.InputError, match=f"X: layout {name} has {len(name)} axes"):
        arrange(np.zeros((2,) * (len(name) + 1)), name)


@pytest.mark.parametrize("shape", [(), (2, 2, 2, 2, 2)])
def test_shapes_that_are_no_samples(shape: tuple[int, ...]) -> None:
    with pytest.raises(iso.InputError, match="is no set of samples"):
        load((np.zeros((6, *shape)), LABELS))


def test_an_unknown_layout_names_those_there_are() -> None:
    with pytest.raises(iso.InputError, match=r"layout must be one of nf, .*not 'hwc'"):
        load((pixels(8, 8), LABELS), layout="hwc")


# --- one data set, however it is brought -----------------------------------------------------

X, Y = pixels(3, 5, 5), np.array(["cat", "dog", "dog", "cat", "eel", "eel"])


def npz(folder: Path, **arrays: Any) -> Path:
    """An .npz in a folder."""
    np.savez(folder / "some.npz", **arrays)
    return folder / "some.npz"


def compressed(folder: Path, **arrays: Any) -> Path:
    """The same, compressed."""
    np.savez_compressed(folder / "some.npz", **arrays)
    return folder / "some.npz"


def npy_pair(folder: Path, X: Any, y: Any) -> str:
    """A pair of .npy files, as a source."""
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return f"{folder}/X.npy,{folder}/y.npy"


class Listed(torch.utils.data.Dataset[Any]):
    """A torch Dataset of samples in a list."""

    def __init__(self, X: Any, y: Any) -> None:
        self.X, self.y = X, y

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, i: int) -> Any:
        return self.X[i], self.y[i]


SOURCES: dict[str, Callable[[Path], Any]] = {
    "npz of X and y": lambda folder: npz(folder, X=X, y=Y),
    "npz of x and y": lambda folder: npz(folder, x=X, y=Y),
    "npz of images and labels": lambda folder: npz(folder, images=X, labels=Y),
    "npz as text": lambda folder: str(npz(folder, X=X, y=Y)),
    "compressed npz": lambda folder: compressed(folder, X=X, y=Y),
    "npz in Fortran order": lambda folder: npz(folder, X=np.asfortranarray(X), y=Y),
    "compressed in Fortran order": lambda folder: compressed(folder, X=np.asfortranarray(X), y=Y),
    "npz of big-endian numbers": lambda folder: npz(folder, X=X.astype(">i4"), y=Y),
    "npz of bytes for names": lambda folder: npz(folder, X=X, y=Y.astype("S")),
    "npz of another channel order": lambda folder: npz(folder, X=np.moveaxis(X, 1, -1), y=Y),
    "npz with class names": lambda folder: npz(
        folder, X=X, y=[0, 1, 1, 0, 2, 2], class_names=["cat", "dog", "eel"]
    ),
    "npz with a column of labels": lambda folder: npz(folder, X=X, y=Y[:, None]),
    "npz with its layout": lambda folder: npz(folder, X=X, y=Y, layout="nchw"),
    "pair of npy": lambda folder: npy_pair(folder, X, Y),
    "arrays": lambda folder: (X, Y),
    "list of two": lambda folder: [X, Y],
    "lists": lambda folder: (X.tolist(), Y.tolist()),
    "objects that are text": lambda folder: (X, Y.astype(object)),
    "tensors": lambda folder: (torch.from_numpy(X), Y),
    "a tensor with a gradient": lambda folder: (torch.tensor(X).float().requires_grad_(), Y),
    "bfloat16": lambda folder: (torch.from_numpy(X).to(torch.bfloat16), Y),
    "a view that is not contiguous": lambda folder: (np.repeat(X, 2, axis=-1)[..., ::2], Y),
    "a torch Dataset": lambda folder: Listed(torch.from_numpy(X), Y),
    "a TensorDataset": lambda folder: torch.utils.data.TensorDataset(
        torch.from_numpy(X), torch.tensor([0, 1, 1, 0, 2, 2])
    ),
    "a DataSet": lambda folder: load((X, Y)).train,
    "Splits": lambda folder: load((X, Y)),
}


@pytest.mark.parametrize("name", SOURCES)
def test_sources(name: str, tmp_path: Path) -> None:
    data = load(SOURCES[name](tmp_path)).train
    x, y = everything(data)
    assert torch.equal(x, torch.from_numpy(X).to(torch.bfloat16 if "bfloat" in name else x.dtype))
    assert y.tolist() == [0, 1, 1, 0, 2, 2]
    assert data.classes == (("0", "1", "2") if name == "a TensorDataset" else ("cat", "dog", "eel"))
    assert data.task == "classification"


@pytest.mark.parametrize(
    "names",
    [
        ("train_X", "train_y", "test_X", "test_y", "val_X", "val_y"),
        ("X_train", "y_train", "X_test", "y_test", "X_val", "y_val"),
        (
            *("train_images", "train_labels", "test_images", "test_labels"),
            *("validation_images", "validation_labels"),
        ),
    ],
)
def test_parts_of_an_npz(names: tuple[str, ...], tmp_path: Path) -> None:
    """Training, test and validation data share their classes, also those one part lacks."""
    parts = [(X, Y), (X[:4], Y[:4]), (X[1:5], Y[1:5])]
    arrays = dict(zip(names, [array for part in parts for array in part], strict=True))
    found = load(npz(tmp_path, **arrays))
    assert [len(part) for part in found.parts()] == [6, 4, 4]
    assert {part.classes for part in found.parts()} == {("cat", "dog", "eel")}
    assert found.test is not None
    assert found.test.targets.tolist() == [0, 1, 1, 0]


def test_a_note_travels_with_the_data(tmp_path: Path) -> None:
    path = npz(tmp_path, X=X, y=Y, note="a sixth of it")
    assert load(path).note == "a sixth of it"
    assert load((X, Y)).note == ""


@pytest.mark.parametrize("stored", [npz, compressed])
def test_no_array_is_copied_that_can_be_mapped(stored: Any, tmp_path: Path) -> None:
    """Uncompressed arrays stay in the file; what is taken of them is a copy of its own."""
    data = load(stored(tmp_path, X=X, y=Y)).train
    assert isinstance(data.samples, ArraySamples)
    assert isinstance(data.samples.array, np.memmap) == (stored is npz)
    x, _ = data.batch([0])
    x += 1
    assert torch.equal(data.batch([0])[0], x - 1)


# --- targets ---------------------------------------------------------------------------------

IMAGES = pixels(4, 4)


@pytest.mark.parametrize(
    ("targets", "task", "found", "values"),
    [
        ([3, 7, 7, 3, 9, 9], None, "classification", [0, 1, 1, 0, 2, 2]),
        ([-1, 1, 1, -1, 1, 1], None, "classification", [0, 1, 1, 0, 1, 1]),
        ([True, False] * 3, None, "classification", [1, 0] * 3),
        ([10, 9, 10, 9, 100, 9], None, "classification", [1, 0, 1, 0, 2, 0]),
        (["b", "a"] * 3, None, "classification", [1, 0] * 3),
        (np.array([7, 5] * 3, dtype=object), None, "classification", [1, 0] * 3),
        ([1.0, 2.0] * 3, "classification", "classification", [0, 1] * 3),
        ([0.5, 1.5] * 3, None, "regression", [[0.5], [1.5]] * 3),
        ([1, 2] * 3, "regression", "regression", [[1], [2]] * 3),
        ([[1.0, 2.0], [3.0, 4.0]] * 3, None, "regression", [[1, 2], [3, 4]] * 3),
    ],
)
def test_targets(targets: Any, task: str | None, found: str, values: Any) -> None:
    data = load((IMAGES, np.array(targets)), task=task).train
    assert data.task == found
    assert data.targets.tolist() == values
    assert data.outputs == (len(values[0]) if found == "regression" else len(data.classes))


def test_names_of_classes_and_columns() -> None:
    """Numbers sort as numbers: 9 comes before 10."""
    assert load((IMAGES, np.array([10, 9] * 3))).train.classes == ("9", "10")
    assert load((IMAGES, np.array([0.5, 1] * 3))).train.classes == ("y",)
    assert load((IMAGES, np.zeros((6, 2)) + 0.5)).train.classes == ("y0", "y1")
    named = iso.data.from_arrays(IMAGES, [0, 1] * 3, classes=["no", "yes"])
    assert named.classes == ("no", "yes")


@pytest.mark.parametrize("shape", [(6, 4, 5), (6, 1, 4, 5), (6, 4, 5, 1)])
def test_dense_targets(shape: tuple[int, ...]) -> None:
    """Whole numbers of the samples' grid are maps to predict, with an axis for channels or not."""
    maps = DRAWS.integers(0, 3, size=(6, 4, 5))
    data = load((pixels(3, 4, 5), maps.reshape(shape))).train
    assert (data.task, data.outputs) == ("dense", 3)
    assert np.array_equal(everything(data)[1].numpy(), maps)


def test_a_target_by_name(tmp_path: Path) -> None:
    """An array that is no label can be what is to be predicted; class names are then not its."""
    path = npz(
        tmp_path, X=IMAGES, y=[0, 1] * 3, class_names=["no", "yes"], angle=np.linspace(0, 1, 6)
    )
    data = load(path, target="angle").train
    assert (data.task, data.classes) == ("regression", ("y",))
    assert np.allclose(data.targets[:, 0], np.linspace(0, 1, 6))


# --- what a data set does --------------------------------------------------------------------


def test_the_fingerprint_is_of_the_content(tmp_path: Path) -> None:
    """The same content has the same one; each pixel, label and name counts."""
    base = load((X, Y)).train
    assert base.fingerprint() == load(npz(tmp_path, X=X, y=Y)).train.fingerprint()
    other = X.copy()
    other[5, 2, 4, 4] ^= 1
    changed = [(other, Y), (X, np.roll(Y, 1)), (X, np.char.upper(Y)), (X[::-1].copy(), Y)]
    found = {load(source).train.fingerprint() for source in changed} | {base.fingerprint()}
    assert len(found) == 5
    assert base.subset([0, 1, 2]).fingerprint() != base.subset([0, 2, 1]).fingerprint()


def test_parts_of_parts_are_parts_of_the_whole() -> None:
    base = load((X, Y)).train
    part = base.subset([5, 3, 1, 0]).subset([2, 0])
    assert torch.equal(everything(part)[0], torch.from_numpy(X[[1, 5]]).float())
    assert part.targets.tolist() == base.targets[[1, 5]].tolist()
    assert isinstance(part.samples, iso.data.Part)
    assert part.samples.whole is base.samples


def test_resizing_keeps_proportions() -> None:
    """The central square, so that a circle stays one; a larger side and a smaller."""
    wide = np.zeros((6, 4, 10), np.uint8)
    wide[:, 0, 0] = np.arange(6)  # is cut off
    wide[:, :, 3:5] = 200
    whole = load((wide, LABELS), resize=4).train
    assert np.array_equal(everything(whole)[0][0, 0].numpy(), wide[0, :, 3:7])
    assert load((wide, LABELS), resize=2).train.shape == (1, 2, 2)
    assert load(whole, resize=9).train.shape == (1, 9, 9)


@pytest.mark.parametrize("seed", [0, 1])
def test_splitting_keeps_every_class_and_shares_nothing(seed: int) -> None:
    X = np.arange(100.0).reshape(50, 2)
    data = load((X, [0] * 40 + [1] * 8 + [2] * 2)).train
    parts = iso.data.split(data, (0.7, 0.3), seed=seed)
    again = iso.data.split(data, (0.7, 0.3), seed=seed)
    taken = [everything(part)[0][:, 0].tolist() for part in parts]
    assert taken == [everything(part)[0][:, 0].tolist() for part in again]
    assert sorted(taken[0] + taken[1]) == X[:, 0].tolist()
    assert [np.bincount(part.targets).tolist() for part in parts] == [[28, 6, 1], [12, 2, 1]]


def test_splits_of_another_seed_differ() -> None:
    data = load((np.arange(100.0).reshape(50, 2), [0, 1] * 25)).train
    first, second = (iso.data.split(data, (0.5,), seed=s)[0] for s in (0, 1))
    assert not torch.equal(everything(first)[0], everything(second)[0])


@pytest.mark.parametrize(
    ("fractions", "message"),
    [
        ((0.5, 0.6), "at most 1 together"),
        ((), "must be positive"),
        ((0.5, 0.0), "must be positive"),
        ((0.5, 0.3, 0.2), "class 'cat' has 2 samples, but at least 3 are needed"),
    ],
)
def test_splits_that_cannot_be(fractions: tuple[float, ...], message: str) -> None:
    with pytest.raises(iso.InputError, match=message):
        iso.data.split(load((X, Y)).train, fractions)


def test_scaling_gives_mean_zero_and_deviation_one() -> None:
    data = load((X, Y)).train
    scaling = iso.data.Scaling.of(data.samples.chunks())
    x = scaling.apply(everything(data)[0])
    assert torch.allclose(x.mean((0, 2, 3)), torch.zeros(3), atol=1e-5)
    assert torch.allclose(x.std((0, 2, 3), unbiased=False), torch.ones(3), atol=1e-5)
    assert torch.allclose(scaling.undo(x), everything(data)[0], atol=1e-3)


def test_scaling_respects_a_symmetry() -> None:
    """Channels that are exchanged share their numbers; where a sign turns nothing is taken off."""
    from isotropy.groups import permuting

    values = DRAWS.normal([1, 3, 5], [1, 2, 3], size=(200, 3)).astype(np.float32)
    group = iso.group("C2")
    swap = permuting(group, {"r2": np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]])}, "columns")
    scaling = iso.data.Scaling.of([torch.from_numpy(values)], swap)
    assert scaling.shift[0] == scaling.shift[1] != 0
    assert scaling.scale[0] == scaling.scale[1]
    assert scaling.shift[2] == 0
    x = torch.from_numpy(values)
    moved = scaling.apply(swap.apply("r2", x, 1))
    assert torch.allclose(moved, swap.apply("r2", scaling.apply(x), 1), atol=1e-5)


def test_a_torch_dataset_too_large_to_keep_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isotropy.data.torch_dataset.KEPT_BYTES", 10)
    dataset = Listed(torch.from_numpy(np.moveaxis(X, 1, -1)), Y)
    lazy = load(dataset).train
    assert lazy.samples.costly
    assert torch.equal(everything(lazy)[0], torch.from_numpy(X).float())
    assert lazy.batch([])[0].shape == (0, 3, 5, 5)
    dataset.X = dataset.X.clone()
    dataset.X[0] = 0
    assert not lazy.batch([0])[0].any()


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    load(Listed(X, Y), progress=lambda *what: told.append(what))
    assert told == [("samples", i, 6) for i in range(1, 7)]


def test_splits_in_any_order() -> None:
    """Parts are changed all in one way, and those not there stay so."""
    base = load((X, Y)).train
    whole = Splits(base, validation=base.subset([0, 1]))
    half = whole.each(lambda part: part.subset([0]))
    assert [len(part) for part in half.parts()] == [1, 1]
    assert half.test is None
