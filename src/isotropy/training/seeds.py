"""One seed for everything: every part draws from a stream of its own, named by a path."""

from __future__ import annotations

from zlib import crc32

import numpy as np


def stream(seed: int, *path: str | int) -> np.random.Generator:
    """The random numbers of one part, the same whoever else draws, and when.

    Args:
        seed: the one seed of a run.
        path: which part, as ("order", epoch).

    >>> float(stream(0, "order", 3).random()) == float(stream(0, "order", 3).random())
    True
    """
    return np.random.default_rng(_sequence(seed, path))


def torch_seed(seed: int, *path: str | int) -> int:
    """A seed for torch's own generator, for one part.

    >>> torch_seed(0, "weights", 1) == torch_seed(0, "weights", 1) != torch_seed(0, "weights", 2)
    True
    """
    return int(_sequence(seed, path).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _sequence(seed: int, path: tuple[str | int, ...]) -> np.random.SeedSequence:
    key = [crc32(step.encode()) if isinstance(step, str) else step for step in path]
    return np.random.SeedSequence(seed, spawn_key=key)
