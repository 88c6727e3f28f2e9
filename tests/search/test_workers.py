"""Workers: outcomes are those of a plain loop, whatever runs the tasks and whoever dies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from isotropy.errors import InputError, IsotropyError
from isotropy.search.workers import TRIES, Failed, Workers
from tests.search import jobs


@pytest.fixture(scope="module", params=[1, 2], ids=["one", "two"])
def pool(request: pytest.FixtureRequest) -> Iterator[Workers]:
    with Workers(request.param) as workers:
        yield workers


def test_each_is_a_loop(pool: Workers) -> None:
    assert dict(pool.each(jobs.square, range(7))) == {i: i * i for i in range(7)}
    assert list(pool.each(jobs.square, [])) == []


def test_every_task_has_one_thread(pool: Workers) -> None:
    torch.set_num_threads(2)
    try:
        assert dict(pool.each(jobs.threads, range(3))) == dict.fromkeys(range(3), 1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


def test_tensors_travel(pool: Workers) -> None:
    for seed, found in pool.each(jobs.tensor, range(3)):
        assert torch.equal(found, jobs.tensor(seed))


def test_tasks_are_drawn_as_workers_become_free(pool: Workers) -> None:
    seen: list[int] = []

    def tasks() -> Iterator[int]:
        for i in range(6):
            assert len(seen) >= i - pool.count + 1
            yield i

    for _, found in pool.each(jobs.square, tasks()):
        seen.append(found)
    assert sorted(seen) == [i * i for i in range(6)]


def test_more_may_be_submitted_meanwhile(pool: Workers) -> None:
    first = pool.submit(jobs.square, 2)
    found = {}
    for number, outcome in pool.finished():
        found[number - first] = outcome
        if outcome < 1000:
            pool.submit(jobs.square, outcome)
    assert found == {0: 4, 1: 16, 2: 256, 3: 65536}


def test_each_does_not_take_outcomes_of_others() -> None:
    with Workers(1) as here:
        here.submit(jobs.square, 1)
        with pytest.raises(InputError, match="not done"):
            next(here.each(jobs.square, [2]))


def test_our_own_errors_are_not_tried_again(pool: Workers) -> None:
    found = dict(pool.each(jobs.refuse, range(3)))
    assert (found[0], found[2]) == (0, 2)
    assert isinstance(found[1], Failed)
    assert isinstance(found[1].error, InputError)
    assert (str(found[1].error), found[1].tries) == ("one is not wanted", 1)


def test_errors_that_cannot_travel_are_described(pool: Workers) -> None:
    ((_, failed),) = pool.each(jobs.fail_oddly, [0])
    assert isinstance(failed, Failed)
    assert "odd 1 2" in str(failed.error)
    assert failed.tries == TRIES


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_other_errors_are_tried_three_times(pool: Workers, tmp_path: Path, failures: int) -> None:
    found = dict(pool.each(jobs.flaky, [(tmp_path, 0, 0), (tmp_path, 1, failures)]))
    assert found[0] == 0
    if failures < TRIES:
        assert found[1] == 1
    else:
        assert found[1].tries == TRIES
        assert isinstance(found[1].error, OSError)


def test_processes_are_kept(pool: Workers) -> None:
    before = {pid for _, pid in pool.each(jobs.process, range(6))}
    with Workers(pool.count) as again:
        assert {pid for _, pid in again.each(jobs.process, range(6))} <= before
    assert (os.getpid() in before) == (pool.count == 1)


def test_a_killed_worker_loses_only_its_own_task(tmp_path: Path) -> None:
    deaths = {1: 99, 4: 1}
    with Workers(2) as pool:
        tasks = [(tmp_path, i, deaths.get(i, 0)) for i in range(6)]
        found = dict(pool.each(jobs.deadly, tasks))
    failed = found.pop(1)
    assert found == {i: i for i in (0, 2, 3, 4, 5)}
    assert failed.tries == TRIES
    assert isinstance(failed.error, IsotropyError)
    assert "worker was lost" in str(failed.error)


BAD = [
    ({"backend": "threads"}, "backend must be one of"),
    ({"count": 0}, "workers must be at least 1"),
    ({"address": "here:1"}, "address is for the backends"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Workers(**arguments)  # type: ignore[arg-type]
