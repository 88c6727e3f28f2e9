"""`import isotropy` loads torch and little else: heavy libraries wait until they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

CORE = ("scipy", "sklearn", "optuna", "safetensors", "loky", "pooch", "typer")
EXTRAS = (
    "onnx",
    "onnxscript",
    "onnxruntime",
    "lightning_fabric",
    "ray",
    "dask",
    "distributed",
    "matplotlib",
    "optuna_dashboard",
    "tensorboard",
)


def loaded_by(statement: str) -> set[str]:
    """Names of the top-level modules that a fresh interpreter has after a statement."""
    script = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return loaded_by("import isotropy")


@pytest.mark.parametrize("library", CORE + EXTRAS)
def test_not_loaded_by_import(library: str, loaded: set[str]) -> None:
    assert "isotropy" in loaded
    assert library not in loaded


def test_the_probe_sees_what_is_loaded() -> None:
    assert "scipy" in loaded_by("import scipy.sparse")
