"""Many trainings at once, on whatever runs them, none of them lost.

A worker that dies takes only its own task with it, which is begun anew. A task is deterministic,
so results are the same wherever and however often it was begun, with one worker or with many.
"""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from isotropy.errors import InputError, IsotropyError, first_line
from isotropy.search.backends import Backend, DaskTasks, Here, Loky, RayTasks

BACKENDS = ("loky", "here", "ray", "dask")
TRIES = 3

Task = Any
Function = Callable[[Task], Any]


@dataclass(frozen=True)
class Failed:
    """What became of a task that could not be done.

    Args:
        error: why, the last time.
        tries: how often it was begun.
    """

    error: Exception
    tries: int


@dataclass
class _Job:
    """A task that is not done."""

    number: int
    function: Function
    task: Task
    tries: int = 0

    @property
    def alone(self) -> bool:
        """On its last try it runs by itself, so as not to be lost through somebody else."""
        return self.tries == TRIES - 1


class Workers:
    """Runs tasks, `count` at a time, and hands out what becomes of them as it is known.

    Every task computes with one thread, in every backend, so that results do not depend on it.
    When this ends by an error or by Ctrl-C, what is running is ended too.

    Args:
        count: how many tasks run at once; by default one for every core.
        backend: "loky" (processes of this machine; this one itself if count is 1), "here" (in
            this process), "ray" or "dask".
        address: of a running Ray or Dask cluster; without it one is begun on this machine.
        gpus: with Ray, the part of a GPU that each task takes.

    >>> with Workers(1) as pool:
    ...     sorted(pool.each(abs, [-3, 4]))
    [(0, 3), (1, 4)]
    """

    def __init__(
        self,
        count: int | None = None,
        backend: str = "loky",
        address: str | None = None,
        gpus: float = 0.0,
    ) -> None:
        if backend not in BACKENDS:
            raise InputError(f"backend must be one of {BACKENDS}, not {backend!r}")
        if count is not None and count < 1:
            raise InputError(f"workers must be at least 1, not {count}")
        if address is not None and backend not in ("ray", "dask"):
            raise InputError(f'address is for the backends "ray" and "dask", not {backend!r}')
        self.count = 1 if backend == "here" else count or _cores()
        self._backend = self._make(backend, address, gpus)
        self._waiting: deque[_Job] = deque()
        self._running: dict[Future[Any], _Job] = {}
        self._submitted = 0

    def _make(self, backend: str, address: str | None, gpus: float) -> Backend:
        if backend == "ray":
            return RayTasks(self.count, address, TRIES, gpus)
        if backend == "dask":
            return DaskTasks(self.count, address, TRIES)
        return Here() if self.count == 1 else Loky(self.count)

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(kill=kind is not None)

    def close(self, kill: bool = False) -> None:
        """Let go of the workers; what is not done is given up."""
        unfinished = bool(self._running)
        self._waiting.clear()
        for future in self._running:
            future.cancel()
        self._running.clear()
        self._backend.close(kill=kill or unfinished)

    # -- giving tasks and getting outcomes ------------------------------------------------------

    def each(self, function: Function, tasks: Iterable[Task]) -> Iterator[tuple[int, Any]]:
        """The number of every task with what the function made of it, as they are done.

        Args:
            function: of one argument, in a module, so that other processes find it.
            tasks: its arguments, picklable. They are taken one by one as workers become free, so
                an iterator may look at the outcomes so far.

        Yields:
            The task's number, from 0, and the function's result, or a `Failed`.
        """
        if self.unfinished:
            raise InputError("tasks that were submitted before are not done; see finished()")
        source, first = iter(tasks), self._submitted
        self._draw(function, source)
        for number, outcome in self.finished():
            yield number - first, outcome
            self._draw(function, source)

    def _draw(self, function: Function, source: Iterator[Task]) -> None:
        while self.unfinished < self.count:
            try:
                task = next(source)
            except StopIteration:
                return
            self.submit(function, task)

    def submit(self, function: Function, task: Task) -> int:
        """Give one task; its number. Outcomes come from `finished`."""
        job = _Job(self._submitted, function, task)
        self._submitted += 1
        self._waiting.append(job)
        if not isinstance(self._backend, Here):  # there it would not return before it is done
            self._feed()
        return job.number

    def finished(self) -> Iterator[tuple[int, Any]]:
        """Outcomes as they are known, until no task is left; more may be submitted meanwhile."""
        while self.unfinished:
            self._feed()
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
            first = min(done, key=lambda future: self._running[future].number)
            job = self._running.pop(first)
            outcome = self._outcome(job, first)
            if outcome is not None:
                yield job.number, outcome[0]

    @property
    def unfinished(self) -> int:
        """How many tasks are not done."""
        return len(self._waiting) + len(self._running)

    @property
    def elsewhere(self) -> bool:
        """Whether tasks run in other processes than this one."""
        return not isinstance(self._backend, Here)

    # -- what is running ------------------------------------------------------------------------

    def _feed(self) -> None:
        """Begin what there is room for."""
        while self._waiting and len(self._running) < self.count:
            alone = self._waiting[0].alone or any(job.alone for job in self._running.values())
            if alone and self._running:
                return
            job = self._waiting.popleft()
            job.tries += 1
            self._running[self._backend.submit(attempt, job.function, job.task)] = job

    def _outcome(self, job: _Job, future: Future[Any]) -> tuple[Any] | None:
        """What became of a job; None if it has to be begun anew."""
        try:
            error, value = future.result()
        except Exception as lost:  # whatever the executor says when it loses a worker
            self._backend.renew()
            error, value = IsotropyError(f"a worker was lost ({first_line(lost)})"), None
            final = False
        else:
            final = isinstance(error, IsotropyError)
        if error is None:
            return (value,)
        if final or job.tries >= TRIES:
            return (Failed(error, job.tries),)
        self._waiting.appendleft(job)
        return None


def attempt(function: Function, task: Task) -> tuple[Exception | None, Any]:
    """Call a function with one thread; the error it raised, or None and its result."""
    import torch
    from threadpoolctl import threadpool_limits

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):  # numpy's linear algebra has threads of its own
            return None, function(task)
    except Exception as error:
        return _portable(error), None
    finally:
        torch.set_num_threads(threads)


def _portable(error: Exception) -> Exception:
    """The error, or one that says the same if it cannot be sent between processes."""
    try:
        again = pickle.loads(pickle.dumps(error))
    except Exception:
        again = None
    return error if type(again) is type(error) else RuntimeError(repr(error))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
