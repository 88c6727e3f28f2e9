"""What the package imports is what pyproject.toml asks for, no less and no more."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"

LOADED_BY_OTHERS = {
    "optuna-dashboard": "a program of its own that opens a search's study",
    "psycopg": "sqlalchemy loads it for a postgresql:// address",
    "tensorboard": "torch.utils.tensorboard loads it",
}
"""Asked for by an extra, though no module of ours imports it."""


def normal(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def named(requirements: list[str]) -> set[str]:
    """The distributions of requirements, without versions and extras."""
    found = (re.match(r"[\w.-]+", requirement) for requirement in requirements)
    return {normal(name[0]) for name in found if name}


def declared() -> set[str]:
    """What the package and its extras ask for; not what its development does."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    listed = [lines for extra, lines in extras.items() if extra != "dev"]
    return named([line for lines in [project["dependencies"], *listed] for line in lines])


def modules(source: str) -> set[str]:
    """The top-level modules that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def imported() -> set[str]:
    """The distributions of all other packages' modules that ours import."""
    every = {m for path in SOURCE.rglob("*.py") for m in modules(path.read_text(encoding="utf-8"))}
    others = every - sys.stdlib_module_names - {"isotropy"}
    known = packages_distributions()
    return {normal(known[module][0]) for module in others}


def test_every_import_is_asked_for() -> None:
    assert imported() <= declared()


def test_everything_asked_for_is_imported() -> None:
    assert declared() - imported() == set(LOADED_BY_OTHERS)


def test_imports_are_found_and_names_are_compared() -> None:
    source = "import a.b, c as d\nfrom . import e\ndef f():\n    from g.h import i\n"
    assert modules(source) == {"a", "c", "g"}
    assert named(["Dask[distributed]>=2024.8", "scikit_learn", "a.b>1"]) == {
        "dask", "scikit-learn", "a-b",
    }  # fmt: skip
