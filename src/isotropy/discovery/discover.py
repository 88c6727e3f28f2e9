"""The main job: which symmetries does this data have, and how sure is that?"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from isotropy.discovery.asked import ask
from isotropy.discovery.course import Course
from isotropy.discovery.discovered import Discovery
from isotropy.discovery.plan import Plan
from isotropy.discovery.progress import Progress
from isotropy.errors import InputError
from isotropy.evidence.candidates import Candidates
from isotropy.evidence.probe import Factory
from isotropy.runs import Run


def discover(
    X: Any,
    y: Any = None,
    *,
    candidates: Candidates | None = None,
    budget: float | str | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    plan: Plan | None = None,
    model: Factory | None = None,
    width: int | None = None,
    blocks: int = 1,
    method: str = "race",
    workers: int | None = None,
    progress: Progress | None = None,
    layout: str | None = None,
    task: str | None = None,
    resize: int | None = None,
) -> Discovery:
    """Find out which symmetries data have, and how sure that is.

    Three questions are asked of every candidate: do the inputs look the same when they are moved
    by it (a two-sample test); do networks that have it built in predict better, at equally many
    parameters, than networks that have not (paired over splits and weights); and does it exchange
    labels? What follows is one recommendation, the network that goes with it, and a verdict on
    every candidate.

    Args:
        X: the inputs as an array or tensor, with y; or any source that `iso.data.load` reads, a
            `DataSet` or `Splits`.
        y: the targets of X.
        candidates: names ("C4", "reversal"), groups, or {name: permutation of the entries of a
            flattened sample}; by default all that are usual for the kind of data.
        budget: seconds, or "90s", "2m"; what is found then depends on how fast the machine is.
            Without one the same seed gives the same result.
        seed: of everything.
        out: a folder for all that is found, with which a run can be resumed.
        resume: go on with the run in that folder.
        plan: how much is done, and what counts as a difference.
        model: makes your own network by width, instead of the small one that is built in.
        width: of the untied network.
        blocks: of vectors, how many consecutive columns move together.
        method: "race"; or "mix", to ask as well in which layers the recommended symmetry helps.
        workers: how many networks are trained at once; by default one for every core. The result
            does not depend on it.
        progress: is told how it goes.
        layout: what the axes of X mean, where its shape does not tell.
        task: "classification" or "regression"; told from y if None.
        resize: pictures become squares of this side.

    >>> import isotropy as iso
    >>> digits = iso.data.load("digits").train.subset(range(300))
    >>> quick = iso.DiscoveryPlan(rounds=2, first_rounds=2, more_rounds=2, epochs=2)
    >>> found = iso.discover(digits, candidates=["D1v"], plan=quick, workers=1)
    >>> str(found.recommended), found.verdicts["D1v"] in ("hurts", "cannot_tell", "harmless")
    ('C1', True)
    """
    began = time.monotonic()
    source = X if y is None else (X, y)
    asked = ask(
        source,
        candidates,
        budget,
        seed,
        plan,
        model,
        width,
        blocks,
        method,
        layout=layout,
        task=task,
        resize=resize,
    )
    if out is not None:
        run = Run.start(out, "discover", asked.config(), asked.data, resume=resume)
        with run.unless_refused():
            return Course(asked, run.folder, workers, progress, began=began).run()
    if resume:
        raise InputError("resume: say with out which run to go on with")
    with tempfile.TemporaryDirectory(prefix="isotropy-") as folder:
        return Course(asked, Path(folder), workers, progress, began=began).run(keep=False)
