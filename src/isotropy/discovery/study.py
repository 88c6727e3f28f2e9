"""What all networks of a run share: the data, on disk; the architecture; how they are trained.

Workers are told where the data lie and map them into memory, so that they exist once however many
workers there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isotropy._replacing import replacing
from isotropy.data import ArraySamples, DataSet, Scaling, split
from isotropy.discovery.plan import Plan
from isotropy.errors import InputError
from isotropy.evidence.probe import Probe
from isotropy.evidence.symmetry import Symmetry
from isotropy.training.seeds import torch_seed

MOST_BYTES = 4 * 2**30
UNBALANCED = 3.0
"""Classes whose sizes differ by more are weighted alike, in training and in the score."""


@dataclass(frozen=True)
class Study:
    """The one question of a run, as every worker gets it.

    Args:
        folder: where the samples are written.
        task: "classification" or "regression".
        classes: their names, or those of the columns of targets.
        probe: makes the networks.
        plan: how much is done.
        seed: of everything.
        balanced: classes count alike, whatever their sizes.
    """

    folder: Path
    task: str
    classes: tuple[str, ...]
    probe: Probe
    plan: Plan
    seed: int
    balanced: bool = False

    # -- the samples ------------------------------------------------------------------------

    def write(self, data: DataSet) -> None:
        """Put the samples where workers find them."""
        self.folder.mkdir(parents=True, exist_ok=True)
        shape, dtype = (len(data), *data.shape), _stored(data)
        size = prod(shape) * dtype.itemsize
        if size > MOST_BYTES:
            raise InputError(
                f"{data.name}: the samples take {size / 2**30:.1f} GiB, more than the "
                f"{MOST_BYTES >> 30} GiB that can be handled; make pictures smaller with resize "
                "(--resize 64), or give fewer"
            )
        with replacing(self.folder / "inputs.npy") as new:  # whoever maps the old one keeps it
            into = np.lib.format.open_memmap(new, mode="w+", dtype=dtype, shape=shape)
            start = 0
            for x in data.samples.chunks():
                into[start : start + len(x)] = x.numpy()
                start += len(x)
            into.flush()
            np.save(self.folder / "targets.npy", data.targets)

    @property
    def data(self) -> DataSet:
        """All samples that may be trained and compared on."""
        file = (self.folder / "inputs.npy").stat()
        inputs, targets = _opened(self.folder, (file.st_ino, file.st_mtime_ns))
        if self.probe.view == "entries":
            inputs = inputs.reshape(len(inputs), -1)
        return DataSet(ArraySamples(inputs), targets, self.task, self.classes)

    def parts(self, number: int) -> tuple[DataSet, DataSet]:
        """Training and validation data of a round."""
        shares = (1 - self.plan.validation, self.plan.validation)
        train, validation = split(self.data, shares, torch_seed(self.seed, "split", number))
        return train, validation

    # -- how they are seen ------------------------------------------------------------------

    @property
    def metric(self) -> str:
        """What networks are compared by; larger is better."""
        if self.task == "regression":
            return "r2"
        return "balanced_accuracy" if self.balanced else "accuracy"

    def scaled(self, train: DataSet, symmetry: Symmetry | None) -> DataSet:
        """Training data with a scaling that a symmetry leaves as it is."""
        inputs = None if symmetry is None else symmetry.inputs
        scaling = Scaling.of(train.samples.chunks(), inputs)
        if self.task != "regression":
            return replace(train, scaling=scaling)
        labels = None if symmetry is None else symmetry.labels
        targets = torch.from_numpy(np.asarray(train.targets, dtype=np.float32))
        return replace(train, scaling=scaling, target_scaling=Scaling.of([targets], labels))

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """Training and validation samples of a round."""
        train, validation = self.parts(0)
        return len(train), len(validation)


def inputs_of(data: DataSet, limit: int, seed: int) -> Tensor:
    """Inputs of some samples, drawn at random, unscaled."""
    chosen = np.arange(len(data))
    if len(chosen) > limit:
        chosen = np.sort(np.random.default_rng(seed).choice(chosen, limit, replace=False))
    return torch.cat([data.samples.take(part) for part in _pieces(chosen)])


def _pieces(indices: NDArray[np.int64], size: int = 512) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(indices), size):
        yield indices[start : start + size]


def is_unbalanced(data: DataSet) -> bool:
    """Whether some classes are much larger than others."""
    if data.task != "classification":
        return False
    counts = np.bincount(data.targets, minlength=len(data.classes))
    present = counts[counts > 0]
    return bool(present.max() > UNBALANCED * present.min())


def _stored(data: DataSet) -> np.dtype[Any]:
    """What samples are kept as: bytes stay bytes, all else is what networks see."""
    return np.dtype(np.uint8) if data.samples.dtype == np.uint8 else np.dtype(np.float32)


@lru_cache(maxsize=2)
def _opened(
    folder: Path,
    file: tuple[int, int],  # noqa: ARG001 (tells it from that of an earlier run in the folder)
) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.load(folder / "inputs.npy", mmap_mode="r"), np.load(folder / "targets.npy")
