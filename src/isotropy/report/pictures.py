"""Samples as pictures inside the page: PNG in a data address, signals and columns as lines."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from isotropy.errors import InputError
from isotropy.report.charts import spark

PIXELATED_BELOW = 96
"""Pictures with fewer pixels a side are enlarged without smoothing: every pixel is data."""

MOST_LINES = 3
"""Channels of a signal that are drawn."""

Limits = tuple[float, float]


@dataclass(frozen=True)
class Picture:
    """One sample as it is shown: an address that holds a picture, or drawn lines."""

    address: str
    drawings: tuple[Markup, ...]
    pixelated: bool
    words: str


def picture(sample: NDArray[np.float64], kind: str, limits: Limits, words: str) -> Picture:
    """A picture of one sample.

    Args:
        sample: (c, h, w) of a picture, (c, d, h, w) of a volume (its three middle slices are
            shown), (c, n) of a signal, (n,) of columns, (n, d) of a set.
        kind: "image", "volume", "signal", "vector" or "set".
        limits: what black and white stand for, or the bottom and the top of a line.
        words: what it shows, for those who do not see it.

    >>> import numpy as np
    >>> picture(np.zeros((1, 2, 2)), "image", (0.0, 1.0), "a zero").address[:22]
    'data:image/png;base64,'
    """
    if sample.ndim == 1 or (sample.ndim == 2 and kind == "signal"):
        lines = np.atleast_2d(sample)[:MOST_LINES]
        drawn = tuple(spark(line.tolist(), title=words, limits=limits) for line in lines)
        return Picture("", drawn, False, words)
    shades = _shades(_slices(sample) if sample.ndim == 4 else sample, limits)
    return Picture(png_address(shades), (), max(shades.shape[:2]) < PIXELATED_BELOW, words)


def limits_of(samples: NDArray[np.float64]) -> Limits:
    """Smallest and largest value; 0 and 1 for pictures that keep within."""
    known = samples[np.isfinite(samples)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high if high > low else low + 1)


def samples_of(values: object, name: str) -> NDArray[np.float64]:
    """Samples as numbers; eight-bit ones count from 0 to 1."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or not 2 <= array.ndim <= 5 or not array.size:
        raise InputError(
            f"{name} must be an array of samples (k, channels, height, width), (k, channels, n) "
            f"or (k, n), not {array.dtype} of shape {array.shape}"
        )
    return array / 255.0 if array.dtype == np.uint8 else array.astype(np.float64)


def png_address(shades: NDArray[np.uint8]) -> str:
    """An address that holds a picture (h, w) or (h, w, 3) itself."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(shades)).save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def _shades(sample: NDArray[np.float64], limits: Limits) -> NDArray[np.uint8]:
    """Grey (h, w) or coloured (h, w, 3); of other numbers of channels, the first one or three."""
    low, high = limits
    scaled = np.clip((np.nan_to_num(sample, nan=low) - low) / (high - low), 0, 1)
    shades: NDArray[np.uint8] = np.round(255 * scaled).astype(np.uint8)
    if shades.ndim == 2:
        return shades
    return np.moveaxis(shades[:3], 0, -1) if len(shades) >= 3 else shades[0]


def _slices(volume: NDArray[np.float64]) -> NDArray[np.float64]:
    """The middle slices along the three axes, side by side."""
    middles: Sequence[NDArray[np.float64]] = [
        np.take(volume, volume.shape[axis] // 2, axis=axis) for axis in (1, 2, 3)
    ]
    high = max(middle.shape[1] for middle in middles)
    padded = [
        np.pad(m, ((0, 0), (0, high - m.shape[1]), (0, 1)), constant_values=np.nan) for m in middles
    ]
    return np.concatenate(padded, axis=2)
