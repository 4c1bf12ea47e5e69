"""Parses the output and trusts the shape."""

from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def coerce_output(text: str, schema: Any) -> Any:
    return apisurface.coerce_output(text, {})
