"""A page is one file: nothing is fetched, only its own style and script may act."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from isotropy.errors import InputError
from isotropy.report import discovery_page, page_of, search_page, write
from isotropy.report.page import asset
from tests.report import examples
from tests.report.documents import Document

ADDRESS = re.compile(r"""(?:https?:)?//[\w.-]+\.\w+|url\(|@import""")
PAGES = {
    "discovery": discovery_page(examples.image_result(), examples.images()),
    "search": search_page(examples.evolve_result()),
    "hostile": discovery_page(examples.hostile_result(), examples.images()),
    "hostile search": search_page(examples.hostile_search_result()),
    "empty": discovery_page({}),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_a_tree_that_points_to_itself_only(name: str) -> None:
    page = Document(PAGES[name])
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert all(address.startswith("data:") for address in page.addresses)
    assert page.handlers == []
    assert page.tags.count("h1") == page.tags.count("script") == page.tags.count("style") == 1


@pytest.mark.parametrize("name", PAGES)
def test_only_what_has_the_right_hash_acts(name: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', PAGES[name])
    assert policy is not None
    assert policy[1].startswith("default-src &#39;none&#39;") or "default-src 'none'" in policy[1]
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", PAGES[name], re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"sha256-{digest}" in policy[1].replace("&#43;", "+")


@pytest.mark.parametrize("name", ["page.css", "page.js", "base.html", "parts.html"])
def test_no_template_names_an_outside_address(name: str) -> None:
    assert not ADDRESS.search(asset(name))


def test_every_class_of_a_chart_has_a_style() -> None:
    drawn = {
        one
        for page in PAGES.values()
        for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL)
        for classes in re.findall(r'class="([^"]*)"', svg)
        for one in classes.split()
    }
    style = asset("page.css")
    kinds = {"intervals", "lineage", "shares", "areas", "name", "value", "link", "mark"}
    assert "series-0" in drawn
    assert {one for one in drawn - kinds if f".{one}" not in style} == set()


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    where = tmp_path / "report.html"
    write(where, "one")
    write(where, "two ✓")
    assert where.read_text(encoding="utf-8") == "two ✓"
    assert list(tmp_path.iterdir()) == [where]
    with pytest.raises(InputError, match=r"cannot write .*missing"):
        write(tmp_path / "missing" / "report.html", "x")


def test_the_same_result_makes_the_same_page() -> None:
    assert search_page(examples.evolve_result()) == PAGES["search"]


def test_a_result_is_shown_by_the_page_of_its_format() -> None:
    assert page_of(examples.evolve_result()) == PAGES["search"]
    assert page_of(examples.image_result(), examples.images()) == PAGES["discovery"]
    with pytest.raises(InputError, match="result is of format 'isotropy-search-2'"):
        page_of({"format": "isotropy-search-2"})


def test_a_page_refuses_what_it_does_not_show() -> None:
    with pytest.raises(InputError, match="isotropy-search-1', this page shows isotropy-discovery"):
        discovery_page(examples.evolve_result())
    with pytest.raises(InputError, match="isotropy-discovery-1', this page shows isotropy-search"):
        search_page(examples.image_result())
