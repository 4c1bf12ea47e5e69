"""Takes the number of repairs for the number of dispatches."""

from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def run_with_repair(policy: Any, registry: Any, call: Any, max_repairs: int = 2) -> Any:
    result, repairs = apisurface.run_with_repair(policy, registry, call, max_repairs - 1)
    return result, repairs + 1
