"""The request for structured output: the schema of the book, and the block that carries it."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from apisurface import REFUND_SCHEMA, BoundaryError, ScriptedModel, chat, schema_response_format

GOOD = {"ticket_id": "T-011", "action": "refund", "order_id": "O-0011"} | {
    "amount_cents": 1307,
    "currency": "USD",
}
JUDGE = Draft202012Validator(REFUND_SCHEMA)


def test_the_schema_is_valid_itself_and_holds_the_five_fields() -> None:
    Draft202012Validator.check_schema(REFUND_SCHEMA)
    assert list(REFUND_SCHEMA["properties"]) == list(GOOD) == REFUND_SCHEMA["required"]
    assert REFUND_SCHEMA["additionalProperties"] is False


@pytest.mark.parametrize(
    "change", [{}, {"action": "deny", "amount_cents": 0, "currency": "EUR"}]
)
def test_good_decisions_fit(change: dict[str, Any]) -> None:
    assert JUDGE.is_valid(GOOD | change)


@pytest.mark.parametrize(
    "change",
    [
        {"ticket_id": "T-11"},
        {"ticket_id": "T-0111"},
        {"ticket_id": "xT-011"},
        {"ticket_id": 11},
        {"action": "pay"},
        {"action": None},
        {"order_id": "O-011"},
        {"order_id": "o-0011"},
        {"order_id": "O-00111"},
        {"amount_cents": -1},
        {"amount_cents": "1307"},
        {"amount_cents": 13.07},
        {"amount_cents": True},
        {"currency": "usd"},
        {"currency": "GBP"},
        {"note": "stray field"},
    ],
)
def test_each_fault_is_exactly_one_violation(change: dict[str, Any]) -> None:
    kinds = {error.validator for error in JUDGE.iter_errors(GOOD | change)}
    assert len(kinds - {"type"}) <= 1
    assert kinds


@pytest.mark.parametrize("field", GOOD)
def test_every_field_is_required(field: str) -> None:
    assert not JUDGE.is_valid({name: value for name, value in GOOD.items() if name != field})


def test_the_block_is_what_an_openai_compatible_server_understands() -> None:
    assert schema_response_format("refund_decision", REFUND_SCHEMA) == {
        "type": "json_schema",
        "json_schema": {"name": "refund_decision", "schema": REFUND_SCHEMA, "strict": True},
    }


def test_the_block_goes_over_the_wire_as_it_is() -> None:
    model = ScriptedModel([({"role": "assistant", "content": "{}"}, "stop")])
    block = schema_response_format("refund_decision", REFUND_SCHEMA)
    ask = [{"role": "user", "content": "Extract."}]
    chat("https://h", "m", ask, transport=model, response_format=block)
    assert model.last_body["response_format"] == block


def test_a_change_to_the_block_never_reaches_the_schema_that_is_checked_with() -> None:
    before = copy.deepcopy(REFUND_SCHEMA)
    block = schema_response_format("refund_decision", REFUND_SCHEMA)
    block["json_schema"]["schema"]["properties"]["amount_cents"].clear()
    assert before == REFUND_SCHEMA


@given(st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True))
def test_names_that_providers_take(name: str) -> None:
    assert schema_response_format(name, {})["json_schema"]["name"] == name


@pytest.mark.parametrize("name", ["", "refund decision", "x" * 65, "é", "a.b", "a\n"])
def test_names_that_providers_refuse_are_the_callers_error(name: str) -> None:
    with pytest.raises(ValueError, match="name must be 1 to 64") as caught:
        schema_response_format(name, {})
    assert not isinstance(caught.value, BoundaryError)


@pytest.mark.parametrize("schema", [True, None, [], "{}"])
def test_a_schema_that_is_no_dictionary_is_the_callers_error(schema: Any) -> None:
    with pytest.raises(ValueError, match="schema must be a dictionary"):
        schema_response_format("x", schema)
