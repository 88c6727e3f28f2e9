"""Galaxy10 DECals (Leung and Bovy), from its HDF5 file."""

from __future__ import annotations

import numpy as np

from isotropy.data.assemble import assemble, raw_arrays
from isotropy.data.cache import Cache
from isotropy.data.download import Remote
from isotropy.data.hdf5 import load_hdf5
from isotropy.data.named.entry import Entry
from isotropy.data.options import Options
from isotropy.data.splits import Splits

GALAXIES = (
    "disturbed",
    "merging",
    "round smooth",
    "in-between round smooth",
    "cigar-shaped smooth",
    "barred spiral",
    "unbarred tight spiral",
    "unbarred loose spiral",
    "edge-on without bulge",
    "edge-on with bulge",
)


def _read(entry: Entry, cache: Cache, options: Options) -> Splits:
    options.refuse(entry.name, "layout", "task", "target")
    (path,) = entry.fetch(cache)
    pictures = load_hdf5(path, "images", options.progress)
    labels = np.array(load_hdf5(path, "ans", options.progress))
    return assemble(
        raw_arrays(pictures, labels, "nhwc", str(path)),
        names=GALAXIES,
        name=entry.name,
        origin=entry.origin,
        resize=options.resize,
    )


GALAXY10 = Entry(
    "galaxy10",
    "17,736 galaxies in 10 classes, 256×256 in colour (DECals; needs h5py)",
    _read,
    (
        Remote(
            "galaxy10/Galaxy10_DECals.h5",
            "https://zenodo.org/records/10845026/files/Galaxy10_DECals.h5",
            # as its makers publish it, in their repository henrysky/Galaxy10
            "sha256:19aefc477c41bb7f77ff07599a6b82a038dc042f889a111b0d4d98bb755c1571",
        ),
    ),
)
