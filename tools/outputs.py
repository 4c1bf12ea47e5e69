"""Run every notebook again and require the same bytes: `python -m tools.outputs [NOTEBOOK …]`.

nbval compares texts, HTML and SVG; this sees what nbval does not look at: bitmaps, tracebacks,
counts, cells that were never run, metadata, the form of the file itself. When a notebook has
run, its exercises are asked for their verdicts on the solution, the stub and each mistake.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from pathlib import Path

from nbclient.exceptions import CellExecutionError

from tools import exercises, notebooks
from tools.report import Finding, arguments, finish
from tools.run import execute, two_at_a_time

RUN = "if the new output is right: make run NB={where}"


def check_notebook(path: Path) -> list[Finding]:
    """Run one notebook again and say for each cell what differs."""
    where = f"book/{path.name}"
    old, new = notebooks.read(path), notebooks.read(path)
    asked = exercises.question(new)
    if asked is not None:
        new.cells.append(asked)
    try:
        execute(new, path.parent, path.parent.parent / "src")
    except CellExecutionError as error:
        cell = next(cell for cell in reversed(new.cells) if cell.get("outputs"))
        return [Finding(f"{where} [{cell.id}]", f"raises {error.ename}: {error.evalue}")]
    if asked is not None:
        new.cells.pop()
    found = list(differences(where, old, new))
    if not found and asked is not None:
        found += exercises.judge(where, asked)
    if not found and notebooks.canonical(new) != path.read_text(encoding="utf-8"):
        found.append(Finding(where, "not in canonical form", f"make run NB={where}"))
    return found


def differences(
    where: str, old: notebooks.Notebook, new: notebooks.Notebook, *, loose: bool = False
) -> Iterator[Finding]:
    """Yield the cells whose outputs or counts differ; `loose` forgives tracebacks."""
    for was, now in zip(old.cells, new.cells, strict=True):
        if was.cell_type != "code":
            continue
        for what in compare(was, now, loose=loose):
            yield Finding(f"{where} [{was.id}]", what, RUN.format(where=where))


def compare(was: notebooks.Notebook, now: notebooks.Notebook, *, loose: bool) -> Iterator[str]:
    """Yield in words how a cell that was run again differs from what stands in the book."""
    if was.execution_count != now.execution_count:
        yield f"execution count {was.execution_count}, but {now.execution_count} when run"
    if len(was.outputs) != len(now.outputs):
        yield f"{len(was.outputs)} outputs in the book, {len(now.outputs)} when run"
    for before, after in zip(was.outputs, now.outputs, strict=False):
        old, new = flat(before), flat(after)
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) == new.get(key) or (loose and key == "traceback"):
                continue
            if key.startswith("image/"):
                yield f"the picture ({key}) differs"
            else:
                yield f"{key} differs (- in the book, + when run)\n{diff(old, new, key)}"


def flat(output: notebooks.Notebook) -> dict[str, str]:
    """Return an output as one text for each thing that can differ."""
    parts = {
        key: text for key, text in output.items() if key not in ("data", "execution_count")
    }
    parts |= output.get("data", {})
    return {key: part if isinstance(part, str) else repr(part) for key, part in parts.items()}


def diff(old: dict[str, str], new: dict[str, str], key: str) -> str:
    """Return the first lines that differ."""
    before, after = (side.get(key, "").splitlines() for side in (old, new))
    lines = list(difflib.unified_diff(before, after, n=0, lineterm=""))[3:11]
    return "\n".join(f"    {line[:160]}" for line in lines)


def main(argv: list[str] | None = None) -> int:
    """Check the book, or the notebooks, named on the command line."""
    parser = arguments(__doc__)
    parser.add_argument("notebook", nargs="*", type=Path)
    options = parser.parse_args(argv)
    paths = options.notebook or sorted((options.root / "book").glob("*.ipynb"))
    results = two_at_a_time(check_notebook, paths)
    found = (finding for findings in results for finding in findings)
    return finish("outputs", found, f"{len(paths)} notebooks run again, the same bytes")


if __name__ == "__main__":
    sys.exit(main())
