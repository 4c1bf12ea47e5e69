"""Checks output with another validator: other words, other rules, two truths."""

from typing import Any

import jsonschema

import apisurface
from apisurface import *  # noqa: F403


def coerce_output(text: str, schema: Any) -> Any:
    value = apisurface.coerce_output(text, {})
    try:
        jsonschema.validate(value, schema)
    except jsonschema.ValidationError as error:
        raise ValueError(error.message) from error
    return value
