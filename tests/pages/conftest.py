"""One Chromium for all page tests, and the book that `make book` built."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SITE = Path(__file__).resolve().parents[2] / "book/_build/html"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for `page_path` on every page of the built book.

    All tests of a page share one visit, so one of pytest's processes has to run them all.
    """
    if "page_path" in metafunc.fixturenames:
        # index.html only leads on: it has a test of its own.
        pages = [page for page in sorted(SITE.glob("*.html")) if page.stem != "index"]
        metafunc.parametrize(
            "page_path",
            [
                pytest.param(page, id=page.stem, marks=pytest.mark.xdist_group(page.stem))
                for page in pages
            ],
        )


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").exists():
        pytest.fail("There is no built book to look at: run make book.")
    return SITE


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from pages.checks import launched

    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def findings(browser: Browser):
    """Return a function that visits a page once and remembers what was found."""
    from pages.checks import visit

    return cache(lambda path: visit(browser, path))
