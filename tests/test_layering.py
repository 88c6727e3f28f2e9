"""The code is layered: a part imports only parts before it; modules and functions stay small."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
PACKAGE = "isotropy"
ORDER = (
    "errors",
    "groups",
    "schemes",
    "nn",
    "metrics",
    "models",
    "data",
    "training",
    "runs",
    "search",
    "evidence",
    "report",
    "discovery",
    "estimators",
    "papers",
    "cli",
)
# These use isotropy as a user does, by `import isotropy as iso`; to all before, that is a cycle.
USE_PUBLIC_API = ("papers", "cli")

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60  # without its docstring: documenting well must not cost anything

MODULES = sorted((SOURCE / PACKAGE).rglob("*.py"))


def dotted(path: Path) -> str:
    """The module's name: isotropy.nn.conv for src/isotropy/nn/conv.py."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """The top-level part that a module belongs to; empty for the package itself."""
    return module.split(".")[1] if "." in module else ""


def is_exempt(part: str) -> bool:
    """The package's own __init__ and its private modules may import, and be imported, freely."""
    return part == "" or part.startswith("_")


def imports(tree: ast.AST, path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of everything imported from isotropy, wherever in the module."""
    package = dotted(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *([node.module] if node.module else [])]
            names = [".".join([*base, alias.name]) for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == PACKAGE)


def layering_faults(source: str, path: Path) -> Iterator[str]:
    """What a module imports though it may not."""
    part = part_of(dotted(path))
    if is_exempt(part):
        return
    if part not in ORDER:
        yield f"{show(path, 1)}: {part} has no place in the order of parts (ORDER in this test)"
        return
    for line, name in imports(ast.parse(source), path):
        other = part_of(name)
        if other in ORDER:
            if ORDER.index(other) > ORDER.index(part):
                yield f"{show(path, line)}: {part} imports {name}, but {other} comes after it"
        elif not other.startswith("_") and part not in USE_PUBLIC_API:
            yield f"{show(path, line)}: {part} imports {name} from the package itself, a cycle"


def size_faults(source: str, path: Path) -> Iterator[str]:
    """The module and its functions, where they are too long."""
    length = len(source.splitlines())
    if length > MAX_MODULE_LINES:
        yield f"{show(path, 1)}: the module has {length} lines, at most {MAX_MODULE_LINES}"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = function_lines(node)
            if length > MAX_FUNCTION_LINES:
                yield (
                    f"{show(path, node.lineno)}: {node.name} has {length} lines "
                    f"without its docstring, at most {MAX_FUNCTION_LINES}"
                )


def function_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function from its `def` on, without its docstring."""
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node, clean=False) is None:
        return length
    docstring = node.body[0]
    return length - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def show(path: Path, line: int) -> str:
    """A place as editors and terminals open it."""
    return f"{path.relative_to(ROOT)}:{line}"


def test_there_is_something_to_check() -> None:
    assert MODULES


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_imports_only_earlier_parts(path: Path) -> None:
    faults = list(layering_faults(path.read_text(encoding="utf-8"), path))
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_stays_small(path: Path) -> None:
    faults = list(size_faults(path.read_text(encoding="utf-8"), path))
    assert not faults, "\n".join(faults)


# --- the checks themselves -------------------------------------------------------------------

GOOD = [
    ("nn/conv.py", "from isotropy.groups import FiniteGroup"),
    ("nn/conv.py", "from ..schemes.orbit import OrbitScheme"),
    ("nn/conv.py", "from .linear import Linear"),
    ("nn/conv.py", "from isotropy.nn.linear import Linear"),
    ("nn/__init__.py", "from .conv import Conv2d"),
    ("nn/conv.py", "from isotropy._version import version"),
    ("nn/conv.py", "import torch.nn, isotropy_other"),
    ("metrics.py", "from .errors import InputError"),
    ("papers/p001.py", "import isotropy as iso"),
    ("_lazy.py", "import isotropy.cli"),
    ("__init__.py", "from isotropy.cli import main"),
]
BAD = [
    ("groups/finite.py", "import isotropy.schemes"),
    ("groups/finite.py", "from isotropy.nn import Linear"),
    ("groups/finite.py", "from isotropy import nn"),
    ("groups/finite.py", "from .. import nn"),
    ("groups/__init__.py", "from ..nn import Linear"),
    ("groups/finite.py", "def f():\n    from ..nn.conv import Conv2d"),
    ("errors.py", "from . import cli"),
    ("errors.py", "from .cli import main"),
    ("nn/conv.py", "import isotropy as iso"),
    ("nn/conv.py", "from isotropy import group"),
    ("nn/conv.py", "from isotropy import *"),
    ("unheard_of.py", "import torch"),
]


@pytest.mark.parametrize(("module", "source"), GOOD)
def test_checker_passes(module: str, source: str) -> None:
    assert not list(layering_faults(source, SOURCE / PACKAGE / module))


@pytest.mark.parametrize(("module", "source"), BAD)
def test_checker_names_the_place(module: str, source: str) -> None:
    (fault,) = layering_faults(source, SOURCE / PACKAGE / module)
    assert fault.startswith(f"src/{PACKAGE}/{module}:{len(source.splitlines())}: ")


def test_checker_measures() -> None:
    path = SOURCE / PACKAGE / "errors.py"
    body = "    x = 1\n" * (MAX_FUNCTION_LINES - 1)
    documented = f'def f():\n    """One.\n\n    Three.\n    """\n{body}'
    assert not list(size_faults(documented, path))
    (fault,) = size_faults(f"\n{documented}    return x\n", path)
    assert fault.startswith(f"src/{PACKAGE}/errors.py:2: f has {MAX_FUNCTION_LINES + 1} lines")
    assert not list(size_faults("x = 1\n" * MAX_MODULE_LINES, path))
    (fault,) = size_faults("x = 1\n" * (MAX_MODULE_LINES + 1), path)
    assert fault.startswith(f"src/{PACKAGE}/errors.py:1: the module has")
