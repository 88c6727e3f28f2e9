"""The data of a run, found again, in the parts that it made of them."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from isotropy.cli.shared import DataFlags, Speaking, load_data
from isotropy.data.parts import Parts, divide
from isotropy.errors import InputError

if TYPE_CHECKING:
    from isotropy.data import DataSet, Splits
    from isotropy.runs import Run


def data_of(run: Run, speaking: Speaking) -> Splits:
    """The data of a run, divided as it divided them, scaled as its model is used to them."""
    options = run.options
    if "source" not in options:
        raise InputError(f"{run.folder} is a run of {run.command}, which has no source of data")
    known = {f.name: options[f.name] for f in fields(DataFlags) if f.name in options}
    source, seed = str(options["source"]), int(options.get("seed", 0))
    loaded = load_data(source, DataFlags(**known), speaking, seed)
    if loaded.train.fingerprint() != run.data.get("fingerprint"):
        raise InputError(f"{source} has changed since the run {run.folder} was made")
    return as_divided(run, loaded)


def as_divided(run: Run, loaded: Splits) -> Splits:
    """A run's data in the parts that it made of them, scaled."""
    shares = {k: run.options.get(k, default) for k, default in asdict(Parts()).items()}
    parts = divide(loaded, Parts(**shares), int(run.options.get("seed", 0)))
    return parts.each(run.scaled)


def held_out(parts: Splits) -> DataSet:
    """What was not trained on, as far as there is such: test data, else validation data."""
    return parts.test or parts.validation or parts.train
