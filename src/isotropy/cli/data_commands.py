"""`isotropy data list | get | make`: sets by name, and symmetrised ones."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isotropy.cli.flags import unwrapped
from isotropy.cli.progress import progress
from isotropy.cli.result import Result
from isotropy.cli.shared import DataFlags, Seeded, Speaking, add, load_data
from isotropy.errors import InputError

if TYPE_CHECKING:
    from isotropy.data import Splits
    from isotropy.data.cache import Cache
    from isotropy.data.named.entry import Entry

HELP = """Data sets by name: list and get them, make symmetrised ones.

Example: isotropy data make "digits by C4" turned.npz
"""

Name = Annotated[str, typer.Argument(metavar="NAME", help="A data set's name.", show_default=False)]
Recipe = Annotated[
    str,
    typer.Argument(
        metavar="RECIPE",
        help='"SOURCE by MOVE, MOVE, ...": what to move, and how; see above.',
        show_default=False,
    ),
]
Out = Annotated[
    Path, typer.Argument(metavar="OUT.npz", help="The file to write.", show_default=False)
]


@dataclass(frozen=True)
class Here:
    """Where data are.

    Args:
        cache: Where downloaded data are kept; by default $ISOTROPY_DATA or the user's cache.
    """

    cache: Path | None = field(default=None, metadata={"metavar": "FOLDER", "show_default": False})


@dataclass(frozen=True)
class There:
    """Where data come from.

    Args:
        mirror: Download from this address instead of the official one.
    """

    mirror: str | None = field(default=None, metadata={"metavar": "URL", "show_default": False})


@dataclass(frozen=True)
class Following:
    """What goes along with the samples.

    Args:
        labels: How the group's elements permute the labels, by number, as {"s": [1, 0, 2]}.
        action: What the group does to the entries of vectors or to channels, as
            {"r": [1, 2, 3, 0]}.
    """

    labels: str | None = field(default=None, metadata={"metavar": "JSON", "show_default": False})
    action: str | None = field(default=None, metadata={"metavar": "JSON", "show_default": False})


# -- list ---------------------------------------------------------------------------------------


def list_sets(here: Here, speaking: Speaking) -> Result:  # noqa: ARG001 (there is but a result)
    """List all data sets that go by a name, and say which are here.

    Example: isotropy data list
    """
    from isotropy.data import catalogue
    from isotropy.data.cache import Cache
    from isotropy.data.options import Options

    cache = Cache.of(Options(cache=here.cache))
    rows = [_row(entry, cache) for entry in catalogue().values()]
    widths = [max(len(row[key]) for row in rows) for key in ("name", "state")]
    lines = [f"in {cache.folder}:"]
    for row in rows:
        lines.append(f"{row['name']:<{widths[0]}}  {row['state']:<{widths[1]}}  {row['about']}")
    return Result({"cache": str(cache.folder), "sets": rows}, "\n".join(lines))


def _row(entry: Entry, cache: Cache) -> dict[str, Any]:
    state = "here" if entry.is_here(cache) else "not here" if entry.local else "to download"
    return {"name": entry.name, "state": state, "about": entry.about, "note": entry.note}


# -- get ----------------------------------------------------------------------------------------


def get(name: Name, here: Here, there: There, speaking: Speaking) -> Result:
    """Download a data set, and say what its checksums were held against.

    What is here already is held against its checksums again, and not downloaded. A download that
    is cut off goes on where it was.

    Example: isotropy data get mnist
    """
    from isotropy.data.cache import Cache
    from isotropy.data.named.catalogue import find
    from isotropy.data.options import Options

    entry = find(name)
    with progress(speaking.quiet) as told:
        cache = Cache.of(Options(cache=here.cache, mirror=there.mirror, progress=told))
        entry.fetch(cache)
    files = [_file(entry, cache, path) for path in entry.paths]
    lines = [f"{file['path']}: {file['bytes']:,} bytes; {file['checked']}" for file in files]
    if not files:
        lines.append(f"{name}: comes with the program, nothing to download")
    if entry.note:
        lines.append(f"{name}: {entry.note}")
    return Result({"name": name, "files": files, "note": entry.note}, "\n".join(lines))


def _file(entry: Entry, cache: Cache, name: str) -> dict[str, Any]:
    """A file of a set, and in words what was checked of it."""
    from isotropy.data.download import checked_against

    path = cache.path(name)
    remote = next((file for file in entry.files if file.path == name), None)
    words = "no checksum is known for it" if remote is None else checked_against(path, remote)
    return {"path": str(path), "bytes": path.stat().st_size, "checked": words}


# -- make ---------------------------------------------------------------------------------------


def make(
    recipe: Recipe,
    out: Out,
    following: Following,
    data: DataFlags,
    seeded: Seeded,
    speaking: Speaking,
) -> Result:
    """Write a set whose every sample is moved at random, drawn once by the seed.

    A RECIPE is "SOURCE by MOVE, MOVE, ...", the moves made in this order. A MOVE is

    C4, D1, D4, ... : an element of the group, drawn uniformly, the identity among them;

    rotation : a turn about the centre by any angle, or rotation(30): by up to 30 degrees to either
    side; bilinear, and what comes in from beyond the edge is 0;

    shift : along every axis by any number of positions, or shift(2): by up to 2 to either side;
    what leaves at one end enters at the other.

    With @0.5 after it a move is made with that chance only. Training, test and validation data are
    all moved, by draws of their own. Maps to predict move with their pictures.

    Example: isotropy data make "mnist by rotation(30), shift(2)@0.5" shaken.npz --seed 1

    Example: isotropy data make "digits by D1" exchanged.npz --labels '{"s": [1,0,2,3,4,5,6,7,8,9]}'
    """
    from isotropy.data import save_npz, symmetrised

    source, by, moves = recipe.rpartition(" by ")
    if not by or not source.strip():
        raise InputError(f'recipe must be "SOURCE by MOVES", as "digits by C4", not {recipe!r}')
    if out.exists():
        raise InputError(f"{out} is there already; choose another name, or remove it")
    made = symmetrised(
        load_data(source.strip(), data, speaking, seeded.seed),
        moves,
        action=_json(following.action, "action"),
        labels=_json(following.labels, "labels"),
        seed=seeded.seed,
    )
    save_npz(made, out)
    return _written(made, out)


def _json(text: str | None, argument: str) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InputError(f"{argument} is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f'{argument} must be as {{"r": [1, 2, 3, 0]}}, not {text}')
    return found


def _written(made: Splits, out: Path) -> Result:
    parts = {"train": made.train, "test": made.test, "validation": made.validation}
    counts = {name: len(part) for name, part in parts.items() if part is not None}
    data = {
        "file": str(out),
        "name": made.train.name,
        "samples": counts,
        "shape": list(made.train.shape),
        "classes": list(made.train.classes),
        "fingerprint": made.train.fingerprint(),
        "note": made.note,
    }
    words = ", ".join(f"{count:,} to {name}" for name, count in counts.items())
    return Result(data, f"{out}: {made.train.name}: {words}")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    own = typer.Typer(name="data", help=unwrapped(HELP), rich_markup_mode="rich")
    add(own, list_sets, "list")
    add(own, get)
    add(own, make)
    app.add_typer(own, name="data")
