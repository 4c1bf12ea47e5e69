"""The book's own search finds things, served over HTTP and opened from disk."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

TERM = "boundary"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Print nothing."""


@pytest.fixture(scope="module")
def served(site):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(params=["http", "disk"])
def address(request, served, site):
    return served if request.param == "http" else site.as_uri()


@pytest.fixture
def page(browser, address):
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.errors = []
        page.on("console", lambda line: line.type != "error" or page.errors.append(line.text))
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("request", lambda r: r.url.startswith(address) or page.errors.append(r.url))
        yield page
        assert page.errors == []


def test_a_term_is_found(page, address):
    page.goto(f"{address}/search.html?q={TERM}")
    hits = page.locator("#search-results .search > li")
    hits.first.wait_for()
    page.get_by_text("Search finished").first.wait_for()
    assert "glossary.html" in " ".join(
        hits.nth(i).locator("a").first.get_attribute("href") for i in range(hits.count())
    )
    if address.startswith("http"):
        assert TERM in page.locator("#search-results .context").first.inner_text().lower()


def test_the_search_box_of_a_page_leads_there(page, address):
    page.goto(f"{address}/glossary.html")
    page.locator(".search-button__button").first.click()
    page.locator("input[name=q]:visible").fill(TERM)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=boundary*")
    page.locator("#search-results .search > li").first.wait_for()


def test_what_is_nowhere_is_not_found(page, address):
    page.goto(f"{address}/search.html?q=xylophonist")
    page.get_by_text("did not match any documents").first.wait_for()
