"""Asks whether it was allowed when the money is gone."""

from dataclasses import replace
from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def dispatch(registry: Any, call: Any, authorize: Any = None) -> apisurface.ToolResult:
    result = apisurface.dispatch(registry, call)
    complaint = authorize(call) if authorize and result.ok else None
    return replace(result, ok=False, error=complaint) if complaint else result
