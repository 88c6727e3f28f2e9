"""Run an experiment and keep what comes of it: python -m experiments NAME --out results/NAME.json.

An experiment is a file of this folder. Its docstring says what it asks and how; its `TASKS` maps a
name to picklable arguments for `run`, a function that returns numbers by name (and takes
`workers`, where a task may train several networks at once);
`TITLE` and `tables` (pairs of a head and rows of texts) say how outcomes stand in docs/results.md.
Tasks run side by side with one thread each; those that the file holds already are not run again.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

from experiments.page import page
from isotropy._replacing import write_text
from isotropy.runs import machine, to_json, versions
from isotropy.search.workers import Failed, Workers

HERE = Path(__file__).parent
RESULTS = HERE.parent / "docs" / "results.md"
OWN = ("__init__", "__main__", "page")


def names() -> list[str]:
    """All experiments."""
    return sorted(p.stem for p in HERE.glob("*.py") if p.stem not in OWN)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("name", nargs="?", help=f"one of {', '.join(names())}")
    parser.add_argument("--out", type=Path, help="the file of outcomes, begun or to be begun")
    parser.add_argument("--only", default="", help="run only tasks whose name holds this text")
    parser.add_argument("--workers", type=int, help="how many tasks at once")
    parser.add_argument("--within", type=int, help="how many networks of a task at once (searches)")
    parser.add_argument(
        "--table", type=Path, nargs="+", help="write docs/results.md from these files, and stop"
    )
    chosen = parser.parse_args()
    if chosen.table is not None:
        write_text(RESULTS, page([(path, json.loads(path.read_text())) for path in chosen.table]))
        return
    if chosen.name not in names():
        parser.error(f"no experiment {chosen.name!r}; there are {', '.join(names())}")
    if chosen.out is None:
        parser.error("say with --out where the outcomes go")
    carry_out(chosen.name, chosen.out, chosen.only, chosen.workers, chosen.within)


def carry_out(name: str, out: Path, only: str, workers: int | None, within: int | None) -> None:
    """Run what is not in the file yet, and keep each outcome as it comes."""
    experiment = importlib.import_module(f"experiments.{name}")
    record = json.loads(out.read_text()) if out.exists() else begun(name)
    record["docstring"] = experiment.__doc__
    run = number_of(about(out), record["runs"])
    open_ = [t for t in experiment.TASKS if only in t and t not in record["outcomes"]]
    options = {} if within is None else {"workers": within}
    jobs = [(name, experiment.TASKS[t], options) for t in open_]
    with Workers(workers) as pool:
        for number, outcome in pool.each(_timed, jobs):
            if isinstance(outcome, Failed):
                print(f"{open_[number]}: failed: {outcome.error}", file=sys.stderr, flush=True)
                continue
            record["outcomes"][open_[number]] = {**outcome, "run": run}
            out.parent.mkdir(parents=True, exist_ok=True)
            write_text(out, json.dumps(json.loads(to_json(record)), indent=1) + "\n")
            print(f"{len(record['outcomes'])} done, {open_[number]}: {outcome}"[:300], flush=True)


def _timed(job: tuple[str, Any, dict[str, int]]) -> dict[str, Any]:
    name, task, options = job
    start = time.monotonic()
    found = importlib.import_module(f"experiments.{name}").run(task, **options)
    return {**found, "seconds": round(time.monotonic() - start, 2)}


def begun(name: str) -> dict[str, Any]:
    """A file without outcomes."""
    return {"experiment": name, "runs": [], "outcomes": {}}


def about(out: Path) -> dict[str, Any]:
    """What outcomes depend on; the folder they are written to is nobody's business."""
    words = [f"results/{out.name}" if word == str(out) else word for word in sys.argv[1:]]
    return {
        "command": " ".join(["python -m experiments", *words]),
        "date": time.strftime("%Y-%m-%d"),
        "versions": versions(),
        "machine": machine(),
    }


def number_of(run: dict[str, Any], runs: list[dict[str, Any]]) -> int:
    """Which of all runs this is, as outcomes name it: a file may be gone on with elsewhere."""
    run = json.loads(to_json(run))
    if run not in runs:
        runs.append(run)
    return runs.index(run)


if __name__ == "__main__":
    main()
