"""Run nbval over the book with the network refused: `python -m tools.nbval`.

A few pytest processes share the notebooks, two at a time (xdist's workers cost more to start).
As a pytest plugin, this module gives the kernels that nbval starts the environment that all
our kernels have.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.notebooks import ROOT
from tools.report import arguments
from tools.run import environment

PLUGINS = ["nbval.plugin", "tools.nbval", "no:cacheprovider"]
SHARES = 4  # more than there are cores: who is done early takes the next one


def pytest_configure(config: object) -> None:
    """Refuse the network to kernels; pytest itself may look for this machine's addresses."""
    os.environ.update(environment(Path(os.environ["NBVAL_PACKAGE"])))


def run(notebooks: list[Path], package: Path) -> tuple[int, str]:
    """Compare the outputs of some notebooks; return pytest's exit code and what it printed."""
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-q"]
    command += [f"-p{name}" for name in PLUGINS]
    # Other plugins would only cost time.
    variables = {"NBVAL_PACKAGE": str(package), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = subprocess.run(
        [*command, *map(str, notebooks)],
        cwd=ROOT,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return ran.returncode, ran.stdout


def main(argv: list[str] | None = None) -> int:
    """Compare every output of the book named on the command line."""
    root = arguments(__doc__).parse_args(argv).root.resolve()
    by_size = sorted((root / "book").glob("*.ipynb"), key=lambda path: path.stat().st_size)
    shares = [share for start in range(SHARES) if (share := by_size[start::SHARES])]
    worst = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        for code, printed in pool.map(functools.partial(run, package=root / "src"), shares):
            print(printed.strip(), flush=True)
            worst = max(worst, code)
    return worst


if __name__ == "__main__":
    sys.exit(main())
