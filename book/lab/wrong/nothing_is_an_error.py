"""Refuses an empty argument string: a tool without parameters cannot be called."""

from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def parse_tool_call(raw: Any) -> apisurface.ToolCall:
    call = apisurface.parse_tool_call(raw)
    inner = raw.get("function", raw) if isinstance(raw, dict) else {}
    if inner.get("arguments", {}) in ("", None):
        raise ValueError("arguments are empty")
    return call
