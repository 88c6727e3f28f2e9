"""The recommended network for use: its files, its layers, and lines that show how to run it."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from isotropy._replacing import write_text
from isotropy.discovery.contender import Contender
from isotropy.nn.audit import audit
from isotropy.nn.blueprint import groups_of
from isotropy.nn.cost import cost
from isotropy.nn.export import export
from isotropy.nn.files import save
from isotropy.report import discovery_page, write
from isotropy.runs import to_json

RESULT, SAMPLES, REPORT = "result.json", "samples.npz", "report.html"
MODEL, ONNX = "model.safetensors", "model.onnx"


def layer_rows(model: nn.Module, example: Tensor, chosen: Contender | None) -> list[dict[str, Any]]:
    """The network layer by layer: what is trained, and how exactly its symmetry holds."""
    rows = cost(model, example[:1]).rows
    errors: dict[str, tuple[float, str]] = {}
    if chosen is not None and chosen.symmetry.group.generators:
        errors = {row.layer: (row.error, row.cause) for row in audit(model, example).rows}
    tied = groups_of(model) if errors else {}
    found = []
    for row in rows:
        if not row.plain_parameters:
            continue
        error, cause = errors.get(row.layer, (None, ""))
        kind = type(model.get_submodule(row.layer)).__name__
        under = f", tied under {tied[row.layer]}" if row.layer in tied else ""
        found.append(
            {
                "layer": row.layer,
                "kind": f"{kind}{under}",
                "free": row.parameters,
                "total": row.plain_parameters,
                "error": error,
                "note": cause,
            }
        )
    return found


def keep_model(folder: Path, model: nn.Module, example: Tensor) -> list[str]:
    """Write the model; the names of its files."""
    save(model, folder / MODEL)
    if not (importlib.util.find_spec("onnx") and importlib.util.find_spec("onnxscript")):
        return [MODEL]
    export(model, folder / ONNX, example)
    return [MODEL, ONNX]


def keep_page(
    folder: Path, files: Sequence[str], result: dict[str, Any], images: Mapping[str, Any]
) -> dict[str, Any]:
    """Write samples, page and result; the result with all files and how to use the model."""
    turned = {f"turned_{element}": values for element, values in images["turned"].items()}
    np.savez_compressed(folder / SAMPLES, samples=images["samples"], **turned)
    told = {"usage": usage(folder, ONNX in files), "files": [*files, SAMPLES, REPORT]}
    whole = {**result, "model": told}
    write(folder / REPORT, discovery_page(whole, images))
    write_text(folder / RESULT, to_json(whole) + "\n")
    return whole


def usage(folder: Path, has_onnx: bool) -> dict[str, str]:
    """Lines to copy."""
    found = {
        "python": f'import isotropy as iso\n\nmodel = iso.load("{folder / MODEL}").eval()\n'
        "y = model(x)  # x: a batch as the data are, not scaled",
        "torch": f'plain = iso.fold(iso.load("{folder / MODEL}").eval())  # torch.nn alone',
        "command": f"isotropy predict {folder} SOURCE --out answers.csv",
    }
    if has_onnx:
        found["onnx"] = (
            "import onnxruntime\n\n"
            f'session = onnxruntime.InferenceSession("{folder / ONNX}")\n'
            "(y,) = session.run(None, {session.get_inputs()[0].name: x})"
        )
    return found
