"""Data: every input people bring, checked at the door, as samples with targets."""

from isotropy.data.assemble import from_arrays
from isotropy.data.dataset import DataSet
from isotropy.data.load import load
from isotropy.data.named.catalogue import catalogue
from isotropy.data.samples import ArraySamples, Part, Samples
from isotropy.data.save import save_npz
from isotropy.data.scaling import Scaling
from isotropy.data.split import split
from isotropy.data.splits import Splits
from isotropy.data.symmetrise import Move, symmetrised

__all__ = [
    "ArraySamples",
    "DataSet",
    "Move",
    "Part",
    "Samples",
    "Scaling",
    "Splits",
    "catalogue",
    "from_arrays",
    "load",
    "save_npz",
    "split",
    "symmetrised",
]
