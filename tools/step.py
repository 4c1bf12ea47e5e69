"""One step of `make test`: `python -m tools.step 3/13 NAME PATH … -- COMMAND …`.

Prints where we are, runs the command, and passes its exit code on. A step that passed is not
run again until a file under its paths, the lock, the command or Python itself changes: the
digest of all their bytes is kept in .cache/gates. FRESH=1 runs everything.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tools.notebooks import ROOT

PASSED = ROOT / ".cache/gates"
ALWAYS = ["Makefile", "pyproject.toml", "requirements/book.lock", "tools"]
MADE = re.compile(r"_build|__pycache__|dist|\.(?!ci$|github$).*")


def files(path: Path) -> Iterator[Path]:
    """Yield the files at or under a path, sorted, without what tools leave behind."""
    if path.is_dir():
        for child in sorted(path.iterdir()):
            if not MADE.fullmatch(child.name):
                yield from files(child)
    elif path.exists():
        yield path


def digest(paths: list[str], command: list[str]) -> str:
    """Return a digest of everything that can change what a step says."""
    total = hashlib.sha256(repr((sys.version, command)).encode())
    for name in sorted({*paths, *ALWAYS}):
        for path in files(ROOT / name):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            total.update(f"{path.relative_to(ROOT)} {content}\n".encode())
    return total.hexdigest()


def main(arguments: list[str]) -> int:
    """Run one step, or say that nothing it looks at has changed since it passed."""
    if "--" not in arguments[2:]:
        print(f"{__doc__}\nmake test runs the steps: look at the Makefile.", file=sys.stderr)
        return 2
    cut = arguments.index("--")
    (number, name, *paths), command = arguments[:cut], arguments[cut + 1 :]
    stamp, now = PASSED / name, digest(paths, command)
    if "FRESH" not in os.environ and stamp.exists() and stamp.read_text("utf-8") == now:
        print(f"==> [{number}] {name}: unchanged since it passed", flush=True)
        return 0
    print(f"==> [{number}] {name}", flush=True)
    started = time.monotonic()
    stamp.unlink(missing_ok=True)
    code = subprocess.run(command, cwd=ROOT).returncode
    print(f"    {'passed' if code == 0 else 'FAILED'} in {time.monotonic() - started:.0f} s")
    # What a step changes while it runs (it should not) is not what it passed on.
    if code == 0 and digest(paths, command) == now:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(now, "utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
