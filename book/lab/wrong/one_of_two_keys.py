"""Lets the first of two equal keys win."""

import json
from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(pairs))


def parse_tool_call(raw: Any) -> apisurface.ToolCall:
    if isinstance(raw, dict) and isinstance(text := raw.get("arguments"), str):
        try:
            raw = {**raw, "arguments": json.loads(text, object_pairs_hook=first_wins)}
        except ValueError:
            return apisurface.parse_tool_call(raw)
    return apisurface.parse_tool_call(raw)
