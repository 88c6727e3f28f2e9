"""One self-contained HTML page per run: pure functions of what the run found."""

from isotropy.report.discovery import discovery_page
from isotropy.report.page import write
from isotropy.report.search import search_page

__all__ = ["discovery_page", "search_page", "write"]
