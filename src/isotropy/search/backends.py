"""Where tasks run: in this process, in processes beside it, or on a Ray or Dask cluster.

Each is a `concurrent.futures` executor that somebody else wrote; here they get one face.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from isotropy.errors import InputError, IsotropyError, first_line

CONNECT_SECONDS = 10
_IDLE_SECONDS = 120
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}

_HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""How a client of gRPC, which Ray speaks, begins; a server answers with its settings."""

Call = Callable[..., Any]


class Backend(ABC):
    """Runs functions somewhere; an error of a future is that of a lost worker."""

    @abstractmethod
    def submit(self, function: Call, *arguments: Any) -> Future[Any]:
        """Begin a call."""

    def renew(self) -> None:  # noqa: B027 (most see to it themselves)
        """Bring the workers back after one of them was lost."""

    @abstractmethod
    def close(self, kill: bool) -> None:
        """Let go of the workers; end what they are doing if `kill`."""


class Here(Backend):
    """In this process, at once."""

    def submit(self, function: Call, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future

    def close(self, kill: bool) -> None:
        pass


class Loky(Backend):
    """Processes of this machine, kept for the next search: to start one costs seconds.

    Args:
        count: how many.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.renew()

    def renew(self) -> None:
        from loky import get_reusable_executor

        self._executor = get_reusable_executor(
            self.count, timeout=_IDLE_SECONDS, initializer=begin_worker, env=_ONE_THREAD
        )

    def submit(self, function: Call, *arguments: Any) -> Future[Any]:
        from concurrent.futures.process import BrokenProcessPool

        try:
            future: Future[Any] = self._executor.submit(function, *arguments)
        except BrokenProcessPool:
            self.renew()
            future = self._executor.submit(function, *arguments)
        return future

    def close(self, kill: bool) -> None:
        if kill:
            self._executor.shutdown(wait=True, kill_workers=True)


def begin_worker() -> None:
    """In a new process: leave Ctrl-C to the one that began it, and end when that is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


class RayTasks(Backend):
    """Tasks of a Ray cluster; Ray itself begins anew those whose node is lost.

    Args:
        count: processor cores to begin a local cluster with, if there is no address.
        address: of a running cluster, as "10.0.0.1:6379" or "auto".
        tries: how often a task is begun at most.
        gpus: the part of a GPU that each task takes.
    """

    def __init__(self, count: int, address: str | None, tries: int, gpus: float) -> None:
        try:
            import ray
        except ImportError:
            raise InputError("ray is not installed: pip install 'isotropy[ray]'") from None
        self._ray: Any = ray
        self._ours = not ray.is_initialized()
        if self._ours:
            require_reachable(address, "Ray cluster", _HTTP2)
            options: dict[str, Any] = {"num_cpus": count} if address is None else {}
            try:
                ray.init(address or "local", log_to_driver=False, **options)
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise IsotropyError(f"no Ray cluster at {address}: {first_line(error)}") from None
        self._options = {"num_cpus": 1, "num_gpus": gpus, "max_retries": tries - 1}

    def submit(self, function: Call, *arguments: Any) -> Future[Any]:
        remote = self._ray.remote(**self._options)(function)
        future: Future[Any] = remote.remote(*arguments).future()
        return future

    def close(self, kill: bool) -> None:  # noqa: ARG002
        if self._ours:
            self._ray.shutdown()


class DaskTasks(Backend):
    """Tasks of a Dask cluster, which begins anew those whose worker is lost.

    Args:
        count: workers to begin a local cluster with, if there is no address.
        address: of a running scheduler, as "tcp://10.0.0.1:8786".
        tries: how often a task is begun at most.
    """

    def __init__(self, count: int, address: str | None, tries: int) -> None:
        try:
            import distributed
        except ImportError:
            raise InputError("dask is not installed: pip install 'isotropy[dask]'") from None
        require_reachable(address, "Dask scheduler", b"")
        kit: Any = distributed
        self._cluster: Any = None
        if address is None:
            self._cluster = kit.LocalCluster(
                n_workers=count, threads_per_worker=1, dashboard_address=None
            )
        try:
            self._client: Any = kit.Client(self._cluster or address, timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise IsotropyError(f"no Dask scheduler at {address}: {first_line(error)}") from None
        self._executor = self._client.get_executor(retries=tries - 1, pure=False)

    def submit(self, function: Call, *arguments: Any) -> Future[Any]:
        future: Future[Any] = self._executor.submit(function, *arguments)
        return future

    def close(self, kill: bool) -> None:
        self._executor.shutdown(wait=not kill)
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def require_reachable(address: str | None, what: str, greeting: bytes | None = None) -> None:
    """Refuse an address where nobody listens, before a client waits for minutes or for ever.

    Args:
        address: "host:port", perhaps with a scheme before it; anything without a port passes.
        what: who should listen there, for the message.
        greeting: what is said first to one that has to answer; None if it need not.
    """
    if address is None:
        return
    host, colon, port = address.rpartition("://")[2].rstrip("/").rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS) as line:
            if greeting is not None:
                line.sendall(greeting)
                if not line.recv(1):
                    raise ConnectionError("it hangs up")
    except (OSError, OverflowError) as error:
        raise IsotropyError(f"no {what} at {address}: {first_line(error)}") from None
