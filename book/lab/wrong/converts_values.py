"""Decodes every string that happens to be JSON."""

import json
from dataclasses import replace
from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def decoded(value: Any) -> Any:
    try:
        return json.loads(value)
    except (TypeError, ValueError):
        return value


def parse_tool_call(raw: Any) -> apisurface.ToolCall:
    call = apisurface.parse_tool_call(raw)
    return replace(call, arguments={key: decoded(v) for key, v in call.arguments.items()})
