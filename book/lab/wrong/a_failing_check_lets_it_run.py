"""Takes a check that crashes for one that has nothing to say."""

from contextlib import suppress
from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def dispatch(registry: Any, call: Any, authorize: Any = None) -> apisurface.ToolResult:
    def lenient(call: Any) -> Any:
        with suppress(Exception):
            return authorize(call)

    return apisurface.dispatch(registry, call, authorize=lenient if authorize else None)
