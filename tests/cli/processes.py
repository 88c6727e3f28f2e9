"""Commands in processes of their own, for tests that kill them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from isotropy.cli.app import run


def begin(folder: Path, line: Sequence[str], words: str = os.devnull) -> int:
    """Run a command in a folder, in a process of its own; its number.

    A fork, as Python and torch need seconds to begin; signals do not know the difference.

    Args:
        folder: where it runs.
        line: the command's words.
        words: the file that gets its standard output.
    """
    number = os.fork()
    if number:
        return number
    status = 1
    try:
        os.chdir(folder)
        os.dup2(os.open(words, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        status = run(line)
        sys.stdout.flush()
    finally:
        os._exit(status)
