"""Any source people bring, as checked data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from numpy.typing import ArrayLike

from isotropy.data.assemble import from_arrays, resized
from isotropy.data.dataset import DataSet
from isotropy.data.named.catalogue import find, load_named
from isotropy.data.npz import load_npy_pair, load_npz
from isotropy.data.options import Options, Progress
from isotropy.data.splits import Splits
from isotropy.errors import InputError

if TYPE_CHECKING:
    from torch.utils.data import Dataset

    Source = (
        str
        | Path
        | DataSet
        | Splits
        | tuple[ArrayLike | torch.Tensor, ArrayLike | torch.Tensor]
        | Dataset[Any]
    )


def load(
    source: Source,
    *,
    layout: str | None = None,
    task: str | None = None,
    target: str | None = None,
    resize: int | None = None,
    skip_bad: bool = False,
    cache: str | Path | None = None,
    mirror: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Splits:
    """Data from wherever they are: training data, and test data where the source has some.

    Args:
        source: a name (`isotropy data list` shows all), an .npz, "X.npy,y.npy", a folder with one
            folder of pictures for each class, (X, y) as arrays, or a torch Dataset. A name wins
            over a folder called so, which is ./name.
        layout: what the axes of arrays mean, where the shape does not tell: "nchw", "ncl", ...
        task: "classification", "regression" or "dense"; told from the targets if None.
        target: which array of an .npz to predict, if not labels or y.
        resize: pictures become squares of this side, cut from their centres.
        skip_bad: leave out pictures of a folder that cannot be read, and say how many.
        cache: where downloads are kept; ISOTROPY_DATA, or the platform's cache folder.
        mirror: where to download from instead of the official addresses; ISOTROPY_MIRROR.
        seed: of what is drawn where a named set is made of another.
        progress: is told how long work goes on.

    >>> digits = load("digits").train
    >>> len(digits), digits.shape, digits.outputs
    (1797, (1, 8, 8), 10)
    """
    options = Options(layout, task, target, resize, skip_bad, cache, mirror, seed, progress)
    if isinstance(source, str | Path):
        return _from_text(str(source), options)
    if isinstance(source, DataSet | Splits):
        return _as_it_is(source, options)
    return _from_python(source, options)


def _from_text(source: str, options: Options) -> Splits:
    path = _as_path(source)
    first, comma, second = source.partition(",")
    if comma and first.endswith(".npy") and second.endswith(".npy") and not path.exists():
        return load_npy_pair(_tidy(first), _tidy(second), options)
    if not _is_path(source) and (not path.exists() or _is_name(source)):
        return load_named(source, options)
    if path.is_dir():
        from isotropy.data.folder import load_folder

        return load_folder(path, options)
    if path.suffix == ".npy":
        raise InputError(f"{source}: one .npy holds inputs or targets; give both as X.npy,y.npy")
    return load_npz(path, options)


def _tidy(text: str) -> Path:
    return _as_path(text.strip())


def _as_path(text: str) -> Path:
    """A path that can be asked whether it is there: not too long, of a user that there is."""
    try:
        path = Path(text).expanduser()
        path.exists()
    except (OSError, RuntimeError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) else error
        shown = text if len(text) < 80 else f"{text[:76]} ..."
        raise InputError(f"source: {shown!r} can be no path: {words}") from None
    return path


def _is_path(source: str) -> bool:
    """Whether a source can only be a path: names have neither separators nor endings."""
    return any(sign in source for sign in "/\\.~") or not source


def _is_name(source: str) -> bool:
    try:
        find(source)
    except InputError:
        return False
    return True


def _as_it_is(source: DataSet | Splits, options: Options) -> Splits:
    options.refuse("data that are loaded", "layout", "task", "target", "skip_bad")
    whole = source if isinstance(source, Splits) else Splits(source)
    return whole if options.resize is None else resized(whole, options.resize)


def _from_python(source: Any, options: Options) -> Splits:
    options.refuse("data from Python", "target", "skip_bad")
    if isinstance(source, torch.utils.data.Dataset):
        from isotropy.data.torch_dataset import load_dataset

        return load_dataset(source, options)
    if isinstance(source, tuple | list) and len(source) == 2:
        X, y = source
        data = from_arrays(X, y, layout=options.layout, task=options.task, resize=options.resize)
        return Splits(data)
    raise InputError(
        f"source must be a name, a path, (X, y), a DataSet, Splits or a torch Dataset, not "
        f"{type(source).__name__}"
    )
