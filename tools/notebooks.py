"""Read and write the book's notebooks, always as the same bytes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import yaml

ROOT = Path(__file__).resolve().parent.parent
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}
Notebook = Any  # nbformat has no type for its nodes


def chapters(root: Path = ROOT) -> list[Path]:
    """Return the notebooks of the book in the order of the table of contents."""
    toc = yaml.safe_load((root / "book/_toc.yml").read_text(encoding="utf-8"))
    files = [toc["root"]]
    for part in toc.get("parts", []):
        files += [entry["file"] for entry in part["chapters"]]
    paths = [root / "book" / f"{name}.ipynb" for name in files]
    return [path for path in paths if path.exists()]


def read(path: Path) -> Notebook:
    """Read one notebook in its newest format."""
    return nbformat.read(path, as_version=4)


def write(path: Path, notebook: Notebook) -> bool:
    """Write a notebook in canonical form, whole or not at all; True when the bytes changed."""
    return write_text(path, canonical(notebook))


def canonical(notebook: Notebook) -> str:
    """Return the notebook's one text: no timing, no version of the kernel, fixed key order."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat_minor = 5
    for cell in notebook.cells:
        for key in ("execution", "collapsed", "scrolled", "ExecuteTime"):
            cell.metadata.pop(key, None)
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook, version=4)
    return text.rstrip("\n") + "\n"


def write_text(path: Path, text: str) -> bool:
    """Write a file whole or not at all; True when its bytes changed."""
    if path.exists() and path.read_bytes() == text.encode():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    os.chmod(name, mode)
    os.replace(name, path)
    return True
