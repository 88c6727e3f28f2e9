"""Samples of a torch Dataset, which gives them one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from isotropy.data.assemble import Raw, as_array, assemble, raw_arrays
from isotropy.data.check import check_numeric
from isotropy.data.layout import arrange
from isotropy.data.options import Options
from isotropy.data.samples import KEPT_BYTES, ArraySamples, Hash, IntArray, Samples
from isotropy.data.splits import Splits
from isotropy.errors import InputError

if TYPE_CHECKING:
    from torch.utils.data import Dataset


class DatasetSamples(Samples):
    """The inputs of a torch Dataset, asked for when they are needed.

    Args:
        dataset: gives (input, target) by number, each input of the first one's shape.
        like: the first input, laid out.
    """

    costly = True

    def __init__(self, dataset: Any, like: ArraySamples) -> None:
        self.dataset = dataset
        self.channels = like.channels
        self.shape = like.shape
        self.dtype = like.dtype

    def __len__(self) -> int:
        return len(self.dataset)

    def take(self, indices: IntArray) -> Float[Tensor, "batch *shape"]:
        if not len(indices):
            return ArraySamples(np.empty((0, *self.shape), self.dtype)).take(indices)
        inputs = np.stack([_pair(self.dataset, int(i))[0] for i in indices])
        return ArraySamples(inputs, self.channels).take(np.arange(len(inputs)))

    def digest(self, into: Hash) -> None:
        into.update(f"{self.shape}".encode())
        for chunk in self.chunks():
            into.update(chunk.numpy().data)


def load_dataset(dataset: Dataset[Any], options: Options) -> Splits:
    """Data from a torch Dataset of (input, target), all looked at once for their targets.

    What draws at random on the way out is drawn once where the inputs fit into memory; moving
    samples at random is for the training's augmentation.

    Args:
        dataset: it, with a length.
        options: how to read it.
    """
    if not hasattr(dataset, "__len__") or not hasattr(dataset, "__getitem__"):
        raise InputError("source: a torch Dataset must have a length and samples by number")
    count = len(dataset)
    if not count:
        raise InputError("source: the torch Dataset is empty")
    return assemble(
        _raw(dataset, count, options),
        task=options.task,
        name=type(dataset).__name__,
        origin={"source": f"torch Dataset {type(dataset).__name__}"},
        resize=options.resize,
    )


def _raw(dataset: Dataset[Any], count: int, options: Options) -> Raw:
    first, _ = _pair(dataset, 0)
    check_numeric(first, "sample 0")
    kept = (
        np.empty((count, *first.shape), first.dtype) if first.nbytes * count <= KEPT_BYTES else None
    )
    targets = []
    for i in range(count):
        x, y = _pair(dataset, i)
        if x.shape != first.shape or x.dtype != first.dtype:
            raise InputError(
                f"source: sample {i} is {x.dtype} of shape {x.shape}, but sample 0 {first.dtype} "
                f"of {first.shape}; bring all to one in the Dataset"
            )
        if kept is not None:
            kept[i] = x
        targets.append(y)
        if options.progress is not None:
            options.progress("samples", i + 1, count)
    y = as_array(targets, "the targets")
    if kept is not None:
        return raw_arrays(kept, y, options.layout, "source")
    like = arrange(np.broadcast_to(first, (count, *first.shape)), options.layout, "source")
    return Raw(DatasetSamples(dataset, like), y, "source")


def _pair(dataset: Any, number: int) -> tuple[NDArray[Any], Any]:
    found = dataset[number]
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise InputError(f"source: sample {number} is not (input, target)")
    x, y = found
    target = as_array(y, f"target {number}") if isinstance(y, Tensor) else y
    return as_array(x, f"sample {number}"), target
