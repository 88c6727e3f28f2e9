"""What data must be, checked at the door: one clear line that names the file or argument."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from isotropy.data.samples import CHUNK_BYTES, ArraySamples, Samples
from isotropy.errors import InputError

FEWEST = 4


def check_samples(samples: Samples, where: str) -> None:
    """Refuse what nothing can be learned from: numbers that are none, samples without content.

    Args:
        samples: the inputs.
        where: the file or argument they are from, for messages.
    """
    if len(samples) < FEWEST:
        raise InputError(f"{where}: {len(samples)} samples are too few, at least {FEWEST}")
    if 0 in samples.shape:
        raise InputError(f"{where}: a sample has no values, its shape is {samples.shape}")
    if isinstance(samples, ArraySamples):
        check_numeric(samples.array, where)
        check_finite(samples.array, where)
    check_varied(samples, where)


def check_numeric(array: NDArray[Any], where: str) -> None:
    """Refuse what is no array of real numbers."""
    if array.dtype.kind == "O":
        raise InputError(f"{where}: holds Python objects (pickled or ragged), numbers are needed")
    if array.dtype.kind not in "buif":
        raise InputError(f"{where}: must hold real numbers, not {array.dtype}")


def check_finite(array: NDArray[Any], where: str) -> None:
    """Refuse not-a-number, infinity, and what is infinite in float32."""
    if array.dtype.kind != "f":
        return
    for start, piece in pieces(array):
        with np.errstate(over="ignore"):
            finite = np.isfinite(piece.astype(np.float32, copy=False))
        if not finite.all():
            first = int(np.flatnonzero(~finite.reshape(len(piece), -1).all(1))[0])
            raise InputError(
                f"{where}: sample {start + first} has a value that is NaN, infinite or too large"
            )


def pieces(array: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """An array in parts of moderate size along its first axis, each with where it starts."""
    step = max(CHUNK_BYTES // max(array[:1].nbytes, 1), 1)
    for start in range(0, len(array), step):
        yield start, array[start : start + step]


def check_varied(samples: Samples, where: str) -> None:
    """Refuse samples that are all one, and pictures without a picture.

    It stops at the first sample that differs from the first and within itself, so it seldom reads
    more than a few.
    """
    has_grid = len(samples.shape) > 1
    first, differs, structured = None, False, not has_grid
    for x in _growing_chunks(samples):
        first = x[:1] if first is None else first
        differs = differs or bool((x != first).any())
        structured = structured or bool((x.flatten(2) != x.flatten(2)[..., :1]).any())
        if differs and structured:
            return
    if not differs:
        raise InputError(f"{where}: all {len(samples)} samples are the same")
    raise InputError(f"{where}: every sample is constant, the same value everywhere")


def _growing_chunks(samples: Samples) -> Iterator[torch.Tensor]:
    start, step = 0, 8
    limit = max(CHUNK_BYTES // max(4 * int(np.prod(samples.shape)), 1), 8)
    while start < len(samples):
        stop = min(start + step, len(samples))
        yield samples.take(np.arange(start, stop))
        start, step = stop, min(2 * step, limit)


def check_lengths(samples: int, targets: int, where: str) -> None:
    """Refuse inputs and targets of different number."""
    if samples != targets:
        raise InputError(f"{where}: {samples} samples, but {targets} targets")
