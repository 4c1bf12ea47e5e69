"""Server-sent events: every cut, every line end, and what real servers send."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apisurface import IncompleteToolStream, MalformedStream, SSEDecoder, SSEvent, iter_sse
from apisurface.sse import iter_payloads, read_payload

X = {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]}


def data_of(*chunks: bytes) -> list[str]:
    return [event.data for event in iter_sse(chunks)]


def lines(*text: str) -> bytes:
    return "\n".join([*text, ""]).encode()


def test_b001_comments_are_ignored_between_lines_and_as_a_whole_event() -> None:
    sent = lines(
        ": OPENROUTER PROCESSING",
        "",
        ": ping - 2024-02-23",
        f"data: {json.dumps(X)}",
        ": inside",
        "",
        "data: [DONE]",
        "",
    )
    assert list(iter_payloads([sent])) == [X]
    assert len(list(iter_sse([sent]))) == 2


def test_b002_a_bare_colon_is_a_comment_and_the_space_may_be_missing() -> None:
    sent = lines(":", "", f"data:{json.dumps(X)}", "", "data:[DONE]", "")
    assert list(iter_payloads([sent])) == [X]
    assert data_of(b"data:  x\n\n") == [" x"]


def test_b004_only_cr_lf_and_crlf_end_a_line() -> None:
    text = "a\u2028b\u0085c\u2029d"
    sent = f'data: {{"t":"{text}"}}\n\n'.encode()
    assert data_of(sent) == [f'{{"t":"{text}"}}']
    assert next(iter_payloads([sent]))["t"] == text


def test_control_characters_that_splitlines_cuts_at_stay_in_the_data() -> None:
    assert data_of(b"data: a\x0bb\x0cc\x1cd\x1de\x1ef\n\n") == ["a\x0bb\x0cc\x1cd\x1de\x1ef"]


def test_b005_crlf_over_two_chunks_is_one_end_of_a_line() -> None:
    chunks = [b'data: {"a":1}\r', b'\ndata: {"b":2}\r\n\r\n']
    assert data_of(*chunks) == ['{"a":1}\n{"b":2}']
    with pytest.raises(MalformedStream, match="not JSON"):
        list(iter_payloads(chunks))


def test_an_empty_chunk_between_cr_and_lf_changes_nothing() -> None:
    assert data_of(b"data: 1\r", b"", b"\ndata: 2\n\n") == ["1\n2"]


def test_a_lone_cr_ends_a_line_and_two_end_the_event() -> None:
    assert data_of(b"data: 1\r\rdata: 2\r\r") == ["1", "2"]


def test_b007_a_stream_that_ends_inside_a_character_is_an_error_that_names_the_bytes() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: whole\n\ndata: \xe9\x82") == [SSEvent("message", "whole", "")]
    with pytest.raises(MalformedStream, match=r"unexpected end of data .*\\xe9\\x82"):
        decoder.flush()
    with pytest.raises(MalformedStream):
        list(iter_sse([bytes.fromhex("646174613a20"), bytes.fromhex("e982")]))


def test_b007_bytes_that_are_no_utf8_are_an_error_after_what_came_before_them() -> None:
    seen = []
    with pytest.raises(MalformedStream, match="invalid start byte"):
        seen.extend(iter_sse([b"data: 1\n\ndata: \xff\n\n", b"data: 2\n\n"]))
    decoder = SSEDecoder()
    assert decoder.feed(b"data: 1\n\ndata: \xff\n\ndata: 2\n\n") == [
        SSEvent("message", "1", "")
    ]
    for _ in range(2):
        with pytest.raises(MalformedStream, match="invalid start byte"):
            decoder.feed(b"data: 3\n\n")
    with pytest.raises(MalformedStream, match="invalid start byte"):
        decoder.flush()


def test_b007_a_cut_inside_a_character_of_an_object_is_a_broken_off_stream() -> None:
    with pytest.raises(IncompleteToolStream, match="broke off inside an event"):
        list(iter_payloads([b'data: {"t": "\xe9\x82']))


def test_b019_exactly_one_byte_order_mark_is_stripped_at_the_start() -> None:
    chunks = ["efbb", "bf", "646174613a20310a0a", "646174613a20320a0a"]
    assert data_of(*map(bytes.fromhex, chunks)) == ["1", "2"]
    assert data_of("data: \ufeffx\n\n".encode()) == ["\ufeffx"]
    assert data_of("\ufeff\ufeffdata: x\n\ndata: y\n\n".encode()) == ["y"]
    assert data_of("data: x\n\n\ufeffdata: y\n\n".encode()) == ["x"]


def test_b020_data_lines_are_joined_with_a_line_feed() -> None:
    sent = lines('data: {"choices":[],', 'data: "usage":{"total_tokens":1}}', "")
    assert data_of(sent) == ['{"choices":[],\n"usage":{"total_tokens":1}}']
    assert list(iter_payloads([sent])) == [{"choices": [], "usage": {"total_tokens": 1}}]


def test_b046_a_keep_alive_as_data_is_skipped_and_no_other_bad_json_is() -> None:
    good = f"data: {json.dumps(X)}"
    sent = lines("data: : OPENROUTER PROCESSING", "", good, "", "data: [DONE]", "")
    assert list(iter_payloads([sent])) == [X]
    with pytest.raises(MalformedStream, match="<html>"):
        list(iter_payloads([lines("data: <html>502</html>", "", good, "")]))


def test_nothing_is_read_behind_done() -> None:
    assert list(iter_payloads([b"data: [DONE]\n\ndata: <\n\n"])) == []
    assert list(iter_payloads([b'data: {"a":1}\n\ndata: [DONE]'])) == [{"a": 1}]


@pytest.mark.parametrize(
    ("sent", "events"),
    [
        (b"", []),
        (b"\n\n\n", []),
        (b"data\n\n", [("message", "", "")]),
        (b"data:\ndata:\n\n", [("message", "\n", "")]),
        (b"event: a\n\ndata: 1\n\n", [("message", "1", "")]),
        (b"event: a\ndata: 1\n\ndata: 2\n\n", [("a", "1", ""), ("message", "2", "")]),
        (b"id: 7\ndata: 1\n\ndata: 2\n\n", [("message", "1", "7"), ("message", "2", "7")]),
        (b"id: 7\n\ndata: 2\n\n", [("message", "2", "7")]),
        (b"id: 7\nid\ndata: 1\n\n", [("message", "1", "")]),
        (b"id: a\0b\ndata: 1\n\n", [("message", "1", "")]),
        (b"Data: x\n data: y\nretry: 3\nfoo\ndata: z\n\n", [("message", "z", "")]),
        (b"data: 1\n\ndata: 2", [("message", "1", ""), ("message", "2", "")]),
        (b"data: 1\nevent: e", [("e", "1", "")]),
        (b"event: e\nid: 3", []),
    ],
)
def test_fields_as_the_specification_reads_them(sent: bytes, events: list[object]) -> None:
    assert [(e.event, e.data, e.id) for e in iter_sse([sent])] == events
    single = [bytes([byte]) for byte in sent]
    assert [(e.event, e.data, e.id) for e in iter_sse(single)] == events


def test_an_event_is_delivered_with_the_chunk_that_completes_it() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: 1\n") == []
    assert decoder.feed(b"\r") == [SSEvent("message", "1", "")]
    assert decoder.feed(b"\n") == []
    assert decoder.flush() == []


def test_the_reader_pulls_no_chunk_before_it_needs_one() -> None:
    def chunks():
        yield b"data: 1\n\n"
        raise AssertionError("pulled too early")

    assert next(iter_sse(chunks())).data == "1"


PAYLOADS = [
    (SSEvent("message", "", ""), None),
    (SSEvent("message", " [DONE] ", ""), None),
    (SSEvent("message", ": ping", ""), None),
    (SSEvent("message", '{"a": NaN}', ""), "object"),
    (SSEvent("message", '{"error": null}', ""), {"error": None}),
    (SSEvent("message", '[{"error": {"code": 1}}]', ""), {"error": {"code": 1}}),
    (SSEvent("error", '{"message": "m"}', ""), {"error": {"message": "m"}}),
    (SSEvent("error", '{"error": "e"}', ""), {"error": "e"}),
    (SSEvent("delta", '{"a": 1}', ""), {"a": 1}),
    (SSEvent("message", '{"a": 1}', ""), {"a": 1}),
]


@pytest.mark.parametrize(("event", "want"), PAYLOADS)
def test_payloads(event: SSEvent, want: object) -> None:
    got = read_payload(event)
    assert isinstance(got, dict) if want == "object" else got == want


@pytest.mark.parametrize(
    "data", ["[]", "[1]", "[{}]", '[{"error": 1}, 2]', "null", "1", '"x"', "{", "[" * 100_000]
)
def test_what_is_no_object_is_malformed_with_its_text(data: str) -> None:
    with pytest.raises(MalformedStream) as caught:
        read_payload(SSEvent("message", data, ""))
    assert caught.value.raw == data
    assert len(str(caught.value)) < 260


def naive(text: str) -> list[tuple[str, str, str]]:
    """Read whole text by the letter of the specification."""
    found, data, event, last = [], [], "", ""
    for line in re.split("\r\n|\r|\n", text.removeprefix("\ufeff")) + [""]:
        name, _, value = line.partition(":")
        value = value[1:] if value[:1] == " " else value
        if line == "":
            if data:
                found.append((event or "message", "\n".join(data), last))
            data, event = [], ""
        elif name == "data":
            data.append(value)
        elif name == "event":
            event = value
        elif name == "id" and "\0" not in value:
            last = value
    return found


PIECES = st.sampled_from(
    [
        "data",
        "event",
        "id",
        ":",
        " ",
        "\r",
        "\n",
        "\r\n",
        "x",
        "\ufeff",
        "\u2028",
        "ü",
        "\0",
        "😀",
    ]
)


@given(st.lists(PIECES, max_size=40), st.lists(st.integers(0, 200), max_size=8))
def test_any_text_in_any_pieces_is_read_as_the_specification_says(
    pieces: list[str], cuts: list[int]
) -> None:
    text = "".join(pieces)
    raw = text.encode()
    places = [0, *sorted(min(cut, len(raw)) for cut in cuts), len(raw)]
    chunks = [raw[a:b] for a, b in pairwise(places)]
    assert [(e.event, e.data, e.id) for e in iter_sse(chunks)] == naive(text)


def test_a_long_line_in_many_pieces_is_joined_once() -> None:
    chunks = [b"data: ", *[b"x" * 10] * 20_000, b"\n\n"]
    [event] = iter_sse(chunks)
    assert event.data == "x" * 200_000


def test_a_quotation_is_as_long_as_a_line_of_a_log_may_be() -> None:
    error = MalformedStream("what", raw="x" * 10_000)
    assert str(error) == "what; got '" + "x" * 159
    assert error.raw == "x" * 10_000


def test_of_two_line_feeds_after_a_cr_in_chunks_of_their_own_only_one_belongs_to_it() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: 1\r") == decoder.feed(b"\n") == []
    assert decoder.feed(b"\n") == [SSEvent("message", "1", "")]
