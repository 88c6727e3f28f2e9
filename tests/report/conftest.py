"""One browser for all tests of a process: it takes longer to start than to show a page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.report.browser import Browser, chromium


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium; one for each worker."""
    with chromium(tmp_path_factory.mktemp("browser")) as started:
        yield started
