"""What the official libraries make of a recorded stream, said in our words.

Chat goes through `openai`'s own decoder and `ChatCompletionStreamState`, Messages through
`anthropic`'s decoder and `accumulate_event` (that of its beta, which alone gathers the input of
MCP calls). A Responses stream ends with the whole response, which the server itself put
together. Gemini's library hands out its chunks as they are, so that `_gemini` below reads them,
on purpose in the plainest way.

Each reading is a list with one dict a choice: `content`, `refusal`, `reasoning`, `calls` as
(id, name, arguments), `finish_reason`, `usage`, and `native` where the provider has parts of its
own. Words are translated here a second time, from the providers' pages, not from the package
under test.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import anthropic
import httpx2
import jiter
import openai
from anthropic._streaming import Stream as AnthropicStream
from anthropic.lib.streaming._beta_messages import accumulate_event
from anthropic.types.beta import BetaRawMessageStreamEvent
from openai._streaming import SSEDecoder
from openai._streaming import Stream as OpenAIStream
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
    "max_output_tokens": "length",
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
}


def official(provider: str, body: bytes) -> list[dict[str, Any]]:
    """Return the official reading of a stream; whatever the library raises is raised.

    That `openai` refuses on purpose to hand out an answer of finish `length` is no failure of
    its accumulator: what it had gathered is its reading.
    """
    readers: dict[str, Callable[[bytes], list[dict[str, Any]]]] = {
        "openai-chat": _chat,
        "openai-responses": _responses,
        "anthropic": _anthropic,
        "gemini": _gemini,
    }
    return readers[provider](body)


def same_arguments(official: Any, ours: str) -> bool:
    """Compare arguments: text with text, a parsed input with what our text parses to.

    Anthropic's library parses a text that was cut in jiter's partial mode, so we do.
    """
    if isinstance(official, str):
        return official == ours
    return bool(official == jiter.from_json((ours or "{}").encode(), partial_mode=True))


def payloads(body: bytes) -> Iterator[Any]:
    """Yield the decoded events of a stream, as openai's decoder splits it."""
    for event in SSEDecoder().iter_bytes(iter([body])):
        if event.data != "[DONE]":
            yield json.loads(event.data)


@cache
def _client(library: Any) -> Any:
    """Return one client for all streams: making one loads certificates, which takes 50 ms."""
    return library(api_key="none")


def _reply(body: bytes) -> httpx2.Response:
    request = httpx2.Request("POST", "http://127.0.0.1/")
    return httpx2.Response(200, content=body, request=request)


def _usage(prompt: int, completion: int, total: int) -> dict[str, int]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}


def _chat(body: bytes) -> list[dict[str, Any]]:
    client = _client(openai.OpenAI)
    state = ChatCompletionStreamState()
    for chunk in OpenAIStream(
        cast_to=ChatCompletionChunk, response=_reply(body), client=client
    ):
        state.handle_chunk(chunk)
    whole = state.current_completion_snapshot
    used = whole.usage
    return [
        {
            "content": choice.message.content or "",
            "refusal": choice.message.refusal or "",
            "reasoning": (choice.message.model_extra or {}).get("reasoning") or "",
            "calls": [
                (call.id, call.function.name, call.function.arguments)
                for call in choice.message.tool_calls or []
            ],
            "finish_reason": choice.finish_reason,
            "usage": used
            and _usage(used.prompt_tokens, used.completion_tokens, used.total_tokens),
        }
        for choice in whole.choices
    ]


def _anthropic(body: bytes) -> list[dict[str, Any]]:
    client = _client(anthropic.Anthropic)
    events = AnthropicStream(
        cast_to=BetaRawMessageStreamEvent, response=_reply(body), client=client
    )
    message: Any = None
    parts: dict[int, bytes] = {}
    for event in events:
        message = accumulate_event(
            event=event,
            current_snapshot=message,
            json_bufs=parts,
            request_headers=httpx2.Headers(),
        )
    blocks = message.content
    used = message.usage
    prompt = used.input_tokens
    prompt += (used.cache_read_input_tokens or 0) + (used.cache_creation_input_tokens or 0)
    return [
        {
            "content": "".join(block.text for block in blocks if block.type == "text"),
            "refusal": "",
            "reasoning": "".join(
                block.thinking for block in blocks if block.type == "thinking"
            ),
            "calls": [
                (each.id, each.name, each.input) for each in blocks if each.type == "tool_use"
            ],
            "native": [block.to_dict() for block in blocks],
            "finish_reason": FINISH.get(str(message.stop_reason), message.stop_reason),
            "usage": _usage(prompt, used.output_tokens, prompt + used.output_tokens),
        }
    ]


def _responses(body: bytes) -> list[dict[str, Any]]:
    *_, last = payloads(body)
    response = last["response"]
    items = response["output"]
    calls = [item for item in items if item["type"] == "function_call"]
    parts = [p for item in items if item["type"] == "message" for p in item["content"]]
    thoughts = [item for item in items if item["type"] == "reasoning"]
    reason = (response.get("incomplete_details") or {}).get("reason")
    finish = FINISH.get(reason, reason) if reason else "tool_calls" if calls else "stop"
    used = response["usage"]
    return [
        {
            "content": "".join(part.get("text", "") for part in parts),
            "refusal": "".join(part.get("refusal", "") for part in parts),
            "reasoning": "".join(part["text"] for each in thoughts for part in each["summary"]),
            "native": items,
            "calls": [(call["call_id"], call["name"], call["arguments"]) for call in calls],
            "finish_reason": finish,
            "usage": _usage(used["input_tokens"], used["output_tokens"], used["total_tokens"]),
        }
    ]


def _gemini(body: bytes) -> list[dict[str, Any]]:
    text, thoughts, calls, finish, used = "", "", [], None, None
    for chunk in payloads(body):
        used = chunk.get("usageMetadata", used)
        for candidate in chunk.get("candidates", []):
            finish = candidate.get("finishReason", finish)
            for part in candidate.get("content", {}).get("parts", []):
                if "functionCall" in part:
                    call = part["functionCall"]
                    calls.append((call.get("id"), call["name"], call.get("args", {})))
                elif part.get("thought"):
                    thoughts += part["text"]
                else:
                    text += part.get("text", "")
    assert used is not None
    completion = used.get("candidatesTokenCount", 0) + used.get("thoughtsTokenCount", 0)
    return [
        {
            "content": text,
            "refusal": "",
            "reasoning": thoughts,
            "calls": calls,
            "finish_reason": "tool_calls" if calls and finish == "STOP" else FINISH.get(finish),
            "usage": _usage(
                used["promptTokenCount"] + used.get("toolUsePromptTokenCount", 0),
                completion,
                used["totalTokenCount"],
            ),
        }
    ]
