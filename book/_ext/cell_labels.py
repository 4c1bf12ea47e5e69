"""Give every code cell a label: cell `chat` of wire.ipynb is {ref}`text <wire:chat>`.

The anchor on the page is `#cell-chat`. Ids are read from the notebook file, because the
parser does not keep them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def cell_ids(path: Path) -> list[str | None]:
    """Return the id of each cell of a notebook, in order; None where a cell has none."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [cell.get("id") for cell in notebook["cells"]]


def label_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Put an anchor before each code cell and tell the cross-reference domain about it."""
    docname = app.env.docname
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".ipynb":
        return
    ids = cell_ids(path)
    standard: Any = app.env.get_domain("std")
    for cell in list(doctree.findall(nodes.container)):
        if cell.get("nb_element") != "cell_code":
            continue
        cell_id = ids[cell["cell_index"]]
        if cell_id is None:
            message = "cell %s has no id, so nothing can link to it; save it as nbformat 4.5"
            logger.warning(message, cell["cell_index"] + 1, location=docname, type="cells")
            continue
        anchor, label = f"cell-{cell_id}", f"{Path(docname).name}:{cell_id}"
        if anchor in doctree.ids:
            logger.warning("the anchor %s is taken", anchor, location=docname, type="cells")
            continue
        target = nodes.target("", "", ids=[anchor])
        cell.parent.insert(cell.parent.index(cell), target)
        doctree.ids[anchor] = target
        standard.anonlabels[label] = docname, anchor
        standard.labels[label] = docname, anchor, f"cell {cell_id}"


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("doctree-read", label_cells)
    return {"version": "1", "parallel_read_safe": True}
