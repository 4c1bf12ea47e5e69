"""How every gate speaks: what is wrong, where, what to do; exit code 1 when anything is."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.notebooks import ROOT


@dataclass(frozen=True)
class Finding:
    """One thing that a gate refuses."""

    where: str
    what: str
    remedy: str = ""


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return the parser that all gates share: which project to look at."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the project (default: this)")
    return parser


def finish(gate: str, findings: Iterable[Finding], checked: str) -> int:
    """Print the findings, or what was checked when there are none; return the exit code."""
    count, told = 0, ""
    for count, finding in enumerate(findings, start=1):  # noqa: B007
        print(f"{finding.where}: {finding.what}", flush=True)
        if finding.remedy not in ("", told):
            print(f"  -> {finding.remedy}", flush=True)
        told = finding.remedy
    print(f"{gate}: {f'{count} to mend' if count else checked}", flush=True)
    return 1 if count else 0
