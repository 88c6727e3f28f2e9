"""The study of a search: every network that was tried is a trial of an Optuna study.

SQLite in the search's folder by default, or any database that Optuna takes; `optuna-dashboard`
and Optuna's own tools read it as it is. Trials are written whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotropy.errors import InputError
from isotropy.search.database import described, opened, quiet, refusing
from isotropy.search.lineage import Child, Growth, names_of

if TYPE_CHECKING:
    from optuna import Study

FILE = "study.db"
NAME = "evolve"
MARK = "isotropy"
VALUES = ("validation error", "parameters")


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
        url_or_file = url or f"sqlite:///{folder / FILE}"
        self.where, is_server = described(url_or_file)
        self.name = NAME if url is None else "/".join(folder.resolve().parts[-2:])
        with refusing(self.where), quiet():
            self._storage = opened(url_or_file)
            try:
                self._study = self._begun(is_server)
                self._require_ours(json.loads(json.dumps(about)), resume)
            except BaseException:
                self._hang_up()
                raise

    def _begun(self, is_server: bool) -> Study:
        import optuna

        if not is_server:
            others = set(optuna.get_all_study_names(self._storage)) - {self.name}
            if others:
                raise InputError(
                    f"storage: {self.where} holds another study, {sorted(others)[0]!r}"
                )
        return optuna.create_study(
            storage=self._storage,
            study_name=self.name,
            directions=["minimize"] * len(VALUES),
            load_if_exists=True,
        )

    def __enter__(self) -> StudyStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._hang_up()

    def _hang_up(self) -> None:
        self._storage.remove_session()
        self._storage.engine.dispose()

    def _require_ours(self, about: dict[str, Any], resume: bool) -> None:
        """Mark a new study as of this search; refuse one that is of anything else."""
        mark = self._study.user_attrs.get(MARK)
        if mark is not None:
            self._require_same(json.loads(mark), about, resume)
        elif self._study.get_trials(deepcopy=False):
            raise InputError(f"storage: {self.where} holds a study {self.name!r} of something else")
        else:
            self._study.set_user_attr(MARK, json.dumps(about))

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
        with refusing(self.where):
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
        with refusing(self.where):
            self._study.add_trial(trial)


def _flat(about: Mapping[str, Any]) -> dict[str, Any]:
    """Settings before all else, so that the very one that differs can be named."""
    return dict(about.get("settings", {})) | {k: v for k, v in about.items() if k != "settings"}


def _described(outcome: Growth | Lost) -> dict[str, Any]:
    if isinstance(outcome, Lost):
        return {"error": outcome.error}
    return {"growth": asdict(outcome), "val_error": outcome.errors[-1]}
