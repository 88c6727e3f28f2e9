"""A page as a tree, strict: every tag that is opened is closed, in order."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = ("meta", "link", "img", "br")


class Document(HTMLParser):
    """What the tests ask of a page.

    Args:
        html: the page.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.headings: list[str] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            self.handlers += [name] if name.startswith("on") or name == "style" else []
            self.ids += [value or ""] if name == "id" else []
            if name in ("href", "src", "action", "data", "srcset", "xlink:href"):
                (self.links if tag == "a" else self.addresses).append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings.append(data)
        if not {"style", "script"} & set(self.open):
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All that is written, blanks made one."""
        return " ".join(" ".join(self.texts).split())
