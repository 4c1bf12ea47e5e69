"""Takes a check that crashes for one that has nothing to say."""

from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def dispatch(registry: Any, call: Any, authorize: Any = None) -> apisurface.ToolResult:
    def lenient(call: Any) -> Any:
        try:
            return authorize(call)
        except Exception:
            return None

    return apisurface.dispatch(registry, call, authorize=lenient if authorize else None)
