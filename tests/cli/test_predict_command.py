"""`isotropy predict`: files that hold what the model says, of the samples that were asked for."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import isotropy as iso
from isotropy.data import ArraySamples, DataSet, split
from isotropy.runs import Run
from tests.cli import sources
from tests.cli.conftest import Command

Trained = Callable[..., Path]


def expected(folder: Path, X: np.ndarray) -> torch.Tensor:
    """The run's model on arrays as they come."""
    run = Run.open(folder)
    samples = ArraySamples(np.ascontiguousarray(X), "none" if X.ndim == 3 else "first")
    data = run.scaled(DataSet(samples, np.zeros((len(X), 0)), "regression"))
    assert data.scaling is not None
    with torch.no_grad():
        y = run.model()(data.scaling.apply(samples.take(np.arange(len(X)))))
    return y if data.target_scaling is None else data.target_scaling.undo(y)


def other_pictures(folder: Path) -> tuple[Path, np.ndarray]:
    arrays = sources.pictures(20, seed=7)
    np.savez(folder / "other.npz", **arrays)
    return folder / "other.npz", arrays["X"]


def test_a_csv_has_the_probabilities(trained: Trained, isotropy: Command, tmp_path: Path) -> None:
    run = trained("cnn", "pictures")
    source, X = other_pictures(tmp_path)
    found = isotropy("predict", run, source, "--out", "p.csv", "--json")
    assert (found.status, found.err) == (0, "")
    rows = list(csv.reader(Path("p.csv").read_text().splitlines()))
    assert rows[0] == ["sample", "predicted", "0", "1", "2"]
    assert [row[0] for row in rows[1:]] == [str(i) for i in range(20)]
    probabilities = np.array([[float(v) for v in row[2:]] for row in rows[1:]])
    np.testing.assert_allclose(probabilities, expected(run, X).softmax(1), atol=1e-5)
    assert [int(row[1]) for row in rows[1:]] == probabilities.argmax(1).tolist()
    accuracy = np.mean(probabilities.argmax(1) == np.arange(20) % 3)
    assert found.json["scores"]["accuracy"] == pytest.approx(accuracy)
    assert found.json["samples"] == 20


def test_an_npz_has_the_same(trained: Trained, isotropy: Command, tmp_path: Path) -> None:
    run = trained("cnn", "pictures")
    source, X = other_pictures(tmp_path)
    isotropy("predict", run, source, "--out", "p.npz")
    with np.load("p.npz") as found:
        np.testing.assert_allclose(found["probabilities"], expected(run, X).softmax(1), atol=1e-5)
        assert found["predicted"].tolist() == [str(i) for i in found["probabilities"].argmax(1)]
        assert found["classes"].tolist() == ["0", "1", "2"]


def test_numbers_come_in_their_own_units(trained: Trained, isotropy: Command) -> None:
    run = trained("mlp", "vectors")
    arrays = sources.vectors()
    np.savez("v.npz", X=arrays["X"][:10] + 0.5, y=arrays["y"][:10])
    found = isotropy("predict", run, "v.npz", "--out", "p.csv", "--json")
    rows = list(csv.reader(Path("p.csv").read_text().splitlines()))
    assert rows[0] == ["sample", "y0", "y1"]
    values = np.array([[float(v) for v in row[1:]] for row in rows[1:]])
    np.testing.assert_allclose(values, expected(run, arrays["X"][:10] + 0.5), rtol=1e-4)
    assert 50 < values[:, 0].mean() < 150
    mse = np.square(values - arrays["y"][:10]).mean()
    assert found.json["scores"]["mse"] == pytest.approx(mse, rel=1e-4)


def test_maps_need_an_npz(trained: Trained, isotropy: Command, tmp_path: Path) -> None:
    run = trained("unet", "maps")
    source = sources.write(tmp_path, "maps")
    refused = isotropy("predict", run, source, "--out", "p.csv")
    assert (refused.status, Path("p.csv").exists()) == (2, False)
    assert "need an .npz" in refused.error
    assert isotropy("predict", run, source, "--out", "p.npz").status == 0
    with np.load("p.npz") as found:
        count = len(found["predicted"])
        assert found["predicted"].shape == (count, 8, 8)
        assert found["probabilities"].shape == (count, 2, 8, 8)


# -- which samples ------------------------------------------------------------------------------


def test_of_a_runs_own_source_only_what_it_was_not_trained_on(
    trained: Trained, isotropy: Command
) -> None:
    run = trained("cnn", "pictures")
    source = run.parent / "pictures.npz"
    found = isotropy("predict", run, source, "--json", "--out", "p.npz").json
    test = split(iso.data.load(source).train, (0.7, 0.1, 0.2), seed=0)[2]
    assert found["samples"] == len(test)
    assert found["scores"] == pytest.approx(Run.open(run).result()["test"])
    other = isotropy("predict", run, source, "--part", "validation", "--json", "--out", "p.npz")
    assert other.json["scores"] == pytest.approx(Run.open(run).result()["validation"])


def test_parts_of_a_source(trained: Trained, isotropy: Command, tmp_path: Path) -> None:
    run = trained("cnn", "pictures")
    source = sources.write(tmp_path, "in_parts")
    for part, count in (("train", 36), ("test", 15), ("validation", 12)):
        found = isotropy("predict", run, source, "--part", part, "--out", "p.csv", "--json")
        assert found.json["samples"] == count
    assert isotropy("predict", run, source, "--out", "p.csv", "--json").json["samples"] == 15


# -- without labels -----------------------------------------------------------------------------


def bare_npy(X: np.ndarray) -> str:
    np.save("bare.npy", X)
    return "bare.npy"


def bare_npz(X: np.ndarray) -> str:
    np.savez("bare.npz", images=X)
    return "bare.npz"


@pytest.mark.parametrize("write", [bare_npy, bare_npz])
@pytest.mark.parametrize("count", [1, 9])
def test_inputs_alone(
    write: Callable[[np.ndarray], str], count: int, trained: Trained, isotropy: Command
) -> None:
    run, X = trained("cnn", "pictures"), sources.pictures(9, seed=4)["X"][:count]
    found = isotropy("predict", run, write(X), "--average", "C4", "--out", "p.npz")
    assert (found.status, found.err) == (0, "")
    assert "not scored: there are no labels" in found.out
    turned = [expected(run, np.rot90(X, k, axes=(1, 2))).softmax(1) for k in range(4)]
    np.testing.assert_allclose(
        np.load("p.npz")["probabilities"], torch.stack(turned).mean(0), atol=1e-5
    )


def test_inputs_alone_of_numbers(trained: Trained, isotropy: Command) -> None:
    run, X = trained("mlp", "vectors"), sources.vectors()["X"][:3]
    assert isotropy("predict", run, bare_npy(X), "--out", "p.npz", "--json").json["scores"] is None
    np.testing.assert_allclose(np.load("p.npz")["predicted"], expected(run, X), rtol=1e-4)


def test_a_folder_of_pictures(trained: Trained, isotropy: Command) -> None:
    run = trained("cnn", "pictures")
    Path("folder").mkdir()
    pixels = np.random.default_rng(0).integers(0, 255, (3, 8, 8), dtype=np.uint8)
    for name, one in zip(("b", "a", "c"), pixels, strict=True):
        Image.fromarray(one).save(f"folder/{name}.png")
    Path("folder/d.png").write_bytes(b"damaged")
    assert "folder/d.png" in isotropy("predict", run, "folder", "--out", "p.csv").error
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert isotropy("predict", run, "folder", "--skip-bad", "--out", "p.csv").status == 0
    rows = list(csv.reader(Path("p.csv").read_text().splitlines()))
    assert [row[0] for row in rows] == ["sample", "a.png", "b.png", "c.png"]
    probabilities = np.array([[float(v) for v in row[2:]] for row in rows[1:]])
    in_order = expected(run, pixels[[1, 0, 2]].astype(np.float32)).softmax(1)
    np.testing.assert_allclose(probabilities, in_order, atol=1e-5)


def test_inputs_alone_have_no_parts_and_must_be_numbers(
    trained: Trained, isotropy: Command
) -> None:
    run, X = trained("cnn", "pictures"), sources.pictures(9)["X"]
    assert "part" in isotropy("predict", run, bare_npy(X), "--part", "test").error
    X[3, 0, 0] = np.nan
    assert "bare.npy: sample 3" in isotropy("predict", run, bare_npy(X)).error
    assert "bare.npy" in isotropy("predict", run, bare_npy(X[:0])).error


# -- averaging ----------------------------------------------------------------------------------


def test_averaged_predictions_do_not_change_when_the_pictures_turn(
    trained: Trained, isotropy: Command
) -> None:
    run = trained("cnn", "pictures")
    arrays = sources.pictures(12, seed=3)
    for turns in (0, 1):
        X = np.rot90(arrays["X"], turns, axes=(1, 2))
        np.savez(f"{turns}.npz", X=X, y=arrays["y"])
        for average in ([], ["--average", "D4"]):
            out = f"{turns}{len(average)}.npz"
            assert isotropy("predict", run, f"{turns}.npz", *average, "--out", out).status == 0
    said = {name: np.load(f"{name}.npz")["probabilities"] for name in ("00", "10", "02", "12")}
    np.testing.assert_allclose(said["02"], said["12"], atol=1e-6)
    assert np.abs(said["00"] - said["10"]).max() > 1e-4


def test_a_tied_models_own_label_exchange_is_averaged_back(
    trained: Trained, isotropy: Command
) -> None:
    run = trained("cnn", "pictures", "--group", "C2", "--output", '{"r2": [1, 0, 2]}')
    np.savez("p.npz", **sources.pictures(12, seed=3))
    for average in ([], ["--average", "C2"]):
        isotropy("predict", run, "p.npz", *average, "--out", f"{len(average)}.npz")
    one, other = (np.load(f"{n}.npz")["probabilities"] for n in (0, 2))
    np.testing.assert_allclose(one, other, atol=1e-5)


# -- classes and shapes -------------------------------------------------------------------------


def test_classes_are_matched_by_name(trained: Trained, isotropy: Command) -> None:
    run = trained("cnn", "pictures")
    arrays = sources.pictures(30)
    some = arrays["y"] > 0
    np.savez("some.npz", X=arrays["X"][some], y=arrays["y"][some])
    found = isotropy("predict", run, "some.npz", "--out", "p.npz", "--json").json
    predicted = np.load("p.npz")["predicted"].astype(int)
    assert found["scores"]["accuracy"] == pytest.approx(np.mean(predicted == arrays["y"][some]))


def test_other_classes_are_not_scored(trained: Trained, isotropy: Command) -> None:
    arrays = sources.pictures(12)
    np.savez("named.npz", X=arrays["X"], y=np.array(["a", "b", "c"])[arrays["y"]])
    found = isotropy("predict", trained("cnn", "pictures"), "named.npz", "--out", "p.csv")
    assert found.status == 0
    assert "not scored" in found.out


BAD = [
    (["--out", "p.txt"], "out must end in .csv or .npz"),
    (["--out", "no/where/p.csv"], "out: there is no folder no/where"),
    (["--part", "half"], "part must be one of"),
    (["--part", "test"], "part: other has no test data set apart"),
    (["--average", "D44"], "D44"),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_refused(
    options: list[str], words: str, trained: Trained, isotropy: Command, tmp_path: Path
) -> None:
    source, _ = other_pictures(tmp_path)
    found = isotropy("predict", trained("cnn", "pictures"), source, *options)
    assert found.status == 2
    assert words in found.error


def test_samples_of_another_shape_are_refused(
    trained: Trained, isotropy: Command, tmp_path: Path
) -> None:
    np.savez("wide.npz", **sources.pictures(side=10))
    found = isotropy("predict", trained("cnn", "pictures"), "wide.npz")
    assert found.status == 2
    assert "wide has samples of shape (1, 10, 10), and the model" in found.error
