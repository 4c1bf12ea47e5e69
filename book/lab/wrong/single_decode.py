"""Decodes the call and takes its arguments as they are: text."""

import json
from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def parse_tool_call(raw: Any) -> apisurface.ToolCall:
    if isinstance(raw, str) and isinstance(json.loads(raw).get("arguments"), str):
        raise ValueError("arguments must be an object, got string")
    return apisurface.parse_tool_call(raw)
