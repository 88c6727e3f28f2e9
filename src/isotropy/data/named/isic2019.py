"""ISIC 2019, from its zip of JPEGs and the table of diagnoses."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from isotropy.data.assemble import Raw, assemble
from isotropy.data.cache import Cache
from isotropy.data.download import Remote
from isotropy.data.named.entry import Entry
from isotropy.data.npy import reading
from isotropy.data.options import Options
from isotropy.data.pictures import PictureSamples
from isotropy.data.splits import Splits
from isotropy.data.zipped import ZipMember, zip_members
from isotropy.errors import FileFormatError, InputError

ADDRESS = "https://isic-challenge-data.s3.amazonaws.com/2019"
FILES = ("ISIC_2019_Training_Input.zip", "ISIC_2019_Training_GroundTruth.csv")


def _read(entry: Entry, cache: Cache, options: Options) -> Splits:
    options.refuse(entry.name, "layout", "task", "target")
    if options.resize is None:
        raise InputError(
            f"{entry.name}: its pictures are of many sizes; say resize (--resize PIXELS) to bring "
            "all to one"
        )
    archive, table = entry.fetch(cache)
    diagnoses = _diagnoses(table)
    pictures = _pictures(archive, diagnoses)
    samples = PictureSamples(
        pictures,
        [f"{archive}: {picture.name}" for picture in pictures],
        "RGB",
        (options.resize, options.resize),
        options.resize,
        [picture.crc.to_bytes(4, "big") for picture in pictures],
    )
    labels = np.array(list(diagnoses.values()))
    return assemble(Raw(samples, labels, str(archive)), name=entry.name, origin=entry.origin)


def _diagnoses(table: Path) -> dict[str, str]:
    """The diagnosis of every picture: the one column of its row that holds a 1."""
    with reading(table), open(table, encoding="utf-8", newline="") as file:
        (_, *kinds), *rows = csv.reader(file)
        return {name: _diagnosis(f"{table}: {name}", kinds, marks) for name, *marks in rows}


def _diagnosis(where: str, kinds: Sequence[str], marks: Sequence[str]) -> str:
    positive = [kind for kind, mark in zip(kinds, marks, strict=True) if float(mark) > 0]
    if len(positive) != 1:
        raise FileFormatError(f"{where} must have one diagnosis, not {len(positive)}")
    return positive[0]


def _pictures(archive: Path, names: Iterable[str]) -> list[ZipMember]:
    """The named pictures in order; the archive's first folder and files of other kinds aside."""
    members = {PurePosixPath(name).stem: member for name, member in zip_members(archive).items()}
    for name in names:
        if name not in members:
            raise FileFormatError(f"{archive}: has no picture {name}, which has a diagnosis")
    return [members[name] for name in names]


ISIC2019 = Entry(
    "isic2019",
    "25,331 skin lesions in 8 unbalanced classes, JPEGs of many sizes (9 GB; needs --resize)",
    _read,
    tuple(Remote(f"isic2019/{file}", f"{ADDRESS}/{file}") for file in FILES),
)
