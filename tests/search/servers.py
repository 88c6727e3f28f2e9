"""A real PostgreSQL server for tests, on loopback, with its files in a folder that goes away."""

from __future__ import annotations

import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.conftest import find_program

USER = "searcher"
_DEBIAN = "/usr/lib/postgresql/*/bin"


def free_port() -> int:
    """A port of loopback where nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


def program(name: str) -> str:
    """A program of PostgreSQL, which Debian keeps off the path."""
    found = sorted(glob.glob(f"{_DEBIAN}/{name}"))
    return found[-1] if found else find_program(name)


@contextmanager
def postgres() -> Iterator[str]:
    """A server that runs while this lasts; its URL."""
    initdb, server = program("initdb"), program("postgres")
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    somebody: dict[str, Any] = {"user": "nobody"} if os.geteuid() == 0 else {}  # root it refuses
    if somebody:
        shutil.chown(folder, "nobody")
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    port = free_port()
    data = str(folder / "data")
    make = [initdb, "-D", data, "-U", USER, "--auth=trust", "--no-sync", "--encoding=UTF8"]
    subprocess.run(make, check=True, cwd=folder, **quiet, **somebody)
    begin = [server, "-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", str(folder), "-F"]
    running = subprocess.Popen(begin, cwd=folder, **quiet, **somebody)
    try:
        _wait_for(port, running)
        yield f"postgresql://{USER}@127.0.0.1:{port}/postgres"
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(port: int, running: subprocess.Popen[bytes]) -> None:
    import psycopg

    for _ in range(300):
        assert running.poll() is None, "the server ended"
        try:
            psycopg.connect(host="127.0.0.1", port=port, user=USER, dbname="postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server does not answer")
