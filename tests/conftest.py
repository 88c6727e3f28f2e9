"""What every test has: checked annotations, one thread, a fixed seed; and programs on request."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import hypothesis
import jaxtyping
import numpy as np
import pytest
import torch

SEED = 0


def check_annotations() -> None:
    """Check types and shapes on every call into isotropy, as its signatures state them.

    In tests only: it costs time on each call. ISOTROPY_TYPECHECK=0 turns it off, to time a test,
    to step through one, or to see whether a failure is the checker's own. It has to happen
    before anything imports isotropy, hence at the top of this file.

    Neither torch.compile nor torch.export can trace the checker, so it stands aside meanwhile.
    """
    jaxtyping.install_import_hook("isotropy", "beartype.beartype")
    paused = property(lambda config: torch.compiler.is_compiling())
    type(jaxtyping.config).jaxtyping_disable = paused  # type: ignore[assignment]


if os.environ.get("ISOTROPY_TYPECHECK", "1") != "0":
    check_annotations()

# Assertions in shared helpers (from tests.contracts import ...) show their values as well.
TESTS = Path(__file__).parent
HELPERS = [path for path in TESTS.rglob("*.py") if not path.name.startswith(("test_", "conftest"))]
pytest.register_assert_rewrite(
    *(".".join(path.relative_to(TESTS.parent).with_suffix("").parts) for path in HELPERS)
)

torch.set_num_threads(1)

# A slow machine is no failure, and CI draws the same examples every time.
hypothesis.settings.register_profile("local", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)


def in_ci() -> bool:
    """Whether this is CI, where nothing may be skipped for want of a program."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


hypothesis.settings.load_profile("ci" if in_ci() else "local")


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """Every test draws the same numbers, alone or among others, in whatever order."""
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)


@pytest.fixture
def require_program() -> Callable[[str], str]:
    """A function: the path of an external program; without it, skip, or fail in CI."""
    return find_program


def find_program(name: str) -> str:
    """The path of a program; where it is missing the test is skipped, or fails in CI.

    .ci/run installs what the tests need, so a program missing in CI is a gap in its list.
    """
    path = shutil.which(name)
    if path is not None:
        return path
    if in_ci():
        pytest.fail(f"{name} is not installed; add its Debian package to .ci/run", pytrace=False)
    pytest.skip(f"needs the program {name}, which is not installed")
