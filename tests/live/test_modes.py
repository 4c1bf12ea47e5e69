"""Four ways to ask for JSON, live: what each way holds, whatever the model writes."""

from __future__ import annotations

import json

from jsonschema import Draft202012Validator

from apisurface.levels import REFUND_SCHEMA
from apisurface.transport import HttpTransport
from apisurface.validity import make_tickets
from tools.model_server import ModelServer
from tools.modes import MODES, answer, conversation
from tools.record import RECORDINGS


def test_a_finished_answer_keeps_the_promise_of_its_mode(tool_server: ModelServer) -> None:
    judge = Draft202012Validator(REFUND_SCHEMA)
    [ticket] = make_tickets(11)[-1:]
    with HttpTransport(api_key=tool_server.api_key, timeout=120, trust_env=False) as send:
        live = {mode: answer(tool_server, send, mode, ticket) for mode in MODES}
    for mode, found in live.items():
        assert {"content", "finish_reason"} <= set(found), mode
    assert live["schema"]["finish_reason"] == "stop"
    assert judge.is_valid(json.loads(live["schema"]["content"]))
    if live["JSON mode"]["finish_reason"] == "stop":
        assert isinstance(json.loads(live["JSON mode"]["content"]), dict)


def test_what_was_recorded_was_asked_as_it_is_asked_today() -> None:
    recorded = json.loads((RECORDINGS / "modes.json").read_text(encoding="utf-8"))
    [ticket] = make_tickets(11)[-1:]
    assert recorded["with"] == MODES
    assert recorded["asked"] == {mode: conversation(mode, ticket) for mode in MODES}
