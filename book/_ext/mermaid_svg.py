"""Draw ```{mermaid} fences while the book is built: SVG files, no script on the page.

Each diagram is drawn twice, for light and for dark pages. A syntax error is a warning, and
warnings fail the build; so are a picture too wide to be read, and a missing caption or text
alternative.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import set_source_info

logger = logging.getLogger(__name__)

# The text is measured with DejaVu Sans. Verdana is as wide; what follows is narrower, so that
# no label outgrows its box on a reader's machine.
FONT = '"DejaVu Sans", Verdana, "Segoe UI", Helvetica, Arial, sans-serif'
LIGHT = {
    "background": "#ffffff",
    "primaryColor": "#eef4f8",
    "primaryBorderColor": "#2f6f8f",
    "primaryTextColor": "#1c2b33",
    "secondaryColor": "#fdf3e3",
    "tertiaryColor": "#f5f6f7",
    "lineColor": "#47606e",
    "textColor": "#1c2b33",
    "noteBkgColor": "#fdf3e3",
    "noteBorderColor": "#b7791f",
    "noteTextColor": "#1c2b33",
    "edgeLabelBackground": "#ffffff",
}
DARK = {
    "darkMode": True,
    "background": "#14181c",
    "primaryColor": "#1e2f3a",
    "primaryBorderColor": "#6fb3d2",
    "primaryTextColor": "#e6edf1",
    "secondaryColor": "#3a2f1a",
    "tertiaryColor": "#22282d",
    "lineColor": "#a9bcc7",
    "textColor": "#e6edf1",
    "noteBkgColor": "#3a2f1a",
    "noteBorderColor": "#d9a441",
    "noteTextColor": "#f2e8d5",
    "edgeLabelBackground": "#14181c",
}
SCHEMES = {"light": LIGHT, "dark": DARK}
WIDEST = 1000  # pixels; the page has about 700, and the letters shrink with the picture


class diagram(nodes.General, nodes.Element):
    """One picture in both colour schemes."""


def draw(source: str, scheme: str, cache: Path) -> str:
    """Return the SVG of a Mermaid source; raises RuntimeError when it does not parse."""
    config = {
        "theme": "base",
        "themeVariables": {**SCHEMES[scheme], "fontFamily": FONT, "fontSize": "15px"},
        "fontFamily": FONT,
        "securityLevel": "strict",
    }
    key = json.dumps([version("mermaidx"), source, config])
    file = cache / f"{hashlib.sha256(key.encode()).hexdigest()[:20]}.svg"
    if not file.exists():
        import mermaidx  # slow to load: only when something has to be drawn

        svg = mermaidx.render(source, theme="base", config=config).svg()
        cache.mkdir(parents=True, exist_ok=True)
        file.write_text(svg, encoding="utf-8")
    return file.read_text(encoding="utf-8")


def width_height(svg: str) -> tuple[int, int]:
    """Return the size of a picture in pixels, as its view box states it."""
    box = re.search(r'viewBox="\S+ \S+ (\S+) (\S+)"', svg)
    width, height = (round(float(size)) for size in box.groups()) if box else (0, 0)
    return width, height


class MermaidDirective(SphinxDirective):
    """A fence whose body is Mermaid source."""

    has_content = True
    option_spec: ClassVar = {
        "name": directives.unchanged,
        "caption": directives.unchanged,
        "alt": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Return a numbered figure that holds the picture."""
        for option in ("name", "caption", "alt"):
            if not self.options.get(option):
                message = "a mermaid diagram needs :%s:"
                logger.warning(message, option, location=self.get_location(), type="mermaid")
        source = "\n".join(self.content)
        cache = Path(self.env.app.doctreedir).parent / ".mermaid"
        try:
            svgs = {scheme: draw(source, scheme, cache) for scheme in SCHEMES}
        except Exception as error:  # whatever the engine throws, the author gets the place
            text = str(error).replace("\n", " | ")
            logger.warning(
                "the diagram cannot be drawn: %s",
                text,
                location=self.get_location(),
                type="mermaid",
            )
            return [nodes.literal_block(source, source)]
        if width_height(svgs["light"])[0] > WIDEST:
            logger.warning(
                "the diagram is too wide to be read: draw it from top to bottom (TB)",
                location=self.get_location(),
                type="mermaid",
            )
        figure = nodes.figure("", diagram(svgs=svgs, alt=self.options.get("alt", "")))
        figure["classes"].append("mermaid")
        set_source_info(self, figure)
        if caption := self.options.get("caption"):
            inline, messages = self.parse_inline(caption)
            figure += nodes.caption(caption, "", *inline)
            figure += messages
        self.add_name(figure)
        return [figure]


def visit_html(self: Any, node: diagram) -> None:
    """Write both files and show the one that fits the page."""
    self.body.append('<div class="diagram">')
    for scheme, svg in node["svgs"].items():
        name = f"mermaid-{hashlib.sha256(svg.encode()).hexdigest()[:16]}.svg"
        target = Path(self.builder.outdir, "_images", name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(svg, encoding="utf-8")
        width, height = width_height(svg)
        self.body.append(
            f'<img class="only-{scheme}" src="{self.builder.imgpath}/{name}" '
            f'alt="{html.escape(node["alt"])}" width="{width}" height="{height}" '
            f'style="--natural: {width}px">'
        )
    self.body.append("</div>\n")
    raise nodes.SkipNode


def visit_text(self: Any, node: diagram) -> None:
    """Other builders get the text alternative."""
    self.body.append(node["alt"])
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.add_node(diagram, html=(visit_html, None), text=(visit_text, None))
    app.add_directive("mermaid", MermaidDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
