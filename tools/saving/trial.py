"""Import the package once from a scratch folder, before anything is written."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.saving.book import Book
from tools.saving.cells import Refusal

LINE = "\n"
SCRIPT = """
import importlib, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(f"apisurface.{name}")
"""


def run(texts: dict[Path, str], book: Book) -> list[Refusal]:
    """Refuse a package that cannot be imported, or not in silence."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "apisurface")
        package.mkdir()
        for path, text in texts.items():
            if path.suffix == ".py":
                (package / path.name).write_text(text, encoding="utf-8")
        stems = [module.stem for module in book.modules]
        command = [sys.executable, "-c", SCRIPT, folder, *stems]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    said = (done.stdout + done.stderr).strip()
    if done.returncode == 0 and not said:
        return []
    what = f"the package prints when it is imported ({said.partition(LINE)[0][:60]})"
    if done.returncode:
        what = f"the package cannot be imported ({said.rpartition(LINE)[2]})"
    place = re.findall(r"apisurface/(\w+)\.py\", line (\d+)", said)
    stem, number = place[-1] if place else ("", "1")
    text = texts.get(book.root / "src" / "apisurface" / f"{stem}.py", "")
    above = "\n".join(text.split("\n")[: int(number)])
    cell = above.rpartition("# cell: ")[2].partition("\n")[0] if "# cell: " in above else ""
    source = f"book/{stem}.ipynb" if text else "src/apisurface"
    return [Refusal(source, cell, 0, what, "let importing it do nothing but define")]
