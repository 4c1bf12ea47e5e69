"""Math without the network: MathJax is copied into the book as one file, from a package."""

from __future__ import annotations

from importlib.metadata import files
from pathlib import Path
from shutil import copyfile
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

PACKAGE, SCRIPT = "sphinx-mathjax-offline", "tex-svg.js"
TARGET = f"mathjax/{SCRIPT}"


def script() -> Path:
    """Return MathJax as the installed package carries it."""
    for file in files(PACKAGE) or []:
        if file.name == SCRIPT:
            return Path(str(file.locate()))
    raise ExtensionError(f"{PACKAGE} carries no {SCRIPT}; run: make book")


def configure(app: Sphinx, _: Any) -> None:
    """Name the local file instead of the address on a content delivery network."""
    app.config.mathjax_path = TARGET
    # What MathJax would fetch when a reader picks it in the menu is switched off with the menu.
    app.config.mathjax3_config = {
        "options": {"enableMenu": False},
    }


def copy(app: Sphinx, error: Exception | None) -> None:
    """Put the script where the pages expect it."""
    if error is None and app.builder.format == "html":
        target = Path(app.outdir, "_static", TARGET)
        target.parent.mkdir(parents=True, exist_ok=True)
        copyfile(script(), target)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("config-inited", configure)
    app.connect("build-finished", copy)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
