"""Every page of the book, opened from disk, held to every check."""

import pytest
from pages import checks


@pytest.mark.parametrize("check", checks.CHECKS)
def test_page(page_path, findings, check):
    complaints = findings(page_path)[check]
    assert not complaints, "\n".join([f"{page_path.name}: {check}", *complaints])


def test_the_book_was_built(site):
    names = {path.stem for path in site.glob("*.html")}
    assert {"index", "intro", "search", "glossary", "bibliography", "api"} <= names


def test_the_index_leads_to_the_first_page(site, browser):
    with browser.new_context(java_script_enabled=False, offline=True) as context:
        page = context.new_page()
        page.goto((site / "index.html").as_uri())
        page.wait_for_url("**/intro.html")


def test_without_javascript_the_page_can_be_read(page_path, browser):
    """The text, the code and the figures are there; what needs a script is not shown."""
    with browser.new_context(java_script_enabled=False, offline=True) as context:
        page = context.new_page()
        page.goto(page_path.as_uri())
        assert page.locator(":is(article, .bd-search-container) h1").first.is_visible()
        if page_path.stem == "search":
            assert page.locator("noscript .admonition").is_visible()
        assert page.evaluate(checks.HIDDEN_CODE) == []
        assert page.evaluate(checks.DRAWN) == []


@pytest.mark.parametrize(("width", "button"), [(1000, True), (1280, True), (1360, False)])
def test_the_contents_of_a_page_are_beside_it_or_behind_a_button(width, button, site, browser):
    size = {"width": width, "height": 800}
    with browser.new_context(viewport=size, offline=True) as context:
        page = context.new_page()
        page.goto((site / "wire.html").as_uri())
        toggle, entry = (
            page.locator(".bd-header-article .secondary-toggle"),
            page.locator(".bd-sidebar-secondary .toc-entry a"),
        )
        assert (toggle.is_visible(), entry.first.is_visible()) == (button, not button)
        if button:
            toggle.click()
            entry.first.wait_for(state="visible")


def test_every_check_is_made(site, findings):
    assert sorted(findings(site / "glossary.html")) == sorted(checks.CHECKS)


def test_a_missing_chromium_is_named_with_its_package(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CHROMIUM", raising=False)
    with pytest.raises(checks.ChromiumMissing, match="apt-get install chromium"):
        checks.chromium()
