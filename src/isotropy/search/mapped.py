"""Samples in a file that processes map into memory: they exist once, however many workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from isotropy._replacing import replacing
from isotropy.data import ArraySamples, DataSet, Part, Samples
from isotropy.search.problem import Problem


class MappedSamples(ArraySamples):
    """Samples in an .npy file; what is sent to another process is the file's path.

    Args:
        path: the file, where every worker finds it.
        channels: as of `ArraySamples`.
    """

    def __init__(self, path: Path, channels: str) -> None:
        super().__init__(np.load(path, mmap_mode="r"), channels)
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return MappedSamples, (self.path, self.channels)


def mapped(problem: Problem, folder: Path) -> Problem:
    """The same problem with arrays in files of a folder; samples that are read lazily stay so."""
    known: dict[int, Samples] = {}
    files = (folder / f"inputs-{number}.npy" for number in (1, 2))
    return Problem(
        _mapped(problem.train, files, known),
        _mapped(problem.validation, files, known),
    )


def _mapped(data: DataSet, files: Iterator[Path], known: dict[int, Samples]) -> DataSet:
    """One part of the problem; both may be parts of one array, which is written once."""
    whole = data.samples.whole if isinstance(data.samples, Part) else data.samples
    if id(whole) not in known:
        known[id(whole)] = _written(whole, files)
    samples = known[id(whole)]
    if isinstance(data.samples, Part):
        samples = Part(samples, data.samples.indices)
    return replace(data, samples=samples)


def _written(samples: Samples, files: Iterator[Path]) -> Samples:
    if not isinstance(samples, ArraySamples) or isinstance(samples, MappedSamples):
        return samples
    path = next(files)
    # all at once: a search that goes on may be reading it
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.save(file, samples.array)
    return MappedSamples(path, samples.channels)
