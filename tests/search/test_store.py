"""The study of a search: whole, never another's, and the same after any number of deaths."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import optuna
import pytest

from isotropy.errors import InputError, IsotropyError
from isotropy.search import Evolution
from isotropy.search.store import FILE, NAME
from tests.search.searches import require_same, small

DEATHS = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("search") / "run"


@pytest.fixture(scope="module")
def found(folder: Path) -> Evolution:
    return small(out=folder)


def study(folder: Path) -> optuna.Study:
    return optuna.load_study(study_name=NAME, storage=f"sqlite:///{folder / FILE}")


# -- what it holds ------------------------------------------------------------------------------


def test_every_network_is_a_trial(folder: Path, found: Evolution) -> None:
    trials = study(folder).trials
    assert len(trials) == len(found.population)
    for trial, one in zip(trials, found.population, strict=True):
        assert trial.values == [one.val_error, one.parameters]
        assert trial.params == one.groups
        about = trial.user_attrs
        assert (about["id"], about["parent"]) == (one.id, one.parent)
        assert about["generation"] == one.generation
        assert about["growth"]["seconds"] == one.seconds


def test_optuna_sees_the_front(folder: Path, found: Evolution) -> None:
    """Of all that were tried, not only of those left."""
    points = [(one.val_error, one.parameters) for one in found.population]
    best = {p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)}
    assert {tuple(trial.values) for trial in study(folder).best_trials} == best


def test_weights_lie_beside_it(folder: Path, found: Evolution) -> None:
    names = {path.name for path in (folder / "networks").iterdir()}
    assert names == {f"{one.id:06}.safetensors" for one in found.population}


def test_those_given_up_are_pruned(tmp_path: Path) -> None:
    run = small(out=tmp_path, halvings=1, generations=2)
    early = {one.id for one in run.population[1:] if one.stages == 1}
    pruned = optuna.trial.TrialState.PRUNED
    assert early
    assert {t.user_attrs["id"] for t in study(tmp_path).trials if t.state == pruned} == early


# -- going on -------------------------------------------------------------------------------------


def killed_after(seconds: float, work: Callable[[], Any]) -> bool:
    """Do something in a process that is killed; whether it was killed before the end."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(1)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0
            return False
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    return bool(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize(("halvings", "wanted"), [(0, DEATHS), (1, DEATHS // 3)])
def test_killed_again_and_again(
    tmp_path: Path, halvings: int, wanted: int, found: Evolution
) -> None:
    expected = found if halvings == 0 else small(halvings=halvings)
    whole = expected.seconds + 1.0
    chance = random.Random(halvings)
    deaths = 0
    for _ in range(10 * wanted):
        deaths += killed_after(
            chance.uniform(0, whole / 6),
            lambda: small(out=tmp_path, resume=True, halvings=halvings),
        )
        if deaths == wanted:
            break
    run = small(out=tmp_path, resume=True, halvings=halvings)
    require_same(run, expected)
    assert deaths == wanted
    numbers = [trial.user_attrs["id"] for trial in study(tmp_path).trials]
    assert sorted(numbers) == list(range(len(run.population)))


def test_what_is_done_is_not_done_again(folder: Path, found: Evolution) -> None:
    kept = folder / "networks"
    before = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    require_same(small(out=folder, resume=True), found)
    assert before == {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}


# -- what is refused ------------------------------------------------------------------------------


def test_it_is_not_begun_twice(folder: Path, found: Evolution) -> None:
    with pytest.raises(InputError, match="holds this search already; go on with it by resume"):
        small(out=folder)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"seed": 1}, "seed"),
        ({"group": "C4"}, "group"),
        ({"generations": 4}, "generations"),
        ({"validation": 0.5}, "train"),
    ],
)
def test_the_store_of_another_search(
    folder: Path, found: Evolution, changes: dict[str, Any], what: str
) -> None:
    with pytest.raises(InputError, match=f"holds another search, with {what} = "):
        small(out=folder, resume=True, **changes)
    require_same(small(out=folder, resume=True), found)  # and nothing was spoilt


def test_the_store_of_somebody_else(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / FILE}"
    optuna.create_study(storage=url, study_name="mine")
    with pytest.raises(InputError, match="holds another study, 'mine'"):
        small(out=tmp_path)
    with pytest.raises(InputError, match="no database URL"):
        small(storage="a file")


def test_a_network_of_another_search(tmp_path: Path, folder: Path, found: Evolution) -> None:
    small(out=tmp_path, generations=1)
    theirs = folder / "networks" / "000001.safetensors"
    (tmp_path / "networks" / theirs.name).write_bytes(theirs.read_bytes())
    (tmp_path / FILE).unlink()
    with pytest.raises(InputError, match="belongs to another search"):
        small(out=tmp_path, generations=1, resume=True)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://nobody:secret@127.0.0.1:1/studies",
        "sqlite:////nowhere/at/all/study.db",
    ],
)
def test_a_database_that_is_not_there(url: str) -> None:
    start = time.monotonic()
    with pytest.raises(IsotropyError) as caught:
        small(storage=url)
    assert time.monotonic() - start < 20
    words = str(caught.value)
    assert "\n" not in words
    assert "secret" not in words
    assert "127.0.0.1:1" in words or "nowhere" in words


# -- what others see ------------------------------------------------------------------------------


@contextmanager
def serving(application: Callable[..., Any]) -> Iterator[str]:
    """A WSGI application on loopback while this lasts; its address."""

    class Silent(WSGIRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with make_server("127.0.0.1", 0, application, handler_class=Silent) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_optuna_dashboard_opens_it(folder: Path, found: Evolution) -> None:
    import optuna_dashboard

    with serving(optuna_dashboard.wsgi(f"sqlite:///{folder / FILE}")) as address:
        with urllib.request.urlopen(f"{address}/api/studies") as answer:
            (summary,) = json.load(answer)["study_summaries"]
        assert summary["study_name"] == NAME
        with urllib.request.urlopen(f"{address}/api/studies/{summary['study_id']}") as answer:
            shown = json.load(answer)
        assert len(shown["trials"]) == len(found.population)
        with urllib.request.urlopen(f"{address}/dashboard") as answer:
            assert b"<html" in answer.read().lower()
