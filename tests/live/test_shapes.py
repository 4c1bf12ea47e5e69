"""What was recorded and what the server sends today have the same keys and kinds."""

from __future__ import annotations

import json

import pytest

from tools.exchanges import EXCHANGES, Exchange, perform
from tools.record import RECORDINGS
from tools.tape import body_of, events, shape


@pytest.mark.parametrize("exchange", EXCHANGES, ids=lambda exchange: exchange.name)
def test_recorded_and_live_have_one_shape(
    exchange: Exchange, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue("tool_server" if exchange.tool_template else "server")
    path = RECORDINGS / f"{exchange.name}.json"
    recorded, live = json.loads(path.read_text(encoding="utf-8")), perform(exchange, server)
    moved: list[str] = []
    for part, old, new in (
        ("status", recorded["response"]["status"], live["response"]["status"]),
        (
            "header",
            sorted(recorded["response"]["headers"]),
            sorted(live["response"]["headers"]),
        ),
        (
            "body",
            sorted(shape(events(body_of(recorded)))),
            sorted(shape(events(body_of(live)))),
        ),
    ):
        if old != new:
            was, now = (set(side) if isinstance(side, list) else {side} for side in (old, new))
            moved += [f"{part} gone: {item}" for item in sorted(was - now, key=str)]
            moved += [f"{part} new: {item}" for item in sorted(now - was, key=str)]
    if moved:
        pytest.fail(
            f"{exchange.name}: the server answers in another shape than was recorded "
            f"({recorded['recorded']}, {recorded['provenance']['server']}). Look at what "
            f"moved, then `make record ONLY={exchange.name}`:\n  " + "\n  ".join(moved),
            pytrace=False,
        )
