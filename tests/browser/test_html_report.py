"""The HTML report in a real browser: it fits, it is readable in the dark, nothing in it acts."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.document import build_document, read_document
from bench.report import render_reports
from tests.browser.headless import Browser, find_chromium
from tests.hostile import hostile_document
from tests.sample_documents import killed_ledger, smoke_ledger

pytestmark = pytest.mark.browser

VERSION_2 = Path(__file__).parents[1] / "golden" / "version2.json"
PAGES = {
    "smoke": lambda: build_document(smoke_ledger()),
    "killed": lambda: build_document(killed_ledger()),
    "version2": lambda: read_document(VERSION_2.read_bytes()),
    "hostile": hostile_document,
}
WIDTHS = (390, 1280)
CONTRAST = """
(() => {
  const channel = v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 };
  const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number);
    return .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b) };
  const behind = e => { for (; e; e = e.parentElement) {
    const c = getComputedStyle(e).backgroundColor;
    if (!/, 0\\)$|transparent/.test(c)) return c; } return 'rgb(255, 255, 255)' };
  let worst = 99;
  for (const e of document.querySelectorAll('body *')) {
    if (!e.checkVisibility() || e.closest('svg')) continue;
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const a = light(getComputedStyle(e).color), b = light(behind(e));
    worst = Math.min(worst, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
  }
  return worst;
})()
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    path = find_chromium()
    if path is None:
        reason = "no Chromium here: `apt-get install chromium` (or any Chrome) runs these tests"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with Browser(path, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for name, document in PAGES.items():
        (folder / f"{name}.html").write_text(render_reports(document())[".html"], encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_its_window(browser, pages, name, width):
    browser.open(pages / f"{name}.html", width=width, dark=False)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["smoke", "killed"])
def test_completeness_and_trust_are_on_the_first_screen(browser, pages, name, width):
    browser.open(pages / f"{name}.html", width=width, dark=False)
    top, bottom, text = browser.evaluate(
        "(s => [s.getBoundingClientRect().top, s.getBoundingClientRect().bottom, s.innerText])"
        "(document.querySelector('.status'))"
    )
    assert top < 50
    assert bottom < 900
    assert ("SIMULATED" if name == "smoke" else "INCOMPLETE") in text


def test_who_leads_is_on_the_first_screen_of_a_desk(browser, pages):
    browser.open(pages / "smoke.html", width=1280, dark=False)
    bottom = browser.evaluate("document.querySelector('.leaders').getBoundingClientRect().bottom")
    assert bottom < 600


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["smoke", "killed", "version2"])
def test_text_stands_out_from_what_is_behind_it(browser, pages, name, dark):
    browser.open(pages / f"{name}.html", width=1280, dark=dark)
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.evaluate(CONTRAST) >= 4.5, "WCAG 2.1, AA"


def test_the_dark_page_is_dark(browser, pages):
    shades = []
    for dark in (False, True):
        browser.open(pages / "smoke.html", width=390, dark=dark)
        colour = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        shades.append(sum(int(part) for part in colour[4:-1].split(",")))
    assert shades[0] > 600
    assert shades[1] < 150


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_for_nothing_but_itself(browser, pages, name):
    path = pages / f"{name}.html"
    browser.open(path, width=1280, dark=False)
    assert [url for url in browser.requested if not url.startswith("data:")] == [path.as_uri()]


def test_hostile_text_stays_text(browser, pages):
    browser.open(pages / "hostile.html", width=1280, dark=False)
    assert browser.evaluate("document.title.includes('Benchmark of')")
    assert (
        browser.evaluate("document.querySelector('#owned, script, img, link, a, iframe')") is None
    )
    assert browser.evaluate("document.querySelectorAll('h1').length") == 1
    assert browser.evaluate("getComputedStyle(document.body).display") == "block"
    assert browser.evaluate("document.body.innerText.includes('<script>')")
    assert browser.evaluate("document.body.innerText.includes('\\\\u202egnp.exe')")


def test_the_style_sheet_is_the_one_that_the_policy_names(browser, pages):
    browser.open(pages / "smoke.html", width=1280, dark=False)
    assert browser.evaluate("document.styleSheets.length") == 1
    assert browser.evaluate("getComputedStyle(document.querySelector('.status')).fontWeight") == (
        "600"
    )


def test_a_page_can_be_pictured(browser, pages, tmp_path):
    browser.open(pages / "smoke.html", width=390, dark=True)
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
