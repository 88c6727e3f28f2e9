"""Samples without targets, to predict: an .npy, an .npz of inputs alone, a folder of pictures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from isotropy.data.check import check_finite, check_numeric
from isotropy.data.layout import arrange
from isotropy.data.npy import load_npy
from isotropy.data.npz import load_inputs
from isotropy.data.options import Options
from isotropy.data.resize import Resized
from isotropy.data.samples import ArraySamples, Samples
from isotropy.errors import InputError


@dataclass(frozen=True, eq=False)
class Unlabelled:
    """Samples without targets.

    Args:
        samples: the inputs.
        names: of each: its file's, or its number.
    """

    samples: Samples
    names: list[str]


def load_unlabelled(source: str | Path, options: Options | None = None) -> Unlabelled | None:
    """The samples of a source that has no targets, even a single one; None for any other source.

    Args:
        source: an .npy of inputs, an .npz with X or images and no labels, or a folder with pictures
            and no folders in it.
        options: how to read it.

    >>> import numpy as np, tempfile
    >>> file = Path(tempfile.mkdtemp()) / "inputs.npy"
    >>> np.save(file, np.zeros((3, 8, 8)))
    >>> load_unlabelled(file).samples.shape
    (1, 8, 8)
    """
    path, options = Path(source).expanduser(), options or Options()
    if path.is_dir():
        return _pictures(path, options)
    if not path.is_file() or path.suffix not in (".npy", ".npz"):
        return None
    if path.suffix == ".npy":
        found: ArraySamples | None = arrange(load_npy(path), options.layout, str(path))
    else:
        found = load_inputs(path, options)
    return None if found is None else _numbered(found, path, options)


def _pictures(folder: Path, options: Options) -> Unlabelled | None:
    from isotropy.data.folder import is_flat, load_pictures

    if not is_flat(folder):
        return None
    options.refuse("a folder of pictures", "layout", "target", "task")
    return Unlabelled(*load_pictures(folder, options))


def _numbered(samples: ArraySamples, path: Path, options: Options) -> Unlabelled:
    options.refuse("arrays", "skip_bad")
    if not len(samples):
        raise InputError(f"{path}: holds no samples")
    check_numeric(samples.array, str(path))
    check_finite(samples.array, str(path))
    names = [str(number) for number in range(len(samples))]
    sized = samples if options.resize is None else Resized(samples, options.resize)
    return Unlabelled(sized, names)
