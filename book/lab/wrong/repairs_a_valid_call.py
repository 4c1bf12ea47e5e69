"""Asks the policy before the first dispatch: what was right becomes something else."""

from typing import Any

import apisurface
from apisurface import *  # noqa: F403


def run_with_repair(policy: Any, registry: Any, call: Any, max_repairs: int = 2) -> Any:
    return apisurface.run_with_repair(policy, registry, policy([], call), max_repairs)
