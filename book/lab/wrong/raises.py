"""Raises for an unknown tool: one misspelt name ends the run."""

from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def dispatch(registry: Any, call: Any, **options: Any) -> apisurface.ToolResult:
    if call.name not in registry.names():
        raise KeyError(call.name)
    return apisurface.dispatch(registry, call, **options)
