"""Which axis of an array means what: told from its shape, or by a name."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from isotropy.data.samples import ArraySamples
from isotropy.errors import InputError

LAYOUTS: dict[str, str] = {
    "nf": "first",
    "nl": "none",
    "ncl": "first",
    "nlc": "last",
    "nhw": "none",
    "nchw": "first",
    "nhwc": "last",
    "ndhw": "none",
    "ncdhw": "first",
    "ndhwc": "last",
}
"""Known layouts and where their channels are: n samples, c channels, f features of vectors, l the
length of signals, d, h, w the axes of pictures and volumes."""

FEW_CHANNELS = 4


def arrange(array: NDArray[Any], layout: str | None = None, where: str = "X") -> ArraySamples:
    """Samples from an array, its layout told from its shape if none is given.

    Two axes are vectors and three are pictures without channels; signals have to be asked for.
    Four and five axes are pictures and volumes with channels, first or last: where only one of
    both readings has at most 4 channels it is that one, else the only one whose grid is square.

    Args:
        array: one sample for every index of the first axis.
        layout: one of LAYOUTS, or None.
        where: the file or argument it is from, for messages.

    >>> import numpy as np
    >>> arrange(np.zeros((5, 32, 32, 3))).shape, arrange(np.zeros((5, 3, 32, 32))).shape
    ((3, 32, 32), (3, 32, 32))
    >>> arrange(np.zeros((5, 8, 100)), "ncl").shape
    (8, 100)
    """
    if layout is None:
        return ArraySamples(array, guess(array.shape, where))
    if layout not in LAYOUTS:
        raise InputError(f"layout must be one of {', '.join(LAYOUTS)}, not {layout!r}")
    if array.ndim != len(layout):
        raise InputError(
            f"{where}: layout {layout} has {len(layout)} axes, but the shape is {array.shape}"
        )
    return ArraySamples(array, LAYOUTS[layout])


def guess(shape: tuple[int, ...], where: str = "X") -> str:
    """Where the channels are, from the shape alone; an ambiguous shape is refused.

    >>> guess((100, 28, 28)), guess((100, 200, 64, 64)), guess((100, 28, 20, 1))
    ('none', 'first', 'last')
    """
    if len(shape) in (2, 3):
        return "first" if len(shape) == 2 else "none"
    if len(shape) not in (4, 5):
        raise InputError(
            f"{where}: shape {shape} is no set of samples; 2 axes are vectors, 3 and 4 pictures, "
            "5 volumes"
        )
    readings = {"first": (shape[1], shape[2:]), "last": (shape[-1], shape[1:-1])}
    likely = [name for name, (channels, _) in readings.items() if channels <= FEW_CHANNELS]
    candidates = likely or list(readings)
    if len(candidates) > 1:
        candidates = [name for name in candidates if len(set(readings[name][1])) == 1]
    if len(candidates) != 1:
        raise InputError(_ambiguous(shape, where))
    return candidates[0]


def _ambiguous(shape: tuple[int, ...], where: str) -> str:
    names = [name for name in LAYOUTS if len(name) == len(shape)]
    return (
        f"{where}: which axis of shape {shape} holds the channels is ambiguous; say --layout "
        f"{' or '.join(names)}"
    )
