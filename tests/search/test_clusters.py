"""Searches on clusters and with a database server: the same as in one process, whoever dies."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import optuna
import pytest

from isotropy.errors import IsotropyError
from isotropy.search import Evolution, Generation, breed, grow
from isotropy.search.store import StudyStore
from tests.search.searches import require_same, small
from tests.search.servers import free_port, postgres

SHORT: dict[str, Any] = {"generations": 2}


@pytest.fixture(scope="module")
def found() -> Evolution:
    return small(**SHORT)


# -- Ray and Dask ---------------------------------------------------------------------------------


class Soon:
    """Does something a moment after the first generation, and tells whether it did."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self.act = act
        self.done = threading.Event()

    def __call__(self, generation: Generation) -> None:
        if generation.number == 1:
            threading.Timer(0.2, self.run).start()

    def run(self) -> None:
        self.act()
        self.done.set()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_one_of_two_ray_nodes_is_killed(found: Evolution) -> None:
    from ray.cluster_utils import Cluster

    small_store = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args=small_store)
    try:
        node = cluster.add_node(**small_store)
        kill = Soon(lambda: cluster.remove_node(node, allow_graceful=False))
        run = small(**SHORT, backend="ray", address=cluster.address, workers=2, watch=kill)
        assert kill.done.wait(10)
    finally:
        cluster.shutdown()
    require_same(run, found)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_dask_worker_is_killed(found: Evolution) -> None:
    from distributed import LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster:
        process = cluster.workers[0].process.process
        kill = Soon(lambda: os.kill(process.pid, signal.SIGKILL))
        address = cluster.scheduler_address
        run = small(**SHORT, backend="dask", address=address, workers=2, watch=kill)
        assert kill.done.wait(10)
    require_same(run, found)


@pytest.mark.parametrize("backend", ["ray", "dask"])
def test_a_cluster_that_is_not_there(backend: str) -> None:
    start = time.monotonic()
    with pytest.raises(IsotropyError, match=r"no (Ray cluster|Dask scheduler) at 127.0.0.1"):
        small(backend=backend, address=f"127.0.0.1:{free_port()}")
    assert time.monotonic() - start < 20


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("backend", ["ray", "dask"])
def test_somebody_else_listens_there(backend: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        start = time.monotonic()
        with pytest.raises(IsotropyError, match=r"no (Ray cluster|Dask scheduler) at 127"):
            small(backend=backend, address=address)
        assert time.monotonic() - start < 20


# -- PostgreSQL -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgres() as address:
        yield address


@contextmanager
def storage_at(url: str) -> Iterator[optuna.storages.RDBStorage]:
    """As Optuna's own tools open it."""
    storage = optuna.storages.RDBStorage(url.replace("postgresql:", "postgresql+psycopg:"))
    yield storage
    storage.remove_session()
    storage.engine.dispose()


def in_another_process(work: Callable[[], Any]) -> int:
    """Begin something in a copy of this process; its id."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
        os._exit(0)
    except BaseException:
        os._exit(1)


def noting(folder: Path) -> Callable[[Any], Any]:
    """Makes a child, and notes which process did."""

    def noted(job: Any) -> Any:
        (folder / f"{os.getpid()}-{job[1].id}").touch()
        return grow.grow(job)

    return noted


def workers_in(folder: Path) -> dict[int, int]:
    """How many children each process made."""
    names = [int(path.name.partition("-")[0]) for path in folder.iterdir()]
    return {pid: names.count(pid) for pid in names}


# Optuna's storage leaves a connection behind where its tables are made by another at that moment
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_two_processes_share_a_search(
    url: str, tmp_path: Path, found: Evolution, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, out = tmp_path / "notes", tmp_path / "shared"
    notes.mkdir()
    monkeypatch.setattr(breed, "grow", noting(notes))
    options: dict[str, Any] = {**SHORT, "out": out, "storage": url, "resume": True}
    other = in_another_process(lambda: small(**options))
    run = small(**options)
    assert os.waitpid(other, 0)[1] == 0
    require_same(run, found)
    made = workers_in(notes)
    assert set(made) == {os.getpid(), other}
    assert sum(made.values()) < 2 * len(found.population)
    require_same(small(**options), found)


def test_killed_and_gone_on_with(url: str, tmp_path: Path, found: Evolution) -> None:
    options: dict[str, Any] = {**SHORT, "out": tmp_path / "killed", "storage": url}
    begun = in_another_process(lambda: small(**options))
    time.sleep(found.seconds / 2)
    os.kill(begun, signal.SIGKILL)
    os.waitpid(begun, 0)
    require_same(small(**options, resume=True), found)
    with storage_at(url) as storage:
        trials = optuna.load_study(study_name=f"{tmp_path.name}/killed", storage=storage).trials
    numbers = [trial.user_attrs["id"] for trial in trials]
    assert sorted(numbers) == list(range(len(found.population)))


def test_a_study_of_that_name(url: str, tmp_path: Path) -> None:
    with storage_at(url) as storage:
        study = optuna.create_study(study_name=f"{tmp_path.name}/taken", storage=storage)
        study.add_trial(optuna.create_trial(value=1.0))
    with pytest.raises(IsotropyError, match=r"holds a study '.*/taken' of something else"):
        StudyStore(tmp_path / "taken", url, {}, resume=False)
