"""STL-10, from its binary archive: the labelled pictures, without the 100,000 unlabelled ones."""

from __future__ import annotations

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

SIDE = 96
FILES = ("class_names.txt", "train_X.bin", "train_y.bin", "test_X.bin", "test_y.bin")


def _read(entry: Entry, cache: Cache, options: Options) -> Splits:
    options.refuse(entry.name, "layout", "task", "target")
    (archive,) = entry.fetch(cache)
    names, train_X, train_y, test_X, test_y = unpacked(
        archive, [f"stl10_binary/{name}" for name in FILES]
    )
    return assemble(
        _raw(train_X, train_y),
        _raw(test_X, test_y),
        names=names.read_text("utf-8").split(),
        name=entry.name,
        origin=entry.origin,
        resize=options.resize,
    )


def _raw(pictures: Path, labels: Path) -> Raw:
    """Pictures channel by channel, column by column; labels from 1 to 10."""
    columns_first = records(pictures, 3 * SIDE * SIDE).reshape(-1, 3, SIDE, SIDE)
    numbers = records(labels, 1)[:, 0].astype(np.int64) - 1
    return Raw(ArraySamples(columns_first.transpose(0, 1, 3, 2)), numbers, str(pictures))


STL10 = Entry(
    "stl10",
    "5,000 / 8,000 photographs in 10 classes, 96×96 in colour",
    _read,
    (
        Remote(
            "stl10/stl10_binary.tar.gz",
            "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
            "md5:91f7769df0f17e558f3565bffb0c7dfb",
        ),
    ),
)
