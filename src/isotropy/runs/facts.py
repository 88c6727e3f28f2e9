"""What ran: command, options, data, versions and machine."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

from isotropy.runs.text import to_json

if TYPE_CHECKING:
    from isotropy.data import DataSet, Splits

FORMAT = "isotropy-run-1"

_PACKAGES = ("torch", "numpy", "scipy", "scikit-learn")


def facts_of(
    command: str, config: Mapping[str, Any], data: Splits | DataSet | None
) -> dict[str, Any]:
    """All of config.toml: what was asked for, on what data, and by what."""
    facts: dict[str, Any] = {"format": FORMAT, "command": command}
    facts["line"] = shlex.join(["isotropy", *sys.argv[1:]])
    facts["options"] = json.loads(to_json(config))
    if data is not None:
        facts["data"] = describe_data(data)
    facts["versions"] = versions()
    facts["machine"] = machine()
    return facts


def describe_data(data: Splits | DataSet) -> dict[str, Any]:
    """What a run ran on: enough to know it again."""
    from isotropy.data import Splits

    whole = data if isinstance(data, Splits) else Splits(data)
    train, test = whole.train, whole.test
    found = {
        "name": train.name,
        "task": train.task,
        "kind": train.kind,
        "samples": len(train),
        "shape": list(train.shape),
        "classes": list(train.classes),
        "fingerprint": train.fingerprint(),
        "note": str(train.origin.get("note", "")),
    }
    if test is not None:
        found |= {"test_samples": len(test), "test_fingerprint": test.fingerprint()}
    return found


def versions() -> dict[str, str]:
    """Of everything that numbers depend on."""
    from isotropy._version import __version__

    found = {"isotropy": __version__, "python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _PACKAGES}


def machine() -> dict[str, Any]:
    """What numbers may depend on, without names: the kind of processor, threads, devices."""
    import torch

    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count() or 1,
        "threads": torch.get_num_threads(),
        "gpus": [torch.cuda.get_device_name(i) for i in range(gpus)],
    }
