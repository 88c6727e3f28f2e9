"""Folders of pictures: every kind of file, parts, damaged pictures, and never all at once."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import isotropy as iso
from isotropy.data import load
from isotropy.data.pictures import SUFFIXES, PictureSamples, decode
from isotropy.training.batches import AHEAD, Batches
from tests.data.drawing import draw, draw_classes, noise

GREY, COLOUR, ALPHA = noise(6, 8), noise(6, 8, 3), noise(6, 8, 4)


def two_classes(folder: Path, suffix: str, first: Any, second: Any) -> Path:
    """Two pictures each of two classes, the first of class "a" being `first`."""
    draw(folder / "a" / f"0{suffix}", first)
    draw(folder / "b" / f"0{suffix}", second)
    draw(folder / "a" / f"1{suffix}", second)
    draw(folder / "b" / f"1{suffix}", second)
    return folder


def read(folder: Path, **options: Any) -> torch.Tensor:
    """All pictures of a folder."""
    data = load(folder, **options).train
    return data.batch(np.arange(len(data)))[0]


# --- kinds of files --------------------------------------------------------------------------


LOSSLESS = [
    (suffix, pixels, channels)
    for suffix in (".png", ".PNG", ".tif", ".tiff", ".bmp")
    for pixels, channels in ((GREY, 1), (COLOUR, 3), (ALPHA, 4))
    if (suffix, channels) != (".bmp", 4)  # Pillow reads no opacity from these
]


@pytest.mark.parametrize(("suffix", "pixels", "channels"), LOSSLESS)
def test_lossless_pictures(suffix: str, pixels: Any, channels: int, tmp_path: Path) -> None:
    """Exactly the pixels that were written: grey, in colour, with opacity."""
    folder = two_classes(tmp_path / "set", suffix, pixels, pixels[::-1].copy())
    x = read(folder)
    assert x.shape == (4, channels, 6, 8)
    expected = pixels[None] if channels == 1 else np.moveaxis(pixels, -1, 0)
    assert np.array_equal(x[0].numpy(), expected)


def test_jpeg(tmp_path: Path) -> None:
    """As Pillow decodes them; .jpg and .jpeg, in colour and grey."""
    smooth = np.linspace(0, 255, 64).reshape(8, 8).astype(np.uint8)
    for suffix, pixels in ((".jpg", smooth), (".jpeg", np.stack([smooth] * 3, -1))):
        folder = two_classes(tmp_path / suffix, suffix, pixels, pixels[::-1].copy())
        x = read(folder)
        assert x.shape[1] == (1 if pixels.ndim == 2 else 3)
        assert np.abs(x[0, 0].numpy() - smooth).max() < 12
        with Image.open(folder / "a" / f"0{suffix}") as picture:
            assert np.array_equal(x[0].movedim(0, -1).squeeze().numpy(), np.asarray(picture))


@pytest.mark.parametrize(
    ("pixels", "suffix"),
    [
        (np.array([[0, 1000], [40000, 65535]], np.uint16), ".png"),
        (np.array([[0, 1000], [40000, 65535]], np.uint16), ".tif"),
        (np.array([[-5, 1000], [40000, 2**20]], np.int32), ".tif"),
        (np.array([[0.5, -1.0], [1e-3, 1e6]], np.float32), ".tif"),
    ],
)
def test_numbers_of_more_than_8_bits(pixels: Any, suffix: str, tmp_path: Path) -> None:
    """Medical and astronomical pictures keep their values."""
    x = read(two_classes(tmp_path / "set", suffix, pixels, pixels[::-1].copy()))
    assert np.array_equal(x[0, 0].numpy(), pixels.astype(np.float32))


def test_palettes_and_bits(tmp_path: Path) -> None:
    """Palettes become colours, black and white becomes grey."""
    coloured = Image.fromarray(COLOUR).quantize(4)
    folder = tmp_path / "palette"
    for name in ("a/0.png", "a/1.png", "b/0.png", "b/1.png"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        coloured.rotate(180 * int(name[2])).save(folder / name)
    assert np.array_equal(
        read(folder)[0].movedim(0, -1).numpy(), np.asarray(coloured.convert("RGB"))
    )
    bits = GREY > 128
    x = read(two_classes(tmp_path / "bits", ".png", bits, ~bits))
    assert np.array_equal(x[0, 0].numpy(), bits * 255.0)


def test_forms_that_differ_become_the_richest(tmp_path: Path) -> None:
    """Grey beside colour: all are in colour, whatever class they are of."""
    folder = two_classes(tmp_path / "set", ".png", GREY, COLOUR)
    x = read(folder)
    assert x.shape[1] == 3
    assert np.array_equal(x[0].numpy(), np.stack([GREY] * 3))
    draw(folder / "b" / "1.png", ALPHA)
    assert read(folder).shape[1] == 4


def test_pictures_on_their_side_are_seen_upright(tmp_path: Path) -> None:
    """Cameras write which way is up beside the pixels."""
    exif = Image.Exif()
    exif[0x0112] = 6
    folder = tmp_path / "set"
    for i, pixels in enumerate((COLOUR, COLOUR[::-1].copy())):
        draw(folder / "a" / f"{i}.png", pixels, exif=exif)
        draw(folder / "b" / f"{i}.png", pixels, exif=exif)
    x = read(folder)
    assert x.shape == (4, 3, 8, 6)
    assert np.array_equal(x[0].movedim(0, -1).numpy(), np.rot90(COLOUR, -1))


def test_animations_are_their_first_picture(tmp_path: Path) -> None:
    folder = two_classes(tmp_path / "set", ".tif", COLOUR, COLOUR[::-1].copy())
    pages = [Image.fromarray(COLOUR), Image.fromarray(noise(6, 8, 3))]
    pages[0].save(folder / "a" / "0.tif", save_all=True, append_images=pages[1:])
    assert np.array_equal(read(folder)[0].movedim(0, -1).numpy(), COLOUR)


# --- which files and folders -----------------------------------------------------------------


def test_classes_are_folders_in_order(tmp_path: Path) -> None:
    """By name; pictures lie in them at any depth; hidden and other files are none."""
    folder = draw_classes(tmp_path / "set")
    draw(folder / "dogs" / "small" / "x.BMP", noise(6, 6, 3))
    draw(folder / "dogs" / ".hidden.png", noise(6, 6, 3))
    (folder / "dogs" / "notes.txt").write_text("good dogs")
    (folder / ".git").mkdir()
    data = load(folder).train
    assert (data.classes, data.name) == (("cats", "dogs"), "set")
    assert np.bincount(data.targets).tolist() == [3, 4]


@pytest.mark.parametrize("validation", ["val", "valid", "validation"])
def test_parts(validation: str, tmp_path: Path) -> None:
    for part, count in (("train", 4), ("test", 3), (validation, 2)):
        draw_classes(tmp_path / part, count)
    found = load(tmp_path)
    assert [len(part) for part in found.parts()] == [8, 6, 4]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_resizing_pictures_of_many_sizes(suffix: str, tmp_path: Path) -> None:
    """All become squares of one side, cut from their centres: a bar in the middle stays there."""
    for i, (height, width) in enumerate([(20, 30), (30, 20), (16, 16), (64, 100)]):
        pixels = np.zeros((height, width), np.uint8)
        middle = width // 2
        pixels[:, middle - height // 8 : middle + height // 8] = 255
        draw(tmp_path / "ab"[i % 2] / f"{i}{suffix}", pixels)
    x = read(tmp_path, resize=8)
    assert x.shape == (4, 1, 8, 8)
    assert (x[..., 3:5].mean((1, 2, 3)) > 150).all()
    assert (x[..., [0, 7]].mean((1, 2, 3)) < 20).all()


def test_the_fingerprint_is_of_the_files(tmp_path: Path) -> None:
    folder = draw_classes(tmp_path / "set")
    before = load(folder).train.fingerprint()
    assert load(folder).train.fingerprint() == before
    draw(folder / "cats" / "1.png", noise(6, 6, 3))
    assert load(folder).train.fingerprint() != before


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    load(draw_classes(tmp_path / "set"), progress=lambda *what: told.append(what))
    assert told == [("pictures", i, 6) for i in range(1, 7)]


# --- what cannot be read ---------------------------------------------------------------------


def damaged(folder: Path, kind: str) -> Path:
    """One picture of a folder, damaged."""
    path = folder / "dogs" / "1.jpg"
    content = path.read_bytes()
    path.write_bytes(
        {
            "cut short": content[: len(content) // 2],
            "empty": b"",
            "text": b"this is not a picture",
            "header only": content[:20],
            "another format": b"GIF89a" + bytes(20),
        }[kind]
    )
    return path


KINDS = ("cut short", "empty", "text", "header only", "another format")


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_pictures(kind: str, tmp_path: Path) -> None:
    """Found before training, and named; with skip_bad left out, counted and said."""
    folder = draw_classes(tmp_path / "set", 4, ".jpg", 32)
    path = damaged(folder, kind)
    with pytest.raises(iso.InputError, match="skip-bad") as caught:
        load(folder)
    assert str(caught.value).startswith(f"{path}: is damaged or no picture")
    assert "\n" not in str(caught.value)
    with pytest.warns(iso.IsotropyWarning, match=f"set: 1 pictures .* the first: {path}"):
        data = load(folder, skip_bad=True).train
    assert np.bincount(data.targets).tolist() == [4, 3]
    assert data.origin["skipped"] == 1


def test_skip_bad_is_quiet_where_all_is_well(tmp_path: Path) -> None:
    assert "skipped" not in load(draw_classes(tmp_path / "set"), skip_bad=True).train.origin


def test_pictures_that_are_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow refuses what would fill the memory."""
    folder = draw_classes(tmp_path / "set", size=32)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(iso.InputError, match=r"is damaged or no picture \(Image size .* exceeds"):
        load(folder)


def test_a_picture_that_changes_meanwhile(tmp_path: Path) -> None:
    folder = draw_classes(tmp_path / "set")
    data = load(folder).train
    draw(folder / "cats" / "0.png", noise(7, 7, 3))
    with pytest.raises(iso.InputError, match=r"0\.png: is of another size than when"):
        data.batch([0])
    (folder / "cats" / "1.png").unlink()
    with pytest.raises(iso.InputError, match=r"1\.png: cannot be read"):
        data.batch([1])


def lay_out(folder: Path, names: list[str]) -> None:
    for name in names:
        if name.endswith("/"):
            (folder / name).mkdir(parents=True)
        else:
            draw(folder / name, noise(6, 6))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a.png"], "has no folders in it; there must be one for each class"),
        (["a/0.png", "b/"], "b: has no picture in it (.png .jpg"),
        (["a/0.png", "a/1.png", "a/2.png", "a/3.png"], "two classes or more, but all are 'a'"),
        (["a/0.png", "b/0.png"], "2 samples are too few"),
        (["train/a.png", "test/b/0.png"], "train: has no folders in it"),
    ],
)
def test_folders_that_are_no_data(names: list[str], message: str, tmp_path: Path) -> None:
    lay_out(tmp_path, names)
    with pytest.raises(iso.InputError) as caught:
        load(tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (noise(9, 8, 3), r"b/1\.png: is 9×8, but .*0\.png 6×8; say resize \(--resize PIXELS\)"),
        (noise(6, 8).astype(np.uint16), r"b/1\.png has numbers of more than 8 bits, but .*0\.png"),
    ],
)
def test_pictures_that_do_not_go_together(other: Any, message: str, tmp_path: Path) -> None:
    folder = two_classes(tmp_path / "set", ".png", COLOUR, COLOUR[::-1].copy())
    draw(folder / "b" / "1.png", other)
    with pytest.raises(iso.InputError, match=message):
        load(folder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": "nchw"}, "layout: means nothing for a folder of pictures"),
        ({"target": "angle"}, "target: means nothing for a folder of pictures"),
        ({"task": "dense"}, "task: pictures in class folders are for classification, not dense"),
        ({"resize": 0}, "resize must be a number of pixels"),
    ],
)
def test_options(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(iso.InputError, match=message):
        load(draw_classes(tmp_path / "set"), **options)


@pytest.mark.parametrize("part", ["test", "val"])
def test_parts_must_fit(part: str, tmp_path: Path) -> None:
    """A class only the test data have is one all the same; another size is refused."""
    draw_classes(tmp_path / "train")
    draw_classes(tmp_path / part)
    draw(tmp_path / part / "eels" / "0.png", noise(6, 6, 3))
    assert load(tmp_path).train.classes == ("cats", "dogs", "eels")
    draw(tmp_path / part / "eels" / "1.png", noise(8, 8, 3))
    with pytest.raises(iso.InputError, match=r"eels/1\.png: is 8×8"):
        load(tmp_path)


# --- memory ----------------------------------------------------------------------------------


class Counted:
    """Counts decoded pictures that are held at once."""

    def __init__(self) -> None:
        self.now = self.most = self.total = 0
        self.lock = threading.Lock()

    def decode(self, *what: Any) -> np.ndarray:
        pixels = decode(*what).view(_Held)
        pixels.counted = self
        with self.lock:
            self.now += 1
            self.total += 1
            self.most = max(self.most, self.now)
        return pixels


class _Held(np.ndarray):
    counted: Counted | None = None

    def __del__(self) -> None:
        if self.counted is not None:
            with self.counted.lock:
                self.counted.now -= 1


def test_pictures_are_never_decoded_all_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading holds one picture for each thread; a batch its own pictures as floats, no more."""
    data = load(draw_classes(tmp_path / "set", 40)).train
    counted = Counted()
    monkeypatch.setattr("isotropy.data.pictures.decode", counted.decode)
    for start in range(0, 80, 16):
        data.batch(np.arange(start, start + 16))
    assert counted.total == 80
    assert counted.most <= 2
    assert isinstance(data.samples, PictureSamples)
    held = [value for value in vars(data.samples).values() if isinstance(value, torch.Tensor)]
    assert not held


def test_batches_made_ahead_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Training from files holds the batch in use and some made ahead, however slow it is."""
    data = load(draw_classes(tmp_path / "set", 40)).train
    monkeypatch.setattr("isotropy.training.batches.resident", lambda *_: None)
    made: list[int] = []
    take = PictureSamples.take

    def counted(self: PictureSamples, indices: Any) -> torch.Tensor:
        made.append(len(indices))
        return take(self, indices)

    monkeypatch.setattr(PictureSamples, "take", counted)
    used = 0
    for _, x, _ in Batches(data, 4, 0, torch.device("cpu")).epoch(1):
        time.sleep(0.005)  # the network; the threads that decode are never slower
        used += len(x)
        assert sum(made) - used <= 4 * AHEAD
    assert sum(made) == used == 80
