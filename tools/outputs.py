"""Run every notebook on the package alone, require the same bytes: `python -m tools.outputs`.

The cells that a chapter saves are replaced by imports of the same names from the wheel, built
and unpacked for the occasion; everything else must come out as it stands in the book. That
includes what nbval does not look at: bitmaps, counts, cells that were never run, metadata, the
form of the file. When a notebook has run, its exercises are asked for their verdicts on the
solution, the stub and each mistake.
"""

from __future__ import annotations

import ast
import difflib
import functools
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from nbclient.exceptions import CellExecutionError

from tools import exercises, notebooks
from tools.report import Finding, arguments, finish
from tools.run import execute, two_at_a_time
from tools.saving.cells import MARK

RUN = "make save; then, if the new output is right: make run NB={where}"


def check_notebook(path: Path, package: Path) -> list[Finding]:
    """Run one notebook on a package, without its saved cells, and say what differs."""
    where = f"book/{path.name}"
    old, new = notebooks.read(path), notebooks.read(path)
    for cell in new.cells:
        if cell.cell_type == "code" and cell.source.startswith(MARK):
            cell.source = imports_instead(cell.source, path.stem)
    asked = exercises.question(new)
    if asked is not None:
        new.cells.append(asked)
    try:
        execute(new, path.parent, package)
    except CellExecutionError as error:
        cell = next(cell for cell in reversed(new.cells) if cell.get("outputs"))
        what = f"raises {error.ename}: {error.evalue}"
        return [Finding(f"{where} [{cell.id}]", what, "make save; then look at the cell")]
    if asked is not None:
        new.cells.pop()
    found = list(differences(where, old, new))
    if not found and asked is not None:
        found += exercises.judge(where, asked)
    if not found and notebooks.canonical(old) != path.read_text(encoding="utf-8"):
        found.append(Finding(where, "not in canonical form", f"make run NB={where}"))
    return found


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


def differences(
    where: str, old: notebooks.Notebook, new: notebooks.Notebook
) -> Iterator[Finding]:
    """Yield the cells whose outputs or counts differ."""
    for was, now in zip(old.cells, new.cells, strict=True):
        if was.cell_type != "code":
            continue
        for what in compare(was, now):
            yield Finding(f"{where} [{was.id}]", what, RUN.format(where=where))


def compare(was: notebooks.Notebook, now: notebooks.Notebook) -> Iterator[str]:
    """Yield in words how a cell that was run again differs from what stands in the book."""
    if was.execution_count != now.execution_count:
        yield f"execution count {was.execution_count}, but {now.execution_count} when run"
    if len(was.outputs) != len(now.outputs):
        yield f"{len(was.outputs)} outputs in the book, {len(now.outputs)} when run"
    for before, after in zip(was.outputs, now.outputs, strict=False):
        old, new = flat(before), flat(after)
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) == new.get(key):
                continue
            if key.startswith("image/"):
                yield f"the picture ({key}) differs"
            else:
                yield f"{key} differs (- in the book, + when run)\n{diff(old, new, key)}"


def flat(output: notebooks.Notebook) -> dict[str, str]:
    """Return an output as one text for each thing that can differ; of a traceback its end.

    The frames before it differ where a saved cell became a module.
    """
    parts = {key: text for key, text in output.items() if key != "data"}
    parts |= output.get("data", {})
    parts |= {"traceback": output.traceback[-1]} if "traceback" in output else {}
    return {key: part if isinstance(part, str) else repr(part) for key, part in parts.items()}


def diff(old: dict[str, str], new: dict[str, str], key: str) -> str:
    """Return the first lines that differ."""
    before, after = (side.get(key, "").splitlines() for side in (old, new))
    lines = list(difflib.unified_diff(before, after, n=0, lineterm=""))[3:11]
    return "\n".join(f"    {line[:160]}" for line in lines)


def unpack_wheel(root: Path, folder: Path) -> Path:
    """Build the project's wheel and return the folder that holds what it installs."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"outputs: the wheel cannot be built\n{run.stdout}{run.stderr}")
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
        checked = f"{len(paths)} notebooks give the same bytes on the package alone"
        return finish("outputs", found, checked)


if __name__ == "__main__":
    sys.exit(main())
