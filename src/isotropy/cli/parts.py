"""The parts of data: what is trained on, chosen on, tested on; and those of a run, found again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING

from isotropy.cli.shared import DataFlags, Speaking, load_data
from isotropy.data import Splits, split
from isotropy.errors import InputError

if TYPE_CHECKING:
    from isotropy.data import DataSet
    from isotropy.runs import Run


@dataclass(frozen=True)
class Parts:
    """What is set apart of the data.

    Args:
        validation: The part of the training data on which the best epoch is chosen, where the
            source sets none apart; 0 for none.
        test: The part that is tested on in the end, where the source sets none apart.
    """

    validation: float = field(default=0.1, metadata={"min": 0.0, "max": 0.9})
    test: float = field(default=0.2, metadata={"min": 0.0, "max": 0.9})


def divide(loaded: Splits, parts: Parts, seed: int) -> Splits:
    """Training, validation and test data; what the source sets apart goes first.

    Args:
        loaded: the source's own parts.
        parts: how much is to be set apart of its training data.
        seed: which samples are.

    >>> import isotropy as iso
    >>> found = divide(iso.data.load("digits"), Parts(), seed=0)
    >>> len(found.train), len(found.validation), len(found.test)
    (1258, 180, 359)
    """
    validation = loaded.validation if parts.validation else None
    new_validation = parts.validation if loaded.validation is None else 0.0
    new_test = parts.test if loaded.test is None else 0.0
    rest = 1 - new_validation - new_test
    if rest <= 1e-9:
        raise InputError("validation and test: nothing is left to train on")
    if rest == 1:
        return Splits(loaded.train, loaded.test, validation)
    shares = [share for share in (rest, new_validation, new_test) if share]
    train, *others = split(loaded.train, shares, seed=seed)
    validation = others.pop(0) if new_validation else validation
    return Splits(train, others.pop(0) if new_test else loaded.test, validation)


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
