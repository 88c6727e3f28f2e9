"""`import isotropy` beside `import torch`, each in a fresh process."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.timing import Timing, interleave

TARGETS = {"import torch, isotropy": 0.3}


def run() -> list[Timing]:
    def fresh(statement: str) -> None:
        subprocess.run([sys.executable, "-c", statement], check=True)

    return interleave(
        {
            "import torch": lambda: fresh("import torch"),
            "import torch, isotropy": lambda: fresh("import torch, isotropy"),
        },
        rounds=9,
    )
