"""Run each chapter that saves on the package alone: `python -m tools.standalone [NOTEBOOK …]`.

The cells that a chapter saves are replaced by imports of the same names from the wheel, built
and unpacked for the occasion; everything else must come out as it stands in the book.
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from nbclient.exceptions import CellExecutionError

from tools import notebooks
from tools.outputs import differences
from tools.report import Finding, arguments, finish
from tools.run import execute, two_at_a_time
from tools.saving.cells import MARK

REMEDY = (
    "the saved module must do what the chapter's cells do: make save, then look at the cell"
)


def imports_instead(source: str, module: str) -> str:
    """Return a saved cell as imports: its own, then the names it defines from the module."""
    tree = ast.parse(source)
    kept = [ast.unparse(n) for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    names = [name for node in tree.body for name in defined(node)]
    if not names:
        return source
    return "\n".join([*kept, f"from apisurface.{module} import {', '.join(names)}"])


def defined(node: ast.stmt) -> list[str]:
    """Return the names that a top-level statement defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = {ast.Assign: "targets", ast.AnnAssign: "target"}.get(type(node))
    if targets is None:
        return []
    found = getattr(node, targets)
    places = found if isinstance(found, list) else [found]
    return [n.id for place in places for n in ast.walk(place) if isinstance(n, ast.Name)]


def check_notebook(path: Path, package: Path) -> list[Finding]:
    """Run one chapter with its saved cells replaced and compare all outputs."""
    where = f"book/{path.name}"
    old, new = notebooks.read(path), notebooks.read(path)
    saved = [c for c in new.cells if c.cell_type == "code" and c.source.startswith(MARK)]
    for cell in saved:
        cell.source = imports_instead(cell.source, path.stem)
    if not saved:
        return []  # tools.outputs has run just this
    try:
        execute(new, path.parent, package)
    except CellExecutionError as error:
        cell = next(cell for cell in reversed(new.cells) if cell.get("outputs"))
        what = f"on the package alone it raises {error.ename}: {error.evalue}"
        return [Finding(f"{where} [{cell.id}]", what, REMEDY)]
    found = differences(where, old, new, loose=True)
    return [Finding(f.where, f"on the package alone: {f.what}", REMEDY) for f in found]


def unpack_wheel(root: Path, folder: Path) -> Path:
    """Build the project's wheel and return the folder that holds what it installs."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"standalone: the wheel cannot be built\n{run.stdout}{run.stderr}")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def main(argv: list[str] | None = None) -> int:
    """Check the book, or the notebooks, named on the command line."""
    parser = arguments(__doc__)
    parser.add_argument("notebook", nargs="*", type=Path)
    options = parser.parse_args(argv)
    paths = options.notebook or sorted((options.root / "book").glob("*.ipynb"))
    with tempfile.TemporaryDirectory(prefix="package-") as folder:
        package = unpack_wheel(options.root, Path(folder))
        check = functools.partial(check_notebook, package=package)
        found = [finding for part in two_at_a_time(check, paths) for finding in part]
        checked = f"{len(paths)} notebooks say the same on the package alone"
        return finish("standalone", found, checked)


if __name__ == "__main__":
    sys.exit(main())
