"""The boundary against a real model: properties that any answer must have, never its text."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jsonschema
import pytest

from apisurface.transport import DeadlineExceeded, HttpTransport, ProviderError
from apisurface.wire import ScriptedModel, chat
from tools.exchanges import QUESTION, REFUND, TICKET, schema_format, stream_body
from tools.model_server import ModelServer
from tools.tape import shape

ENDLESS = {"ignore_eos": True, "max_tokens": 1500}


def ask(server: ModelServer, transport: Any, **more: Any) -> dict[str, Any]:
    return chat(server.base_url, server.model, QUESTION, transport=transport, **more)


def test_four_fields_and_a_sum(server: ModelServer, transport: HttpTransport) -> None:
    answer = ask(server, transport, max_tokens=20)
    assert list(answer) == ["message", "finish_reason", "usage", "request_id"]
    assert answer["message"]["role"] == "assistant"
    assert isinstance(answer["message"]["content"], str)
    usage = answer["usage"]
    assert usage["prompt_tokens"] + usage["completion_tokens"] == usage["total_tokens"]
    assert 1 <= usage["completion_tokens"] <= 20
    assert answer["request_id"]


def test_every_form_of_the_address_reaches_it(server: ModelServer) -> None:
    with HttpTransport(api_key=server.api_key, timeout=120, trust_env=False) as transport:
        for form in ("", "/", "/v1", "/v1/", "/v1/chat/completions"):
            answer = chat(
                server.base_url + form,
                server.model,
                QUESTION,
                transport=transport,
                max_tokens=1,
            )
            assert answer["finish_reason"] == "length"


def test_length_when_the_budget_ends_it(server: ModelServer, transport: HttpTransport) -> None:
    answer = ask(server, transport, max_tokens=3, extra_body={"ignore_eos": True})
    assert answer["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 3


def test_the_newer_name_of_the_budget(server: ModelServer, transport: HttpTransport) -> None:
    newer = {"max_tokens": None, "max_completion_tokens": 3, "ignore_eos": True}
    answer = ask(server, transport, extra_body=newer)
    assert answer["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 3


def test_stop_when_the_answer_ends_itself(
    server: ModelServer, transport: HttpTransport
) -> None:
    one_word = schema_format({"enum": ["shipped", "packed"]})
    answer = ask(server, transport, response_format=one_word)
    assert answer["finish_reason"] == "stop"
    assert json.loads(answer["message"]["content"]) in ("shipped", "packed")


@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_a_schema_held_while_decoding(
    server: ModelServer, transport: HttpTransport, temperature: float
) -> None:
    answer = chat(
        server.base_url,
        server.model,
        TICKET,
        transport=transport,
        response_format=schema_format(REFUND),
        temperature=temperature,
        extra_body={"seed": 7},
    )
    assert answer["finish_reason"] == "stop"
    jsonschema.validate(json.loads(answer["message"]["content"]), REFUND)


def test_an_unknown_schema_type_is_a_400(server: ModelServer, transport: HttpTransport) -> None:
    with pytest.raises(ProviderError, match="money") as caught:
        ask(server, transport, response_format=schema_format({"type": "money"}))
    assert caught.value.status == 400
    assert caught.value.message


def test_a_wrong_path_is_a_404(server: ModelServer, transport: HttpTransport) -> None:
    with pytest.raises(ProviderError) as caught:
        chat(f"{server.base_url}/nowhere", server.model, QUESTION, transport=transport)
    assert caught.value.status == 404


def test_a_wrong_key_is_a_401_and_stays_hidden(server: ModelServer) -> None:
    with (
        HttpTransport(api_key="k-secret-and-wrong", trust_env=False) as transport,
        pytest.raises(ProviderError) as caught,
    ):
        ask(server, transport)
    assert caught.value.status == 401
    assert "k-secret-and-wrong" not in f"{transport!r} {caught.value!r} {caught.value}"


def test_the_right_key_is_not_shown(server: ModelServer, transport: HttpTransport) -> None:
    assert server.api_key not in f"{transport!r} {server!r} {transport}"


def test_a_stream_is_data_lines_with_a_count_at_the_end(
    server: ModelServer, transport: HttpTransport
) -> None:
    body = stream_body(server.model, {"messages": QUESTION, "max_tokens": 12})
    text = b"".join(transport.stream(f"{server.base_url}/v1/chat/completions", body)).decode()
    lines = [line for line in text.split("\n") if line and not line.startswith(":")]
    assert all(line.startswith("data: ") for line in lines)
    assert lines[-1] == "data: [DONE]"
    events = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    assert len({event["id"] for event in events}) == 1
    *pieces, last = events
    assert last["choices"] == []
    usage = last["usage"]
    assert usage["prompt_tokens"] + usage["completion_tokens"] == usage["total_tokens"]
    choices = [event["choices"][0] for event in pieces]
    assert choices[0]["delta"]["role"] == "assistant"
    assert [c["finish_reason"] for c in choices if c["finish_reason"]] in (["stop"], ["length"])


def test_a_refused_stream_is_a_typed_error(
    server: ModelServer, transport: HttpTransport
) -> None:
    body = stream_body(server.model, {"messages": QUESTION}) | {"messages": "hello"}
    with pytest.raises(ProviderError) as caught:
        list(transport.stream(f"{server.base_url}/v1/chat/completions", body))
    assert caught.value.status == 400


def test_the_deadline_cuts_a_long_answer(server: ModelServer) -> None:
    with (
        HttpTransport(
            api_key=server.api_key, timeout=120, deadline=1, trust_env=False
        ) as hurried,
        pytest.raises(DeadlineExceeded),
    ):
        ask(server, hurried, extra_body=ENDLESS)


def test_the_deadline_cuts_a_stream_that_still_arrives(server: ModelServer) -> None:
    body = stream_body(server.model, {"messages": QUESTION}) | ENDLESS
    url = f"{server.base_url}/v1/chat/completions"
    seen: list[bytes] = []
    for deadline in (1, 4, 16, 64):  # seconds: a busy machine needs some before the first piece
        with (
            HttpTransport(
                api_key=server.api_key, timeout=120, deadline=deadline, trust_env=False
            ) as hurried,
            pytest.raises(DeadlineExceeded),
        ):
            seen.extend(hurried.stream(url, body))
        if seen:
            break
    assert seen[0].startswith(b"data: ")
    assert b"[DONE]" not in seen[-1]


def test_a_cut_answer_leaves_the_server_free(
    server: ModelServer, transport: HttpTransport
) -> None:
    with HttpTransport(
        api_key=server.api_key, timeout=120, deadline=1, trust_env=False
    ) as hurried:
        for _ in range(2):  # as many as the server has slots
            with pytest.raises(DeadlineExceeded):
                ask(server, hurried, extra_body=ENDLESS)
    answer = ask(server, transport, max_tokens=2, extra_body={"ignore_eos": True})
    assert answer["usage"]["completion_tokens"] == 2


def test_one_transport_carries_requests_side_by_side(
    server: ModelServer, transport: HttpTransport
) -> None:
    with ThreadPoolExecutor(4) as pool:
        budgets = [2, 5, 3, 6]
        asked = [
            pool.submit(ask, server, transport, max_tokens=n, extra_body={"ignore_eos": True})
            for n in budgets
        ]
        answers = [future.result() for future in asked]
    assert [answer["usage"]["completion_tokens"] for answer in answers] == budgets
    assert len({answer["request_id"] for answer in answers}) == len(budgets)


def test_the_scripted_model_says_nothing_that_a_real_one_does_not(
    server: ModelServer, transport: HttpTransport
) -> None:
    body = {"model": server.model, "messages": QUESTION, "max_tokens": 5}
    url = f"{server.base_url}/v1/chat/completions"
    turn = {"role": "assistant", "content": "Order O-0042 shipped on the 3rd."}
    scripted = ScriptedModel([(turn, "stop")])(url, body)
    assert shape(scripted) <= shape(transport(url, body))
