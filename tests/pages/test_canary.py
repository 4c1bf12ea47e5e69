"""A page broken on purpose turns exactly that check red."""

import pytest
from pages import checks

BREAKS = {
    "asks for nothing outside": '<script src="https://example.invalid/x.js"></script>',
    "everything it asks for is there": '<script src="_static/nowhere.js"></script>',
    "no error in the console": "<script>console.error('out of tune')</script>",
    "math is typeset": r'<div class="math notranslate">\[x\]</div>',
    "pictures are drawn": (
        '<figure><img src="data:image/png;base64,AAAA" alt="Nothing.">'
        '<figcaption><span class="caption-number">Figure 1</span> Why?</figcaption></figure>'
    ),
    "figures have a number, a caption and a text alternative": (
        '<figure><img src="_static/favicon.svg" width="9" height="9" alt="A sign."></figure>'
    ),
    "links lead somewhere": '<p><a href="glossary.html#nowhere">a term</a></p>',
    "fits a telephone": '<div style="width: 500px">wide</div>',
    "code fits a laptop": (
        '<div class="cell_input"><pre tabindex="0" style="overflow-x: auto">'
        f"{'much too long ' * 9}</pre></div>"
    ),
    "legible in light": (
        "<style>html[data-theme=light] .faint { color: #ddd }</style><p class=faint>faint</p>"
    ),
    "legible in dark": (
        "<style>html[data-theme=dark] .faint { color: #333 }</style><p class=faint>faint</p>"
    ),
    "axe-core finds nothing": "<button></button>",
}


def broken(site, folder, defect):
    """Return a copy of a page with the defect at the end of its article."""
    for path in site.iterdir():
        if path.name != "glossary.html":
            (folder / path.name).symlink_to(path)
    page = folder / "glossary.html"
    text = (site / "glossary.html").read_text(encoding="utf-8")
    assert "</article>" in text
    page.write_text(text.replace("</article>", f"{defect}</article>"), encoding="utf-8")
    return page


def test_every_check_has_its_canary():
    assert sorted(BREAKS) == sorted(checks.CHECKS)


@pytest.mark.parametrize("check", BREAKS)
def test_exactly_this_check_turns_red(check, site, browser, tmp_path):
    found = checks.visit(browser, broken(site, tmp_path, BREAKS[check]))
    assert [name for name, complaints in found.items() if complaints] == [check]


def test_a_clean_copy_is_clean(site, browser, tmp_path):
    assert not any(checks.visit(browser, broken(site, tmp_path, "")).values())
