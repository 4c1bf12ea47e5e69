"""What every page of the built book is held to, by a real browser that has no network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page, sync_playwright

DESK, LAPTOP = {"width": 1440, "height": 900}, {"width": 1200, "height": 800}
PHONE = {"width": 390, "height": 844}
LOCAL = ("file:", "data:", "blob:")
PATIENCE = 60_000  # ms; a page takes one or two seconds, a busy machine many more


class ChromiumMissing(RuntimeError):
    """No Chromium is installed, so nothing can be said about the pages."""


def chromium() -> str:
    """Return the path of Debian's Chromium, or of the one that $CHROMIUM names."""
    names = ("chromium", "chromium-browser", "google-chrome")
    for path in (os.environ.get("CHROMIUM"), *map(shutil.which, names)):
        if path:
            return path
    raise ChromiumMissing(
        "The pages are tested in Chromium. Install it (Debian: apt-get install chromium), "
        "or set CHROMIUM to the path of one."
    )


@contextmanager
def launched() -> Iterator[Browser]:
    """Start Chromium without a network, and end it."""
    path = chromium()
    with sync_playwright() as playwright:
        # A sandbox needs rights that a container often lacks; all it opens are our own files.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


# --- what runs on the page -----------------------------------------------------------

TYPESET = """async () => {
    if (window.MathJax?.startup) await MathJax.startup.promise;
    await document.fonts.ready;
    const complaints = [];
    for (const math of document.querySelectorAll('.math')) {
        if (!math.querySelector('mjx-container svg')) complaints.push(math.textContent.trim());
    }
    for (const error of document.querySelectorAll('mjx-merror, [data-mjx-error]')) {
        complaints.push(error.dataset.mjxError || error.textContent);
    }
    return complaints;
}"""
DRAWN = """async () => {
    const images = [...document.images].filter(image => image.checkVisibility());
    for (const image of images) { image.loading = 'eager'; await image.decode().catch(() => {}); }
    const empty = images.filter(image => !(image.complete && image.naturalWidth > 0));
    const shown = [...document.querySelectorAll('.diagram')].map(
        box => [...box.children].filter(image => image.checkVisibility()).length);
    return [...empty.map(image => `not drawn: ${image.src}`),
            ...shown.filter(count => count !== 1).map(count => `a diagram is shown ${count} times`)];
}"""
FIGURES = """() => {
    const complaints = [];
    for (const image of document.querySelectorAll('article img')) {
        if (!image.alt.trim()) complaints.push(`no text alternative: ${image.src}`);
        if (!image.closest('figure')) complaints.push(`stands outside of a figure: ${image.src}`);
    }
    for (const figure of document.querySelectorAll('article figure')) {
        const caption = figure.querySelector('figcaption');
        const number = caption?.querySelector('.caption-number')?.textContent.trim() ?? '';
        if (!number) complaints.push(`no number: ${figure.id}`);
        if (!caption || caption.textContent.replace(/[#¶]/g, '').trim().length <= number.length)
            complaints.push(`no caption: ${figure.id}`);
    }
    return complaints;
}"""
OVERFLOW = """() => {
    const complaints = [];
    const width = document.documentElement.clientWidth;
    const scrolled = Math.max(document.documentElement.scrollWidth, document.body.scrollWidth);
    if (scrolled > width) complaints.push(`the page is ${scrolled} px wide, the screen ${width}`);
    for (const element of document.querySelectorAll('main *')) {
        const box = element.getBoundingClientRect();
        if (box.width === 0 || box.right <= width + 1 || !element.checkVisibility()) continue;
        let parent = element;
        while (parent && !/auto|scroll/.test(getComputedStyle(parent).overflowX))
            parent = parent.parentElement;
        if (!parent) complaints.push(`${element.localName}.${element.className} is cut off`);
    }
    return complaints.slice(0, 5);
}"""
WIDE_CODE = """() => {
    const blocks = [...document.querySelectorAll('article .cell_input pre')];
    return blocks.filter(block => block.scrollWidth > block.clientWidth + 1
    ).map(block => block.textContent.slice(0, 80));
}"""
HIDDEN_CODE = """() => {
    const blocks = [...document.querySelectorAll('article .cell_input pre')];
    return blocks.filter(block => !block.closest('details, .sd-tab-content')
        && !(block.checkVisibility() && block.getBoundingClientRect().height)
    ).map(block => block.textContent.slice(0, 80));
}"""
UNFOLD = """() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
    const style = document.createElement('style');
    style.textContent = '.sd-tab-content { display: block !important } '
        + '[data-same-look] { display: none !important } '
        + '* { animation: none !important; transition: none !important }';
    document.head.append(style);
}"""
# Thousands of words share a few looks: one of each is enough. What holds no such one leaves its
# empty shell and comes back later, so that axe-core has a hundred elements to walk, not 5,000.
ONE_OF_EACH_LOOK = """() => {
    const seen = new Set(), kept = new Set();
    const keep = element => {
        for (; element && !kept.has(element); element = element.parentElement) kept.add(element);
    };
    const all = [...document.body.querySelectorAll('*')];
    document.querySelectorAll('style, link, script').forEach(keep);
    for (const element of all) {
        if (![...element.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
        const {color, fontSize, fontWeight} = getComputedStyle(element);
        const look = new Set([color, fontSize, fontWeight]);
        for (let under = element; under; under = under.parentElement) {
            const {backgroundColor, backgroundImage, opacity, filter} = getComputedStyle(under);
            look.add(backgroundColor).add(backgroundImage).add(opacity).add(filter);
        }
        const key = [...look].join();
        if (seen.has(key) || !element.checkVisibility()) continue;
        seen.add(key);
        keep(element);
    }
    window.away = all.filter(element => !kept.has(element) && kept.has(element.parentElement)).map(
        element => {
            const shell = element.cloneNode(false);
            shell.setAttribute('data-same-look', '');
            element.replaceWith(shell);
            return [shell, element];
        });
}"""
ALL_LOOKS = """() => {
    for (const [shell, element] of window.away ?? []) shell.replaceWith(element);
    window.away = [];
}"""
AXE = """async (options) => {
    const found = await axe.run(document, {...options, preload: false, resultTypes: ['violations']});
    return found.violations.flatMap(rule => rule.nodes.slice(0, 3).map(
        node => `${rule.id}: ${node.target} ${node.html.slice(0, 120)} ${node.failureSummary}`));
}"""


@lru_cache
def axe_source() -> str:
    """Return axe-core as its Python package carries it."""
    spec = find_spec("axe_playwright_python")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).with_name("axe.min.js").read_text(encoding="utf-8")


def axe(page: Page, **options: object) -> list[str]:
    """Return what axe-core holds against the page as it stands now."""
    complaints: list[str] = page.evaluate(AXE, options)
    return complaints


CONTRAST = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
REST = {rule: {"enabled": False} for rule in CONTRAST["values"]}


# --- what is read from the files ------------------------------------------------------


@lru_cache
def links_and_places(path: Path) -> tuple[list[str], frozenset[str]]:
    """Return where the links of a page lead, and every id that it has."""
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    links = [str(tag["href"]) for tag in soup.find_all("a", href=True)]
    return links, frozenset(str(tag["id"]) for tag in soup.find_all(id=True))


def dead_links(path: Path) -> list[str]:
    """Return the links that lead nowhere within the book."""
    complaints = []
    for link in links_and_places(path)[0]:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.is_file():
            complaints.append(f"no such file: {link}")
        elif parts.fragment and unquote(parts.fragment) not in links_and_places(target)[1]:
            complaints.append(f"no such place: {link}")
    return complaints


def visit(browser: Browser, path: Path) -> dict[str, list[str]]:
    """Open a page from disk, once, and return each check's complaints."""
    outside: list[str] = []
    failed: list[str] = []
    errors: list[str] = []
    with browser.new_context(viewport=DESK, offline=True, color_scheme="light") as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on(
            "request",
            lambda request: request.url.startswith(LOCAL) or outside.append(request.url),
        )
        page.on(
            "requestfailed",
            lambda request: request.url in outside or failed.append(request.url),
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: line.type != "error" or errors.append(line.text))
        page.goto(path.as_uri())
        found = {"math is typeset": page.evaluate(TYPESET), "pictures are drawn": []}
        found["figures have a number, a caption and a text alternative"] = page.evaluate(
            FIGURES
        )
        page.evaluate(axe_source())
        found["axe-core finds nothing"] = axe(page, rules=REST)

        page.evaluate(UNFOLD)
        page.set_viewport_size(PHONE)
        page.wait_for_timeout(200)  # the page reacts to its new width
        found["fits a telephone"] = page.evaluate(OVERFLOW)
        found["axe-core finds nothing"] += axe(page, rules=REST)

        page.set_viewport_size(LAPTOP)
        page.wait_for_timeout(200)
        found["code fits a laptop"] = page.evaluate(WIDE_CODE)

        page.set_viewport_size(DESK)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
            page.evaluate(ALL_LOOKS)
            found["pictures are drawn"] += page.evaluate(DRAWN)
            page.evaluate(ONE_OF_EACH_LOOK)
            found[f"legible in {scheme}"] = axe(page, runOnly=CONTRAST)
    found["asks for nothing outside"] = outside
    found["everything it asks for is there"] = failed
    # What could not be loaded is the business of the two checks above.
    found["no error in the console"] = [e for e in errors if "Failed to load resource" not in e]
    found["links lead somewhere"] = dead_links(path)
    return found


CHECKS = [
    "asks for nothing outside",
    "everything it asks for is there",
    "no error in the console",
    "math is typeset",
    "pictures are drawn",
    "figures have a number, a caption and a text alternative",
    "links lead somewhere",
    "fits a telephone",
    "code fits a laptop",
    "legible in light",
    "legible in dark",
    "axe-core finds nothing",
]
