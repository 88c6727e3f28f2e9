"""The database that a study lies in: a file, or on a server that has to be there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from isotropy.errors import InputError, IsotropyError, first_line
from isotropy.search.backends import CONNECT_SECONDS, require_reachable

if TYPE_CHECKING:
    from optuna.storages import RDBStorage

_PORTS = {"postgresql": 5432, "mysql": 3306}
_TRIES = 4


def opened(url: str) -> RDBStorage:
    """Optuna's storage at a URL, with its tables; tried again where others make them just now."""
    from optuna.storages import RDBStorage
    from sqlalchemy.exc import IntegrityError, ProgrammingError

    _, is_server = described(url)
    if is_server:
        require_reachable(_address(url), "database")
    options: dict[str, Any] = {}
    if is_server:
        options["connect_args"] = {"connect_timeout": CONNECT_SECONDS}
    for left in reversed(range(_TRIES)):
        try:
            return RDBStorage(_driven(url), engine_kwargs=options)
        except (IntegrityError, ProgrammingError):
            if not left:
                raise
            time.sleep(0.5)
    raise AssertionError("the last try returns or raises")


def described(url: str) -> tuple[str, bool]:
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
def refusing(where: str) -> Iterator[None]:
    """Say in one line that a database does not do what it should."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except ImportError as error:
        raise InputError(
            f"storage: {where} needs a driver ({error}): pip install 'isotropy[postgres]'"
        ) from None
    except (SQLAlchemyError, RuntimeError) as error:
        raise IsotropyError(f"storage: {where} cannot be used: {first_line(error)}") from None


@contextmanager
def quiet() -> Iterator[None]:
    """Without Optuna's own lines about studies that are made."""
    from optuna import logging

    before = logging.get_verbosity()
    logging.set_verbosity(logging.WARNING)
    try:
        yield
    finally:
        logging.set_verbosity(before)
