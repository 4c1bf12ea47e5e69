"""Break the package on purpose and see who notices: `python -m tools.mutants [MODULE …]`.

A seeded sample of Cosmic Ray's mutants of each saved module, made in a copy. One is killed when
the module's tests or the cells of its chapter, run on the broken package, turn red or hang.
The shares are printed and not stored; what survives is shown, so that a test can be written.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

from tools.notebooks import ROOT, chapters
from tools.outputs import check_notebook
from tools.run import two_at_a_time

PACKAGE = ROOT / "src/apisurface"
PATIENCE = 300  # seconds for one mutant's tests on a busy machine


@dataclass(frozen=True)
class Mutant:
    """One change of one module: the operator's name and which of its places."""

    stem: str
    operator: str
    occurrence: int
    line: int


def mutants(stem: str, path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a module but those of its types, which change nothing."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    quiet = list(quiet_spans(tree))
    for item in _all_work_items([path], {}):
        [spec] = item.mutations
        at = spec.start_pos
        if not any(start <= at < end for start, end in quiet):
            yield Mutant(stem, spec.operator_name, spec.occurrence, at[0])


def quiet_spans(tree: ast.AST) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield where each annotation, and each `if TYPE_CHECKING:`, starts and ends."""
    for node in ast.walk(tree):
        parts = [getattr(node, field, None) for field in ("annotation", "returns")]
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            parts.append(node)
        for part in parts:
            if isinstance(part, ast.expr | ast.stmt) and part.end_lineno is not None:
                end = (part.end_lineno, part.end_col_offset or 0)
                yield (part.lineno, part.col_offset), end


def mutated(mutant: Mutant, source: str) -> str:
    """Return the module's text with the mutant's change in it."""
    operator: Any = get_operator(mutant.operator)
    changed = mutate_code(source, operator(), mutant.occurrence)
    if changed is None:
        raise ValueError(f"{mutant} does not fit its module")
    return str(changed)


def can_be_made(mutant: Mutant) -> bool:
    """Tell whether Cosmic Ray can make a mutant that it lists; not in `except (a.b, c.d)`."""
    try:
        mutated(mutant, (PACKAGE / f"{mutant.stem}.py").read_text(encoding="utf-8"))
    except AttributeError:
        return False
    return True


def survives(mutant: Mutant | str) -> bool:
    """Run the tests and the cells of a chapter against one mutant, or an unbroken module."""
    stem = mutant if isinstance(mutant, str) else mutant.stem
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder)
        shutil.copytree(PACKAGE, copy / "apisurface")
        if isinstance(mutant, Mutant):
            module = copy / f"apisurface/{stem}.py"
            module.write_text(mutated(mutant, module.read_text("utf-8")), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        try:
            tests = subprocess.run(
                [*command, f"tests/test_{stem}.py"],
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": folder, "HYPOTHESIS_PROFILE": "mutants"},
                timeout=PATIENCE,
                capture_output=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        return not tests.returncode and not check_notebook(ROOT / f"book/{stem}.ipynb", copy)


def change(mutant: Mutant) -> str:
    """Return the lines that a mutant takes out and puts in."""
    source = (PACKAGE / f"{mutant.stem}.py").read_text(encoding="utf-8")
    pair = source.splitlines(), mutated(mutant, source).splitlines()
    lines = list(difflib.unified_diff(*pair, lineterm="", n=0))[3:]
    return "\n".join(f"        {line}" for line in lines)


def main() -> int:
    """Judge a sample of each module's mutants and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", nargs="*", help="stems (all saved modules)")
    parser.add_argument("--sample", type=int, default=12, help="mutants of each module")
    parser.add_argument("--seed", default="1")
    given = parser.parse_args()
    saved = [p.stem for p in chapters() if (PACKAGE / f"{p.stem}.py").exists()]
    stems = given.module or saved
    if unknown := set(stems) - set(saved):
        sys.exit(
            f"no chapter saves {', '.join(sorted(unknown))}; there are: {', '.join(saved)}"
        )
    for stem, whole in zip(stems, two_at_a_time(survives, stems), strict=True):
        if not whole:
            sys.exit(f"{stem}: its own tests or cells fail on the unbroken module")
    killed = judged = 0
    for stem in stems:
        pool = list(mutants(stem, PACKAGE / f"{stem}.py"))
        chance = random.Random(f"{given.seed}-{stem}")
        sample = chance.sample(pool, min(given.sample, len(pool)))
        sample = [mutant for mutant in sample if can_be_made(mutant)]
        alive = [
            mutant
            for mutant, lives in zip(sample, two_at_a_time(survives, sample), strict=True)
            if lives
        ]
        killed, judged = killed + len(sample) - len(alive), judged + len(sample)
        share = 1 - len(alive) / len(sample) if sample else 1.0
        print(
            f"{stem:12} {share:4.0%} of {len(sample)} killed ({len(pool)} possible)", flush=True
        )
        for mutant in alive:
            print(f"    survives: {stem}.py:{mutant.line} {mutant.operator}\n{change(mutant)}")
    print(f"{'together':12} {killed / max(1, judged):4.0%} of {judged} killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
