"""What may be shown of unfinished arguments: the same as jiter's partial mode, prefix by prefix.

The texts are the argument texts and JSON contents of the recorded streams, and the short JSON
replies among the other recordings, which hold more escapes and more numbers. Where jiter has
nothing to show it raises, and ours is None.
"""

from __future__ import annotations

import json
from typing import Any

import jiter
from judges.cassettes import records, streams
from judges.test_streams import ours

from apisurface.partial import partial_json


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def texts() -> list[str]:
    found: set[str] = set()
    for record in streams():
        for choice in ours([record.body], record.provider):
            message = choice["message"]
            found.add(message["content"] or "")
            found |= {c["function"]["arguments"] for c in message.get("tool_calls", [])}
    replies = {each.body for each in records() if not each.is_stream and len(each.body) < 450}
    found |= {body.decode(errors="replace") for body in replies}
    return sorted(text for text in found if text and is_json(text))


def shown(prefix: str) -> Any:
    try:
        return jiter.from_json(prefix.encode(), partial_mode="trailing-strings")
    except ValueError:
        return None


def test_every_prefix_of_what_was_recorded_is_shown_as_jiter_shows_it():
    count = 0
    for text in texts():
        for end in range(len(text) + 1):
            count += 1
            assert partial_json(text[:end]) == shown(text[:end]), text[:end]
    assert count > 50_000
