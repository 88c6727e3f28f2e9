"""A search beside what it has to be better than, over seeds, on test data (001, Table 1)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any
from warnings import warn

from isotropy._replacing import write_text
from isotropy.data import DataSet
from isotropy.errors import InputError, IsotropyWarning
from isotropy.search.course import error_of
from isotropy.search.evolution import Evolution
from isotropy.search.rivals import KINDS, SCHEDULE, Finish, Rival, race, rivals
from isotropy.search.workers import Failed, Workers

FOLDER = "baselines"
TESTED = "tested_on"
LEVEL = 0.95


@dataclass(frozen=True)
class Finished:
    """A baseline that has just been trained.

    Args:
        name: the baseline's.
        finish: what it came to.
        number: how many are done now.
        of: how many there are, for all searches together.
    """

    name: str
    finish: Finish
    number: int
    of: int


@dataclass(frozen=True)
class Comparison:
    """Test errors of a search and of its baselines, over the same seeds.

    Args:
        found: of the best network of every search.
        individuals: of all that were left of one search, as the paper gives it: of that with the
            smallest validation error.
        baselines: what each baseline came to, by name, for every seed.
        seconds: the time all baselines took, on one worker each.
        metric: what errors are: "error", a share of wrong answers, or "mse".
    """

    found: tuple[float, ...]
    individuals: tuple[float, ...]
    baselines: Mapping[str, tuple[Finish, ...]]
    seconds: float
    metric: str = "error"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for every baseline."""
        return [
            {
                "name": name,
                "test_error": spread([one.test_error for one in finishes]),
                "parameters": finishes[0].parameters,
            }
            for name, finishes in self.baselines.items()
        ]

    @property
    def strongest(self) -> str | None:
        """The baseline with the smallest validation error, so that test data choose nothing."""
        if not self.baselines:
            return None
        return min(self.baselines, key=lambda n: mean(o.val_error for o in self.baselines[n]))

    @property
    def helped(self) -> dict[str, Any] | None:
        """By how much the search's error is smaller than the strongest baseline's, over seeds.

        None with one seed: a difference without an interval says nothing.
        """
        over = self.strongest
        if over is None or len(self.found) < 2:
            return None
        theirs = [one.test_error for one in self.baselines[over]]
        gains = [b - a for a, b in zip(self.found, theirs, strict=True)]
        return {"over": over, "gain": spread(gains)}

    def to_json(self) -> dict[str, Any]:
        """What the page of a search reads, beside what the search itself says."""
        return {
            "test_error": spread(self.found),
            "individuals": spread(self.individuals),
            "baselines": self.rows,
            "strongest": self.strongest,
            "helped": self.helped,
            "baseline_seconds": self.seconds,
        }


def compare(
    searches: Sequence[Evolution],
    test: DataSet,
    *,
    kinds: Sequence[str] = KINDS,
    workers: int | None = 1,
    backend: str = "loky",
    address: str | None = None,
    watch: Callable[[Finished], None] | None = None,
) -> Comparison:
    """Train what searches have to be better than, and test all of them, once.

    Baselines are trained for as many epochs as a lineage of the search, with its settings and
    data, once for the seed of each search: every group fixed, the same with weights relaxed from a
    larger group before training, residual pathway priors, as many random relaxation schedules as
    fit into the search's budget (the best by validation error counts), and no symmetry with
    augmentation. What is known already is kept in the searches' folders.

    Args:
        searches: of one model on the same data with different seeds; whether a search helps is
            told only of two or more.
        test: what nobody has seen.
        kinds: of baselines; see `Rival`.
        workers: how many are trained at once.
        backend: as of `evolve`.
        address: as of `evolve`.
        watch: is told of every baseline.

    >>> import numpy as np, isotropy as iso
    >>> X = np.random.default_rng(0).random((60, 1, 8, 8), dtype=np.float32)
    >>> data = iso.data.from_arrays(X, np.arange(60) % 2)
    >>> net = iso.models.make("cnn", (1, 8, 8), 2, width=8, stages=1)
    >>> options = {"group": "C4", "generations": 1, "epochs": 1.0, "backend": "here"}
    >>> found = iso.search.evolve(net, data.subset(range(40)), **options)
    >>> [row["name"] for row in compare([found], data.subset(range(40, 60)), kinds=["fixed"]).rows]
    ['C1', 'C2', 'C4']
    """
    if not searches:
        raise InputError("searches: give at least one")
    best = min(searches, key=lambda search: search.best.val_error)
    test = test.scaled_like(best.nursery.problem.train)
    found = tuple(error_of(search.model, test) for search in searches)
    individuals = tuple(error_of(best.network(one.id), test) for one in best.last)
    finished: dict[str, list[Finish]] = {}
    seconds = 0.0
    entered = [_entered(search, kinds) for search in searches]
    of, before = sum(map(len, entered)), 0
    with Workers(workers, backend, address) as pool:
        for search, own in zip(searches, entered, strict=True):
            tell = _counted(watch, before, of)
            known = _raced(search, own, test, pool, tell)
            before += len(own)
            seconds += sum(one.seconds for one in known.values())
            for name, finish in _by_name(known).items():
                finished.setdefault(name, []).append(finish)
    whole = {n: tuple(f) for n, f in finished.items() if len(f) == len(searches)}
    return Comparison(found, individuals, whole, seconds, best.metric)


def _entered(search: Evolution, kinds: Sequence[str]) -> list[Rival]:
    """All baselines of one search, with as many random schedules as fit into its budget."""
    lineage = search.generations * search.nursery.course.epochs
    schedules = max(round(search.passes / lineage), 1)
    return rivals(search.rules, kinds, schedules)


def _counted(
    watch: Callable[[Finished], None] | None, before: int, of: int
) -> Callable[[str, Finish, int], None]:
    """Tells of a baseline by name, what it came to, and how many of its search are done."""

    def tell(name: str, finish: Finish, done: int) -> None:
        if watch is not None:
            watch(Finished(name, finish, before + done, of))

    return tell


def _raced(
    search: Evolution,
    entered: Sequence[Rival],
    test: DataSet,
    pool: Workers,
    tell: Callable[[str, Finish, int], None],
) -> dict[Rival, Finish]:
    """What all baselines of one search came to; those that failed are left out."""
    folder = search.nursery.folder / FOLDER
    folder.mkdir(exist_ok=True)
    tested = test.fingerprint()
    known = {o: finish for o in entered if (finish := _kept(_path(folder, o), tested)) is not None}
    open_ = [one for one in entered if one not in known]
    jobs = [(search.nursery, search.rules, one, test, search.generations) for one in open_]
    for number, outcome in pool.each(race, jobs):
        if isinstance(outcome, Failed):
            name = open_[number].key
            warn(f"baseline {name} is left out: {outcome.error}", IsotropyWarning, stacklevel=3)
            continue
        known[open_[number]] = outcome
        told = {**asdict(outcome), TESTED: tested}
        write_text(_path(folder, open_[number]), json.dumps(told) + "\n")
        tell(open_[number].key, outcome, len(known))
    return {one: known[one] for one in entered if one in known}


def _path(folder: Path, rival: Rival) -> Path:
    words = "".join(c if c.isalnum() else "-" for c in rival.key)
    return folder / f"{words}.json"


def _kept(path: Path, tested: str) -> Finish | None:
    """What a baseline came to, if it is known and was tested on the same data."""
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    return Finish(**found) if found.pop(TESTED, None) == tested else None


def _by_name(known: Mapping[Rival, Finish]) -> dict[str, Finish]:
    """One for every name: of the random schedules that with the smallest validation error."""
    found: dict[str, Finish] = {}
    for rival, finish in known.items():
        before = found.get(rival.name)
        if before is None or (rival.kind == SCHEDULE and finish.val_error < before.val_error):
            found[rival.name] = finish
    return found


def spread(values: Sequence[float]) -> dict[str, Any]:
    """The mean of some values with its interval at 95%, where there are two or more.

    >>> found = spread([0.1, 0.2, 0.3])
    >>> round(found["mean"], 3), round(found["low"], 3), round(found["high"], 3), found["runs"]
    (0.2, -0.048, 0.448, 3)
    """
    found: dict[str, Any] = {"mean": mean(values), "runs": len(values), "single": list(values)}
    if len(values) > 1:
        half = _quantile(len(values) - 1) * stdev(values) / math.sqrt(len(values))
        found |= {"low": found["mean"] - half, "high": found["mean"] + half}
    return found


def _quantile(freedom: int) -> float:
    """Of Student's distribution, two-sided."""
    from scipy.stats import t

    return float(t.ppf((1 + LEVEL) / 2, freedom))


def number(value: float, metric: str, sign: str = "") -> str:
    """An error as people read it: a share in percent, anything else as it is.

    >>> number(0.0512, "error"), number(0.0512, "mse"), number(0.01, "error", "+")
    ('5.12', '0.0512', '+1.00')
    """
    return f"{100 * value:{sign}.2f}" if metric == "error" else f"{value:{sign}.4g}"


def _lines(comparison: Comparison) -> Iterator[str]:
    """A table of test errors."""
    metric = comparison.metric
    rows = [{"name": "search", "test_error": spread(comparison.found)}, *comparison.rows]
    for row in rows:
        errors = row["test_error"]
        words = f"{number(errors['mean'], metric):>6}"
        if "low" in errors:
            low, high = (number(errors[end], metric) for end in ("low", "high"))
            words += f" ({low} to {high})"
        count = f"{row['parameters']:,}" if "parameters" in row else ""
        yield f"{row['name']:<20} {words:<26} {count:>12}".rstrip()


def table(comparison: Comparison) -> str:
    """Test errors with their intervals over seeds, one line each; shares in percent.

    Args:
        comparison: what is to be told.
    """
    return "\n".join(_lines(comparison))
