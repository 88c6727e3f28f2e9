"""`isotropy export`: the model of a run as a plain network, in a file of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from isotropy.cli.model import model_of
from isotropy.cli.parts import data_of, held_out
from isotropy.cli.result import Result
from isotropy.cli.shared import RunFolder, Speaking, add

File = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="Where to: .onnx, or .pt2 for torch.", show_default=False),
]


@dataclass(frozen=True)
class Verified:
    """How the file is verified.

    Args:
        samples: On how many of the run's test data the file is held against the model.
    """

    samples: int = field(default=64, metadata={"min": 1})


def export(run: RunFolder, file: File, verified: Verified, speaking: Speaking) -> Result:
    """Write the model of a run as a plain network that runs without isotropy: .onnx or .pt2.

    Example: isotropy export runs/train-digits-1 digits.onnx

    The file takes batches of any size of data as they come: the scaling that the run found is part
    of it. It is run on real data of the run, and kept only if it gives what the model gives.
    """
    import isotropy as iso
    from isotropy.runs import Run
    from isotropy.training import AsTheyCome

    opened = Run.open(run)
    model = model_of(opened)
    data = held_out(data_of(opened, speaking))
    as_they_come = replace(data, scaling=None, target_scaling=None)
    x, _ = as_they_come.batch(range(min(verified.samples, len(data))))
    difference = iso.export(AsTheyCome(model, data), file, x)
    result = {
        "file": str(file),
        "samples": len(x),
        "largest_difference": difference,
        "input": ["batch", *x.shape[1:]],
        "bytes": file.stat().st_size,
    }
    text = (
        f"{file}: {result['bytes']:,} bytes; on {len(x)} samples of {data.name} it differs from "
        f"the model by {difference:.1e} at most"
    )
    return Result(result, text)


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, export)
