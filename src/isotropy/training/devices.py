"""Where training runs: one device by ourselves, or several through lightning-fabric.

Both answer to the same few calls, so that the loop does not know which it is. Batch norm keeps the
statistics of each process's own part of a batch, as it does everywhere.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from isotropy.errors import InputError, IsotropyError

T = TypeVar("T")
PRECISIONS = {"float32": "32-true", "bfloat16": "bf16-mixed"}


def best_device() -> torch.device:
    """The GPU, if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Devices(ABC):
    """One or several processes that train together.

    `device` is where this process computes, `rank` its number among `world`.
    """

    device: torch.device
    rank: int = 0
    world: int = 1

    @abstractmethod
    def prepare(self, model: nn.Module, optimizer: Optimizer) -> tuple[nn.Module, Optimizer]:
        """What to call and step instead of the model and the optimiser."""

    @abstractmethod
    def computing(self) -> AbstractContextManager[Any]:
        """While this lasts, layers compute in the precision that was asked for."""

    @abstractmethod
    def backward(self, loss: Tensor) -> None:
        """Gradients of a loss, averaged over all processes."""

    @abstractmethod
    def gather(self, values: Tensor, length: int) -> Tensor:
        """The parts of all processes in turn, `length` rows in all."""

    @abstractmethod
    def from_lead(self, make: Callable[[], T]) -> T:
        """What the leading process makes, or the error it raises, for all processes."""

    @abstractmethod
    def any(self, mine: bool) -> bool:
        """Whether it is so in any process; all get the same answer, and so stop at one step."""

    @property
    def leads(self) -> bool:
        """Whether this process writes files and reports."""
        return self.rank == 0

    def share(self, length: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """My part of so many rows."""
        return np.array_split(np.arange(length), self.world)[self.rank]


class Alone(Devices):
    """One process on one device.

    Args:
        device: by default the GPU, if there is one.
        precision: "float32" or "bfloat16".
    """

    def __init__(
        self, device: torch.device | str | None = None, precision: str = "float32"
    ) -> None:
        self.device = best_device() if device is None else torch.device(device)
        self.precision = precision

    def prepare(self, model: nn.Module, optimizer: Optimizer) -> tuple[nn.Module, Optimizer]:
        return model, optimizer

    def computing(self) -> AbstractContextManager[Any]:
        if self.precision == "float32":
            return nullcontext()
        return torch.autocast(self.device.type, torch.bfloat16)

    def backward(self, loss: Tensor) -> None:
        torch.autograd.backward(loss)

    def gather(self, values: Tensor, length: int) -> Tensor:  # noqa: ARG002
        return values

    def from_lead(self, make: Callable[[], T]) -> T:
        return make()

    def any(self, mine: bool) -> bool:
        return mine


class OnFabric(Devices):
    """Several processes through lightning-fabric, launched already.

    Args:
        fabric: a `lightning_fabric.Fabric` on which `launch()` has been called.
    """

    def __init__(self, fabric: Any) -> None:
        self.fabric = fabric
        self.device = fabric.device
        self.rank = fabric.global_rank
        self.world = fabric.world_size

    def prepare(self, model: nn.Module, optimizer: Optimizer) -> tuple[nn.Module, Optimizer]:
        wrapped, stepping = self.fabric.setup(model, optimizer)
        return wrapped, stepping

    def computing(self) -> AbstractContextManager[Any]:
        return nullcontext()  # the wrapped model sees to it

    def backward(self, loss: Tensor) -> None:
        self.fabric.backward(loss)

    def gather(self, values: Tensor, length: int) -> Tensor:
        whole = values.new_zeros((length, *values.shape[1:]))
        whole[torch.from_numpy(self.share(length)).to(whole.device)] = values
        summed: Tensor = self.fabric.all_reduce(whole, reduce_op="sum")
        return summed

    def from_lead(self, make: Callable[[], T]) -> T:
        made: T | IsotropyError | None = None
        if self.leads:
            try:
                made = make()
            except IsotropyError as error:  # so that no process waits for what will not come
                made = error
        made = self.fabric.broadcast(made)
        if isinstance(made, IsotropyError):
            raise made
        return made

    def any(self, mine: bool) -> bool:
        votes = torch.tensor(float(mine), device=self.device)
        return bool(self.fabric.all_reduce(votes, reduce_op="sum") > 0)


def on_fabric(devices: str, strategy: str, precision: str) -> OnFabric:
    """Launch lightning-fabric; with several devices this starts the program again in each.

    Args:
        devices: how many, or "auto".
        strategy: fabric's, as "auto" or "ddp".
        precision: "float32", "bfloat16", or one of fabric's own.
    """
    try:
        from lightning_fabric import Fabric
    except ImportError:
        raise InputError(
            "devices and strategy need lightning-fabric: pip install 'isotropy[fabric]'"
        ) from None
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)  # not how it connects
    try:
        fabric = Fabric(
            accelerator="auto",
            devices=int(devices) if devices.isdigit() else devices,
            strategy=strategy,
            precision=cast(Any, PRECISIONS.get(precision, precision)),
        )
        fabric.launch()
    except (ValueError, TypeError, RuntimeError) as error:
        given = f"devices={devices}, strategy={strategy}, precision={precision}"
        raise InputError(f"lightning-fabric cannot start with {given}: {error}") from None
    return OnFabric(fabric)
