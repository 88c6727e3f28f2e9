"""MNIST and Fashion-MNIST, from their four files each."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from isotropy.data.assemble import Raw, assemble, raw_arrays
from isotropy.data.cache import Cache
from isotropy.data.download import Remote
from isotropy.data.idx import read_idx
from isotropy.data.named.entry import Entry
from isotropy.data.options import Options
from isotropy.data.splits import Splits
from isotropy.errors import InputError

DIGIT_NAMES = tuple("0123456789")
GARMENTS = (
    "T-shirt/top",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)
FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
MNIST_MD5 = (
    "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "d53e105ee54ea40749a09fcbcd1e9432",
    "9fb629c4189551a2d022fa330f9573f3",
    "ec29112dd5afa0611ce80d1b7f02629c",
)
FASHION_MD5 = (
    "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "25c81989df183df01b3e8a0aad5dffbe",
    "bef4ecab320f06d8554ea6380940ec79",
    "bb300cfdad3c16e7a12a480ee83cd310",
)
EARLY = "fashion_mnist_early.npz"


def _remotes(name: str, address: str, sums: tuple[str, ...]) -> tuple[Remote, ...]:
    return tuple(
        Remote(f"{name}/{file}", f"{address}/{file}", f"md5:{md5}")
        for file, md5 in zip(FILES, sums, strict=True)
    )


def read_four(entry: Entry, cache: Cache, options: Options, classes: tuple[str, ...]) -> Splits:
    """A data set from files of training images and labels, test images and labels."""
    options.refuse(entry.name, "layout", "task", "target")
    paths = entry.fetch(cache)
    return assemble(
        _pair(paths[0], paths[1]),
        _pair(paths[2], paths[3]),
        names=classes,
        name=entry.name,
        origin=entry.origin,
        resize=options.resize,
    )


def _pair(images: Path, labels: Path) -> Raw:
    return raw_arrays(read_idx(images), read_idx(labels), None, str(images))


def _read_fashion(entry: Entry, cache: Cache, options: Options) -> Splits:
    try:
        return read_four(entry, cache, options, GARMENTS)
    except InputError as error:
        if cache.path(entry.files[0].path).exists() or not cache.path(EARLY).exists():
            raise
        raise InputError(
            f"{error}. The early release is here, under its own name fashion_mnist_early; its "
            "split and order are others, so its results are none on Fashion-MNIST"
        ) from None


MNIST_FILES = _remotes("mnist", "https://ossci-datasets.s3.amazonaws.com/mnist", MNIST_MD5)
FASHION_FILES = _remotes(
    "fashion_mnist", "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com", FASHION_MD5
)

MNIST = Entry(
    "mnist",
    "60,000 / 10,000 handwritten digits, 28×28",
    partial(read_four, classes=DIGIT_NAMES),
    MNIST_FILES,
)
FASHION_MNIST = Entry(
    "fashion_mnist",
    "60,000 / 10,000 garments in 10 classes, 28×28",
    _read_fashion,
    FASHION_FILES,
)
