"""The pages in a real browser: whole, silent, readable at every width, by mouse and by key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from isotropy.report import discovery_page, search_page
from tests.report import examples
from tests.report.browser import DESKTOP, PHONE, Browser

Page = Callable[[], str]

PAGES: dict[str, Page] = {
    "image": lambda: discovery_page(examples.image_result(), examples.images()),
    "exchange": lambda: discovery_page(examples.exchange_result(), examples.images()),
    "signal": lambda: discovery_page(examples.signal_result(), examples.signals()),
    "regression": lambda: discovery_page(examples.regression_result()),
    "nothing": lambda: discovery_page(examples.nothing_result()),
    "hostile": lambda: discovery_page(examples.hostile_result(), examples.images()),
    "many": lambda: discovery_page(examples.many_result()),
    "empty": lambda: discovery_page({}),
    "evolve": lambda: search_page(examples.evolve_result()),
    "mix": lambda: search_page(examples.mix_result()),
    "hostile search": lambda: search_page(examples.hostile_search_result()),
}


@cache
def page(name: str) -> str:
    """A page, made once."""
    return PAGES[name]()


# Texts of visible charts that cover each other, leave their chart, or are too small to read.
CROWDED = """
const found = [];
for (const chart of document.querySelectorAll('.chart')) {
  const frame = chart.getBoundingClientRect();
  if (!frame.width) continue;
  const texts = [...chart.querySelectorAll('text')].filter((text) => text.textContent);
  const boxes = texts.map((text) => text.getBoundingClientRect());
  boxes.forEach((a, i) => {
    const says = texts[i].textContent;
    if (a.left < frame.left - 1 || a.right > frame.right + 1) found.push(`${says} leaves`);
    if (a.height < 10) found.push(`${says} is small`);
    boxes.slice(i + 1).forEach((b, j) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 3) found.push(`${says} covers ${texts[i + 1 + j].textContent}`);
    });
  });
}
return found;
"""

# Every text with the ratio of its luminance to that of what lies behind it, as WCAG counts.
FAINT = """
function light(colour) {
  const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function behind(node) {
  for (let at = node; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (!/, 0\\)$|^transparent/.test(colour)) return colour;
  }
  return 'rgb(255, 255, 255)';
}
function ground(node) {  // of a text in a bar, the bar
  const bar = node.matches('.inside') && node.parentElement.querySelector('rect');
  return bar ? getComputedStyle(bar).fill : behind(node);
}
const found = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const node = walk.currentNode.parentElement;
  if (!walk.currentNode.textContent.trim() || !node.getClientRects().length) continue;
  const style = getComputedStyle(node);
  const ink = node.closest('svg') ? style.fill : style.color;
  const [a, b] = [light(ink), light(ground(node))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) found.push(`${walk.currentNode.textContent.trim()}: ${ratio.toFixed(1)}`);
}
return found;
"""

SIDEWAYS = "const d = document.documentElement; return d.scrollWidth - d.clientWidth"
CARDS = ".card .badge:first-child"


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_silent_and_fits(browser: Browser, name: str, width: int) -> None:
    browser.show(page(name), width)
    assert browser.messages() == []
    assert browser.requests() == []
    assert browser.run(SIDEWAYS) <= 0
    assert browser.run(CROWDED) == []
    with pytest.raises(NoAlertPresentException):
        _ = browser.driver.switch_to.alert


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["image", "many", "evolve", "mix"])
def test_all_texts_can_be_read(browser: Browser, name: str, dark: bool) -> None:
    browser.show(page(name), dark=dark)
    assert browser.run(FAINT) == []


def test_the_measures_see_what_is_wrong(browser: Browser) -> None:
    browser.show(
        "<!doctype html><body style='background: #fff'><p style='color: #ccc; width: 3000px'>faint"
        "</p><svg class=chart width=80 height=30><text x=5 y=20>one</text><text x=9 y=20>two</text>"
        "<text x=70 y=20>outside</text><text x=2 y=30 font-size=6>tiny</text></svg>"
        "<script>console.error('x')</script>"
        "<img src='http://127.0.0.1:9/x.png'>"
    )
    assert browser.run(SIDEWAYS) > 0
    assert browser.run(CROWDED) == ["one covers two", "outside leaves", "tiny is small"]
    assert browser.run(FAINT) == ["faint: 1.6"]
    assert len(browser.messages()) == 2
    assert browser.requests() == ["http://127.0.0.1:9/x.png"]


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_every_verdict_is_visible(browser: Browser, width: int) -> None:
    result = examples.many_result()
    browser.show(discovery_page(result), width)
    badges = browser.driver.find_elements(By.CSS_SELECTOR, CARDS)
    assert len(badges) == len(result["candidates"])
    assert all(badge.is_displayed() for badge in badges)
    words = {"Build in", "Build in, labels exchanged", "Harmless", "Hurts", "Cannot tell"}
    assert {badge.text[2:] for badge in badges} == words


def test_names_that_are_markup_are_shown_as_text(browser: Browser) -> None:
    browser.show(page("hostile"))
    text = browser.run("return document.body.innerText")
    assert examples.SCRIPT in text
    assert f"onerror=alert(2)>{examples.SCRIPT}&amp;" in text
    assert browser.run("return document.scripts.length") == 1
    assert browser.run("return document.querySelectorAll('img[src=x]').length") == 0


@pytest.mark.parametrize(("name", "width"), [("image", DESKTOP), ("evolve", PHONE), ("mix", PHONE)])
def test_pointing_at_a_mark_shows_its_value(browser: Browser, name: str, width: int) -> None:
    browser.show(page(name), width)
    marks = browser.driver.find_elements(By.CSS_SELECTOR, ".chart .mark")
    shown = [mark for mark in marks if mark.is_displayed()]
    assert browser.tip() == ""
    for mark in (shown[0], shown[-1]):
        ActionChains(browser.driver).scroll_to_element(mark).move_to_element(mark).perform()
        assert browser.tip() != ""
        assert inside(browser)
    ActionChains(browser.driver).move_to_element(
        browser.driver.find_element(By.CSS_SELECTOR, "#terms h2")
    ).perform()
    assert browser.tip() == ""


def inside(browser: Browser) -> bool:
    """Whether the words beside a mark are within the page's width."""
    return bool(
        browser.run(
            "const box = document.getElementById('tip').getBoundingClientRect();"
            "return box.left >= 0 && box.right <= document.documentElement.clientWidth"
        )
    )


def test_keys_reach_every_mark_and_show_its_value(browser: Browser) -> None:
    browser.show(page("image"))
    browser.run("document.querySelector('#gains').setAttribute('tabindex', -1)")
    browser.run("document.querySelector('#gains').focus()")
    first = browser.press(Keys.TAB)
    assert first.startswith("C1, over no symmetry")
    assert browser.tip() == first
    second = browser.press(Keys.ARROW_RIGHT)
    assert browser.tip() == second != first
    assert browser.press(Keys.ARROW_LEFT) == first
    last = browser.press(Keys.END)
    assert "D4" in last
    assert browser.press(Keys.ARROW_DOWN) == last  # there is none beyond
    browser.press(Keys.ESCAPE)
    assert browser.tip() == ""
    browser.press(Keys.TAB)
    assert browser.run("return document.activeElement.tagName") == "SUMMARY"


def test_what_has_the_focus_can_be_seen(browser: Browser) -> None:
    browser.show(page("image"))
    seen: set[str] = set()
    while "body" not in seen:
        browser.press(Keys.TAB)
        kind, outline, stroke = browser.run(
            "const e = document.activeElement; const s = getComputedStyle(e);"
            "const r = e.querySelector(':scope > .reach');"
            "return [e.tagName, s.outlineStyle, r ? getComputedStyle(r).stroke : 'none']"
        )
        seen.add(kind.lower())
        assert kind == "BODY" or outline != "none" or stroke != "none", kind
    assert seen == {"a", "div", "g", "summary", "button", "pre", "body"}


def test_code_is_copied(browser: Browser) -> None:
    browser.show(page("image"))
    button = browser.driver.find_element(By.CSS_SELECTOR, ".copy")
    button.click()
    assert (
        browser.run(
            "return new Promise((done) => setTimeout(() => "
            "done(document.querySelector('.copy').textContent), 100))"
        )
        == "Copied"
    )
    assert browser.run("return document.getElementById('said').textContent") != ""
    browser.run(
        "const area = document.createElement('textarea');document.body.append(area); area.focus();"
    )
    browser.press(Keys.CONTROL + "v")
    pasted = browser.run("return document.querySelector('textarea').value")
    assert pasted == examples.image_result()["model"]["usage"]["python"]


@contextmanager
def without_scripts(browser: Browser) -> Iterator[None]:
    """The same browser with scripts turned off."""
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        yield
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_without_scripts_the_page_is_whole(browser: Browser) -> None:
    with without_scripts(browser):
        browser.show(page("image"))
        badges = browser.driver.find_elements(By.CSS_SELECTOR, CARDS)
        assert badges
        assert all(badge.is_displayed() for badge in badges)
        buttons = browser.driver.find_elements(By.CSS_SELECTOR, ".copy")
        assert not any(button.is_displayed() for button in buttons)
        assert browser.driver.find_elements(By.CSS_SELECTOR, ".mark > title")


def test_in_print_all_is_black_on_white_and_nothing_is_cut(browser: Browser) -> None:
    browser.show(page("image"), width=700, dark=True, print_=True)
    assert (
        browser.run("return getComputedStyle(document.body).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    assert not browser.driver.find_element(By.CSS_SELECTOR, ".contents").is_displayed()
    assert browser.driver.find_element(By.CSS_SELECTOR, "#gains .wide").is_displayed()
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run("return [...document.querySelectorAll('details')].every((d) => d.open)")
    assert browser.run(SIDEWAYS) <= 0
