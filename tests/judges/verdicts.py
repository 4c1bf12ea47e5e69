"""One verdict per case, kept in a file that may only improve.

`settle("suite", {case: verdict}, ladder)` compares what came out with verdicts/suite.json. A case
that got worse, or is gone, fails, and says which. One that got better, or is new, fails too until
`make verdicts` writes it down: the file never lags behind and is never edited by hand.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent / "verdicts"


def settle(name: str, found: Mapping[str, str], ladder: Sequence[str], note: str = "") -> None:
    """Compare the verdicts found with those on file; `ladder` goes from worst to best.

    A verdict is a word of the ladder, optionally followed by `: ` and a remark; the remark may
    change freely between runs that are recorded.
    """
    path = FOLDER / f"{name}.json"
    kept: dict[str, str] = json.loads(path.read_text())["verdicts"] if path.exists() else {}
    rank = {word: place for place, word in enumerate(ladder)}

    def of(verdict: str) -> int:
        return rank[verdict.split(": ", 1)[0]]

    worse = {case: (kept[case], found.get(case, "gone")) for case in kept if case not in found}
    worse |= {c: (kept[c], v) for c, v in found.items() if c in kept and of(v) < of(kept[c])}
    if worse:
        lines = [f"{case}: was {was!r}, is {now!r}" for case, (was, now) in worse.items()]
        pytest.fail(f"{name}: {len(worse)} got worse\n" + "\n".join(lines[:40]), pytrace=False)
    if dict(found) != kept:
        if not os.environ.get("RECORD_VERDICTS"):
            new = [case for case in found if found[case] != kept.get(case)]
            pytest.fail(
                f"{name}: {len(new)} verdicts are new, better or said otherwise, for example "
                f"{new[:5]}: run `make verdicts` and commit the file",
                pytrace=False,
            )
        counts = {
            word: sum(v.split(": ", 1)[0] == word for v in found.values()) for word in ladder
        }
        content = {"note": note, "counts": counts, "verdicts": dict(sorted(found.items()))}
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
