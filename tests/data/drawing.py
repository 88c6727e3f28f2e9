"""Small picture files, made for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

DRAWS = np.random.default_rng(7)


def noise(*shape: int) -> np.ndarray:
    """Random pixels."""
    return DRAWS.integers(0, 256, size=shape).astype(np.uint8)


def draw(path: Path, pixels: Any, **how: Any) -> Path:
    """A picture file of pixels, its folder made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **how)
    return path


def draw_classes(folder: Path, per_class: int = 3, suffix: str = ".png", size: int = 6) -> Path:
    """A folder with two class folders of random pictures in it."""
    for name in ("cats", "dogs"):
        for i in range(per_class):
            draw(folder / name / f"{i}{suffix}", noise(size, size, 3))
    return folder
