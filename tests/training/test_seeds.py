"""One seed: every part has a stream of its own, the same whoever else draws."""

from __future__ import annotations

import itertools

import numpy as np

from isotropy.training import stream, torch_seed

PATHS = [(), ("order",), ("order", 0), ("order", 1), ("augmentation", 0, 1), ("augmentation", 1, 0)]


def test_streams_are_repeated_and_different() -> None:
    draws = {(seed, path): stream(seed, *path).integers(2**60) for seed in (0, 1) for path in PATHS}
    assert len(set(draws.values())) == len(draws)
    for (seed, path), value in draws.items():
        assert stream(seed, *path).integers(2**60) == value


def test_torch_seeds_are_repeated_and_different() -> None:
    seeds = [torch_seed(seed, *path) for seed, path in itertools.product((0, 1), PATHS)]
    assert len(set(seeds)) == len(seeds)
    assert seeds == [torch_seed(seed, *path) for seed, path in itertools.product((0, 1), PATHS)]
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_streams_do_not_disturb_numpy() -> None:
    before = np.random.get_state()[1].copy()
    stream(0, "order").random(5)
    assert np.array_equal(np.random.get_state()[1], before)
