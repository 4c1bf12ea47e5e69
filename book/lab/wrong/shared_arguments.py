"""Hands the message's own arguments on: whoever changes the call changes the history."""

from dataclasses import replace
from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def parse_tool_call(raw: Any) -> apisurface.ToolCall:
    call = apisurface.parse_tool_call(raw)
    inner = raw.get("function", raw) if isinstance(raw, dict) else {}
    arguments = inner.get("arguments")
    return replace(call, arguments=arguments) if isinstance(arguments, dict) else call
