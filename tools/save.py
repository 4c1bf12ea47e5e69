"""Save the marked cells into the package: `python -m tools.save [--check] [--root PATH]`."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from tools import notebooks
from tools.saving import api, book, layout, trial
from tools.saving.cells import Refusal

SHOWN = 14  # lines of a difference; the rest is in `git diff` after `make save`
OWN = "# Generated from "


def outputs(found: book.Book) -> dict[Path, str]:
    """Return every file that saving writes, with its text: notebooks, modules, API page."""
    root = found.root
    package = root / "src" / "apisurface"
    texts = {chapter.file: chapter.text for chapter in found.chapters}
    for module in found.modules:
        texts[package / f"{module.stem}.py"] = layout.module(module)
    texts[package / "__init__.py"] = layout.front(found)
    texts[root / "book" / "api.md"] = api.page(found)
    return texts


def orphans(root: Path, texts: dict[Path, str]) -> list[Path]:
    """Return the modules in the package that no chapter saves."""
    return sorted(p for p in (root / "src" / "apisurface").rglob("*.py") if p not in texts)


def by_hand(root: Path, texts: dict[Path, str]) -> list[Refusal]:
    """Refuse modules in the package that no chapter ever saved: they would be deleted."""
    written = [p for p in orphans(root, texts) if not p.read_text("utf-8").startswith(OWN)]
    return [
        Refusal(
            p.relative_to(root).as_posix(), "", 0, "is written by hand", "save it in a chapter"
        )
        for p in written
    ]


def check(found: book.Book, texts: dict[Path, str]) -> list[str]:
    """Say what saving would change, and where to look."""
    problems = []
    for path, text in texts.items():
        name = path.relative_to(found.root).as_posix()
        old = path.read_bytes().decode("utf-8", "replace") if path.exists() else None
        if old == text:
            continue
        if old is None:
            problems.append(f"{name}: is missing")
        elif path.suffix == ".ipynb":
            problems.append(f"{name}: is not in canonical bytes")
        else:
            problems.append(_difference(name, old, text))
    for path in orphans(found.root, texts):
        problems.append(f"{path.relative_to(found.root).as_posix()}: no chapter saves it")
    return problems


def _difference(name: str, old: str, new: str) -> str:
    """Return a short diff, and the notebook and cell that the first change belongs to."""
    before, after = old.split("\n"), new.split("\n")
    lines = list(difflib.unified_diff(before, after, "on disk", "saved again", "", "", 2, ""))
    first = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    cell = next((t for t in reversed(after[: first + 1]) if t.startswith("# cell: ")), "")
    source = after[0].removeprefix(OWN).partition(":")[0] if after[0].startswith(OWN) else ""
    cell = cell.removeprefix("# ").replace(":", "")
    place = ", ".join(part for part in (source, cell) if part)
    more = [f"… {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    text = "\n".join(f"    {line}" for line in [*lines[:SHOWN], *more])
    return f"{name}: differs" + (f" (look at {place})" if place else "") + f"\n{text}"


def write(found: book.Book, texts: dict[Path, str]) -> list[str]:
    """Write what changed and remove modules that chapters no longer save."""
    changed = []
    for path, text in texts.items():
        if notebooks.write_text(path, text):
            changed.append(f"wrote {path.relative_to(found.root).as_posix()}")
    for path in orphans(found.root, texts):
        path.unlink()
        changed.append(f"removed {path.relative_to(found.root).as_posix()}")
    return changed


def main(arguments: list[str] | None = None) -> int:
    """Save, or check that saving would change nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, compare")
    parser.add_argument("--root", type=Path, default=notebooks.ROOT, help="another project")
    options = parser.parse_args(arguments)
    found = book.read(options.root.resolve())
    refusals, texts = found.refusals, {}
    if not refusals:
        texts = outputs(found)
        refusals = [*trial.run(texts, found), *by_hand(found.root, texts)]
    if refusals:
        for refusal in refusals:
            print(refusal, file=sys.stderr)
        print(f"refused: {len(refusals)}; nothing was written", file=sys.stderr)
        return 1
    if options.check:
        problems = check(found, texts)
        for problem in problems:
            print(problem, file=sys.stderr)
        if problems:
            print("To make them agree: make save", file=sys.stderr)
        return 1 if problems else 0
    changed = write(found, texts)
    print("\n".join(changed) if changed else "nothing to save: all up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
