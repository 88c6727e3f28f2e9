"""Samples beside their twins: every kind of data becomes something to look at."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from isotropy.errors import InputError
from isotropy.report.pictures import limits_of, picture, samples_of
from isotropy.report.samples import MOST, read_images, sample_rows
from tests.report import examples


def decoded(address: str) -> np.ndarray:
    """The pixels that an address holds."""
    data = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    return np.asarray(Image.open(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("shape", "shown"),
    [((1, 3, 5), (3, 5)), ((3, 4, 4), (4, 4, 3)), ((2, 4, 4), (4, 4)), ((7, 4, 6), (4, 6, 3))],
)
def test_a_picture_keeps_its_pixels(shape: tuple[int, ...], shown: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).integers(0, 256, shape)
    found = decoded(picture(values / 255, "image", (0.0, 1.0), "x").address)
    assert found.shape == shown
    expected = np.moveaxis(values[:3], 0, -1) if len(shown) == 3 else values[0]
    np.testing.assert_array_equal(found, expected)


def test_a_volume_is_shown_by_its_middle_slices() -> None:
    volume = np.zeros((1, 4, 6, 8))
    volume[0, 2] = 1
    found = decoded(picture(volume, "volume", (0.0, 1.0), "x").address)
    assert found.shape == (6, 8 + 8 + 6 + 3)
    assert found[:, :8].min() == 255
    assert (found[2, 9:17] == 255).all()


def test_signals_and_columns_are_lines() -> None:
    assert len(picture(np.ones((5, 30)), "signal", (0.0, 1.0), "x").drawings) == 3
    assert len(picture(np.ones(12), "vector", (0.0, 1.0), "x").drawings) == 1


@pytest.mark.parametrize(
    ("values", "limits"),
    [([0.2, 0.9], (0.0, 1.0)), ([-1.0, 2.0], (-1.0, 2.0)), ([3.0, 3.0], (3.0, 4.0)),
     ([np.nan, np.inf], (0.0, 1.0))],
)  # fmt: skip
def test_limits(values: list[float], limits: tuple[float, float]) -> None:
    assert limits_of(np.asarray(values)) == limits


@pytest.mark.parametrize("values", [np.array(["a"]), np.zeros(3), np.zeros((0, 1, 4, 4)), None])
def test_what_is_no_array_of_samples_is_refused(values: Any) -> None:
    with pytest.raises(InputError, match=r"images\['samples'\] must be an array of samples"):
        samples_of(values, "images['samples']")


def test_samples_stand_beside_their_twins() -> None:
    found = sample_rows(examples.image_result(), examples.images())
    assert [sample.label for sample in found] == ["0", "1", "2", "3"]
    assert [twin.caption for twin in found[0].twins] == [
        "a quarter turn", "a half turn", "three quarter turns", "mirror left-right",
    ]  # fmt: skip
    upright, quarter = (decoded(p.address) for p in (found[0].picture, found[0].twins[0].picture))
    np.testing.assert_array_equal(np.rot90(upright), quarter)


def test_twins_that_the_result_does_not_describe_are_named_by_their_elements() -> None:
    found = sample_rows({"data": {"kind": "image"}}, examples.images(12))
    assert len(found) == MOST
    assert found[0].label == ""
    assert found[0].twins[1].caption == "a half turn"


def test_without_pictures_there_are_no_samples() -> None:
    assert sample_rows(examples.image_result(), None) == []
    assert sample_rows(examples.image_result(), {"samples": None}) == []


def test_there_must_be_a_twin_for_each_sample() -> None:
    images = examples.images()
    images["turned"]["r"] = images["turned"]["r"][:2]
    with pytest.raises(InputError, match=r"\['r'\] has 2 samples, images\['samples'\] 4"):
        sample_rows({}, images)


def test_pictures_that_were_kept_are_read(tmp_path: Path) -> None:
    images = examples.images()
    path = tmp_path / "samples.npz"
    np.savez(
        path, samples=images["samples"], **{f"turned_{k}": v for k, v in images["turned"].items()}
    )
    found = read_images(path)
    assert list(found["turned"]) == list(images["turned"])
    np.testing.assert_array_equal(found["samples"], images["samples"])


def broken_files(folder: Path) -> list[Path]:
    """Files that are no pictures: missing, cut off, without samples, with pickled objects."""
    missing, cut, without, pickled = (
        folder / f"{n}.npz" for n in ("missing", "cut", "without", "p")
    )
    np.savez(without, other=np.zeros(3))
    cut.write_bytes(without.read_bytes()[:60])
    np.savez(pickled, samples=np.array([{}], dtype=object), allow_pickle=True)
    return [missing, cut, without, pickled]


@pytest.mark.parametrize("number", range(4))
def test_a_file_that_holds_no_pictures_is_refused(tmp_path: Path, number: int) -> None:
    path = broken_files(tmp_path)[number]
    with pytest.raises(InputError, match=path.name):
        read_images(path)
