"""Build the HTML book: `python -m tools.build [--strict] [--root PATH]`.

A warning fails every build, and a failed build is repeated whole until it is repaired. Without
`--strict` only the pages that changed are made again; with it, everything is.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tools import notebooks

RUN = """
from sphinx.util.console import nocolor
from jupyter_book.cli.main import main
nocolor()
main()
"""
PROGRESS = re.compile(r"(reading sources|writing output)\.\.\. \[ *\d+%\] \S")
# What every page shows or depends on: a change here makes every page again.
SHARED = (
    "_config.yml",
    "_toc.yml",
    "_ext/*.py",
    "_ext/templates/*.html",
    "_static/**/*.*",
    "glossary.md",
    "references.bib",
)
HEADING = re.compile(r"^\s*\"?(# .*)", re.MULTILINE)


def structure(book: Path) -> str:
    """Return a digest of what all pages share: settings, extensions, and the pages' titles."""
    digest = hashlib.sha256(sys.version.encode())
    for pattern in SHARED:
        for path in sorted(book.glob(pattern)):
            digest.update(path.name.encode() + path.read_bytes())
    for path in sorted([*book.glob("*.ipynb"), *book.glob("*.md")]):
        heading = HEADING.search(path.read_text(encoding="utf-8"))
        digest.update(f"{path.name} {heading and heading[1]}\n".encode())
    lock = book.parent / "requirements/book.lock"
    digest.update(lock.read_bytes() if lock.exists() else b"")
    return digest.hexdigest()


def build(root: Path, *, strict: bool = False) -> int:
    """Build the book of one project; return the exit code of the build."""
    book, out = root / "book", root / "book/_build"
    stamp, digest = out / ".structure", structure(book)
    if strict or not stamp.exists() or stamp.read_text(encoding="utf-8") != digest:
        shutil.rmtree(out / "html", ignore_errors=True)
        shutil.rmtree(out / ".doctrees", ignore_errors=True)
    command = [sys.executable, "-c", RUN, "build", str(book), "-W", "-n", "--keep-going"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if PROGRESS.match(line):
                print(f"    {line.rstrip()}", flush=True)
    code = process.returncode or int(not (out / "html/index.html").exists())
    if code:
        # The next build must see the same warnings again, not only those of changed pages.
        stamp.unlink(missing_ok=True)
    else:
        stamp.write_text(digest, encoding="utf-8")
    return code


def main() -> int:
    """Build, and say where to open the book."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strict", action="store_true", help="make every page again")
    parser.add_argument("--root", type=Path, default=notebooks.ROOT)
    options = parser.parse_args()
    root = options.root.resolve()
    print(f"==> building the book{' (all of it)' if options.strict else ''}", flush=True)
    start = time.monotonic()
    if code := build(root, strict=options.strict):
        print("The book was not built: see the warnings above.", file=sys.stderr, flush=True)
        return code
    print(f"==> built in {time.monotonic() - start:.0f} s. Open:", flush=True)
    print(root / "book/_build/html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
