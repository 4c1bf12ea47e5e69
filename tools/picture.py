"""Take the README's picture of a page: `make picture` (needs Chromium and a built book)."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tools import notebooks

PAGE, PICTURE = "book/_build/html/wire.html", "book/_static/page.png"
WIDTH, HEIGHT = 1280, 860
LIMIT = 300_000  # bytes


def take(root: Path) -> Path:
    """Photograph the first screen of a chapter as a reader sees it, in light colours."""
    from playwright.sync_api import sync_playwright  # an extra: only this command needs it

    path = shutil.which("chromium")
    if path is None:
        sys.exit("Chromium takes the picture. On Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT},
            color_scheme="light",
            reduced_motion="reduce",
        )
        page.goto((root / PAGE).as_uri())
        page.evaluate("document.fonts.ready")
        page.screenshot(path=root / PICTURE)
        browser.close()
    return root / PICTURE


def main() -> None:
    """Take the picture, and refuse one that is too heavy for a README."""
    picture = take(notebooks.ROOT)
    size = picture.stat().st_size
    print(f"{picture}: {size} bytes")
    if size > LIMIT:
        sys.exit(f"The picture is larger than {LIMIT} bytes.")


if __name__ == "__main__":
    main()
