"""Stops at the first violation: one round trip to the model for each that it kept back."""

from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def validate(instance: Any, schema: Any, path: str = "$") -> list[str]:
    return apisurface.validate(instance, schema, path)[:1]
