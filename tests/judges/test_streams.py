"""Every recorded stream, assembled by us and by the official library: one verdict each.

From worst to best:

    crash    we raise something that is no BoundaryError
    differs  both assemble it, and not the same
    fails    we end in a typed error; the remark says which
    alone    we assemble it, the official library raises; the remark says what
    equal    content, refusal, reasoning, calls, finish reason, usage and the provider's own
             parts are the same, after naming

The remark begins with the provider and the number of calls, so that a chapter can count. What
"after naming" means stands in official.py; besides, no content and empty content are one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from judges.cassettes import Record, streams
from judges.official import official, same_arguments
from judges.verdicts import settle

from apisurface.sse import iter_payloads
from apisurface.streaming import assemble_chat_stream
from apisurface.transport import BoundaryError

LADDER = ("crash", "differs", "fails", "alone", "equal")
NOTE = (
    "One verdict a recorded stream, worst to best: "
    "crash, differs (from the official library), fails (a typed error), "
    "alone (the official library raises), equal."
)
# Those of the recordings whose official reading raises, and why.
CRASHES = {"TypeError: list indices must be integers or slices, not NoneType": 23}


def ours(chunks: Iterable[bytes], provider: str) -> list[dict[str, Any]]:
    """Return our reading, one dict a choice."""
    whole = assemble_chat_stream(iter_payloads(chunks), provider=provider, all_choices=True)
    choices: list[dict[str, Any]] = whole["choices"]
    return choices


def stripped(part: Any) -> Any:
    """Return a part without the fields that are null: a library may add or leave out those."""
    return {k: v for k, v in part.items() if v is not None} if isinstance(part, dict) else part


def differences(theirs: dict[str, Any], mine: dict[str, Any]) -> list[str]:
    """Return the fields in which two readings of one choice differ."""
    message = mine["message"]
    calls = [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls") or []
    ]
    found = []
    for name in ("content", "refusal", "reasoning"):
        if (message.get(name) or "") != theirs[name]:
            found.append(f"{name} {theirs[name]!r:.60} is {message.get(name)!r:.60}")
    same = len(calls) == len(theirs["calls"]) and all(
        (want[0] or got[0]) == got[0] and want[1] == got[1] and same_arguments(want[2], got[2])
        for want, got in zip(theirs["calls"], calls, strict=True)
    )
    if not same:
        found.append(f"calls {theirs['calls']} are {calls}")
    if mine["finish_reason"] != theirs["finish_reason"]:
        found.append(f"finish {theirs['finish_reason']} is {mine['finish_reason']}")
    if "native" in theirs:
        native = message["native"].get("content") or message["native"].get("output") or []
        for at, (want, got) in enumerate(itertools.zip_longest(theirs["native"], native)):
            if stripped(want) != stripped(got):
                found.append(f"native part {at} {want!r:.60} is {got!r:.60}")
    usage = {key: mine["usage"].get(key) for key in theirs["usage"] or {}}
    if usage != (theirs["usage"] or {}):
        found.append(f"usage {theirs['usage']} is {mine['usage']}")
    return found


def verdict(record: Record) -> str:
    """Judge one stream."""
    try:
        mine = ours([record.body], record.provider)
    except BoundaryError as error:
        return f"fails: {record.provider}, {type(error).__name__}: {error}"[:120]
    except Exception as error:
        return f"crash: {record.provider}, {type(error).__name__}: {error}"[:120]
    count = sum(len(choice["message"].get("tool_calls") or []) for choice in mine)
    about = f"{record.provider}, {count} calls"
    try:
        theirs = official(record.provider, record.body)
    except Exception as error:
        finish = mine[0]["finish_reason"]
        return f"alone: {about}, {finish}; {type(error).__name__}: {error}"[:120]
    if len(theirs) != len(mine):
        return f"differs: {about}, {len(mine)} choices for {len(theirs)}"
    found = [line for pair in zip(theirs, mine, strict=True) for line in differences(*pair)]
    return f"differs: {about}, {'; '.join(found)}"[:400] if found else f"equal: {about}"


@pytest.fixture(scope="module")
def verdicts() -> dict[str, str]:
    return {record.id: verdict(record) for record in streams()}


def test_every_stream_has_the_verdict_on_file_or_a_better_one(verdicts):
    settle("streams", verdicts, LADDER, NOTE)


def test_there_are_several_hundred_streams_and_more_than_two_hundred_with_calls(verdicts):
    called = [v for v in verdicts.values() if ", 0 calls" not in v and " calls" in v]
    assert len(verdicts) == 910
    assert len(called) > 300


def test_where_the_official_library_fails_it_is_for_a_known_reason(verdicts):
    alone = [v.partition("; ")[2] for v in verdicts.values() if v.startswith("alone")]
    assert Counter(alone) == CRASHES
