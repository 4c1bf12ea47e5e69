"""Says what is wrong and not where."""

from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def validate(instance: Any, schema: Any, path: str = "$") -> list[str]:
    return [error.split(": ", 1)[1] for error in apisurface.validate(instance, schema, path)]
