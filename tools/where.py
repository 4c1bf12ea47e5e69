"""Say which chapter and cell a name comes from: `python -m tools.where [NAME]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools import notebooks
from tools.saving import book


def lines(found: book.Book, name: str = "") -> list[str]:
    """Return one line for each saved name, or for the one that is asked for."""
    rows = [
        (f"apisurface.{module.stem}.{saved.name}", f"{saved.cell.path}, cell {saved.cell.id}")
        for module in found.modules
        for saved in module.saved
        if name in ("", saved.name, f"{module.stem}.{saved.name}")
    ]
    width = max((len(left) for left, _ in rows), default=0)
    return [f"{left:<{width}}  {right}" for left, right in rows]


def main(arguments: list[str] | None = None) -> int:
    """Print where a name, or every name, is saved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", default="", help="a saved name; none lists them all")
    parser.add_argument("--root", type=Path, default=notebooks.ROOT, help="another project")
    options = parser.parse_args(arguments)
    found = lines(book.read(options.root.resolve()), options.name.removeprefix("apisurface."))
    if options.name and not found:
        print(f"no cell saves {options.name}", file=sys.stderr)
        return 1
    print("\n".join(found) if found else "no chapter saves anything yet")
    return 0


if __name__ == "__main__":
    sys.exit(main())
