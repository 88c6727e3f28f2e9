"""Which symmetries are asked about: those that are usual for a kind of data, or those given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from isotropy.data import DataSet
from isotropy.errors import InputError
from isotropy.evidence.columns import from_moves, vector_symmetries
from isotropy.evidence.pictures import (
    fits,
    picture_symmetries,
    signal_symmetries,
    volume_symmetries,
)
from isotropy.evidence.symmetry import Symmetry
from isotropy.groups.action import trivial
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.named import MEANINGS, group

Given = Symmetry | FiniteGroup | str
Candidates = Sequence[Given] | Mapping[str, Any]

MOST_SEEN = 20_000  # rows by which columns are compared


def candidates_for(
    data: DataSet, given: Candidates | None = None, blocks: int = 1
) -> list[Symmetry]:
    """The candidates for data, the largest last.

    Args:
        data: of any kind.
        given: names among the usual ones ("C4", "reversal", ...), groups, symmetries; or a mapping
            {name: permutation(s)} of the entries of a flattened sample, each an array of images
            (entries,), several of them (k, entries), or by name {"swap": [1, 0, 2]}. By default
            all that are usual.
        blocks: of vectors, how many consecutive columns move together.

    >>> from isotropy.data import from_arrays
    >>> data = from_arrays(np.random.rand(40, 1, 8, 8), [0, 1] * 20)
    >>> [c.name for c in candidates_for(data, ["C4", "D4"])]
    ['C4', 'D4']
    """
    if blocks != 1 and data.kind != "vector":
        raise InputError(f"blocks: are of columns, and these data are {data.kind}s")
    if given is None:
        return sorted(usual(data, blocks), key=_size)
    if isinstance(given, Mapping):
        found = [from_entries(data, name, moves) for name, moves in given.items()]
    else:
        found = [_read(data, one, blocks) for one in _listed(given)]
    if not found:
        raise InputError("candidates: name at least one")
    names = [symmetry.name for symmetry in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"candidates: {name} is there twice")
    _require_one_meaning(data, found)
    return sorted(found, key=_size)


def _size(symmetry: Symmetry) -> float:
    return symmetry.log_order


def _require_one_meaning(data: DataSet, symmetries: Sequence[Symmetry]) -> None:
    """Moves are filed under their names, so one name may not stand for two of them."""
    example = torch.arange(1.0, prod(data.shape) + 1, dtype=torch.float64).view(1, *data.shape)
    known: dict[str, Tensor] = {}
    for symmetry in symmetries:
        for element in symmetry.tested:
            moved = symmetry.move(example, element)
            if not torch.equal(known.setdefault(element, moved), moved):
                raise InputError(
                    f"candidates: {element} is one move of {symmetry.name} and another one of a "
                    "candidate before it; give each its own name"
                )


def usual(data: DataSet, blocks: int = 1) -> list[Symmetry]:
    """The symmetries that are usual for the kind of the data and fit its shape."""
    if data.kind == "image":
        return picture_symmetries(data.shape)
    if data.kind == "volume":
        return volume_symmetries(data.shape)
    if data.kind == "signal":
        return signal_symmetries(data.shape)
    seen = np.arange(min(len(data), MOST_SEEN))
    return vector_symmetries(data.samples.take(seen).double().numpy(), blocks)


def from_entries(data: DataSet, name: str, moves: Any) -> Symmetry:
    """A candidate from permutations of the entries of a flattened sample.

    Args:
        data: what it is for.
        name: what to call it.
        moves: images (entries,), several (k, entries), signed permutation matrices by name, or
            {name: images}.
    """
    entries = prod(data.shape)
    if isinstance(moves, Mapping):
        named = {str(key): value for key, value in moves.items()}
    else:
        listed = _rows(name, moves)
        named = {f"{name}{i}" if len(listed) > 1 else name: row for i, row in enumerate(listed)}
    for key, value in named.items():
        length = len(np.asarray(value)) if not hasattr(value, "size") else _length(value)
        if length != entries:
            raise InputError(
                f"candidates: {key} permutes {length} entries, but a sample of shape "
                f"{data.shape} has {entries}"
            )
    return from_moves(named, name, f"{name}, as given")


def _length(value: Any) -> int:
    return int(value.shape[0]) if hasattr(value, "shape") else int(value.size)


def _rows(name: str, moves: ArrayLike | Tensor) -> list[NDArray[Any]]:
    array = np.asarray(moves)
    if array.dtype.kind not in "iu" or array.ndim not in (1, 2) or not array.size:
        raise InputError(
            f"candidates: {name} must be whole numbers, the images (entries,) of one permutation "
            f"or (k, entries) of several, not {array.dtype} of shape {array.shape}"
        )
    return [array] if array.ndim == 1 else list(array)


def _listed(given: Any) -> Iterable[Any]:
    return [given] if isinstance(given, str | Symmetry | FiniteGroup) else given


def _read(data: DataSet, one: Any, blocks: int) -> Symmetry:
    if isinstance(one, Symmetry):
        return one
    known = {symmetry.name: symmetry for symmetry in usual(data, blocks)}
    if isinstance(one, str) and one in known:
        return known[one]
    own = _of_grids(one)
    if own is None or data.kind == "vector":
        raise InputError(
            f"candidates: {one} is none that is known for {data.kind}s of shape {data.shape}; "
            f"known are {', '.join(known)}, or give permutations"
        )
    if not fits(own, data.shape):
        raise InputError(
            f"candidates: {own.name} does not fit {data.kind}s of shape {data.shape}, whose grid "
            "it does not keep"
        )
    if own.order == 1:
        raise InputError(f"candidates: {own.name} is no symmetry; it is compared with anyhow")
    return Symmetry(own, trivial(own, data.shape[0]), MEANINGS.get(own.name, own.name))


def _of_grids(one: Any) -> FiniteGroup | None:
    """A group that turns grids, given or by name; None if there is none."""
    try:
        own = one if isinstance(one, FiniteGroup) else group(str(one))
    except InputError:
        return None
    return own if own.matrices is not None else None
