"""A real browser without a window, and what it makes of a page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tests.conftest import find_program

DESKTOP, PHONE = 1280, 380
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SILENT = ("https:", "http:", "ws:", "wss:", "ftp:")


class Browser:
    """Chromium, and a folder for the pages that it is shown.

    Args:
        driver: what commands it.
        folder: for pages.
    """

    def __init__(self, driver: webdriver.Chrome, folder: Path) -> None:
        self.driver = driver
        self.folder = folder

    def show(
        self, html: str, width: int = DESKTOP, dark: bool = False, print_: bool = False
    ) -> None:
        """Open a page from a file, as somebody does who was sent it."""
        self._emulate(width, dark, print_)
        page = self.folder / "page.html"
        page.write_text(html, encoding="utf-8")
        self.messages()
        self.requests()
        self.driver.get(page.as_uri())

    def _emulate(self, width: int, dark: bool, print_: bool) -> None:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}  # clicks need a page at rest
        media = {"media": "print" if print_ else "screen", "features": [scheme, still]}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)

    def messages(self) -> list[str]:
        """What the console has said since it was last asked: errors, refusals, warnings."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last question, but for the page's own file."""
        found = []
        for entry in self.driver.get_log("performance"):
            event = json.loads(entry["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                found.append(event["params"]["request"]["url"])
        return [address for address in found if address.startswith(SILENT)]

    def run(self, script: str, *values: Any) -> Any:
        """What a script gives that runs in the page."""
        return self.driver.execute_script(script, *values)

    def press(self, *keys: str) -> str:
        """Press keys, one after another; what the element is called that then has the focus."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)
        return str(self.run("return document.activeElement.getAttribute('aria-label') || ''"))

    def tip(self) -> str:
        """The words shown beside what is pointed at; empty if none are."""
        return str(
            self.run("const t = document.getElementById('tip'); return t.hidden ? '' : t.innerText")
        )


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """A fresh browser that keeps nothing."""
    options = webdriver.ChromeOptions()
    options.binary_location = find_program("chromium")
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, Service(find_program("chromedriver")))
    try:
        yield Browser(driver, folder)
    finally:
        driver.quit()
