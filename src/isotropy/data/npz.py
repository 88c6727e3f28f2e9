"""Data sets from an .npz file, or from a pair of .npy files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isotropy.data.assemble import Raw, assemble, raw_arrays
from isotropy.data.npy import Npz, load_npy
from isotropy.data.options import Options
from isotropy.data.splits import Splits
from isotropy.errors import InputError

PAIRS = (("images", "labels"), ("X", "y"), ("x", "y"))
TRAIN_FORMS = ("train_{}", "{}_train")
TEST_FORMS = ("test_{}", "{}_test")


def load_npz(
    path: Path,
    options: Options | None = None,
    name: str = "",
    origin: Mapping[str, Any] | None = None,
) -> Splits:
    """Data from an .npz: X and y, or images and labels; with train_ and test_ before, both parts.

    Args:
        path: the file. `class_names` in it names the classes, `layout` the axes of the inputs.
        options: how to read it.
        name: what to call it; the file's name if empty.
        origin: how it came to be.
    """
    options = options or Options()
    arrays = Npz(path)
    train = _part(arrays, TRAIN_FORMS, options) or _part(arrays, ("{}",), options)
    if train is None:
        known = ", ".join(f"{x} and {y}" for x, y in PAIRS)
        raise InputError(
            f"{path}: must hold {known}, or these with train_ before; it holds "
            f"{', '.join(arrays.names)}"
        )
    named = options.target is None and "class_names" in arrays
    names = [str(text) for text in arrays["class_names"]] if named else None
    return assemble(
        train,
        _part(arrays, TEST_FORMS, options),
        task=options.task,
        names=names,
        name=name or path.stem,
        origin=origin or {"source": str(path)},
        resize=options.resize,
    )


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
    layout = options.layout
    if layout is None and "layout" in arrays:
        layout = str(arrays["layout"])
    return raw_arrays(arrays[inputs], arrays[targets], layout, f"{arrays.path}: {inputs}")


def load_npy_pair(x_path: Path, y_path: Path, options: Options | None = None) -> Splits:
    """Data from two .npy files, inputs and targets."""
    options = options or Options()
    X, y = load_npy(x_path), load_npy(y_path)
    return assemble(
        raw_arrays(X, y, options.layout, f"{x_path}, {y_path}"),
        task=options.task,
        name=x_path.stem,
        origin={"source": f"{x_path},{y_path}"},
        resize=options.resize,
    )
