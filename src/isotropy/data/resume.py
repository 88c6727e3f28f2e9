"""Downloading a file over HTTP, going on where an earlier try was cut off."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotropy.data.options import Progress
from isotropy.errors import InputError

if TYPE_CHECKING:
    from requests import Response

PIECE = 2**13  # what has come of a piece is lost when it is cut off
TIMEOUT = 30  # seconds without a single byte
IDLE_TRIES = 2


class Resuming:
    """A downloader for pooch: what has come stays in a part file until all of it is there.

    The part is only gone on with if the server says that its file is still the same (If-Range);
    what names the version is kept beside it.

    Args:
        part: where to collect the file.
        what: what to call it when telling how it goes on.
        progress: is told.
    """

    def __init__(self, part: Path, what: str, progress: Progress | None = None) -> None:
        self.part = part
        self.version = part.with_name(f"{part.name}.version")
        self.what = what
        self.progress = progress

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:  # noqa: ARG002
        import requests
        from requests.exceptions import InvalidSchema, InvalidURL, MissingSchema

        idle = 0
        while idle < IDLE_TRIES:
            before = self._done()
            try:
                self._go_on(url)
            except (InvalidSchema, InvalidURL, MissingSchema) as error:
                raise InputError(f"mirror: {error}") from None
            except requests.RequestException as error:
                idle = 0 if self._done() > before else idle + 1
                failure = error
            else:
                os.replace(self.part, output_file)
                self.version.unlink(missing_ok=True)
                return
        raise InputError(self._cut_off(url, failure)) from None

    def drop(self) -> None:
        """Forget what has come so far."""
        for path in (self.part, self.version):
            path.unlink(missing_ok=True)

    def _done(self) -> int:
        return self.part.stat().st_size if self.part.is_file() else 0

    def _go_on(self, url: str) -> None:
        import requests

        headers = {"Accept-Encoding": "identity"}
        done = self._done()
        if done and self.version.is_file():
            headers |= {"Range": f"bytes={done}-", "If-Range": self.version.read_text("utf-8")}
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as answer:
            if answer.status_code == 416:  # nothing is left of it, or it is another file by now
                self.drop()
                raise requests.ConnectionError("the part does not fit the file")
            if answer.status_code not in (200, 206):
                raise InputError(f"{url} answered {answer.status_code} {answer.reason}")
            start = _starts_at(answer)
            if start not in (0, done):
                self.drop()
                raise requests.ConnectionError(f"asked for byte {done} on, it sent {start} on")
            self._receive(answer, start)

    def _receive(self, answer: Response, done: int) -> None:
        import requests

        total = _total(answer)
        self._note_version(answer)
        with open(self.part, "r+b" if done else "wb") as file:
            file.seek(done)
            for piece in answer.iter_content(PIECE):
                file.write(piece)
                done += len(piece)
                if self.progress is not None:
                    self.progress(self.what, done, total)
        if total is not None and done != total:
            raise requests.ConnectionError(f"{done} of {total} bytes came")

    def _note_version(self, answer: Response) -> None:
        etag = answer.headers.get("ETag", "W/")
        version = answer.headers.get("Last-Modified") if etag.startswith("W/") else etag
        if version:
            self.version.write_text(version, "utf-8")
        else:
            self.version.unlink(missing_ok=True)

    def _cut_off(self, url: str, failure: Exception) -> str:
        done = self._done()
        if done:
            outcome = "go on from there" if self.version.is_file() else "try again"
            return f"{url} was cut off after {done} bytes; run again to {outcome}"
        return f"{url} cannot be reached ({_reason(failure)})"


def _reason(failure: Exception) -> str:
    """The last words of an error that wraps others."""
    inner = failure.args[0] if failure.args else failure
    words = str(getattr(inner, "reason", inner))
    return re.sub(r"\s+", " ", words).rpartition(": ")[2]


def _starts_at(answer: Response) -> int:
    """Where in the file an answer begins."""
    found = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range", ""))
    return int(found[1]) if found and answer.status_code == 206 else 0


def _total(answer: Response) -> int | None:
    """The length of the whole file, if the answer says."""
    if answer.status_code == 206:
        found = re.search(r"/(\d+)$", answer.headers.get("Content-Range", ""))
        return int(found[1]) if found else None
    with suppress(KeyError, ValueError):
        return int(answer.headers["Content-Length"])
    return None
