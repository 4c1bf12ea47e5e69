"""Asks for permission first: the check reads arguments that no schema has seen."""

from dataclasses import replace
from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def dispatch(registry: Any, call: Any, authorize: Any = None) -> apisurface.ToolResult:
    if authorize and (complaint := authorize(call)):
        refused = apisurface.ToolResult(False, error=complaint, errors=[complaint])
        return replace(refused, call_id=call.id)
    return apisurface.dispatch(registry, call)
