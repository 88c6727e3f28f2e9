"""One self-contained HTML page per run: pure functions of what the run found."""

from isotropy.report.discovery import discovery_page
from isotropy.report.page import write
from isotropy.report.pages import page_of
from isotropy.report.samples import read_images
from isotropy.report.search import search_page

__all__ = ["discovery_page", "page_of", "read_images", "search_page", "write"]
