"""What a search leaves: its model, what it found, and the page of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from isotropy.cli.report import PAGE
from isotropy.cli.result import Result

if TYPE_CHECKING:
    from torch import nn

    from isotropy.data import Splits
    from isotropy.runs import Run


def frame(run: Run, own: Splits, name: str, model: nn.Module) -> dict[str, Any]:
    """What a result says of its data, its model and its run."""
    import isotropy as iso
    from isotropy.runs import MODEL

    train, test, validation = own.train, own.test, own.validation
    parts = {"n_train": train, "n_validation": validation, "n_test": test}
    counts = {key: 0 if part is None else len(part) for key, part in parts.items()}
    about = run.data
    file = str(run.path(MODEL))
    return {
        "data": {
            **{key: about[key] for key in ("name", "kind", "task", "shape", "classes")},
            "fingerprint": about["fingerprint"],
            "notes": [about["note"]] if about.get("note") else [],
            "n": sum(counts.values()),
            **counts,
        },
        "model": {
            "name": name,
            "layers": list(iso.groups_of(model)),
            "files": [file],
            "usage": {
                "python": f'import isotropy as iso\nmodel = iso.load("{file}")',
                "command": f"isotropy predict {run.folder} SOURCE --out answers.csv",
            },
        },
        "run": {
            "command": run.facts["line"],
            "seed": run.options.get("seed"),
            "machine": run.facts["machine"],
            "versions": run.facts["versions"],
            "deterministic": True,
            "folder": str(run.folder),
        },
        "version": iso.__version__,
    }


def keep(run: Run, result: dict[str, Any], model: nn.Module, words: str) -> Result:
    """Write the model, what came out, and its page."""
    from isotropy.report import page_of, write
    from isotropy.runs import to_json

    run.save_model(model)
    run.write_result(result)
    write(run.path(PAGE), page_of(json.loads(to_json(result))))
    return Result(result, f"{words}\n{run.path(PAGE)}")
