"""Record what a real model server answers: `make record` writes book/recordings/.

A file whose answer is the same but for ids, clocks and timings is left as it is, with the date
and versions of its first day. `make record ONLY=chat` (or `python -m tools.record chat`)
records what is named.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from tools.distributions import distributions
from tools.exchanges import EXCHANGES, perform
from tools.model_server import ROOT, MissingExtra, ModelServer, ServerFailed, model_server
from tools.modes import modes
from tools.notebooks import write_text
from tools.tape import essence
from tools.tax import tax

RECORDINGS = ROOT / "book/recordings"
TOOL_TEMPLATE = Path(__file__).with_name("tool_template.jinja")
Job = tuple[str, Callable[[ModelServer], dict[str, Any]]]


def jobs(*, tool_template: bool) -> list[Job]:
    """Return what is recorded from the server with the one or the other chat template."""
    found: list[Job] = [
        (exchange.name, partial(perform, exchange))
        for exchange in EXCHANGES
        if exchange.tool_template == tool_template
    ]
    if tool_template:
        return [*found, ("modes", modes)]
    return [*found, ("distributions", distributions), ("tax", tax)]


def keep(path: Path, recording: dict[str, Any]) -> str:
    """Write a recording unless the one there says the same; return what was done."""
    if path.exists():
        old = json.loads(path.read_text(encoding="utf-8"))
        if essence(old) == essence(recording):
            return "unchanged"
        done = "changed"
    else:
        done = "new"
    write_text(path, json.dumps(recording, indent=1, ensure_ascii=False) + "\n")
    return done


def record(folder: Path, only: set[str]) -> None:
    """Record every exchange, or those named, into `folder`."""
    for template in (None, TOOL_TEMPLATE):
        todo = jobs(tool_template=template is not None)
        todo = [job for job in todo if not only or job[0] in only]
        if not todo:
            continue
        print(
            f"==> starting the model server ({template.name if template else 'own template'})"
        )
        with model_server(chat_template=template) as server:
            head = {
                "recorded": f"{datetime.now(UTC):%Y-%m-%d}",
                "provenance": server.provenance,
            }
            for name, job in todo:
                done = keep(folder / f"{name}.json", head | job(server))
                print(f"    {name}: {done}", flush=True)


def main() -> None:
    """Record; say what to do when there is no real model."""
    names = [name for tools in (False, True) for name, _ in jobs(tool_template=tools)]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help=f"what to record: {', '.join(names)}")
    parser.add_argument("--root", type=Path, default=ROOT)
    given = parser.parse_args()
    if unknown := set(given.only) - set(names):
        parser.error(f"no such recording: {', '.join(sorted(unknown))}")
    try:
        record(given.root / "book/recordings", set(given.only))
    except (MissingExtra, ServerFailed) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
