"""Data sets from an .npz file, or from a pair of .npy files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isotropy.data.assemble import Raw, assemble, raw_arrays
from isotropy.data.layout import arrange
from isotropy.data.npy import Npz, load_npy
from isotropy.data.options import Options
from isotropy.data.samples import ArraySamples
from isotropy.data.splits import Splits
from isotropy.errors import InputError

PAIRS = (("images", "labels"), ("X", "y"), ("x", "y"))
TRAIN_FORMS = ("train_{}", "{}_train")
TEST_FORMS = ("test_{}", "{}_test")
VALIDATION_FORMS = ("validation_{}", "val_{}", "{}_validation", "{}_val")


def load_npz(
    path: Path,
    options: Options | None = None,
    name: str = "",
    origin: Mapping[str, Any] | None = None,
    classes: Sequence[str] | None = None,
) -> Splits:
    """Data from an .npz: X and y, or images and labels, or several parts of that.

    With train_, test_ and validation_ (or val_) before or after these names each is a part.

    Args:
        path: the file. `class_names` in it names the classes, `layout` the axes of the inputs,
            `note` says what to say beside every number got from it.
        options: how to read it.
        name: what to call it; the file's name if empty.
        origin: how it came to be.
        classes: the names of the classes, where the file has none.
    """
    options = options or Options()
    options.refuse("an .npz", "skip_bad")
    arrays = Npz(path)
    train = _part(arrays, TRAIN_FORMS, options) or _part(arrays, ("{}",), options)
    if train is None:
        known = ", ".join(f"{x} and {y}" for x, y in PAIRS)
        raise InputError(
            f"{path}: must hold {known}, or these with train_ before; it holds "
            f"{', '.join(arrays.names)}"
        )
    return assemble(
        train,
        _part(arrays, TEST_FORMS, options),
        _part(arrays, VALIDATION_FORMS, options),
        task=options.task,
        names=_names(arrays, classes) if options.target is None else None,
        name=name or path.stem,
        origin={"source": str(path), **_note(arrays), **(origin or {})},
        resize=options.resize,
    )


def load_inputs(path: Path, options: Options) -> ArraySamples | None:
    """The inputs of an .npz without targets; None if it has some, or no inputs either."""
    arrays = Npz(path)
    forms = ("{}", *TRAIN_FORMS, *TEST_FORMS)
    targets = [options.target] if options.target else [y for _, y in PAIRS]
    if any(form.format(y) in arrays for form in forms for y in targets):
        return None
    inputs = next((x for x, _ in PAIRS if x in arrays), None)
    if inputs is None:
        return None
    return arrange(arrays[inputs], _layout(arrays, options), f"{path}: {inputs}")


def _names(arrays: Npz, classes: Sequence[str] | None) -> Sequence[str] | None:
    if "class_names" not in arrays:
        return classes
    return [_text(name) for name in arrays["class_names"].ravel()]


def _note(arrays: Npz) -> dict[str, str]:
    return {"note": _text(arrays["note"])} if "note" in arrays else {}


def _text(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic | np.ndarray) else value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _part(arrays: Npz, forms: tuple[str, ...], options: Options) -> Raw | None:
    for form in forms:
        for x, y in PAIRS:
            inputs, targets = form.format(x), form.format(options.target or y)
            if inputs not in arrays:
                continue
            if targets in arrays:
                return _raw(arrays, inputs, targets, options)
            if options.target is not None:
                raise InputError(
                    f"{arrays.path}: has no array {targets!r} to predict; it holds "
                    f"{', '.join(arrays.names)}"
                )
    return None


def _raw(arrays: Npz, inputs: str, targets: str, options: Options) -> Raw:
    layout = _layout(arrays, options)
    return raw_arrays(arrays[inputs], arrays[targets], layout, f"{arrays.path}: {inputs}")


def _layout(arrays: Npz, options: Options) -> str | None:
    if options.layout is None and "layout" in arrays:
        return _text(arrays["layout"])
    return options.layout


def load_npy_pair(x_path: Path, y_path: Path, options: Options | None = None) -> Splits:
    """Data from two .npy files, inputs and targets."""
    options = options or Options()
    options.refuse("a pair of .npy files", "target", "skip_bad")
    X, y = load_npy(x_path), load_npy(y_path)
    return assemble(
        raw_arrays(X, y, options.layout, f"{x_path}, {y_path}"),
        task=options.task,
        name=x_path.stem,
        origin={"source": f"{x_path},{y_path}"},
        resize=options.resize,
    )
