"""Run nbval over the book with the network refused: `python -m tools.nbval`.

As a pytest plugin, this module gives the kernels that nbval starts the environment that all our
kernels have.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tools.notebooks import ROOT
from tools.report import arguments
from tools.run import environment


def pytest_configure(config: object) -> None:
    """Refuse the network to kernels; pytest itself may look for this machine's addresses."""
    os.environ.update(
        environment(*map(type(ROOT), os.environ["NBVAL_PATHS"].split(os.pathsep)))
    )


def main() -> int:
    """Compare every output of the book named on the command line."""
    root = arguments(__doc__).parse_args().root.resolve()
    notebooks = [str(path) for path in sorted((root / "book").glob("*.ipynb"))]
    if not notebooks:
        print("nbval: no notebooks")
        return 0
    command = [sys.executable, "-m", "pytest", "-p", "tools.nbval", "--nbval", "-q"]
    command += [
        "--nbval-current-env",
        "-n",
        "2",
        "--dist",
        "loadfile",
        "-p",
        "no:cacheprovider",
    ]
    variables = {**os.environ, "NBVAL_PATHS": str(root / "src")}
    return subprocess.run([*command, *notebooks], cwd=ROOT, env=variables).returncode


if __name__ == "__main__":
    sys.exit(main())
