"""The handwritten digits that come with scikit-learn: small, and there without a network."""

from __future__ import annotations

import numpy as np

from isotropy.data.assemble import assemble, raw_arrays
from isotropy.data.cache import Cache
from isotropy.data.named.entry import Entry
from isotropy.data.options import Options
from isotropy.data.splits import Splits


def _read(entry: Entry, _: Cache, options: Options) -> Splits:
    from sklearn.datasets import load_digits

    options.refuse(entry.name, "layout", "task", "target")
    found = load_digits()
    pictures = found.images.astype(np.uint8)  # they hold whole numbers from 0 to 16
    return assemble(
        raw_arrays(pictures, found.target, None, entry.name),
        names=[str(name) for name in found.target_names],
        name=entry.name,
        origin=entry.origin,
        resize=options.resize,
    )


DIGITS = Entry("digits", "1,797 handwritten digits, 8×8, from scikit-learn (no download)", _read)
