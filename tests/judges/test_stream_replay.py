"""Wherever the network cuts the recorded streams, the same events come out.

What is assembled is a function of the events alone, in their order (`assemble_chat_stream`
takes nothing else), so equal events mean an equal response. Cut at random, the response itself
is compared as well. Cutting a stream of n bytes at every place costs n² when each time all of
it is read again, so for the single splits only the event with the cut is read, and one after
it: an event begins in the state that the last blank line left, whatever stood before it.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator

import pytest
from judges.cassettes import Record, streams
from judges.test_streams import ours

from apisurface.sse import SSEDecoder, iter_sse

BLANK = re.compile(rb"(?:\r\n|\n){2}|\Z")


@pytest.fixture(scope="module")
def recorded() -> list[Record]:
    return streams()


def events_of(body: bytes) -> list[bytes]:
    """Return the bytes of each event, its blank line included; comments are events too."""
    ends = [found.end() for found in BLANK.finditer(body)]
    pieces = [body[a:b] for a, b in itertools.pairwise([0, *ends])]
    return [piece for piece in pieces if piece]


def test_one_byte_at_a_time(recorded):
    for record in recorded:
        single = iter_sse(record.body[at : at + 1] for at in range(len(record.body)))
        assert list(single) == list(iter_sse([record.body])), record.id


def test_every_single_split_of_those_up_to_8_kb(recorded):
    small = [record.body for record in recorded if len(record.body) <= 8192]
    assert sum(map(len, small)) > 2_000_000
    for event in {event for body in small for event in events_of(body)}:
        both = event + b"data: next\n\n"
        whole = list(iter_sse([both]))
        for at in range(len(event)):
            decoder = SSEDecoder()
            found = decoder.feed(both[:at]) + decoder.feed(both[at:]) + decoder.flush()
            assert found == whole, (at, both)


def random_chunks(body: bytes, chance: random.Random) -> Iterator[bytes]:
    """Cut a body into chunks of lengths that vary from one byte to all of it."""
    at, most = 0, chance.choice((3, 40, 400, 4000, 40000))
    while at < len(body):
        size = chance.randint(1, most)
        yield body[at : at + size]
        at += size


def test_random_splits_give_the_same_response(recorded):
    chance = random.Random(5)
    for record in recorded:
        cut = ours(random_chunks(record.body, chance), record.provider)
        assert cut == ours([record.body], record.provider), record.id
