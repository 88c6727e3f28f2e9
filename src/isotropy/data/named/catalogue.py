"""All data sets that go by a name."""

from __future__ import annotations

import difflib
from functools import cache

from isotropy.data.cache import Cache
from isotropy.data.named.cifar import CIFAR10, CIFAR100
from isotropy.data.named.digits import DIGITS
from isotropy.data.named.entry import Entry
from isotropy.data.named.galaxy10 import GALAXY10
from isotropy.data.named.isic2019 import ISIC2019
from isotropy.data.named.local import LOCAL
from isotropy.data.named.mnist import FASHION_MNIST, MNIST
from isotropy.data.named.rotated import MNIST90, ROTMNIST
from isotropy.data.named.stl10 import STL10
from isotropy.data.options import Options
from isotropy.data.splits import Splits
from isotropy.errors import InputError


@cache
def catalogue() -> dict[str, Entry]:
    """Every data set that goes by a name.

    >>> "mnist" in catalogue()
    True
    """
    digits = (DIGITS, MNIST, MNIST90, ROTMNIST)
    photographs = (FASHION_MNIST, CIFAR10, CIFAR100, STL10, GALAXY10, ISIC2019)
    entries = (*digits, *photographs, *LOCAL)
    return {entry.name: entry for entry in entries}


def find(name: str) -> Entry:
    """A data set by name; for an unknown one, which names are near."""
    known = catalogue()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name.lower().replace("-", "_"), known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"
    raise InputError(f"{name!r} is no data set's name, nor a file or folder that is there; {hint}")


def load_named(name: str, options: Options) -> Splits:
    """A data set by name, from the cache or its makers."""
    entry = find(name)
    options.refuse(name, "skip_bad")
    return entry.load(Cache.of(options), options)
