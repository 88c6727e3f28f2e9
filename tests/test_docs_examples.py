"""What the documentation shows works: README's and docs' Python blocks, and every docstring."""

from __future__ import annotations

import doctest
import importlib
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
SOURCE = ROOT / "src"
FENCE = "```"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
DOCTEST_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def python_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Every ```python block of a page: the line it starts after, and its code."""
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        language = line.strip().removeprefix(FENCE)
        if not line.strip().startswith(FENCE):
            continue
        code = []
        for _, inner in lines:
            if inner.strip() == FENCE:
                break
            code.append(inner)
        else:
            raise ValueError(f"the block that starts on line {number} does not end")
        if language.split() == ["python"]:
            yield number, textwrap.dedent("\n".join(code))


def run_page(path: Path) -> int:
    """Run a page's blocks in order in one namespace; how many there were.

    Blank lines in front make the line numbers of a traceback those of the page.
    """
    namespace = {"__name__": f"__{path.stem.lower()}__"}
    blocks = list(python_blocks(path.read_text(encoding="utf-8")))
    for line, code in blocks:
        exec(compile("\n" * line + code, str(path), "exec"), namespace)
    return len(blocks)


def module_names() -> list[str]:
    """Every module under src, but for the __main__ ones, which would run."""
    names = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts[-1] != "__main__":
            names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_page(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    count = run_page(path)
    assert count or path != README, "README.md has no ```python block: nothing was tested"


@pytest.mark.parametrize("name", module_names())
def test_docstrings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(name), optionflags=DOCTEST_OPTIONS)
    assert not result.failed, f"{result.failed} of {result.attempted} examples in {name} failed"


def test_blocks_are_found() -> None:
    page = "a\n```python\nx = 1\n```\n```bash\nls\n```\n1. b\n   ```python\n   y = x\n   ```\n"
    assert list(python_blocks(page)) == [(2, "x = 1"), (9, "y = x")]


def test_unclosed_block_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2 does not end"):
        list(python_blocks("a\n```python\nx = 1\n"))


def test_failing_block_fails(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n\n```python\nx = 1\n```\n\n```python\nassert x == 2\n```\n")
    with pytest.raises(AssertionError) as caught:
        run_page(page)
    assert caught.traceback[-1].lineno + 1 == 8
