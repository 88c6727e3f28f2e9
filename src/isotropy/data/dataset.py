"""A data set: samples, and what is to be predicted of each."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from isotropy.data.samples import IntArray, Part, Samples
from isotropy.data.scaling import Scaling
from isotropy.errors import InputError

TASKS = ("classification", "regression", "dense")
KINDS = {1: "vector", 2: "signal", 3: "image", 4: "volume"}


@dataclass(frozen=True, eq=False)
class DataSet:
    """Samples with targets.

    Args:
        samples: where the inputs come from.
        targets: class numbers (n,) for classification; numbers (n, columns) for regression;
            class numbers (n, *grid) for dense prediction.
        task: "classification", "regression" or "dense".
        classes: the names of the classes; for regression those of the columns.
        name: what to call it.
        origin: how it came to be, as JSON: source, options, seeds.
        scaling: what is done to the inputs on their way out.
        target_scaling: the same for the targets of regression.

    >>> from isotropy.data.samples import ArraySamples
    >>> pictures = ArraySamples(np.zeros((3, 8, 8), dtype=np.uint8), "none")
    >>> data = DataSet(pictures, np.array([0, 1, 0]), "classification", ("cat", "dog"))
    >>> x, y = data.batch([0, 2])
    >>> x.shape, y.tolist(), data.kind, data.outputs
    (torch.Size([2, 1, 8, 8]), [0, 0], 'image', 2)
    """

    samples: Samples
    targets: NDArray[Any]
    task: str
    classes: tuple[str, ...] = ()
    name: str = "data"
    origin: Mapping[str, Any] = field(default_factory=dict)
    scaling: Scaling | None = None
    target_scaling: Scaling | None = None

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise InputError(f"task must be one of {TASKS}, not {self.task!r}")
        if len(self.samples) != len(self.targets):
            raise InputError(
                f"{self.name}: {len(self.samples)} samples, but {len(self.targets)} targets"
            )

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a sample: (channels, *grid) or (features,)."""
        return self.samples.shape

    @property
    def kind(self) -> str:
        """What a sample is: "vector", "signal", "image" or "volume"."""
        return KINDS[len(self.shape)]

    @property
    def outputs(self) -> int:
        """How many numbers a model must give: one for every class or column of targets."""
        return self.targets.shape[1] if self.task == "regression" else len(self.classes)

    def batch(self, indices: ArrayLike) -> tuple[Tensor, Tensor]:
        """Inputs and targets of some samples, scaled."""
        chosen: IntArray = np.asarray(indices, dtype=np.int64)
        x = self.samples.take(chosen)
        x = x if self.scaling is None else self.scaling.apply(x)
        return x, self.target_batch(chosen)

    def target_batch(self, indices: ArrayLike) -> Tensor:
        """Targets of some samples: class numbers as int64, others as scaled float32."""
        values = np.ascontiguousarray(self.targets[np.asarray(indices, dtype=np.int64)])
        if self.task != "regression":
            return torch.from_numpy(values.astype(np.int64))
        y = torch.from_numpy(values.astype(np.float32))
        return y if self.target_scaling is None else self.target_scaling.apply(y)

    def subset(self, indices: ArrayLike) -> DataSet:
        """Some of the samples, in the order given."""
        chosen: IntArray = np.asarray(indices, dtype=np.int64)
        return replace(self, samples=Part(self.samples, chosen), targets=self.targets[chosen])

    def scaled_like(self, other: DataSet) -> DataSet:
        """The same data with another set's scaling."""
        return replace(self, scaling=other.scaling, target_scaling=other.target_scaling)

    def fingerprint(self) -> str:
        """A sha256 over inputs, targets and classes, as stored (before scaling)."""
        found = hashlib.sha256()
        self.samples.digest(found)
        found.update(f"{self.targets.dtype.str}{self.targets.shape}{self.task}".encode())
        found.update(np.ascontiguousarray(self.targets).data)
        found.update("\0".join(self.classes).encode())
        return found.hexdigest()
