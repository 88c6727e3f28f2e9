"""What is known so far, on disk as it becomes known: kill -9 loses only what is in the making."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from isotropy._replacing import write_text
from isotropy.discovery.trial import Outcome


class Ledger:
    """Outcomes by key, each a line of a file.

    Of what the file holds only that is known which was asked for again: who goes on with a run must
    not know more, where it decides something, than who has run it through.

    Args:
        path: the file; what it holds is read first.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.filed = {outcome.key: outcome for outcome in self._read()}
        self.known: dict[str, Outcome] = {}

    def recalls(self, key: str) -> bool:
        """Whether an outcome is there; from now on it is known."""
        if key in self.filed:
            self.known[key] = self.filed[key]
        return key in self.known

    def _read(self) -> Iterator[Outcome]:
        if not self.path.exists():
            return
        text = self.path.read_text(encoding="utf-8")
        complete = text[: text.rfind("\n") + 1]  # a line that was cut off is one that never was
        if complete != text:
            write_text(self.path, complete)
        for line in complete.splitlines():
            yield Outcome(**json.loads(line))

    def add(self, outcome: Outcome) -> None:
        """File an outcome."""
        self.filed[outcome.key] = self.known[outcome.key] = outcome
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")
            file.flush()
            os.fsync(file.fileno())
