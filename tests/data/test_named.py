"""Named sets: each reader on small files in the official format, from a server on loopback."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pickle
import sys
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import isotropy as iso
from isotropy.data import DataSet, Splits, catalogue, load
from isotropy.data.cache import Cache
from isotropy.data.download import Remote, record_of
from isotropy.data.named.entry import Entry
from isotropy.data.named.rotated import AMAT, LAROCHELLE
from isotropy.data.options import Options
from tests.data.official import idx, jpeg, labelled, made_of, pixels, table, tar_gz, zipped
from tests.data.server import serving
from tests.turns import ELEMENTS, turn

SHARED = Path(__file__).parents[3] / "shared" / "data"  # real files beside the repository


def read(
    name: str | Entry, contents: Sequence[bytes], cache: Path, **options: Any
) -> tuple[Splits, list[str]]:
    """A named set made of other files, downloaded from a mirror; and the paths asked for."""
    entry = catalogue()[name] if isinstance(name, str) else name
    entry = made_of(entry, contents)
    files = {file.path: content for file, content in zip(entry.files, contents, strict=True)}
    with serving(files) as server:
        chosen = Options(cache=cache, mirror=server.address, **options)
        found = entry.load(Cache.of(chosen), chosen)
        return found, [path for path, _ in server.asked]


def stored(data: DataSet) -> np.ndarray:
    """All pictures."""
    return data.batch(np.arange(len(data)))[0].numpy()


# --- the catalogue ---------------------------------------------------------------------------

NAMES = """digits mnist mnist90 rotmnist fashion_mnist cifar10 cifar100 stl10 galaxy10 isic2019
    fashion_mnist_early cifar10_11k efigi isic_uda1"""


def test_all_sets_are_there() -> None:
    assert set(catalogue()) == set(NAMES.split())
    assert all(name == entry.name for name, entry in catalogue().items())


def test_no_checksum_is_made_up() -> None:
    """Every one is of the form it says; ISIC 2019 publishes none."""
    lengths = {"md5": 32, "sha256": 64}
    for entry in catalogue().values():
        for file in entry.files:
            assert file.address.startswith(("https://", "http://"))
            if file.checksum is None:
                assert entry.name == "isic2019"
                continue
            kind, _, digest = file.checksum.partition(":")
            assert len(bytes.fromhex(digest)) * 2 == lengths[kind]


@pytest.mark.parametrize("name", NAMES.split())
def test_options_that_mean_nothing_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(iso.InputError, match=f"skip_bad: means nothing for {name}"):
        load(name, skip_bad=True, cache=tmp_path)


@pytest.mark.parametrize("name", ["fashion_mnist_early", "cifar10_11k", "efigi", "isic_uda1"])
def test_local_sets_say_where_they_are_missed(name: str, tmp_path: Path) -> None:
    (file,) = catalogue()[name].local
    with pytest.raises(iso.InputError, match="cannot be downloaded, and") as caught:
        load(name, cache=tmp_path)
    assert str(tmp_path / file) in str(caught.value)
    assert not catalogue()[name].is_here(Cache(tmp_path))


# --- MNIST and what is made of it ------------------------------------------------------------

TRAIN, TEST = pixels(30, 28, 28), pixels(20, 28, 28)
DIGITS = np.arange(30) % 10
FOUR = [idx(TRAIN), idx(DIGITS.astype(np.uint8)), idx(TEST), idx((DIGITS[:20]).astype(np.uint8))]


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_mnist(name: str, tmp_path: Path) -> None:
    found, asked = read(name, FOUR, tmp_path)
    assert len(asked) == 4
    assert found.test is not None
    assert np.array_equal(stored(found.train)[:, 0], TRAIN)
    assert np.array_equal(stored(found.test)[:, 0], TEST)
    assert found.train.targets.tolist() == DIGITS.tolist()
    assert len(found.train.classes) == 10
    assert (found.train.name, found.note) == (name, "")
    assert read(name, FOUR, tmp_path)[1] == []


def test_mnist_of_the_wrong_lengths(tmp_path: Path) -> None:
    files = [FOUR[0], idx(DIGITS[:29].astype(np.uint8)), *FOUR[2:]]
    with pytest.raises(iso.InputError, match=r"train-images.*gz: 30 samples, but 29 targets"):
        read("mnist", files, tmp_path)


IDX = idx(TRAIN)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (IDX[: len(IDX) // 2], "is not a .gz file, or is damaged or cut short"),
        (b"plain text", "cannot be read: Not a gzipped file"),
        (idx(TRAIN)[:0], "is not an IDX file"),
        (gzip.compress(b"\0\0\x08\x03\0\0", mtime=0), "ends within its header"),
        (gzip.compress(b"\1\0\x08\x03\0\0", mtime=0), "is not an IDX file"),
        (
            gzip.compress(b"\0\0\x08\x01\xff\xff\xff\xff12", mtime=0),
            "holds 2 bytes of numbers, but its header says 4294967295",
        ),
    ],
)
def test_damaged_idx_files(content: bytes, message: str, tmp_path: Path) -> None:
    """As they come; nobody's checksum would let them pass."""
    with pytest.raises(iso.InputError) as caught:
        read("mnist", [content, *FOUR[1:]], tmp_path)
    assert message in str(caught.value)
    assert "train-images-idx3-ubyte.gz" in str(caught.value)


def test_fashion_mnist_points_to_the_early_release(tmp_path: Path) -> None:
    (tmp_path / "fashion_mnist_early.npz").touch()
    with serving({}) as server, pytest.raises(iso.InputError, match="The early release is here"):
        load("fashion_mnist", cache=tmp_path, mirror=server.address)


def test_mnist_by_quarter_turns(tmp_path: Path) -> None:
    """Both parts, every digit by a quarter turn of its own; the labels stay."""
    found, _ = read("mnist90", FOUR, tmp_path)
    assert found.test is not None
    for part, upright in ((found.train, TRAIN), (found.test, TEST)):
        used = set()
        for before, after in zip(upright, stored(part)[:, 0], strict=True):
            used |= {n for n in range(4) if np.array_equal(np.rot90(before, n), after)}
        assert used == {0, 1, 2, 3}
    assert found.train.targets.tolist() == DIGITS.tolist()
    assert found.note == (
        "MNIST, every digit of training and test data turned by a random quarter turn "
        "(drawn with seed 0)"
    )


def small_rotmnist(original: Remote = LAROCHELLE) -> Entry:
    """The entry, with counts that small files have."""
    entry = catalogue()["rotmnist"]
    assert isinstance(entry.read, partial)
    read = partial(entry.read.func, counts=(12, 34), original=original)
    return Entry(entry.name, entry.about, read, entry.files, note=entry.note)


def test_rotated_mnist_as_a_stand_in(tmp_path: Path) -> None:
    """Different digits of both of MNIST's parts, turned; drawn by the seed, and said."""
    found, _ = read(small_rotmnist(), FOUR, tmp_path)
    again, _ = read(small_rotmnist(), FOUR, tmp_path)
    other, _ = read(small_rotmnist(), FOUR, tmp_path, seed=1)
    assert found.test is not None
    assert (len(found.train), len(found.test)) == (12, 34)
    assert found.train.fingerprint() == again.train.fingerprint() != other.train.fingerprint()
    assert found.note.startswith("a stand-in for Larochelle's rotated MNIST and not that set")
    assert found.note.endswith("(drawn with seed 0)")
    assert found.train.origin["moves"] == "rotation"


def test_rotated_mnist_draws_every_digit_once(tmp_path: Path) -> None:
    """A disc of one grey level for each digit is known again however it is turned."""
    rows, columns = np.indices((28, 28)) - 13.5
    disc = (np.hypot(rows, columns) < 9).astype(np.uint8)
    grey = np.arange(1, 51)[:, None, None].astype(np.uint8)
    files = [idx(grey[:30] * disc), FOUR[1], idx(grey[30:] * disc), FOUR[3]]
    found, _ = read(small_rotmnist(), files, tmp_path)
    assert found.test is not None
    levels = [stored(part)[:, 0, 14, 14] for part in (found.train, found.test)]
    assert len(set(levels[0]) | set(levels[1])) == 12 + 34
    for part, level in zip((found.train, found.test), levels, strict=True):
        assert part.targets.tolist() == [int(g - 1) % 30 % 10 for g in level]


def test_resizing_comes_after_turning(tmp_path: Path) -> None:
    large, _ = read(small_rotmnist(), FOUR, tmp_path)
    small, _ = read(small_rotmnist(), FOUR, tmp_path, resize=14)
    expected = stored(iso.data.load(large.train, resize=14).train)
    assert np.array_equal(stored(small.train), expected)


def amat(count: int) -> tuple[np.ndarray, bytes]:
    """Rows of a picture's values and its digit, as Larochelle wrote them."""
    values = np.round(np.random.default_rng(count).random((count, 784)), 6)
    rows = [" ".join([*(f"{v:.6f}" for v in row), f"{i % 10}.0"]) for i, row in enumerate(values)]
    return values.reshape(-1, 28, 28), "\n".join(rows).encode() + b"\n"


def larochelle(cache: Path, members: dict[str, bytes]) -> Remote:
    """The archive in a cache, and how it is known."""
    content = zipped(members, zipfile.ZIP_DEFLATED)
    path = cache / LAROCHELLE.path
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return Remote(LAROCHELLE.path, LAROCHELLE.address, f"md5:{hashlib.md5(content).hexdigest()}")


def test_rotated_mnist_of_larochelle(tmp_path: Path) -> None:
    """With his archive in the cache nothing is drawn or downloaded, and nothing to be said."""
    (train, train_text), (test, test_text) = amat(12), amat(8)
    members = {AMAT.format("train_valid"): train_text, AMAT.format("test"): test_text}
    original = larochelle(tmp_path, members)
    for _ in range(2):  # as text, and as it is kept
        found, asked = read(small_rotmnist(original), FOUR, tmp_path)
        assert asked == []
        assert found.test is not None
        assert np.array_equal(stored(found.train)[:, 0], train.astype(np.float32))
        assert np.array_equal(stored(found.test)[:, 0], test.astype(np.float32))
        assert found.test.targets.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
        assert found.note == ""


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"readme": b""}, "has no mnist_all_rotation_normalized_float_train_valid.amat in it"),
        ({AMAT.format("train_valid"): b"1 2 3\n"}, "line 1 of .* has 3 numbers, not 785"),
        ({AMAT.format("train_valid"): b"a b c\n"}, "or is damaged"),
        ({AMAT.format("train_valid"): b""}, "has no rows"),
    ],
)
def test_damaged_amat_files(members: dict[str, bytes], message: str, tmp_path: Path) -> None:
    original = larochelle(tmp_path, members)
    with pytest.raises(iso.InputError, match=message):
        read(small_rotmnist(original), FOUR, tmp_path)


def test_another_archive_is_not_taken_for_larochelles(tmp_path: Path) -> None:
    larochelle(tmp_path, {"readme": b""})
    with pytest.raises(iso.FileFormatError, match=r"mnist_rotation_new\.zip: has another checksum"):
        read(small_rotmnist(), FOUR, tmp_path)


# --- CIFAR -----------------------------------------------------------------------------------


def cifar10() -> tuple[np.ndarray, bytes]:
    """Five batches of four and a test batch of five."""
    pictures = pixels(25, 3, 32, 32)
    labels = np.arange(25) % 10
    folder = "cifar-10-batches-bin"
    members = {
        f"{folder}/data_batch_{i + 1}.bin": labelled(
            pictures[4 * i : 4 * i + 4], labels[4 * i : 4 * i + 4]
        )
        for i in (3, 1, 0, 4, 2)
    }
    members[f"{folder}/test_batch.bin"] = labelled(pictures[20:], labels[20:])
    names = "airplane automobile bird cat deer dog frog horse ship truck"
    members[f"{folder}/batches.meta.txt"] = "\n".join([*names.split(), "", ""]).encode()
    members[f"{folder}/readme.html"] = b"<html></html>"
    return pictures, tar_gz(members)


def test_cifar10(tmp_path: Path) -> None:
    pictures, archive = cifar10()
    found, asked = read("cifar10", [archive], tmp_path)
    assert asked == ["/cifar10/cifar-10-binary.tar.gz"]
    assert found.test is not None
    assert np.array_equal(stored(found.train), pictures[:20])
    assert np.array_equal(stored(found.test), pictures[20:])
    assert found.train.targets.tolist() == [i % 10 for i in range(20)]
    assert found.train.classes[:3] == ("airplane", "automobile", "bird")
    unpacked = sorted(p.name for p in (tmp_path / "cifar10").rglob("*") if p.is_file())
    assert "readme.html" not in unpacked
    assert len(unpacked) == 8


@pytest.mark.parametrize(("target", "classes"), [(None, 100), ("fine", 100), ("coarse", 20)])
def test_cifar100(target: str | None, classes: int, tmp_path: Path) -> None:
    """Two labels before every picture: the coarse one first."""
    pictures, fine = pixels(12, 3, 32, 32), np.arange(12) * 8
    coarse = fine // 5
    members = {
        "cifar-100-binary/train.bin": labelled(pictures[:8], coarse[:8], fine[:8]),
        "cifar-100-binary/test.bin": labelled(pictures[8:], coarse[8:], fine[8:]),
        "cifar-100-binary/fine_label_names.txt": "\n".join(f"f{i}" for i in range(100)).encode(),
        "cifar-100-binary/coarse_label_names.txt": "\n".join(f"c{i}" for i in range(20)).encode(),
    }
    found, _ = read("cifar100", [tar_gz(members)], tmp_path, target=target)
    expected = coarse if target == "coarse" else fine
    assert found.test is not None
    assert found.train.outputs == classes
    assert found.train.targets.tolist() == expected[:8].tolist()
    assert np.array_equal(stored(found.test), pictures[8:])


def test_unknown_labels_of_cifar100(tmp_path: Path) -> None:
    with pytest.raises(iso.InputError, match=r"labels fine \(100\) and coarse \(20\), not medium"):
        load("cifar100", target="medium", cache=tmp_path)


def test_the_pickled_cifar_is_not_read(tmp_path: Path) -> None:
    """The archive for Python has no such files in it."""
    archive = tar_gz({"cifar-10-batches-py/data_batch_1": pickle.dumps({})})
    with pytest.raises(iso.FileFormatError, match=r"has no cifar-10-batches-bin/.* in it"):
        read("cifar10", [archive], tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda archive: archive[: len(archive) // 3], "damaged or cut short"),
        (lambda archive: b"not a tar", "damaged or cut short"),
        (
            lambda archive: tar_gz(
                {
                    f"cifar-10-batches-bin/{name}": b"123"
                    for name in (
                        *(f"data_batch_{i}.bin" for i in range(1, 6)),
                        *("test_batch.bin", "batches.meta.txt"),
                    )
                }
            ),
            "is no file of records of 3073 bytes, it has 3",
        ),
    ],
)
def test_damaged_archives(change: Any, message: str, tmp_path: Path) -> None:
    """Nothing half unpacked stays behind."""
    _, archive = cifar10()
    with pytest.raises(iso.InputError, match=message):
        read("cifar10", [change(archive)], tmp_path)
    assert not [p for p in tmp_path.rglob("*") if p.name.endswith(".tmp")]


def test_archives_write_nowhere_else(tmp_path: Path) -> None:
    """Members that point out of the folder are not asked for, and so not unpacked."""
    evil = {"../evil": b"x", "/tmp/evil-isotropy": b"x", "cifar-10-batches-bin/../../evil": b"x"}
    with pytest.raises(iso.FileFormatError, match="has no"):
        read("cifar10", [tar_gz(evil)], tmp_path / "cache")
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["cifar-10-binary.tar.gz"]


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder that is in the way stands for one without permission, which root would have."""
    _, archive = cifar10()
    (tmp_path / "cifar10").mkdir()
    (tmp_path / "cifar10" / "cifar-10-batches-bin").write_text("in the way")
    with pytest.raises(iso.InputError, match=r"cannot write .*; set ISOTROPY_DATA to a folder"):
        read("cifar10", [archive], tmp_path)


# --- large pictures --------------------------------------------------------------------------


def test_stl10(tmp_path: Path) -> None:
    """Pictures lie there column by column, labels from 1; they are mapped, not read."""
    upright = pixels(9, 96, 96, 3)
    columns_first = upright.transpose(0, 3, 2, 1)
    names = [f"class{i}" for i in range(10)]
    members = {
        "stl10_binary/class_names.txt": "\n".join(names).encode(),
        "stl10_binary/unlabeled_X.bin": bytes(1000),
        "stl10_binary/train_X.bin": columns_first[:5].tobytes(),
        "stl10_binary/train_y.bin": bytes([1, 10, 3, 4, 5]),
        "stl10_binary/test_X.bin": columns_first[5:].tobytes(),
        "stl10_binary/test_y.bin": bytes([2, 2, 3, 1]),
    }
    found, _ = read("stl10", [tar_gz(members)], tmp_path)
    assert found.test is not None
    assert np.array_equal(stored(found.train), upright[:5].transpose(0, 3, 1, 2))
    assert found.train.targets.tolist() == [0, 9, 2, 3, 4]
    assert found.test.targets.tolist() == [1, 1, 2, 0]
    assert found.train.classes == tuple(names)
    assert is_mapped(found.train)
    assert not (tmp_path / "stl10" / "stl10_binary" / "unlabeled_X.bin").exists()


def is_mapped(data: DataSet) -> bool:
    """Whether the samples lie in a file."""
    base = getattr(data.samples, "array", None)
    while base is not None and not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
    return base is not None


@pytest.mark.parametrize(
    "storage",
    [{}, {"chunks": (2, 8, 8, 3)}, {"chunks": (3, 4, 4, 1), "compression": "gzip"}],
    ids=["in one piece", "in pieces", "compressed"],
)
def test_galaxy10(storage: dict[str, Any], tmp_path: Path) -> None:
    """Mapped, however it is stored; what is in pieces is unpacked once."""
    pictures, labels = pixels(12, 8, 8, 3), np.arange(12) % 10
    file = io.BytesIO()
    with h5py.File(file, "w") as made:
        made.create_dataset("images", data=pictures, **storage)
        made.create_dataset("ans", data=labels.astype(np.uint8))
    told: list[tuple[str, int, int | None]] = []
    content = [file.getvalue()]
    found, _ = read("galaxy10", content, tmp_path, progress=lambda *what: told.append(what))
    assert np.array_equal(stored(found.train), pictures.transpose(0, 3, 1, 2))
    assert found.train.targets.tolist() == labels.tolist()
    assert found.train.classes[2] == "round smooth"
    assert is_mapped(found.train)
    assert ("unpacking Galaxy10_DECals.h5", 12, 12) in told or not storage
    again, _ = read("galaxy10", content, tmp_path)
    assert again.train.fingerprint() == found.train.fingerprint()


def test_galaxy10_without_its_pictures(tmp_path: Path) -> None:
    file = io.BytesIO()
    with h5py.File(file, "w") as made:
        made.create_dataset("ans", data=np.arange(4))
    with pytest.raises(iso.InputError, match=r"has no array 'images'; it holds ans"):
        read("galaxy10", [file.getvalue()], tmp_path)
    with pytest.raises(iso.InputError, match=r"Galaxy10_DECals\.h5: cannot be read"):
        read("galaxy10", [file.getvalue()[:-100]], tmp_path / "cut")


def test_galaxy10_without_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(iso.InputError, match=r"need h5py: pip install 'isotropy\[hdf5\]'"):
        read("galaxy10", [b"anything"], tmp_path)


KINDS = ("MEL", "NV", "BCC", "UNK")


def isic(method: int = zipfile.ZIP_STORED) -> list[bytes]:
    """Pictures of many sizes with their diagnoses."""
    sizes = [(60, 80), (100, 70), (64, 64), (90, 120), (50, 50), (70, 60)]
    members = {"ISIC_2019_Training_Input/LICENSE.txt": b"CC BY-NC"}
    rows = []
    for i, (height, width) in enumerate(sizes):
        members[f"ISIC_2019_Training_Input/ISIC_{i:07}.jpg"] = jpeg(height, width, 30 * i)
        rows.append([f"ISIC_{i:07}", *(float(k == i % 3) for k in range(4))])
    return [zipped(members, method), table(["image", *KINDS], rows)]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_isic2019(method: int, tmp_path: Path) -> None:
    """Read from the archive one by one; classes nobody has are none."""
    found, asked = read("isic2019", isic(method), tmp_path, resize=16)
    assert len(asked) == 2
    data = found.train
    assert (data.shape, data.classes) == ((3, 16, 16), ("BCC", "MEL", "NV"))
    assert [data.classes[y] for y in data.targets] == ["MEL", "NV", "BCC"] * 2
    means = stored(data).mean((1, 2, 3))
    assert np.allclose(means, 20 + 30 * np.arange(6), atol=4)
    assert sorted(p.name for p in (tmp_path / "isic2019").iterdir()) == [
        "ISIC_2019_Training_GroundTruth.csv",
        "ISIC_2019_Training_GroundTruth.csv.sha256",
        "ISIC_2019_Training_Input.zip",
        "ISIC_2019_Training_Input.zip.sha256",
    ]
    copy = pickle.loads(pickle.dumps(data.samples))
    assert np.array_equal(copy.take(np.array([3])).numpy(), stored(data)[3:4])


def test_isic2019_asks_for_a_size_before_it_downloads(tmp_path: Path) -> None:
    with pytest.raises(iso.InputError, match=r"many sizes; say resize \(--resize PIXELS\)"):
        load("isic2019", cache=tmp_path)


def test_isic2019_is_held_against_its_first_download(tmp_path: Path) -> None:
    read("isic2019", isic(), tmp_path, resize=16)
    path = tmp_path / "isic2019" / "ISIC_2019_Training_Input.zip"
    assert record_of(path).is_file()
    content = bytearray(path.read_bytes())
    content[500] ^= 1
    path.write_bytes(content)
    os.utime(path, (0, 0))
    with pytest.raises(iso.FileFormatError, match="has another checksum than sha256"):
        read("isic2019", isic(), tmp_path, resize=16)


def test_a_damaged_picture_in_an_archive(tmp_path: Path) -> None:
    """Found when it is asked for, by its own checksum."""
    found, _ = read("isic2019", isic(), tmp_path, resize=16)
    path = tmp_path / "isic2019" / "ISIC_2019_Training_Input.zip"
    content = bytearray(path.read_bytes())
    content[content.find(b"ISIC_0000002.jpg") + 300] ^= 1
    path.write_bytes(content)
    with pytest.raises(iso.InputError, match=r"ISIC_0000002\.jpg in it is damaged"):
        found.train.batch([2])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["ISIC_0000000", 1, 1, 0, 0]], "ISIC_0000000 must have one diagnosis, not 2"),
        ([["ISIC_0000000", 0, 0, 0, 0]], "ISIC_0000000 must have one diagnosis, not 0"),
        ([["ISIC_0000009", 1, 0, 0, 0]], "has no picture ISIC_0000009, which has a diagnosis"),
        ([["ISIC_0000000", "yes", 0, 0, 0]], "or is damaged"),
        ([["ISIC_0000000", 1]], "or is damaged"),
    ],
)
def test_isic2019_tables(rows: list[list[object]], message: str, tmp_path: Path) -> None:
    files = [isic()[0], table(["image", *KINDS], rows)]
    with pytest.raises(iso.InputError, match=message):
        read("isic2019", files, tmp_path, resize=16)


# --- the files we have -----------------------------------------------------------------------


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is not there")
@pytest.mark.parametrize(
    ("name", "train", "test", "shape"),
    [
        ("mnist", 60_000, 10_000, (1, 28, 28)),
        ("fashion_mnist_early", 60_000, 10_000, (1, 28, 28)),
        ("cifar10_11k", 10_000, 1_000, (3, 32, 32)),
        ("efigi", 4_458, 0, (3, 64, 64)),
        ("isic_uda1", 555, 0, (3, 64, 64)),
    ],
)
def test_real_files(name: str, train: int, test: int, shape: tuple[int, ...]) -> None:
    found = load(name, cache=SHARED)
    assert len(found.train) == train
    assert (0 if found.test is None else len(found.test)) == test
    assert found.train.shape == shape
    assert bool(found.note) == (name != "mnist")


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is not there")
def test_real_digits_by_quarter_turns() -> None:
    """A digit turned back is one of MNIST's."""
    upright, moved = (load(name, cache=SHARED).train for name in ("mnist", "mnist90"))
    x, y = (data.batch(np.arange(100))[0] for data in (upright, moved))
    quarter = [g for g in ELEMENTS if "s" not in g]
    for before, after in zip(x, y, strict=True):
        assert any(bool((turn(before, g) == after).all()) for g in quarter)
