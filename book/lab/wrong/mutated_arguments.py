"""Hands the tool the arguments themselves, and the tool changes them."""

from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def dispatch(registry: Any, call: Any, **options: Any) -> apisurface.ToolResult:
    result = apisurface.dispatch(registry, call, **options)
    if result.ok:
        value = registry.get(call.name).func(**call.arguments)
        return apisurface.ToolResult(True, value, call_id=call.id)
    return result
