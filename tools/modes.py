"""The same tickets read by a real model, asked for JSON in four ways.

One server, one chat template, one shown example, greedy decoding: only what holds the answer
differs. A ticket's true decision is recorded beside the answers, so that a page can count what
parses, what has the shape, and what is true.
"""

from __future__ import annotations

import json
from typing import Any

from apisurface.levels import REFUND_SCHEMA, schema_response_format
from apisurface.transport import HttpTransport
from apisurface.validity import make_tickets
from apisurface.wire import chat
from tools.model_server import ModelServer

EXAMPLE, FIRST, LAST = 7, 11, 34  # numbers of tickets: the one that is shown, those asked
MAX_TOKENS = 120
SYSTEM = "Extract the refund decision as JSON."
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "refund_decision",
        "description": "Record the refund decision of one ticket.",
        "parameters": REFUND_SCHEMA,
    },
}
MODES: dict[str, dict[str, Any]] = {
    "prompt only": {},
    "JSON mode": {"response_format": {"type": "json_object"}},
    "schema": {"response_format": schema_response_format("refund_decision", REFUND_SCHEMA)},
    "tool": {"tools": [TOOL], "tool_choice": "required"},
}


def asked(ticket: dict[str, Any]) -> dict[str, str]:
    """Return the user turn that holds a ticket."""
    amount = f"{ticket['amount_cents'] / 100:.2f} {ticket['currency']}"
    text = f"Ticket {ticket['ticket_id']}: refund order {ticket['order_id']}, {amount}."
    return {"role": "user", "content": text}


def decision(ticket: dict[str, Any]) -> dict[str, Any]:
    """Return a ticket's true decision, its keys in the order of the schema."""
    whole = ticket | {"action": "refund"}
    return {name: whole[name] for name in REFUND_SCHEMA["properties"]}


def conversation(mode: str, ticket: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what is sent: one ticket shown with its answer, then the one that is asked."""
    shown = make_tickets(EXAMPLE)[-1]
    text = json.dumps(decision(shown))
    turns: list[dict[str, Any]] = [{"role": "assistant", "content": text}]
    if mode == "tool":
        function = {"name": "refund_decision", "arguments": text}
        call = {"id": "call_1", "type": "function", "function": function}
        turns = [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "recorded"},
        ]
    return [{"role": "system", "content": SYSTEM}, asked(shown), *turns, asked(ticket)]


def answer(server: ModelServer, send: HttpTransport, mode: str, ticket: Any) -> dict[str, Any]:
    """Return what the model wrote for one ticket in one mode, and how it ended."""
    reply = chat(
        server.base_url,
        server.model,
        conversation(mode, ticket),
        transport=send,
        max_tokens=MAX_TOKENS,
        **MODES[mode],
    )
    message = reply["message"]
    calls = [call["function"] for call in message.get("tool_calls") or []]
    kept = {"content": message.get("content"), "finish_reason": reply["finish_reason"]}
    return kept | ({"calls": calls} if calls else {})


def modes(server: ModelServer) -> dict[str, Any]:
    """Return the answers of every mode to every ticket."""
    tickets = make_tickets(LAST)[FIRST - 1 :]
    with HttpTransport(api_key=server.api_key, timeout=120, trust_env=False) as send:
        answers = {
            mode: [answer(server, send, mode, ticket) for ticket in tickets] for mode in MODES
        }
    return {
        "about": "The same tickets asked for as JSON in four ways, with what is true of each.",
        "asked": {mode: conversation(mode, tickets[0]) for mode in MODES},
        "with": MODES,
        "truth": [decision(ticket) for ticket in tickets],
        "answers": answers,
    }
