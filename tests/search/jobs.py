"""What workers are given to do in tests: functions that other processes can import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_info

from isotropy.errors import InputError


def square(x: int) -> int:
    return x * x


def threads(_: int) -> int:
    """The most threads that torch, numpy or scipy would use."""
    np.ones((2, 2)) @ np.ones((2, 2))
    return max(torch.get_num_threads(), *(pool["num_threads"] for pool in threadpool_info()))


def process(_: int) -> int:
    time.sleep(0.05)
    return os.getpid()


def tensor(seed: int) -> torch.Tensor:
    return torch.randn(3, 3, generator=torch.Generator().manual_seed(seed))


def refuse(x: int) -> int:
    if x == 1:
        raise InputError("one is not wanted")
    return x


class OddError(Exception):
    """An error that pickle cannot make again."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"odd {first} {second}")


def fail_oddly(_: int) -> None:
    raise OddError(1, 2)


def begun(folder: Path, name: str) -> int:
    """How often a task has been begun by now, this time included, whoever did it."""
    for number in range(1, 100):
        try:
            (folder / f"{name}-{number}").touch(exist_ok=False)
        except FileExistsError:
            continue
        return number
    raise AssertionError(name)


def flaky(task: tuple[Path, int, int]) -> int:
    """Raises the first times it is begun."""
    folder, number, failures = task
    if begun(folder, str(number)) <= failures:
        raise OSError(f"try {number} again")
    return number


def deadly(task: tuple[Path, int, int]) -> int:
    """Kills its process the first times it is begun."""
    folder, number, deaths = task
    if begun(folder, str(number)) <= deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)
    return number


def sleep_for(seconds: float) -> Any:
    time.sleep(seconds)
    return seconds
