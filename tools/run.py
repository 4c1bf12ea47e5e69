"""Execute notebooks in place: `python -m tools.run book/wire.ipynb …`."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

from nbclient import NotebookClient
from traitlets.config import Config

from tools import notebooks

Item = TypeVar("Item")
Result = TypeVar("Result")
OFFLINE = Path(__file__).resolve().parent / "offline"


def environment(*paths: Path) -> dict[str, str]:
    """Return the environment of a kernel: network refused, imports from `paths` first."""
    search = [str(path.resolve()) for path in (OFFLINE, *paths)]
    return {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(search)}


def execute(notebook: notebooks.Notebook, folder: Path, *paths: Path) -> notebooks.Notebook:
    """Run every cell in a fresh kernel that starts in `folder`."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    with tempfile.TemporaryDirectory(prefix="kernel-") as temporary:
        config = Config()
        # Files instead of ports: no other user of the machine can listen in.
        config.KernelManager.transport = "ipc"
        config.KernelManager.connection_file = f"{temporary}/kernel.json"
        NotebookClient(
            notebook,
            config=config,
            timeout=120,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(folder)}},
        ).execute(env=environment(*paths))
    return notebook


def two_at_a_time(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield the result for each item, in order; each kernel keeps one core busy."""
    with ProcessPoolExecutor(max_workers=2) as pool:
        yield from pool.map(work, items)


def main() -> None:
    """Execute the notebooks named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebook", nargs="+", type=Path)
    for path in parser.parse_args().notebook:
        print(f"==> running {path}", flush=True)
        notebooks.write(path, execute(notebooks.read(path), path.parent))


if __name__ == "__main__":
    main()
