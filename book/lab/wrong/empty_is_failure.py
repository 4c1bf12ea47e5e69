"""Asks `if value`, and a tool that returned 0 has failed."""

from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def dispatch(registry: Any, call: Any, **options: Any) -> apisurface.ToolResult:
    result = apisurface.dispatch(registry, call, **options)
    if result.ok and not result.value:
        return apisurface.ToolResult(False, error="no result", call_id=call.id)
    return result
