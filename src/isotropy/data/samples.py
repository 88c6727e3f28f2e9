"""Where samples come from: arrays in memory or on disk, parts of others; batches as floats.

Samples know their number and shape, and give any of them as a float tensor with channels first.
Nothing else is ever asked of them, so they may be pixels in a file that is never read as a whole.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

IntArray = NDArray[np.int64]

CHUNK_BYTES = 64 * 2**20

KEPT_BYTES = 2**29
"""Up to so much is kept in memory of samples that take work to give; of more none is."""

READY = (np.dtype(np.uint8), np.dtype(np.float32))
"""What torch takes and converts as it is; it has no big-endian numbers, for one."""


@runtime_checkable
class Hash(Protocol):
    """What hashlib's objects have."""

    def update(self, data: Any, /) -> None: ...


class Samples(ABC):
    """Samples of one shape, by number.

    `shape` is (channels, *grid), or (features,) for vectors. `costly` says that giving a batch
    takes work worth doing ahead, in another thread. `dtype` holds every value without loss, for
    who writes them to a file.
    """

    shape: tuple[int, ...]
    costly: bool = False
    dtype: np.dtype[Any] = np.dtype(np.float32)

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, indices: IntArray) -> Float[Tensor, "batch *shape"]:
        """Some samples, in float32."""

    @abstractmethod
    def digest(self, into: Hash) -> None:
        """Feed what the samples are made of to a hash, without holding it all in memory."""

    def chunks(self) -> Iterator[Float[Tensor, "batch *shape"]]:
        """All samples in order, in pieces of moderate size."""
        each = max(4 * int(np.prod(self.shape)), 1)
        step = max(CHUNK_BYTES // each, 1)
        for start in range(0, len(self), step):
            yield self.take(np.arange(start, min(start + step, len(self))))


class ArraySamples(Samples):
    """Samples in an array, perhaps one that is mapped from a file.

    Args:
        array: one sample for every index of the first axis.
        channels: where the channels are: "first", "last", or "none" for pictures of one channel
            that have no axis for it. Vectors are "first".

    >>> samples = ArraySamples(np.zeros((5, 8, 9, 3), np.uint8), channels="last")
    >>> len(samples), samples.shape, samples.take(np.array([2, 0])).shape
    (5, (3, 8, 9), torch.Size([2, 3, 8, 9]))
    """

    def __init__(self, array: NDArray[Any], channels: str = "first") -> None:
        self.array = array
        self.channels = channels
        grid = array.shape[1:]
        self.shape = {"first": grid, "last": (*grid[-1:], *grid[:-1]), "none": (1, *grid)}[channels]
        self.dtype = array.dtype

    def __len__(self) -> int:
        return len(self.array)

    def take(self, indices: IntArray) -> Float[Tensor, "batch *shape"]:
        values = np.ascontiguousarray(self.array[indices])
        if values.dtype not in READY:
            values = values.astype(np.float32)
        x = torch.from_numpy(values).to(torch.float32)
        if self.channels == "none":
            return x.unsqueeze(1)
        return x.movedim(-1, 1).contiguous() if self.channels == "last" else x

    def digest(self, into: Hash) -> None:
        into.update(f"{self.array.dtype.str}{self.array.shape}{self.channels}".encode())
        each = max(self.array[:1].nbytes, 1)
        step = max(CHUNK_BYTES // each, 1)
        for start in range(0, len(self.array), step):
            into.update(np.ascontiguousarray(self.array[start : start + step]).data)


def frozen(samples: Samples, limit: int = KEPT_BYTES) -> Samples:
    """The samples as they are now, in memory where they fit; others stay as they are.

    Args:
        samples: those that take work to give.
        limit: how many bytes fit.
    """
    dtype = samples.dtype if samples.dtype in READY else np.dtype(np.float32)
    if len(samples) * int(np.prod(samples.shape)) * dtype.itemsize > limit:
        return samples
    array, done = np.empty((len(samples), *samples.shape), dtype), 0
    for chunk in samples.chunks():
        array[done : done + len(chunk)] = chunk.numpy()
        done += len(chunk)
    return ArraySamples(array)


class Part(Samples):
    """Some of other samples, in an order of their own.

    Args:
        whole: the others.
        indices: which of them.

    >>> whole = ArraySamples(np.array([[0.0], [1.0], [2.0]]))
    >>> Part(whole, np.array([2, 0])).take(np.array([0, 1])).tolist()
    [[2.0], [0.0]]
    """

    def __init__(self, whole: Samples, indices: IntArray) -> None:
        inner = whole if isinstance(whole, Part) else None
        # one look-up, however often parts are taken of parts
        self.whole: Samples = whole if inner is None else inner.whole
        self.indices: IntArray = indices if inner is None else inner.indices[indices]
        self.shape = whole.shape
        self.costly = whole.costly
        self.dtype = whole.dtype

    def __len__(self) -> int:
        return len(self.indices)

    def take(self, indices: IntArray) -> Float[Tensor, "batch *shape"]:
        return self.whole.take(self.indices[indices])

    def digest(self, into: Hash) -> None:
        self.whole.digest(into)
        into.update(np.ascontiguousarray(self.indices).data)
