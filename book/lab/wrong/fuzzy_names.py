"""Runs the tool whose name comes closest."""

import difflib
from dataclasses import replace
from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def dispatch(registry: Any, call: Any, **options: Any) -> apisurface.ToolResult:
    for name in difflib.get_close_matches(call.name, registry.names(), n=1):
        call = replace(call, name=name)
    return apisurface.dispatch(registry, call, **options)
