"""Samples of the data beside themselves as the symmetries move them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isotropy.data.npy import Npz
from isotropy.errors import FileFormatError, InputError
from isotropy.report.pictures import Limits, Picture, limits_of, picture, samples_of
from isotropy.report.read import Result, part, rows, texts, words
from isotropy.report.symmetry import element_words

TURNED = "turned_"
MOST = 8
"""Samples that are shown."""


@dataclass(frozen=True)
class Twin:
    """A sample moved by an element, and the label it then has, if that is another."""

    caption: str
    picture: Picture


@dataclass(frozen=True)
class Sample:
    """A sample, its label, and its twins."""

    label: str
    picture: Picture
    twins: tuple[Twin, ...]


def sample_rows(result: Result, images: Mapping[str, Any] | None) -> list[Sample]:
    """The samples of a result with their pictures; none without pictures.

    Args:
        result: its "samples" say which label each has and by which elements it is moved.
        images: {"samples": array (k, …), "turned": {element: array (k, …)}}.
    """
    if not images or images.get("samples") is None:
        return []
    originals = samples_of(images["samples"], "images['samples']")
    turned = {
        str(element): samples_of(values, f"images['turned'][{element!r}]")
        for element, values in part(images, "turned").items()
    }
    for element, values in turned.items():
        if len(values) != len(originals):
            raise InputError(
                f"images['turned'][{element!r}] has {len(values)} samples, images['samples'] "
                f"{len(originals)}: give one twin for each"
            )
    limits = limits_of(originals)
    described = rows(result, "samples")
    return [
        _sample(result, place, originals, turned, limits, described[place:])
        for place in range(min(len(originals), MOST))
    ]


def read_images(path: Path) -> dict[str, Any]:
    """The pictures that a run has kept: arrays "samples" and "turned_<element>" of an .npz file.

    Args:
        path: the file.

    >>> import tempfile
    >>> import numpy as np
    >>> path = Path(tempfile.mkdtemp()) / "samples.npz"
    >>> np.savez(path, samples=np.zeros((2, 1, 4, 4)), turned_r=np.zeros((2, 1, 4, 4)))
    >>> sorted(read_images(path)["turned"])
    ['r']
    """
    file = Npz(path)
    arrays = {name: file[name] for name in file.names}
    if "samples" not in arrays:
        raise FileFormatError(f"{path} holds no array 'samples'")
    turned = {k.removeprefix(TURNED): v for k, v in arrays.items() if k.startswith(TURNED)}
    return {"samples": arrays["samples"], "turned": turned}


def _sample(
    result: Result,
    place: int,
    originals: Any,
    turned: Mapping[str, Any],
    limits: Limits,
    described: list[Result],
) -> Sample:
    row = described[0] if described else {}
    kind = words(part(result, "data").get("kind"), "image")
    label = _label(row.get("label"), texts(part(result, "data"), "classes"))
    told = {words(t.get("element")): words(t.get("words")) for t in rows(row, "turned")}
    chosen = [element for element in (told or turned) if element in turned]
    shows = f"sample {place + 1}" + (f", {label}" if label else "")
    twins = []
    for element in chosen:
        caption = told.get(element) or element_words(element, rows(result, "inputs"), kind)
        drawn = picture(turned[element][place], kind, limits, f"{shows}: {caption}")
        twins.append(Twin(caption, drawn))
    return Sample(label, picture(originals[place], kind, limits, shows), tuple(twins))


def _label(value: Any, classes: list[str]) -> str:
    """A label as text; a whole number among named classes is the place of its name."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(classes):
        return classes[value]
    return words(value)
