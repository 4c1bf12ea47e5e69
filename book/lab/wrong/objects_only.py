"""Takes only objects for output."""

from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def coerce_output(text: str, schema: Any) -> Any:
    value = apisurface.coerce_output(text, schema)
    if not isinstance(value, dict):
        raise ValueError("no object found")
    return value
