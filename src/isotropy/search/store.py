"""The study of a search: every network that was tried is a trial of an Optuna study.

SQLite in the search's folder by default, or any database that Optuna takes; `optuna-dashboard`
and Optuna's own tools read it as it is. Trials are written whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotropy.errors import InputError, IsotropyError
from isotropy.search.backends import CONNECT_SECONDS, require_reachable
from isotropy.search.lineage import Child, Growth, names_of

if TYPE_CHECKING:
    from optuna import Study

FILE = "study.db"
NAME = "evolve"
MARK = "isotropy"
VALUES = ("validation error", "parameters")
_PORTS = {"postgresql": 5432, "mysql": 3306}


@dataclass(frozen=True)
class Lost:
    """A child that could not be made, and why."""

    error: str


class StudyStore:
    """What is known of a search's networks, in a database.

    Args:
        folder: of the search.
        url: of the database; None for a file in the folder.
        about: what the search is, as JSON; a study of anything else is refused.
        resume: go on with the study if it is there.
    """

    def __init__(
        self, folder: Path, url: str | None, about: Mapping[str, Any], resume: bool
    ) -> None:
        self._url = url or f"sqlite:///{folder / FILE}"
        self.where, is_server = _server(self._url)
        self.name = NAME if url is None else folder.resolve().name
        text = json.dumps(about, sort_keys=True)
        with _refusing(self.where), _quiet():
            self._study = self._opened(is_server)
            mark = self._study.user_attrs.get(MARK)
            if mark is None and self._study.get_trials(deepcopy=False):
                raise InputError(
                    f"storage: {self.where} holds a study {self.name!r} of something else"
                )
            if mark is None:
                self._study.set_user_attr(MARK, text)
        if mark is not None:
            self._require_same(json.loads(mark), json.loads(text), resume)

    def _opened(self, is_server: bool) -> Study:
        import optuna

        if is_server:
            require_reachable(_address(self._url), "database")
        options = {"connect_args": {"connect_timeout": CONNECT_SECONDS}} if is_server else {}
        storage = optuna.storages.RDBStorage(_driven(self._url), engine_kwargs=options)
        if not is_server:
            others = set(optuna.get_all_study_names(storage)) - {self.name}
            if others:
                raise InputError(
                    f"storage: {self.where} holds another study, {sorted(others)[0]!r}"
                )
        return optuna.create_study(
            storage=storage,
            study_name=self.name,
            directions=["minimize"] * len(VALUES),
            load_if_exists=True,
        )

    def _require_same(self, before: dict[str, Any], now: dict[str, Any], resume: bool) -> None:
        before, now = _flat(before), _flat(now)
        for key in [*before, *(k for k in now if k not in before)]:
            if before.get(key) != now.get(key):
                raise InputError(
                    f"storage: {self.where} holds another search, with {key} = "
                    f"{before.get(key)!r}, and now it is {now.get(key)!r}; choose another out"
                )
        if not resume:
            raise InputError(
                f"out: {self.where} holds this search already; go on with it by resume=True "
                "(--resume), or choose another folder"
            )

    # -- what is known --------------------------------------------------------------------------

    def known(self) -> dict[int, Growth | Lost]:
        """What has become of children, by number, as far as it is known by now.

        Where two processes had the same child both came to the same; the first one counts.
        """
        with _refusing(self.where):
            trials = self._study.get_trials(deepcopy=False)
        found: dict[int, Growth | Lost] = {}
        for attributes in (trial.user_attrs for trial in trials):
            lost = attributes.get("error")
            growth = Lost(lost) if lost else Growth.from_json(attributes["growth"])
            found.setdefault(attributes["id"], growth)
        return found

    def add(
        self, child: Child, outcome: Growth | Lost, stages: int, choices: Sequence[str]
    ) -> None:
        """Write down what has become of a child.

        Args:
            child: which.
            outcome: what.
            stages: that its training has if it is not given up early.
            choices: names of the groups that layers may have.
        """
        import optuna

        groups = names_of(child.groups)
        category = optuna.distributions.CategoricalDistribution
        given: dict[str, Any] = {
            "params": groups,
            "distributions": {k: category(sorted({*choices, *groups.values()})) for k in groups},
            "user_attrs": {**child.to_json(), **_described(outcome)},
        }
        states = optuna.trial.TrialState
        if isinstance(outcome, Lost):
            trial = optuna.create_trial(state=states.FAIL, **given)
        elif len(outcome.errors) < stages:
            trial = optuna.create_trial(state=states.PRUNED, **given)
        else:
            values = [outcome.errors[-1], float(outcome.parameters)]
            trial = optuna.create_trial(state=states.COMPLETE, values=values, **given)
        with _refusing(self.where):
            self._study.add_trial(trial)


def _flat(about: Mapping[str, Any]) -> dict[str, Any]:
    """Settings before all else, so that the very one that differs can be named."""
    return dict(about.get("settings", {})) | {k: v for k, v in about.items() if k != "settings"}


def _described(outcome: Growth | Lost) -> dict[str, Any]:
    if isinstance(outcome, Lost):
        return {"error": outcome.error}
    return {"growth": asdict(outcome), "val_error": outcome.errors[-1]}


def _server(url: str) -> tuple[str, bool]:
    """A database's URL without a password, and whether it is on a server."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parts = make_url(url)
    except ArgumentError:
        raise InputError(f"storage: {url!r} is no database URL, as sqlite:///study.db") from None
    return parts.render_as_string(hide_password=True), parts.get_backend_name() != "sqlite"


def _address(url: str) -> str | None:
    """Host and port of a database on a server; None for one that is reached by a file."""
    from sqlalchemy import make_url

    parts = make_url(url)
    port = parts.port or _PORTS.get(parts.get_backend_name())
    return f"{parts.host}:{port}" if parts.host and port else None


def _driven(url: str) -> str:
    """The URL with the driver that isotropy comes with, unless one is named."""
    scheme, colon, rest = url.partition("://")
    plain = scheme in ("postgresql", "postgres")
    return f"postgresql+psycopg{colon}{rest}" if plain else url


@contextmanager
def _refusing(where: str) -> Iterator[None]:
    """Say in one line that a database does not do what it should."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except ImportError as error:
        raise InputError(
            f"storage: {where} needs a driver ({error}): pip install 'isotropy[postgres]'"
        ) from None
    except (SQLAlchemyError, RuntimeError) as error:
        raise IsotropyError(f"storage: {where} cannot be used: {_first(error)}") from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Without Optuna's own lines about studies that are made."""
    from optuna import logging

    before = logging.get_verbosity()
    logging.set_verbosity(logging.WARNING)
    try:
        yield
    finally:
        logging.set_verbosity(before)


def _first(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
