"""Data of every kind, and the candidates for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isotropy.data import DataSet, from_arrays
from isotropy.evidence import Symmetry, candidates_for

SHAPES: dict[str, tuple[tuple[int, ...], str | None]] = {
    "square picture": ((3, 8, 8), "nchw"),
    "odd picture": ((1, 9, 9), "nchw"),
    "large picture": ((1, 20, 20), "nchw"),
    "oblong picture": ((1, 8, 12), "nchw"),
    "signal": ((2, 40), "ncl"),
    "volume": ((1, 6, 6, 6), "ncdhw"),
    "oblong volume": ((1, 4, 6, 8), "ncdhw"),
    "vector": ((5,), None),
}


def data_of(kind: str, count: int = 60, seed: int = 0) -> DataSet:
    """Noise with two labels."""
    shape, layout = SHAPES[kind]
    X = np.random.default_rng(seed).normal(size=(count, *shape)).astype(np.float32)
    return from_arrays(X, np.arange(count) % 2, layout=layout, name=kind)


def permuted() -> list[Symmetry]:
    """Candidates given as permutations: listed, too large to list, with signs, of pictures."""
    vector, picture = data_of("vector"), data_of("odd picture")
    turn = np.rot90(np.arange(81).reshape(9, 9)).ravel()
    given: list[tuple[DataSet, dict[str, object]]] = [
        (vector, {"C5": [1, 2, 3, 4, 0]}),
        (vector, {"S5": {"swap": [1, 0, 2, 3, 4], "turn": [1, 2, 3, 4, 0]}}),
        (vector, {"signs": {"first": np.diag([-1, 1, 1, 1, 1])}}),
        (picture, {"turns": turn}),
    ]
    return [symmetry for data, moves in given for symmetry in candidates_for(data, moves)]


def usual() -> list[tuple[str, Symmetry]]:
    """Every usual candidate of every kind of data."""
    return [(kind, symmetry) for kind in SHAPES for symmetry in candidates_for(data_of(kind))]


def named(cases: list[tuple[str, Symmetry]]) -> Callable[[object], str]:
    """What pytest calls a case."""
    return lambda value: value.name if isinstance(value, Symmetry) else str(value)
