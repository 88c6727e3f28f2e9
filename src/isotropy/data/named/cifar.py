"""CIFAR-10 and CIFAR-100, from their binary archives; the pickled ones are never read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from isotropy.data.assemble import Raw, assemble
from isotropy.data.cache import Cache
from isotropy.data.download import Remote
from isotropy.data.named.entry import Entry
from isotropy.data.options import Options
from isotropy.data.samples import ArraySamples
from isotropy.data.splits import Splits
from isotropy.data.unpack import records, unpacked
from isotropy.errors import InputError

ADDRESS = "https://www.cs.toronto.edu/~kriz"
SHAPE = (3, 32, 32)


def _read_cifar10(entry: Entry, cache: Cache, options: Options) -> Splits:
    options.refuse(entry.name, "layout", "task", "target")
    (archive,) = entry.fetch(cache)
    batches = [f"data_batch_{i}.bin" for i in range(1, 6)]
    folder = "cifar-10-batches-bin/"
    names, *parts = unpacked(
        archive, [folder + name for name in ("batches.meta.txt", *batches, "test_batch.bin")]
    )
    return _assembled(entry, parts[:-1], parts[-1], (1, 0), names, options)


def _read_cifar100(entry: Entry, cache: Cache, options: Options) -> Splits:
    options.refuse(entry.name, "layout", "task")
    kinds = {"coarse": 0, "fine": 1}
    kind = options.target or "fine"
    if kind not in kinds:
        raise InputError(f"target: {entry.name} has labels fine (100) and coarse (20), not {kind}")
    (archive,) = entry.fetch(cache)
    names, train, test = unpacked(
        archive,
        [
            f"cifar-100-binary/{name}"
            for name in (f"{kind}_label_names.txt", "train.bin", "test.bin")
        ],
    )
    return _assembled(entry, [train], test, (2, kinds[kind]), names, options)


def _assembled(
    entry: Entry,
    train: Sequence[Path],
    test: Path,
    label: tuple[int, int],
    names: Path,
    options: Options,
) -> Splits:
    return assemble(
        _raw(train, *label),
        _raw([test], *label),
        names=names.read_text("utf-8").split(),
        name=entry.name,
        origin=entry.origin,
        resize=options.resize,
    )


def _raw(paths: Sequence[Path], labels: int, which: int) -> Raw:
    """Records of labels, one byte each, before a picture's bytes; one of the labels counts."""
    pieces = [records(path, labels + int(np.prod(SHAPE))) for path in paths]
    whole = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    pictures = whole[:, labels:].reshape(-1, *SHAPE)
    return Raw(ArraySamples(pictures), np.array(whole[:, which]), str(paths[0].parent))


def _entry(number: int, md5: str, about: str, read: partial[Splits]) -> Entry:
    file = f"cifar-{number}-binary.tar.gz"
    remote = Remote(f"cifar{number}/{file}", f"{ADDRESS}/{file}", f"md5:{md5}")
    return Entry(f"cifar{number}", about, read, (remote,))


CIFAR10 = _entry(
    10,
    "c32a1d4ab5d03f1284b67883e8d87530",
    "50,000 / 10,000 photographs in 10 classes, 32×32 in colour",
    partial(_read_cifar10),
)
CIFAR100 = _entry(
    100,
    "03b5dce01913d631647c71ecec9e9cb8",
    "50,000 / 10,000 photographs in 100 classes (--target coarse: 20), 32×32 in colour",
    partial(_read_cifar100),
)
