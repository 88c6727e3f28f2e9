"""Data sets that are read from an .npz in the cache, and cannot be downloaded."""

from __future__ import annotations

from functools import partial

from isotropy.data.cache import Cache
from isotropy.data.named.entry import Entry
from isotropy.data.named.mnist import EARLY, GARMENTS
from isotropy.data.npz import load_npz
from isotropy.data.options import Options
from isotropy.data.splits import Splits


def _read(
    entry: Entry, cache: Cache, options: Options, names: tuple[str, ...] | None = None
) -> Splits:
    (path,) = entry.fetch(cache)
    return load_npz(path, options, entry.name, entry.origin, names)


def _entry(
    name: str, file: str, about: str, note: str, names: tuple[str, ...] | None = None
) -> Entry:
    return Entry(name, about, partial(_read, names=names), (), (file,), note)


LOCAL = (
    _entry(
        "fashion_mnist_early",
        EARLY,
        "60,000 / 10,000 garments in 10 classes, 28×28, an early release",
        "the early release of Fashion-MNIST: real pixels, but another split and order than the "
        "official files, so no result on it is one on Fashion-MNIST",
        GARMENTS,
    ),
    _entry(
        "cifar10_11k",
        "cifar10_11k.npz",
        "10,000 / 1,000 photographs in 10 classes, 32×32 in colour",
        "a part of CIFAR-10: batch 1 of 5 to train on, and the first 1,000 of 10,000 test images",
    ),
    _entry(
        "efigi",
        "efigi_64.npz",
        "4,458 galaxies in 5 unbalanced classes, 64×64 in colour",
        "EFIGI (Baillard et al. 2011), images from SDSS, resized from 255×255; stands in for "
        "Galaxy10 DECals and is not that set",
    ),
    _entry(
        "isic_uda1",
        "isic_uda1_64.npz",
        "555 skin lesions, nevus or melanoma, 64×64 in colour",
        "ISIC archive, set UDA-1 (CC0), centre square, resized; stands in for ISIC 2019 and is "
        "not that set",
    ),
)
