"""Small data of every kind in files, and bad ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


def pictures(count: int = 48, side: int = 8, classes: int = 3, seed: int = 0) -> Arrays:
    """Noise with a bright ring, whose radius is the class: C4 is a symmetry of the labels."""
    draws = np.random.default_rng(seed)
    y = np.arange(count) % classes
    X = draws.normal(size=(count, side, side)).astype(np.float32)
    for x, label in zip(X, y, strict=True):
        edge = slice(label, side - label)
        x[edge, edge] += 2.0
    return {"X": X, "y": y}


def vectors(count: int = 48) -> Arrays:
    """Four numbers, with two columns to predict, far from zero."""
    X = np.random.default_rng(0).normal(size=(count, 4)).astype(np.float32)
    return {"X": X, "y": np.stack([100 + 10 * X.sum(1), -5 + X[:, 0]], 1)}


def maps(count: int = 24) -> Arrays:
    """Pictures with a class for every pixel."""
    X = np.random.default_rng(0).normal(size=(count, 8, 8)).astype(np.float32)
    return {"X": X, "y": (X > 0).astype(np.int64)}


def in_parts() -> Arrays:
    """Pictures of which the makers have set test and validation data apart."""
    parts = {
        "train": pictures(36),
        "test": pictures(15, seed=1),
        "validation": pictures(12, seed=2),
    }
    return {f"{part}_{name}": a for part, arrays in parts.items() for name, a in arrays.items()}


SOURCES: dict[str, Callable[[], Arrays]] = {
    "pictures": pictures,
    "vectors": vectors,
    "maps": maps,
    "in_parts": in_parts,
}


def write(folder: Path, name: str) -> Path:
    """A source as an .npz."""
    path = folder / f"{name}.npz"
    np.savez(path, **SOURCES[name]())
    return path
