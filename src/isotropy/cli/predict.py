"""`isotropy predict`: what the model of a run says about data."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from isotropy._replacing import replacing
from isotropy.cli.model import model_of
from isotropy.cli.parts import as_divided
from isotropy.cli.progress import progress
from isotropy.cli.result import Result
from isotropy.cli.shared import DataFlags, RunFolder, Source, Speaking, add, load_data
from isotropy.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor, nn

    from isotropy.data import DataSet, Splits
    from isotropy.runs import Run
    from isotropy.training import Augmentation

SUFFIXES = (".csv", ".npz")
PARTS = ("train", "validation", "test")


@dataclass(frozen=True)
class Asked:
    """What is predicted, and how.

    Args:
        part: Which part of the source: train, validation or test; by default test, if the source
            sets test data apart or is what the run was trained on, or else all of it.
        average: Average over this group: every sample is moved by all its elements, and the
            outputs are moved back.
        out: The file of predictions, .csv or .npz; by default RUN/predictions.csv, or .npz for
            predictions of every pixel.
    """

    part: str | None = field(
        default=None, metadata={"metavar": "|".join(PARTS), "show_default": False}
    )
    average: str | None = field(default=None, metadata={"metavar": "GROUP", "show_default": False})
    out: Path | None = field(default=None, metadata={"metavar": "FILE", "show_default": False})


def predict(
    run: RunFolder, source: Source, asked: Asked, data: DataFlags, speaking: Speaking
) -> Result:
    """What the model of a run says about data: probabilities of classes, or numbers.

    Example: isotropy predict runs/train-digits-1 digits --out digits.csv

    The source may also be without labels: an .npy of inputs, an .npz with X alone, or a folder of
    pictures. A .csv has a row for every sample: its number (its file, for such a folder), the class
    predicted and the probability of each. An .npz has arrays of the same: sample, predicted,
    probabilities and classes.
    """
    from isotropy.runs import Run
    from isotropy.training import predict as outputs_of

    opened = Run.open(run)
    file = _file(opened, asked.out)
    model = model_of(opened)
    chosen, names = _samples(opened, source, asked, data, speaking)
    _require_same_kind(opened, chosen)
    average = None if asked.average is None else _average(asked.average, chosen, model)
    outputs = outputs_of(model, _blank(chosen, opened), average=average)
    _write(file, {"sample": names, **_in_words(outputs, chosen, opened)})
    scores = _scores(outputs, chosen, opened)
    result = {"file": str(file), "samples": len(chosen), "scores": scores}
    return Result(result, _summary(result, opened, chosen))


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, predict)


# -- of what ------------------------------------------------------------------------------------


def _samples(
    run: Run, source: str, asked: Asked, data: DataFlags, speaking: Speaking
) -> tuple[DataSet, list[str]]:
    """The samples that are asked for, scaled, and what to call each."""
    from isotropy.data import DataSet
    from isotropy.data.options import Options
    from isotropy.data.unlabelled import load_unlabelled

    with progress(speaking.quiet) as told:
        bare = load_unlabelled(source, Options(**asdict(data), progress=told))
    if bare is None:
        seed = int(run.options.get("seed", 0))  # data that are drawn are drawn as for the run
        found = _part(run, load_data(source, data, speaking, seed), asked.part)
        return found, [str(number) for number in range(len(found))]
    if asked.part is not None:
        raise InputError(f"part: {source} has no parts, as it has no labels")
    nothing = np.zeros((len(bare.samples), 0))
    return run.scaled(DataSet(bare.samples, nothing, "regression", (), str(source))), bare.names


def _blank(data: DataSet, run: Run) -> DataSet:
    """The same samples, with targets of the run's kind that nobody looks at."""
    task, names = run.data["task"], tuple(run.data["classes"])
    shape = {"regression": (len(names),), "dense": data.shape[1:]}.get(task, ())
    return replace(data, task=task, classes=names, targets=np.zeros((len(data), *shape)))


def _part(run: Run, loaded: Splits, name: str | None) -> DataSet:
    """The samples that are asked for, scaled; of a run's own data those it did not train on."""
    if name not in (None, *PARTS):
        raise InputError(f"part must be one of {PARTS}, not {name!r}")
    own = loaded.train.fingerprint() == run.data.get("fingerprint")
    parts = as_divided(run, loaded) if own else loaded.each(run.scaled)
    if name is None:
        return parts.train if parts.test is None else parts.test
    found: DataSet | None = getattr(parts, name)
    if found is None:
        raise InputError(f"part: {parts.train.name} has no {name} data set apart")
    return found


def _require_same_kind(run: Run, data: DataSet) -> None:
    """Refuse samples that the model was not made for."""
    shape = tuple(run.data["shape"])
    if data.shape != shape:
        raise InputError(
            f"source: {data.name} has samples of shape {data.shape}, and the model of "
            f"{run.folder} was trained on {shape}"
        )


def _average(group: str, data: DataSet, model: nn.Module) -> Augmentation:
    """A group that moves samples and outputs, as the model's own actions say if it has them."""
    from isotropy import group as named
    from isotropy.nn.blueprint import blueprint_of
    from isotropy.training import Augmentation

    blueprint, own = blueprint_of(model), named(group)
    if blueprint is None or not own.is_subgroup_of(blueprint.group):
        return Augmentation.by(own, data)
    inputs, outputs = blueprint.input_action, blueprint.output_action
    return Augmentation(inputs.restrict(own), outputs.restrict(own))


# -- what comes out -----------------------------------------------------------------------------


def _in_words(outputs: Tensor, data: DataSet, run: Run) -> dict[str, Any]:
    """Predictions as arrays by name."""
    names = np.array(run.data["classes"], dtype=str)
    if run.data["task"] == "regression":
        values = outputs.reshape(len(data), -1)
        if data.target_scaling is not None:
            values = data.target_scaling.undo(values)
        return {"predicted": values.numpy(), "columns": names}
    probabilities = outputs.softmax(1).numpy()
    labels = probabilities.argmax(1)
    predicted = labels if run.data["task"] == "dense" else names[labels]
    return {"predicted": predicted, "probabilities": probabilities, "classes": names}


def _scores(outputs: Tensor, data: DataSet, run: Run) -> dict[str, float] | None:
    """How right predictions are; None where the source's targets are not those of the run."""
    from isotropy.training import scores

    names = list(run.data["classes"])
    if run.data["task"] == "regression":
        comparable = data.task == "regression" and data.outputs == len(names)
        return scores(outputs, data) if comparable else None
    if data.task != run.data["task"] or not set(data.classes) <= set(names):
        return None
    numbers = np.array([names.index(name) for name in data.classes])
    renumbered = replace(data, targets=numbers[data.targets], classes=tuple(names))
    return scores(outputs, renumbered)


def _summary(result: dict[str, Any], run: Run, data: DataSet) -> str:
    lines = [f"{result['file']}: predictions for {result['samples']:,} samples of {data.name}"]
    if not data.outputs:
        lines.append("not scored: there are no labels")
    elif result["scores"] is None:
        lines.append(f"not scored: the targets of {data.name} are not those of {run.folder}")
    else:
        lines.append("  ".join(f"{name} {v:.4f}" for name, v in result["scores"].items()))
    return "\n".join(lines)


# -- files --------------------------------------------------------------------------------------


def _file(run: Run, out: Path | None) -> Path:
    """Where predictions go, before any work is done."""
    dense = run.data.get("task") == "dense"
    if out is None:
        return run.path("predictions.npz" if dense else "predictions.csv")
    if out.suffix not in SUFFIXES:
        raise InputError(f"out must end in {' or '.join(SUFFIXES)}, not {out.name!r}")
    if dense and out.suffix == ".csv":
        raise InputError("out: predictions of every pixel need an .npz, not a .csv")
    if not out.parent.is_dir():
        raise InputError(f"out: there is no folder {out.parent}")
    return out


def _write(file: Path, found: dict[str, Any]) -> None:
    """All at once, so that no half of it is ever taken for the whole."""
    content = io.BytesIO()
    if file.suffix == ".npz":
        np.savez_compressed(content, **found)
    else:
        content.write(_as_csv(found).encode())
    with replacing(file) as temporary:
        temporary.write_bytes(content.getvalue())


def _as_csv(found: dict[str, Any]) -> str:
    """A row for every sample."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if "columns" in found:
        head, rows = found["columns"], found["predicted"].tolist()
    else:
        head = ["predicted", *found["classes"]]
        both = zip(found["predicted"], found["probabilities"].tolist(), strict=True)
        rows = [[label, *chances] for label, chances in both]
    writer.writerow(["sample", *head])
    writer.writerows([name, *row] for name, row in zip(found["sample"], rows, strict=True))
    return text.getvalue()
