"""The recorded traffic is all there and decoded, and its counts are known."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from judges.cassettes import Record, records, streams

# Exchanges, replies with an error status and streams, in the pinned archives together.
COUNTS = {
    "anthropic": (557, 12, 233),
    "gemini": (200, 6, 56),
    "openai-chat": (779, 18, 324),
    "openai-responses": (595, 8, 297),
    "other": (444, 26, 25),
}


@pytest.fixture(scope="module")
def recorded() -> tuple[Record, ...]:
    return records()


def test_every_exchange_is_counted(recorded):
    found: dict[str, list[int]] = {}
    for each in recorded:
        counts = found.setdefault(each.provider, [0, 0, 0])
        for place, true in enumerate((True, each.status >= 400, each.is_stream)):
            counts[place] += true
    assert {provider: tuple(counts) for provider, counts in found.items()} == COUNTS
    assert len(streams()) == 910


def test_the_ids_are_unique(recorded):
    assert max(Counter(each.id for each in recorded).values()) == 1


def test_no_body_is_left_compressed_or_decoded_with_the_wrong_table(recorded):
    for each in recorded:
        coding = each.headers.get("content-encoding", "**REDACTED**")
        assert coding in ("gzip", "**REDACTED**"), each.id
        if each.provider != "other":
            text = each.body.decode()  # UTF-8 throughout
            assert not re.search("[\x80-\x9f]|â€|Ã[\x80-\xbf]", text), each.id


def test_no_address_carries_a_key(recorded):
    assert not [each.url for each in recorded if re.search(r"[?@]|key=", each.url)]


def test_a_reply_is_json_or_a_stream_wherever_one_of_the_four_shapes_was_spoken(recorded):
    strange = [
        (each.id, each.status, each.body[:40])
        for each in recorded
        if each.provider != "other" and not each.is_stream and each.answer is None
    ]
    assert strange == []
