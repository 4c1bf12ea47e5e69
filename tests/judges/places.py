"""Places in JSON documents: JSON pointers, and the paths that our messages begin with."""

from __future__ import annotations

import json
import re
from typing import Any

STEP = re.compile(r"""\.(?P<name>[^\W\d]\w*)|\[(?P<index>\d+)\]|\[(?=")""")


def follow(document: Any, pointer: str) -> Any:
    """Return what a JSON pointer leads to, or `...` when it leads nowhere (RFC 6901)."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict) and key in document:
            document = document[key]
        elif isinstance(document, list) and key.isdigit() and int(key) < len(document):
            document = document[int(key)]
        else:
            return ...
    return document


def path_of(message: str) -> tuple[str | int, ...]:
    """Return the keys and indices of a message's path; `ValueError` when it has none.

    `$.line_items[0]["odd: key"].sku: required` begins with four steps.
    """
    if not message.startswith("$"):
        raise ValueError(f"no path: {message!r}")
    steps: list[str | int] = []
    at = 1
    while not message.startswith(": ", at):
        match = STEP.match(message, at)
        if match is None:
            raise ValueError(f"no path: {message!r}")
        at = match.end()
        if match["name"] is not None:
            steps.append(match["name"])
        elif match["index"] is not None:
            steps.append(int(match["index"]))
        else:
            key, at = json.JSONDecoder().raw_decode(message, at)
            if not isinstance(key, str) or message[at : at + 1] != "]":
                raise ValueError(f"no path: {message!r}")
            at += 1
            steps.append(key)
    return tuple(steps)


def reaches(instance: Any, steps: tuple[str | int, ...]) -> bool:
    """Say whether the steps lead to something in the instance."""
    for step in steps:
        if isinstance(step, str):
            if not isinstance(instance, dict) or step not in instance:
                return False
        elif not isinstance(instance, list) or step >= len(instance):
            return False
        instance = instance[step]
    return True
