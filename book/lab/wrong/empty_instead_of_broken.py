"""Takes arguments that do not parse for none: a cut call runs as another one."""

from dataclasses import replace
from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def parse_tool_call(raw: Any) -> apisurface.ToolCall:
    try:
        return apisurface.parse_tool_call(raw)
    except apisurface.MalformedArguments:
        return replace(apisurface.parse_tool_call({**raw, "arguments": None}), arguments={})
