"""The exchanges that are recorded, as data, and the one way each of them is performed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import httpx

from apisurface.tools import LOOKUP_TOOL
from apisurface.transport import BoundaryError, HttpTransport
from apisurface.wire import ScriptedModel, chat
from tools.model_server import ModelServer
from tools.tape import Tape

REFUND = {
    "type": "object",
    "properties": {
        "ticket_id": {"type": "string", "pattern": "^T-[0-9]{3}$"},
        "action": {"enum": ["refund", "deny", "escalate"]},
        "order_id": {"type": "string", "pattern": "^O-[0-9]{4}$"},
        "amount_cents": {"type": "integer", "minimum": 0},
        "currency": {"enum": ["USD", "EUR"]},
    },
    "required": ["ticket_id", "action", "order_id", "amount_cents", "currency"],
    "additionalProperties": False,
}
SYSTEM = {"role": "system", "content": "You are a support assistant. Be terse."}


def user(text: str) -> dict[str, Any]:
    """Return one user turn."""
    return {"role": "user", "content": text}


def called(call_id: str, order: str, answer: str) -> list[dict[str, Any]]:
    """Return one assistant turn that looks an order up, and the tool turn that answers it."""
    function = {"name": "lookup_order", "arguments": json.dumps({"order_id": order})}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": json.dumps({"status": answer})},
    ]


def schema_format(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the response format that asks for one schema."""
    named = {"name": "refund_decision", "schema": schema, "strict": True}
    return {"type": "json_schema", "json_schema": named}


QUESTION = [SYSTEM, user("Where is order O-0042?")]
TICKET = [
    {"role": "system", "content": "Extract the refund decision as JSON."},
    user("Ticket T-011: refund order O-0011, 13.07 USD."),
]
SHOWN_TICKET = [
    TICKET[0],
    user("Ticket T-007: refund order O-0007, 11.59 USD."),
    {
        "role": "assistant",
        "content": json.dumps(
            {
                "ticket_id": "T-007",
                "action": "refund",
                "order_id": "O-0007",
                "amount_cents": 1159,
                "currency": "USD",
            }
        ),
    },
    TICKET[1],
]
# A model this small calls a tool when it has seen it done twice.
SHOWN = [
    SYSTEM,
    user("Where is order O-0007?"),
    *called("call_1", "O-0007", "shipped"),
    {"role": "assistant", "content": "Order O-0007 is shipped."},
    user("Where is order O-0013?"),
    *called("call_2", "O-0013", "packed"),
    {"role": "assistant", "content": "Order O-0013 is packed."},
    user("Where is order O-0042?"),
]


@dataclass(frozen=True)
class Exchange:
    """One request worth keeping: a name, why, and the keyword arguments of `chat()`."""

    name: str
    about: str
    call: dict[str, Any]
    stream: bool = False
    tool_template: bool = False
    prefix: str = ""
    wrong_key: bool = False


EXCHANGES = [
    Exchange("chat", "One question, answered to its end.", {"messages": QUESTION}),
    Exchange(
        "chat-cached",
        "The same question again, the server allowed to reuse what it computed.",
        {"messages": QUESTION, "extra_body": {"cache_prompt": True}},
    ),
    Exchange(
        "chat-stream", "The same question as a stream.", {"messages": QUESTION}, stream=True
    ),
    Exchange("length", "Cut by max_tokens.", {"messages": QUESTION, "max_tokens": 5}),
    Exchange(
        "stop",
        "Cut by a stop sequence, which finishes with the same word as a natural end.",
        {"messages": QUESTION, "extra_body": {"stop": [" product"]}},
    ),
    Exchange(
        "logprobs",
        "The log-probabilities of each token and of its four nearest rivals.",
        {
            "messages": QUESTION,
            "max_tokens": 6,
            "extra_body": {"logprobs": True, "top_logprobs": 5},
        },
    ),
    Exchange(
        "json-prompt",
        "JSON by request and example alone: nothing holds it.",
        {"messages": SHOWN_TICKET},
    ),
    Exchange(
        "json-object",
        "JSON mode without a schema: the syntax is held, the shape is not.",
        {
            "messages": TICKET,
            "max_tokens": 60,
            "response_format": {"type": "json_object"},
        },
    ),
    Exchange(
        "json-schema",
        "A schema held while decoding.",
        {"messages": TICKET, "response_format": schema_format(REFUND)},
    ),
    Exchange(
        "json-schema-stream",
        "The same as a stream: JSON that is not whole before the last piece.",
        {"messages": TICKET, "response_format": schema_format(REFUND)},
        stream=True,
    ),
    Exchange(
        "tools-ignored",
        "A tool offered and required: the model's template has no place for tools.",
        {"messages": QUESTION, "tools": [LOOKUP_TOOL], "tool_choice": "required"},
    ),
    Exchange(
        "tool-call",
        "A tool offered under a template that shows tools, after two examples.",
        {"messages": SHOWN, "tools": [LOOKUP_TOOL], "max_tokens": 60},
        tool_template=True,
    ),
    Exchange(
        "tool-call-stream",
        "The same call as a stream: the arguments arrive in pieces.",
        {"messages": SHOWN, "tools": [LOOKUP_TOOL], "max_tokens": 60},
        stream=True,
        tool_template=True,
    ),
    Exchange(
        "tool-answer",
        "The result handed back in a tool turn.",
        {
            "messages": [*SHOWN, *called("call_3", "O-0042", "delayed")],
            "tools": [LOOKUP_TOOL],
            "max_tokens": 40,
        },
        tool_template=True,
    ),
    Exchange(
        "tool-pasted",
        "The same result pasted behind the question, as text of the user.",
        {
            "messages": [*SHOWN[:-1], user('Where is order O-0042? {"status": "delayed"}')],
            "tools": [LOOKUP_TOOL],
            "max_tokens": 60,
        },
        tool_template=True,
    ),
    Exchange(
        "prefill",
        "A last assistant turn that the server continues instead of closing it.",
        {
            "messages": [*TICKET, {"role": "assistant", "content": '{"action": "'}],
            "max_tokens": 40,
        },
    ),
    Exchange(
        "control-tokens",
        "A user's text that spells a control token ten times.",
        {"messages": [SYSTEM, user("<|im_end|>" * 10)], "max_tokens": 1},
    ),
    Exchange(
        "control-tokens-misspelt",
        "The same text with one letter changed.",
        {"messages": [SYSTEM, user("<|im_and|>" * 10)], "max_tokens": 1},
    ),
    Exchange(
        "error-400",
        "A schema that the server cannot enforce.",
        {"messages": TICKET, "response_format": schema_format({"type": "money"})},
    ),
    Exchange("error-401", "A wrong key.", {"messages": QUESTION}, wrong_key=True),
    Exchange("error-404", "A wrong path.", {"messages": QUESTION}, prefix="/nowhere"),
    Exchange(
        "error-context",
        "More tokens than the model's window holds.",
        {"messages": [user("order " * 2100)]},
    ),
]


def stream_body(model: str, call: dict[str, Any]) -> dict[str, Any]:
    """Return the body that `chat()` would send, asking for a stream and its usage."""
    scripted = ScriptedModel([({"role": "assistant", "content": ""}, "stop")])
    chat("http://localhost", model, transport=scripted, **call)
    assert scripted.last_body is not None
    return scripted.last_body | {"stream": True, "stream_options": {"include_usage": True}}


def perform(exchange: Exchange, server: ModelServer) -> dict[str, Any]:
    """Send one request for real; return what was asked, what came back and what `chat()` made.

    `result` holds the four fields of `chat()`, `error` the error that it raised instead; a
    stream has neither, because only its bytes are kept.
    """
    key = "a-wrong-key" if exchange.wrong_key else server.api_key
    base_url = server.base_url + exchange.prefix
    made: dict[str, Any] = {}
    with Tape() as tape, httpx.Client(transport=tape) as client:
        transport = HttpTransport(api_key=key, client=client, timeout=120)
        try:
            if exchange.stream:
                body = stream_body(server.model, exchange.call)
                for _ in transport.stream(f"{base_url}/v1/chat/completions", body):
                    pass
            else:
                made["result"] = chat(
                    base_url, server.model, transport=transport, **exchange.call
                )
        except BoundaryError as error:
            made["error"] = {"type": type(error).__name__} | {
                name: getattr(error, name, None) for name in ("status", "code", "message")
            }
        return {"about": exchange.about} | tape.exchange(stream=exchange.stream) | made
