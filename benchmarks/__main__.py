"""Run benchmarks and print them beside their targets; `--out FILE` also keeps them as JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy
import torch

from benchmarks.page import page, verdict
from benchmarks.timing import Timing

HERE = Path(__file__).parent
SPEED = HERE.parent / "docs" / "speed.md"


def names() -> list[str]:
    """All cases: the files bench_*.py."""
    return sorted(p.stem.removeprefix("bench_") for p in HERE.glob("bench_*.py"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names())}")
    parser.add_argument("--out", type=Path, help="keep the figures in this JSON file")
    parser.add_argument(
        "--table", type=Path, nargs="+", help="write docs/speed.md from these JSON files, and stop"
    )
    chosen = parser.parse_args()
    if chosen.table is not None:
        SPEED.write_text(page([json.loads(path.read_text()) for path in chosen.table]))
        return
    unknown = [n for n in chosen.names if n not in names()]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(names())}")
    results = {}
    for name in chosen.names or names():
        case = importlib.import_module(f"benchmarks.bench_{name}")
        print(f"\n{name}: {case.__doc__.splitlines()[0]}", flush=True)
        timings = case.run()
        for timing in timings:
            print(line(name, timing, timings[0], case.TARGETS), flush=True)
        results[name] = {
            "claim": case.__doc__,
            "targets": case.TARGETS,
            "timings": [asdict(t) for t in timings],
        }
    if chosen.out is not None:
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.write_text(
            json.dumps({**about(chosen.out), "results": results}, indent=1) + "\n"
        )


def line(case: str, timing: Timing, first: Timing, targets: dict[str, float]) -> str:
    """One row of the printed table."""
    row = f"  {timing.name:<26} {timing.seconds * 1000:>9.1f} ms"
    row += f"  × {timing.ratio:.3f} ({timing.low:.3f} to {timing.high:.3f})"
    return f"{row}  {verdict(case, asdict(timing), asdict(first), targets)}".rstrip()


def about(out: Path) -> dict[str, object]:
    """What the figures depend on; the folder they are written to is nobody's business."""
    words = [f"results/{out.name}" if word == str(out) else word for word in sys.argv[1:]]
    return {
        "command": " ".join(["python -m benchmarks", *words]),
        "date": time.strftime("%Y-%m-%d"),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
    }


if __name__ == "__main__":
    main()
