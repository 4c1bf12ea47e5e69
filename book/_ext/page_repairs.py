"""Repair what the theme gets wrong for keyboards, screen readers and pages opened from disk."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    # Jupyter Book always sets it, for a comments extension that would fetch scripts.
    app.add_config_value("comments_config", {}, "html")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
