"""The wire: what is sent, what comes back, and every way it can be wrong."""

import inspect
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apisurface import (
    BoundaryError,
    ConfigError,
    HttpTransport,
    MalformedResponse,
    ProviderError,
    ScriptedModel,
    chat,
)

KEY = "sk-live-0123456789"
ASK = [{"role": "user", "content": "Where is order O-0042?"}]
ANSWER = {"role": "assistant", "content": "It shipped."}
GOOD = {"id": "r1", "choices": [{"message": ANSWER, "finish_reason": "stop"}]}
SENT = json.dumps(GOOD).encode()
JSON_TYPE = "Content-Type: application/json"


def ask(transport, base_url="https://h", **options):
    return chat(base_url, "m", ASK, transport=transport, **options)


# --- the contract's figures ---


def test_the_scripted_exchange_of_the_contract():
    messages = [
        {"role": "system", "content": "You are a support assistant. Be terse."},
        {"role": "user", "content": "Where is order O-0042?"},
    ]
    answer = {"role": "assistant", "content": "Order O-0042 shipped on the 3rd."}
    model = ScriptedModel([(answer, "stop")])
    result = chat("https://h", "m", messages, transport=model)
    assert list(result) == ["message", "finish_reason", "usage", "request_id"]
    assert result["message"] == answer
    assert (result["finish_reason"], result["request_id"]) == ("stop", "stub-1")
    assert result["usage"] == {
        "prompt_tokens": 40,
        "completion_tokens": 17,
        "total_tokens": 57,
    }


def test_the_body_has_the_keys_of_the_contract_in_order():
    model = ScriptedModel([(ANSWER, "stop")])
    ask(model)
    assert list(model.last_body) == ["model", "messages", "temperature", "top_p", "max_tokens"]
    ask(model, tools=[{"type": "function"}], tool_choice="none", response_format={"type": "x"})
    assert list(model.last_body)[5:] == [
        "tools",
        "parallel_tool_calls",
        "response_format",
        "tool_choice",
    ]
    assert model.last_body["parallel_tool_calls"] is False
    assert model.calls == 2


def test_signatures():
    assert str(inspect.signature(HttpTransport.__init__)).startswith(
        "(self, *, api_key: 'str | None' = None, headers: 'Mapping[str, str] | None' = None, "
        "timeout: 'float | None' = 30.0, deadline: 'float | None' = None, "
    )
    parameters = inspect.signature(chat).parameters
    assert list(parameters) == [
        *("base_url", "model", "messages", "transport", "tools", "response_format"),
        *("temperature", "top_p", "max_tokens", "tool_choice", "parallel_tool_calls"),
        "extra_body",
    ]
    defaults = [parameters[name].default for name in ("temperature", "top_p", "max_tokens")]
    assert defaults == [0.0, 1.0, 256]


# --- the address ---

V1 = "https://h/v1/chat/completions"


@pytest.mark.parametrize(
    ("base_url", "endpoint"),
    [
        ("https://h", V1),  # B011
        ("https://h/", V1),
        ("https://h/v1", V1),
        ("https://h/v1/", V1),
        ("https://h/api/v1", "https://h/api/v1/chat/completions"),
        ("https://h/api/v1/", "https://h/api/v1/chat/completions"),  # B013
        ("https://h/v1beta/openai/", "https://h/v1beta/openai/chat/completions"),
        ("https://h/v1beta1/openapi", "https://h/v1beta1/openapi/chat/completions"),
        ("https://h/v10", "https://h/v10/chat/completions"),
        ("https://h/v1x/vllm", "https://h/v1x/vllm/chat/completions"),
        ("https://h/dev1/api", "https://h/dev1/api/v1/chat/completions"),
        ("https://h/v/api", "https://h/v/api/v1/chat/completions"),
        ("https://h//v1//", V1),
        (V1, V1),  # B014
        (V1 + "/", V1),
        (V1 + "?api-version=2024-10-21", V1 + "?api-version=2024-10-21"),
        ("https://h/proxy?key=abc", "https://h/proxy/v1/chat/completions?key=abc"),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/chat/completions"),
        ("http://[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
        (" https://h/v1\n", V1),
    ],
)
def test_one_endpoint_from_every_form_of_base_url(base_url, endpoint):
    seen = []
    ask(lambda url, body: seen.append(url) or GOOD, base_url)
    assert seen == [endpoint]


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "h/v1",
        "localhost:8080",
        "ftp://h",
        "https://",
        "https://h/a b",
        "https://h/v1#x",
        None,
    ]
    + ["https://h:99999", "https://[::1", "https://h/v1\u0000"],
)
def test_an_address_that_cannot_work_is_a_config_error(base_url):
    with pytest.raises(ConfigError, match="base_url must be"):
        ask(lambda url, body: GOOD, base_url)


def test_b017_a_refused_address_does_not_show_its_secrets():
    with pytest.raises(ConfigError) as caught:
        ask(lambda url, body: GOOD, "ftp://me:hunter22@h/v1?key=SECRET")
    assert "hunter22" not in str(caught.value)
    assert "SECRET" not in str(caught.value)


# --- the arguments ---


@pytest.mark.parametrize(
    "options",
    [{"temperature": t} for t in (-0.1, float("nan"), float("inf"), True, "0", None)]
    + [{"top_p": p} for p in (0, -0.1, 1.1, 2, float("nan"), None)]
    + [{"max_tokens": n} for n in (0, -1, 1.5, True, None)],
)
def test_a_control_out_of_its_domain_is_the_callers_value_error(options):
    [name] = options
    with pytest.raises(
        ValueError, match=rf"{name} must be .*extra_body=\{{'{name}': None\}}"
    ) as e:
        ask(lambda url, body: GOOD, **options)
    assert not isinstance(e.value, BoundaryError)


@pytest.mark.parametrize("messages", [[], "hi", {"role": "user"}, [{"content": "x"}], ["hi"]])
def test_messages_that_are_no_conversation_are_refused(messages):
    with pytest.raises(ValueError, match="messages"):
        chat("https://h", "m", messages, transport=lambda url, body: GOOD)


@pytest.mark.parametrize("model", ["", None, 3])
def test_a_model_without_a_name_is_refused(model):
    with pytest.raises(ValueError, match="model must be"):
        chat("https://h", model, ASK, transport=lambda url, body: GOOD)


def test_extra_body_adds_replaces_and_leaves_out():
    model = ScriptedModel([(ANSWER, "stop")])
    extra = {
        "max_tokens": None,
        "max_completion_tokens": 64,
        "seed": 7,
        "top_p": 0.5,
        "stop": None,
    }
    ask(model, extra_body=extra)
    assert list(model.last_body) == [
        *("model", "messages", "temperature", "top_p"),
        *("max_completion_tokens", "seed", "stop"),
    ]
    assert model.last_body["top_p"] == 0.5
    assert model.last_body["stop"] is None


@pytest.mark.parametrize("extra", [{"stream": True}, {"n": 2}])
def test_extra_body_cannot_ask_for_what_chat_does_not_read(extra):
    with pytest.raises(ValueError, match="one whole choice"):
        ask(lambda url, body: GOOD, extra_body=extra)


# --- HTTP 200 is not success ---


def test_b008_an_error_inside_a_good_status_is_a_provider_error():
    body = {"error": {"code": 429, "message": "Provider rate limited"}}
    with pytest.raises(ProviderError) as caught:
        ask(lambda url, body_: body)
    error = caught.value
    assert (error.status, error.code, error.message) == (200, 429, "Provider rate limited")
    assert error.body == body


def test_an_error_inside_a_choice_is_a_provider_error():
    choice = {"error": {"code": 502, "message": "upstream died"}, "message": ANSWER}
    reply_ = {"choices": [choice], "usage": {"total_tokens": 9}}
    with pytest.raises(ProviderError, match="upstream died") as caught:
        ask(lambda url, body: reply_)
    assert caught.value.body == reply_
    ended = {"choices": [{"message": ANSWER, "finish_reason": "error"}]}
    with pytest.raises(ProviderError, match="finished with an error"):
        ask(lambda url, body: ended)


@pytest.mark.parametrize(
    "broken",
    [
        *({}, [], None, "text", 3, {"choices": None}, {"choices": []}, {"choices": {}}),
        *({"choices": [None]}, {"choices": [{}]}, {"choices": [{"message": None}]}),
        {"choices": [{"message": "It shipped."}]},
        {"choices": [{"message": ANSWER, "finish_reason": 3}]},
        {"choices": [{"message": ANSWER}], "usage": [1]},
        {"choices": [{"message": ANSWER}, {"message": ANSWER}]},
        {"id": 3, "choices": [{"message": ANSWER}]},
    ],
)
def test_b008_a_reply_that_is_no_completion_is_malformed_and_kept(broken):
    with pytest.raises(MalformedResponse) as caught:
        ask(lambda url, body: broken)
    assert caught.value.raw == broken
    assert caught.value.status == 200


def test_a_null_error_and_a_null_usage_are_no_error():
    good = GOOD | {"error": None, "usage": None}
    assert ask(lambda url, body: good) == {
        "message": ANSWER,
        "finish_reason": "stop",
        "usage": {},
        "request_id": "r1",
    }


def test_what_a_reply_does_not_say_is_none():
    result = ask(lambda url, body: {"choices": [{"message": ANSWER}]})
    assert (result["finish_reason"], result["request_id"], result["usage"]) == (None, None, {})


JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "error", "usage", "finish_reason", "id", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON_VALUE)
def test_whatever_json_comes_back_is_a_result_or_a_boundary_error(value):
    try:
        result = ask(lambda url, body: value)
    except BoundaryError as error:
        assert str(error)
    else:
        assert isinstance(result["message"], dict)


# --- the scripted model ---


def test_the_script_plays_in_order_and_repeats_its_last_turn():
    turns = [({"role": "assistant", "content": str(n)}, "stop") for n in (1, 2)]
    model = ScriptedModel(turns)
    replies = [model("u", {}) for _ in range(3)]
    contents = [reply_["choices"][0]["message"]["content"] for reply_ in replies]
    assert contents == ["1", "2", "2"]
    assert [reply_["id"] for reply_ in replies] == ["stub-1", "stub-2", "stub-3"]


def test_the_script_cannot_be_changed_through_what_it_returns_or_was_given():
    message = {"role": "assistant", "content": "a"}
    model = ScriptedModel([(message, "stop")])
    message["content"] = "b"
    first = model("u", {"messages": ASK})
    first["choices"][0]["message"]["content"] = "c"
    assert model("u", {})["choices"][0]["message"]["content"] == "a"


def test_last_body_is_what_json_carried():
    body = {"messages": [{"role": "user", "content": "a"}]}
    model = ScriptedModel([(ANSWER, "stop")])
    model("u", body)
    body["messages"].append("later")
    assert model.last_body == {"messages": [{"role": "user", "content": "a"}]}
    with pytest.raises(ValueError, match="lone surrogate"):
        model("u", {"a": "\ud83d"})


def test_usage_is_computed_from_the_message():
    model = ScriptedModel([({}, "stop")], prompt_tokens=3)
    assert model("u", {})["usage"] == {
        "prompt_tokens": 3,
        "completion_tokens": 1,
        "total_tokens": 4,
    }


@pytest.mark.parametrize("turns", [[], [("text", "stop")], [({},)]])
def test_a_script_that_is_none_is_refused(turns):
    with pytest.raises(ValueError, match="message, finish_reason"):
        ScriptedModel(turns)


def assembled(chunks):
    """Join a stream's deltas the plain way; the streaming chapter does it for real servers."""
    message, finish, usage = {"content": None}, None, None
    events = [line[6:] for line in b"".join(chunks).decode().split("\n\n") if line]
    assert events.pop() == "[DONE]"
    for event in map(json.loads, events):
        usage = event.get("usage", usage)
        for choice in event["choices"]:
            finish = choice["finish_reason"] or finish
            for key, value in choice["delta"].items():
                if key == "content" and value is not None:
                    message["content"] = (message["content"] or "") + value
                elif key == "tool_calls":
                    calls = message.setdefault("tool_calls", [])
                    for piece in value:
                        if piece["index"] == len(calls):
                            calls.append({k: v for k, v in piece.items() if k != "index"})
                        else:
                            more = piece["function"]["arguments"]
                            calls[piece["index"]]["function"]["arguments"] += more
                elif key != "content":
                    message[key] = value
    return message, finish, usage


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "Order O-0042 shipped on the 3rd. 🚚"},
        {"role": "assistant", "content": None, "refusal": "no"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"call_{n}",
                    "type": "function",
                    "function": {"name": "lookup_order", "arguments": arguments},
                }
                for n, arguments in enumerate(['{"order_id": "O-0042"}', "", "{}"])
            ],
        },
    ],
)
def test_the_stream_carries_the_same_turn(message):
    model = ScriptedModel([(message, "stop")])
    chunks = list(model.stream("u", {}))
    assert [b'"stop"' in chunk for chunk in chunks] == [False] * (len(chunks) - 3) + [
        True,
        False,
        False,
    ]
    streamed = assembled(chunks)
    whole = model("u", {})
    [choice], usage = whole["choices"], whole["usage"]
    assert streamed == (choice["message"], choice["finish_reason"], usage)
    assert model.calls == 2


# --- the module ---


def test_the_package_loads_httpx_only_when_a_transport_is_made():
    code = (
        "import sys; import apisurface; before = 'httpx' in sys.modules; "
        "apisurface.HttpTransport().close(); print(before, 'httpx' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert run.stdout.split() == ["False", "True"]
