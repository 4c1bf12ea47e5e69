"""Execute notebooks in place: `python -m tools.run book/wire.ipynb …`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from nbclient import NotebookClient

from tools import notebooks


def execute(notebook: notebooks.Notebook, folder: Path) -> notebooks.Notebook:
    """Run every cell in a fresh kernel that starts in `folder`."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    os.environ.setdefault("PYTHONHASHSEED", "0")
    NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    return notebook


def main() -> None:
    """Execute the notebooks named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebook", nargs="+", type=Path)
    for path in parser.parse_args().notebook:
        print(f"==> running {path}", flush=True)
        notebooks.write(path, execute(notebooks.read(path), path.parent))


if __name__ == "__main__":
    main()
