"""A real HTTP server on loopback that behaves as well or as badly as it is told to."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answers:
    """What a server has, and how it answers.

    Args:
        files: contents by path.
        cuts: after how many bytes of an answer it hangs up, request by request; -1 for never.
        ranges: whether it can go on from the middle.
        etag: whether it says which version it has; "" for not, "weak" for one that promises little.
        asked: every request: its path and its Range.
        wrong_start: answers a Range with another one.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    cuts: list[int] = field(default_factory=list)
    ranges: bool = True
    etag: str = "v1"
    wrong_start: bool = False
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    address: str = ""

    def versions(self) -> dict[str, str]:
        """The headers that say which version it has."""
        if not self.etag:
            return {}
        return {"ETag": f'W/"{self.etag}"' if self.etag == "weak" else f'"{self.etag}"'}


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[Answers]:
    """A server of some files, its answers to be changed as one likes."""
    answers = Answers(files)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            answer(self, answers)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    answers.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield answers
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(to: BaseHTTPRequestHandler, answers: Answers) -> None:
    """One answer."""
    wanted = to.headers.get("Range")
    answers.asked.append((to.path, wanted))
    content = answers.files.get(to.path.lstrip("/"))
    if content is None:
        to.send_error(404)
        return
    start = _start(to, answers)
    if start >= len(content) > 0:
        to.send_error(416)
        return
    if answers.wrong_start and start:
        start -= 1
    to.send_response(206 if start else 200)
    if start:
        to.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
    to.send_header("Content-Length", str(len(content) - start))
    for name, value in answers.versions().items():
        to.send_header(name, value)
    to.end_headers()
    cut = answers.cuts.pop(0) if answers.cuts else -1
    to.wfile.write(content[start:] if cut < 0 else content[start : start + cut])
    to.close_connection = cut >= 0


def _start(to: BaseHTTPRequestHandler, answers: Answers) -> int:
    """From which byte on: the whole file if it has become another one meanwhile."""
    wanted = re.fullmatch(r"bytes=(\d+)-", to.headers.get("Range", ""))
    if not wanted or not answers.ranges:
        return 0
    condition = to.headers.get("If-Range")
    same = condition is None or condition == answers.versions().get("ETag")
    return int(wanted[1]) if same else 0
