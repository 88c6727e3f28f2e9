"""MNIST turned: by any angle, as in Larochelle's rotated MNIST, and by quarter turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from isotropy.data.assemble import Raw, assemble, resized
from isotropy.data.cache import Cache
from isotropy.data.dataset import DataSet
from isotropy.data.download import Remote
from isotropy.data.named.entry import Entry
from isotropy.data.named.mnist import DIGIT_NAMES, MNIST_FILES, read_four
from isotropy.data.npy import load_npy, reading
from isotropy.data.options import Options
from isotropy.data.samples import ArraySamples
from isotropy.data.splits import Splits
from isotropy.data.symmetrise import symmetrised
from isotropy.data.unpack import kept_as_npy
from isotropy.errors import FileFormatError

SIDE = 28
LAROCHELLE = Remote(
    "rotmnist/mnist_rotation_new.zip",
    "http://www.iro.umontreal.ca/~lisa/icml2007data/mnist_rotation_new.zip",
    "md5:0f9a947ff3d30e95cd685462cbf3b847",
)
AMAT = "mnist_all_rotation_normalized_float_{}.amat"
STAND_IN = (
    "a stand-in for Larochelle's rotated MNIST and not that set: MNIST's 70,000 digits in a random "
    "order, each turned by a uniformly random angle, 12,000 to train and validate on, 50,000 to "
    f"test; with Larochelle's archive in the cache as {LAROCHELLE.path} it is the original"
)


def _read_rotmnist(
    entry: Entry,
    cache: Cache,
    options: Options,
    counts: tuple[int, int],
    original: Remote,
) -> Splits:
    """Larochelle's rotated MNIST where its archive is in the cache, and a stand-in elsewhere.

    The stand-in is made from MNIST: the seed puts its 70,000 digits in an order and turns each by
    an angle of its own, bilinearly about the centre; the first 12,000 are for training and
    validation, the next 50,000 for test.
    """
    options.refuse(entry.name, "layout", "task", "target")
    if cache.path(original.path).is_file():
        return _larochelle(entry, cache.fetch(original), options)
    whole = _pooled(_upright(entry, cache, options))
    order = np.random.default_rng(np.random.SeedSequence(options.seed)).permutation(len(whole))
    train, test = counts
    chosen = Splits(whole.subset(order[:train]), whole.subset(order[train : train + test]))
    return _finished(symmetrised(chosen, "rotation", seed=options.seed), entry, options)


def _read_mnist90(entry: Entry, cache: Cache, options: Options) -> Splits:
    """MNIST, every digit of both parts turned by a random quarter turn, drawn by the seed."""
    options.refuse(entry.name, "layout", "task", "target")
    upright = _upright(entry, cache, options)
    return _finished(symmetrised(upright, "C4", seed=options.seed), entry, options)


def _upright(entry: Entry, cache: Cache, options: Options) -> Splits:
    """MNIST as it is; pictures are resized when they have been turned."""
    return read_four(entry, cache, replace(options, resize=None), DIGIT_NAMES)


def _pooled(splits: Splits) -> DataSet:
    """Training and test data as one."""
    pixels, targets = [], []
    for part in splits.parts():
        assert isinstance(part.samples, ArraySamples)
        pixels.append(part.samples.array)
        targets.append(part.targets)
    samples = ArraySamples(np.concatenate(pixels), "none")
    return replace(splits.train, samples=samples, targets=np.concatenate(targets))


def _finished(splits: Splits, entry: Entry, options: Options) -> Splits:
    """By the entry's own name, with what is to be said of it, and of the size that is wanted."""
    note = f"{entry.note} (drawn with seed {options.seed})"
    named = splits.each(
        lambda data: replace(data, name=entry.name, origin={**data.origin, "note": note})
    )
    return named if options.resize is None else resized(named, options.resize)


# -- Larochelle's files -------------------------------------------------------------------------


def _larochelle(entry: Entry, archive: Path, options: Options) -> Splits:
    return assemble(
        _raw(archive, "train_valid"),
        _raw(archive, "test"),
        names=DIGIT_NAMES,
        name=entry.name,
        origin={"source": entry.name, "files": "Larochelle's .amat files"},
        resize=options.resize,
    )


def _raw(archive: Path, part: str) -> Raw:
    """Rows of a picture's values from 0 to 1 and its digit, as text; kept as numbers once read."""
    name = AMAT.format(part)
    numbers = archive.with_name(f"{name}.npy")
    if not numbers.is_file():
        rows = list(_rows(archive, name))
        if not rows:
            raise FileFormatError(f"{archive}: {name} in it has no rows")
        kept_as_npy(numbers, (len(rows), SIDE**2 + 1), rows[0].dtype, rows)
    table = load_npy(numbers)
    pictures = table[:, :-1].reshape(-1, SIDE, SIDE)
    return Raw(ArraySamples(pictures, "none"), table[:, -1].astype(np.int64), str(archive))


def _rows(archive: Path, name: str) -> Iterator[NDArray[np.float32]]:
    with reading(archive), ZipFile(archive) as opened:
        if name not in opened.namelist():
            raise FileFormatError(f"{archive}: has no {name} in it")
        with opened.open(name) as file:
            for number, line in enumerate(TextIOWrapper(file, "ascii"), start=1):
                row = np.array(line.split(), dtype=np.float32)
                if row.size != SIDE**2 + 1:
                    raise FileFormatError(
                        f"{archive}: line {number} of {name} has {row.size} numbers, not "
                        f"{SIDE**2 + 1}"
                    )
                yield row


ROTMNIST = Entry(
    "rotmnist",
    "12,000 / 50,000 handwritten digits, each turned by a random angle, 28×28",
    partial(_read_rotmnist, counts=(12_000, 50_000), original=LAROCHELLE),
    MNIST_FILES,
    note=STAND_IN,
)
MNIST90 = Entry(
    "mnist90",
    "60,000 / 10,000 handwritten digits, each turned by a random quarter turn, 28×28",
    _read_mnist90,
    MNIST_FILES,
    note="MNIST, every digit of training and test data turned by a random quarter turn",
)
