"""Repair what the theme gets wrong for screen readers, for phones and for pages read from disk.

Everything here answers a finding of tests/pages on the finished pages.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

REPAIRS = [
    # The theme and Sphinx declare the viewport three times.
    (re.compile(r'(?:\s*<meta name="viewport"[^>]*>)+'), ""),
    (re.compile(r"<head>"), '<head>\n    <meta name="viewport" content="width=device-width">'),
    # Without a script the page is light; the theme's `auto` would leave it without colours.
    (re.compile(r' data-theme="auto"'), ' data-theme="light"'),
    # Icons come from the theme's font; this script would draw them a second time (1.5 MB).
    (re.compile(r'\s*<script defer src="_static/scripts/fontawesome\.js[^>]*></script>'), ""),
    # It would hide from a screen reader what the button says.
    (re.compile(r' aria-label="Toggle hidden content"'), ""),
    # The empty corner of a table heads nothing.
    (re.compile(r'<th class="(head[^"]*)"><p></p></th>'), r'<td class="\1"></td>'),
    # Roles that WAI-ARIA has withdrawn, and a list whose children are not items.
    (re.compile(r' role="doc-biblioentry"'), ""),
    (re.compile(r'<div role="list" class="citation-list">'), '<div class="citation-list">'),
]
# Maps for the theme's developers, and formats that no browser of today asks for.
UNUSED = ("*.map", "*.ttf", "scripts/fontawesome.js*")


def repair(app: Sphinx, error: Exception | None) -> None:
    """Rewrite the finished pages; done twice, it changes nothing."""
    if error is not None or app.builder.name != "html":
        return
    for path in Path(app.outdir).glob("*.html"):
        text = repaired = path.read_text(encoding="utf-8")
        for pattern, replacement in REPAIRS:
            repaired = pattern.sub(replacement, repaired)
        if repaired != text:
            path.write_text(repaired, encoding="utf-8")
    for pattern in UNUSED:
        for path in Path(app.outdir, "_static").rglob(pattern):
            path.unlink()


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    # Jupyter Book always sets it, for a comments extension that would fetch scripts.
    app.add_config_value("comments_config", {}, "html")
    app.connect("build-finished", repair)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
