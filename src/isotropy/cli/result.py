"""What a command came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """What a command came to; printing it is left to the frame.

    Args:
        data: what `--json` prints.
        text: what is printed otherwise.
        status: the exit status: 0 only if the command did its work.
    """

    data: Mapping[str, Any]
    text: str = ""
    status: int = 0
