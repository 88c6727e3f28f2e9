"""A folder with one folder of pictures for each class, perhaps below train and test."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from isotropy.data.assemble import Raw, assemble
from isotropy.data.options import Options, Progress
from isotropy.data.pictures import SUFFIXES, PictureSamples, Seen, common_form, look
from isotropy.data.samples import Samples
from isotropy.data.splits import Splits
from isotropy.errors import InputError, IsotropyWarning

PARTS = {"test": ("test",), "validation": ("validation", "valid", "val")}
THREADS = 4


@dataclass(frozen=True)
class _Found:
    """The picture files of one part that can be read, with their classes."""

    folder: Path
    paths: list[Path]
    labels: list[str]
    seen: list[Seen]


def load_folder(folder: Path, options: Options | None = None) -> Splits:
    """Data from folders of pictures: folder/class/picture, or folder/train/class/picture.

    Every picture is decoded once, so that damaged ones are found before training; after that each
    is read when it is needed.

    Args:
        folder: it. With a folder train in it, folders test and validation (or val) are the other
            parts.
        options: how to read it.
    """
    options = options or Options()
    options.refuse("a folder of pictures", "layout", "target")
    if options.task not in (None, "classification"):
        raise InputError(
            f"task: pictures in class folders are for classification, not {options.task}"
        )
    has_parts = (folder / "train").is_dir()
    train, skipped = _look_through(folder / "train" if has_parts else folder, options)
    others: dict[str, _Found] = {}
    for part, names in PARTS.items() if has_parts else ():
        for path in (folder / name for name in names if (folder / name).is_dir()):
            others[part], more = _look_through(path, options)
            skipped += more
    raw = _uniform([train, *others.values()], options)
    parts = dict(zip(others, raw[1:], strict=True))
    return assemble(
        raw[0],
        parts.get("test"),
        parts.get("validation"),
        name=folder.resolve().name,
        origin={"source": str(folder), **_told(folder, skipped)},
    )


def is_flat(folder: Path) -> bool:
    """Whether pictures lie in a folder itself, not in one for each class."""
    inside = [p for p in folder.iterdir() if not p.name.startswith(".")]
    return any(_is_picture(p) for p in inside) and not any(p.is_dir() for p in inside)


def load_pictures(folder: Path, options: Options) -> tuple[Samples, list[str]]:
    """The pictures that lie in a folder itself, and the names of their files."""
    found, skipped = _look_through(folder, options, _flat_files)
    _told(folder, skipped)
    return _uniform([found], options)[0].samples, [path.name for path in found.paths]


def _flat_files(folder: Path) -> tuple[list[Path], list[str]]:
    paths = sorted(p for p in folder.iterdir() if _is_picture(p))
    return paths, [""] * len(paths)


def _look_through(
    folder: Path,
    options: Options,
    files: Callable[[Path], tuple[list[Path], list[str]]] | None = None,
) -> tuple[_Found, list[str]]:
    """The pictures of a part, and what was wrong with those left out."""
    paths, labels = (files or _files)(folder)
    found, bad = _Found(folder, [], [], []), []
    for path, label, seen in zip(paths, labels, _look(paths, options.progress), strict=True):
        if isinstance(seen, Seen):
            found.paths.append(path)
            found.labels.append(label)
            found.seen.append(seen)
        elif options.skip_bad:
            bad.append(str(seen))
        else:
            raise InputError(f"{seen}; skip_bad (--skip-bad) leaves such pictures out")
    if not found.paths:
        raise InputError(f"{folder}: no picture in it can be read")
    return found, bad


def _files(folder: Path) -> tuple[list[Path], list[str]]:
    """All picture files below the class folders of a folder, and their classes."""
    classes = sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))
    if not classes:
        raise InputError(f"{folder}: has no folders in it; there must be one for each class")
    paths, labels = [], []
    for home in classes:
        own = sorted(p for p in home.rglob("*") if _is_picture(p))
        if not own:
            kinds = " ".join(SUFFIXES)
            raise InputError(f"{home}: has no picture in it ({kinds})")
        paths += own
        labels += [home.name] * len(own)
    return paths, labels


def _is_picture(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()


def _look(paths: Sequence[Path], progress: Progress | None) -> Iterator[Seen | InputError]:
    """A look at each file, several at a time, in order."""

    def one(path: Path) -> Seen | InputError:
        try:
            return look(path.read_bytes, str(path))
        except InputError as error:
            return error

    with ThreadPoolExecutor(THREADS, thread_name_prefix="isotropy-pictures") as pool:
        for number, seen in enumerate(pool.map(one, paths), start=1):
            if progress is not None:
                progress("pictures", number, len(paths))
            yield seen


def _uniform(parts: Sequence[_Found], options: Options) -> list[Raw]:
    """All parts in one form and of one size."""
    paths = [str(path) for part in parts for path in part.paths]
    seen = [one for part in parts for one in part.seen]
    form = common_form([one.form for one in seen], paths)
    size = (seen[0].height, seen[0].width)
    if options.resize is None:
        for path, one in zip(paths, seen, strict=True):
            if (one.height, one.width) != size:
                raise InputError(
                    f"{path}: is {one.height}×{one.width}, but {paths[0]} {size[0]}×{size[1]}; "
                    "say resize (--resize PIXELS) to bring all to one size"
                )
    make = partial(_raw, form=form, size=size, side=options.resize)
    return [make(part) for part in parts]


def _raw(part: _Found, form: str, size: tuple[int, int], side: int | None) -> Raw:
    samples = PictureSamples(
        [path.read_bytes for path in part.paths],
        [str(path) for path in part.paths],
        form,
        size,
        side,
        [one.sha256 for one in part.seen],
    )
    return Raw(samples, np.array(part.labels), str(part.folder))


def _told(folder: Path, skipped: Sequence[str]) -> dict[str, int]:
    if not skipped:
        return {}
    warnings.warn(
        f"{folder}: {len(skipped)} pictures cannot be read and are left out; the first: "
        f"{skipped[0]}",
        IsotropyWarning,
        stacklevel=4,
    )
    return {"skipped": len(skipped)}
