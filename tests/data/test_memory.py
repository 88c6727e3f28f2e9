"""Large arrays are not copied on their way in: memory as Python's own tracer counts it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from isotropy.data import DataSet, Samples, load, save_npz
from isotropy.data.samples import CHUNK_BYTES, IntArray
from isotropy.data.unpack import records, unpacked
from tests.data.official import tar_gz

LARGE = 8 * 2**20
SMALL = LARGE // 2  # what checks and batches may take


@contextmanager
def peak() -> Iterator[Callable[[], int]]:
    """Bytes that were held at once since it began; numpy tells the tracer, torch does not."""
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def pictures(dtype: Any) -> np.ndarray:
    """An array of many bytes."""
    count = LARGE // np.dtype(dtype).itemsize
    return (np.arange(count) % 251).astype(dtype).reshape(-1, 64, 64)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize(
    ("save", "copies"), [(np.savez, 0), (np.savez_compressed, 1)], ids=["mapped", "compressed"]
)
def test_an_npz_is_held_once_or_not_at_all(
    save: Any, copies: int, dtype: Any, tmp_path: Path
) -> None:
    X = pictures(dtype)
    save(tmp_path / "x.npz", X=X, y=np.arange(len(X)) % 2)
    del X
    with peak() as bytes_held:
        data = load(tmp_path / "x.npz").train
        data.batch(np.arange(64))
        assert bytes_held() < copies * LARGE + SMALL


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_arrays_are_shared(dtype: Any) -> None:
    X = pictures(dtype)
    with peak() as bytes_held:
        load((X, np.arange(len(X)) % 2))
        assert bytes_held() < SMALL


def test_an_archive_is_unpacked_in_pieces(tmp_path: Path) -> None:
    """More than all pictures together is never held, decompressed or not."""
    rows = LARGE // (3 * 96 * 96)
    pixels = np.random.default_rng(0).integers(0, 256, size=(rows, 3 * 96 * 96), dtype=np.uint8)
    members = {
        "stl10_binary/class_names.txt": " ".join("abcdefghij").encode(),
        "stl10_binary/train_X.bin": pixels.tobytes(),
        "stl10_binary/train_y.bin": bytes(rows),
    }
    (tmp_path / "stl10_binary.tar.gz").write_bytes(tar_gz(members))
    sizes = [len(content) for content in members.values()]
    names = list(members)
    del pixels, members
    with peak() as bytes_held:
        paths = unpacked(tmp_path / "stl10_binary.tar.gz", names)
        assert records(paths[1], 3 * 96 * 96).shape == (rows, 3 * 96 * 96)
        assert bytes_held() < SMALL
    assert [path.stat().st_size for path in paths] == sizes


class Endless(Samples):
    """Far more samples than memory holds, made when they are asked for."""

    shape = (1, 64, 64)
    dtype = np.dtype(np.uint8)

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def take(self, indices: IntArray) -> torch.Tensor:
        return torch.from_numpy(indices % 251).float().view(-1, 1, 1, 1).expand(-1, 1, 64, 64)

    def digest(self, into: Any) -> None:
        into.update(b"endless")


def test_writing_holds_a_piece(tmp_path: Path) -> None:
    """Three pieces of samples are written with less than one and a half in memory."""
    count = 3 * CHUNK_BYTES // (4 * 64 * 64)
    data = DataSet(Endless(count), np.arange(count) % 2, "classification", ("a", "b"))
    with peak() as bytes_held:
        save_npz(data, tmp_path / "x.npz")
        assert bytes_held() < CHUNK_BYTES * 1.5
    assert len(np.load(tmp_path / "x.npz")["X"]) == count
