"""The page of any run that has one, by what its result says it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isotropy.errors import InputError
from isotropy.report import discovery, search


def page_of(result: Mapping[str, Any], images: Mapping[str, Any] | None = None) -> str:
    """The page of a result, as HTML.

    Args:
        result: what a run found; its "format" says of which kind it is.
        images: samples and their moved twins, for the page of a discovery.

    >>> "Which group should each layer have?" in page_of({"format": "isotropy-search-1"})
    True
    """
    found = result.get("format")
    if found == discovery.FORMAT:
        return discovery.discovery_page(result, images)
    if found == search.FORMAT:
        return search.search_page(result)
    raise InputError(
        f"result is of format {found!r}; there are pages of {discovery.FORMAT} and {search.FORMAT}"
    )
