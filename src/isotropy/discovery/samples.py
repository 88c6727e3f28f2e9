"""Some samples beside themselves as the symmetry moves them, to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isotropy.data import DataSet
from isotropy.discovery.contender import Contender
from isotropy.discovery.words import element_words
from isotropy.evidence.symmetry import Symmetry

SHOWN = 6
MOST_TWINS = 5


def keep_samples(
    data: DataSet, chosen: Contender | None, candidates: Sequence[Symmetry], result: dict[str, Any]
) -> dict[str, Any]:
    """Samples of several classes and their twins; the result is told their labels and moves.

    Args:
        data: where to take them from.
        chosen: what is recommended; without one the largest candidate moves them.
        candidates: all of them, the largest last.
        result: gets "samples".
    """
    indices = _of_several_classes(data)
    x = data.samples.take(indices)
    symmetry = candidates[-1] if chosen is None else chosen.symmetry
    moves = symmetry.tested[:MOST_TWINS]
    turned = {element: symmetry.move(x, element) for element in moves}
    result["samples"] = [_described(data, int(i), symmetry, moves) for i in indices]
    low, high = float(x.min()), float(x.max())
    return {
        "samples": _shades(x, low, high),
        "turned": {element: _shades(values, low, high) for element, values in turned.items()},
    }


def _of_several_classes(data: DataSet) -> NDArray[np.int64]:
    """The first samples of as many classes as are shown; of regression the first samples."""
    if data.task != "classification":
        return np.arange(min(SHOWN, len(data)))
    firsts = [np.flatnonzero(data.targets == c)[:2] for c in range(len(data.classes))]
    once = [found[0] for found in firsts if len(found)]
    twice = [found[1] for found in firsts if len(found) > 1]
    return np.asarray([*once, *twice][:SHOWN], dtype=np.int64)


def _described(
    data: DataSet, index: int, symmetry: Symmetry, moves: Sequence[str]
) -> dict[str, Any]:
    target = data.targets[index]
    own = _label(data, target)
    turned = []
    for element in moves:
        words = element_words(element, symmetry)
        after = _moved_label(data, symmetry, element, target)
        turned.append({"element": element, "words": f"{words}: {after}" if after != own else words})
    return {"label": own, "turned": turned}


def _label(data: DataSet, target: Any) -> str:
    if data.task == "classification":
        return data.classes[int(target)]
    return ", ".join(f"{float(v):.3g}" for v in np.atleast_1d(target))


def _moved_label(data: DataSet, symmetry: Symmetry, element: str, target: Any) -> str:
    if symmetry.labels is None or element not in _known(symmetry):
        return _label(data, target)
    if data.task == "classification":
        return data.classes[int(symmetry.labels.of(element).target[int(target)])]
    moved = symmetry.labels.apply(element, torch.tensor(np.atleast_2d(target)), 1)
    return _label(data, moved[0].numpy())


def _known(symmetry: Symmetry) -> tuple[str, ...]:
    assert symmetry.labels is not None
    return symmetry.labels.test_elements


def _shades(x: Tensor, low: float, high: float) -> NDArray[np.float32]:
    """Values from 0 to 1."""
    return ((x - low) / max(high - low, 1e-12)).float().numpy()
