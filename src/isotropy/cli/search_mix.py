"""`isotropy search mix`: how much of each group every layer becomes while it is trained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from isotropy.cli.model import build, json_or_name
from isotropy.cli.result import Result
from isotropy.cli.search_flags import Mixture, SearchModel, divided, listed, tied_flags
from isotropy.cli.search_result import frame, keep
from isotropy.cli.shared import (
    Context,
    DataFlags,
    Kept,
    Seeded,
    Source,
    Speaking,
    load_data,
    start_run,
)
from isotropy.data.parts import Parts

if TYPE_CHECKING:
    from isotropy.data import Splits
    from isotropy.runs import Run
    from isotropy.search import Mixing

INTERRUPTED = 130


def mix(
    context: Context,
    source: Source,
    model: SearchModel,
    mixture: Mixture,
    parts: Parts,
    data: DataFlags,
    seeded: Seeded,
    kept: Kept,
    speaking: Speaking,
) -> Result:
    """Train mixtures over groups in every layer, and see how much of each group they become.

    Example: isotropy search mix digits --model cnn --groups C1,C4 --epochs 5

    The run's folder gets the trained network, as a plain one, result.json and report.html.
    """
    loaded = load_data(source, data, speaking, seeded.seed)
    own = divided(loaded, parts, seeded.seed)
    run = start_run(context, loaded, kept, ("minutes",))
    speaking.say(f"{run.folder}: {len(own.train):,} samples to train on")
    with run.unless_refused():
        found = mixed(own, seeded.seed, model, mixture, kept, speaking, run.folder)
    if found.stopped == "interrupted":
        words = f"interrupted; go on with --resume --out {run.folder}"
        return Result({"run": str(run.folder), "stopped": "interrupted"}, words, INTERRUPTED)
    return _finish_mix(run, own, model.model, found)


def mixed(
    own: Splits,
    seed: int,
    model: SearchModel,
    mixture: Mixture,
    kept: Kept,
    speaking: Speaking,
    folder: Path,
) -> Mixing:
    """A network of mixtures, trained, from what the flags say."""
    import isotropy as iso
    from isotropy.search.mix import PAPER

    assert own.validation is not None, "a source is divided into parts before"
    output = json_or_name(model.output, "output")
    return iso.search.mix(
        build(model.model, tied_flags(model, None), own.train, seed),
        own.train,
        groups=listed(mixture.groups) or (),
        gradients=mixture.gradients,
        epochs=mixture.epochs,
        settings=replace(PAPER, lr=mixture.lr, batch_size=mixture.batch_size),
        validation=own.validation,
        output=output or ("image" if own.train.task == "dense" else "invariant"),
        action=json_or_name(model.action, "action"),
        seed=seed,
        out=folder,
        resume=kept.resume,
        minutes=mixture.minutes,
        watch=speaking.watches(),
    )


def _finish_mix(run: Run, own: Splits, name: str, found: Mixing) -> Result:
    import isotropy as iso

    scores = None
    if own.test is not None:
        scores = iso.training.evaluate(found.model, own.test.scaled_like(found.train))
    told = found.to_json()
    if scores is not None:
        error = scores["mse"] if found.metric == "mse" else 1 - scores["accuracy"]
        told["found"] |= {"test_error": {"mean": error, "runs": 1, "single": [error]}}
    result = {**told, "test": scores, **frame(run, own, name, found.model)}
    run.save_scaling(found.train)
    lines = [f"{run.folder}: validation error {found.val_error:.4f}"]
    if scores is not None:
        lines.append("test  " + "  ".join(f"{k} {v:.4f}" for k, v in scores.items()))
    for layer, weights in found.final.items():
        shares = "  ".join(f"{g} {z:.2f}" for g, z in weights.items())
        lines.append(f"{layer}: {shares}")
    return keep(run, result, found.model, "\n".join(lines))
