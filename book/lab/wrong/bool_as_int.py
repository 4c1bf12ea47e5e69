"""Asks `isinstance(value, int)`, which True is: an amount of true refunds one cent."""

from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def validate(instance: Any, schema: Any, path: str = "$") -> list[str]:
    traps = ("expected integer, got boolean", "expected number, got boolean")
    found = apisurface.validate(instance, schema, path)
    return [error for error in found if not error.endswith(traps)]
