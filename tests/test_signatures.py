"""From a typed function to its schema: what is derived, what is refused, what converts."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator

from apisurface.signatures import TypedFunction, typed_function


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    city: str
    code: str | None = None


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


def returns(**arguments: Any) -> dict[str, Any]:
    return arguments


def schema_of(func: Callable[..., Any]) -> dict[str, Any]:
    return typed_function(func).parameters


# --- what is derived -------------------------------------------------------------


def test_plain_types_and_defaults():
    def tool(order_id: str, cents: int, share: float, loud: bool = False):
        """Do it."""

    assert schema_of(tool) == {
        "type": "object",
        "properties": {
            "order_id": {"type": "string"},
            "cents": {"type": "integer"},
            "share": {"type": "number"},
            "loud": {"type": "boolean", "default": False},
        },
        "required": ["order_id", "cents", "share"],
        "additionalProperties": False,
    }


def test_a_default_may_be_of_any_kind():
    class Colour(Enum):
        RED = "red"

    def paint(colour: Colour = Colour.RED, by: Decimal = Decimal(1)): ...

    paint.__annotations__ = {"colour": Colour, "by": Decimal}
    made = typed_function(paint)
    assert made.parameters["properties"]["colour"]["default"] == "red"
    assert made.complaints({}) == []


def test_no_parameters():
    def now(): ...

    assert schema_of(now) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_nullable_is_not_optional():
    def tool(note: str | None, other: str | None = None): ...

    schema = schema_of(tool)
    assert schema["required"] == ["note"]
    assert schema["properties"]["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert schema["properties"]["other"]["default"] is None


def test_keyword_only_parameters_are_like_others():
    def tool(a: int, *, b: int = 2): ...

    assert list(schema_of(tool)["properties"]) == ["a", "b"]
    assert typed_function(tool)(a=1) is None


def test_literal_enum_record_list_and_bounds():
    def tool(
        sort: Literal["new", "old"],
        colour: Colour,
        address: Address,
        many: list[Address],
        limit: Annotated[int, Field(ge=1, le=50)],
    ): ...

    schema = schema_of(tool)
    assert schema["properties"]["sort"] == {"enum": ["new", "old"], "type": "string"}
    assert schema["properties"]["colour"] == {"$ref": "#/$defs/Colour"}
    assert schema["properties"]["many"]["items"] == {"$ref": "#/$defs/Address"}
    assert schema["properties"]["limit"] == {"type": "integer", "minimum": 1, "maximum": 50}
    assert schema["$defs"]["Colour"] == {"enum": ["red", "blue"], "type": "string"}


def test_a_record_that_holds_itself():
    def tool(tree: Tree): ...

    made = typed_function(tool)
    assert made.parameters["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
    assert made.complaints({"tree": {"value": 1, "children": [{"value": "x"}]}}) == [
        "$.tree.children[0].value: Input should be a valid integer, unable to parse string as an integer"
    ]


def test_no_titles_but_a_parameter_may_be_called_title():
    def tool(title: str, address: Address): ...

    schema = schema_of(tool)
    assert schema["properties"]["title"] == {"type": "string"}
    assert "title" not in schema
    assert "title" not in schema["$defs"]["Address"]


@pytest.mark.parametrize(
    "name", ["schema", "copy", "json", "model_config", "_x", "class_", "p0"]
)
def test_a_parameter_may_have_any_name(name):
    namespace: dict[str, Any] = {}
    exec(f"def tool({name}: int, p1: str = 'd'): return {name}", namespace)
    made = typed_function(namespace["tool"])
    assert made.parameters["required"] == [name]
    assert made(**{name: 3}) == 3


# --- descriptions ----------------------------------------------------------------


def test_descriptions_come_from_annotated_then_from_the_docstring():
    def tool(
        a: Annotated[str, "said in a text"],
        b: Annotated[str, Field(description="said in a Field")],
        c: str,
        d: Annotated[str, "wins"],
        e: str,
    ):
        """Do it.

        At once.

        Args:
            c: said in the docstring,
                on two lines
            d (str): loses

        Returns:
            Nothing.
        """

    made = typed_function(tool)
    said = {k: v.get("description") for k, v in made.parameters["properties"].items()}
    assert said == {
        "a": "said in a text",
        "b": "said in a Field",
        "c": "said in the docstring, on two lines",
        "d": "wins",
        "e": None,
    }
    assert made.description == "Do it.\n\nAt once.\n\nReturns:\n    Nothing."


def test_name_and_description_can_be_replaced():
    def tool():
        """Of the function."""

    made = typed_function(tool, "other", "")
    assert (made.name, made.description) == ("other", "")
    assert typed_function(tool).description == "Of the function."


def test_no_docstring_is_an_empty_description():
    def tool(a: int): ...

    assert typed_function(tool).description == ""


def test_a_misspelt_entry_of_the_docstring_is_refused():
    def tool(order_id: str):
        """Do it.

        Args:
            oder_id: the number
        """

    with pytest.raises(ValueError, match="explains 'oder_id', no parameter"):
        typed_function(tool)


# --- what is refused -------------------------------------------------------------


def star(*a: int): ...
def stars(**a: int): ...
def positional(a: int, /): ...
def untyped(a, b: int): ...
def a_callback(a: Callable[[], int]): ...
def unknown(a: Nowhere): ...  # noqa: F821
def nested_unknown(a: list[Nowhere]): ...  # noqa: F821
def field_default(a: int = Field(ge=1)): ...  # type: ignore[assignment]


class Plain:
    pass


def arbitrary(a: Plain): ...


@pytest.mark.parametrize(
    ("func", "words"),
    [
        (star, r"\*a: a call has only named arguments"),
        (stars, r"\*\*a: no schema can list"),
        (positional, "positional-only"),
        (untyped, "a has no type"),
        (a_callback, "no schema for its types"),
        (arbitrary, "no schema for its types"),
        (unknown, "cannot be read: name 'Nowhere' is not defined"),
        (nested_unknown, "cannot be read"),
        (field_default, "as a default it would be passed on"),
        (lambda: None, "without a name"),
        (functools.partial(returns, a=1), "without a name"),
    ],
)
def test_a_signature_that_json_cannot_fill_is_refused(func, words):
    with pytest.raises(ValueError, match=words):
        typed_function(func)


def test_without_pydantic_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(ImportError, match=r"apisurface\[tools\]"):
        typed_function(star)


# --- what the function gets ------------------------------------------------------


def test_the_function_gets_its_own_types():
    def tool(colour: Colour, day: date, at: Address, price: Decimal, tags: set[str]):
        return colour, day, at, price, tags

    made = typed_function(tool)
    arguments = {
        "colour": "red",
        "day": "2026-11-30",
        "at": {"city": "Oslo"},
        "price": "1.10",
        "tags": ["a", "b"],
    }
    assert made.complaints(arguments) == []
    assert made(**arguments) == (
        Colour.RED,
        date(2026, 11, 30),
        Address(city="Oslo"),
        Decimal("1.10"),
        {"a", "b"},
    )


def test_an_integer_written_as_a_float_arrives_as_one():
    def tool(limit: int):
        return limit

    assert type(typed_function(tool)(limit=5.0)) is int


def test_what_is_left_out_is_left_to_the_function():
    def tool(a: int, b: list[int] = []):  # noqa: B006
        return a, b

    made = typed_function(tool)
    assert made(a=1)[1] is made(a=1)[1]  # the function's own default, not a copy of it


def test_complaints_have_paths_and_show_no_value():
    def tool(day: date, at: Address): ...

    found = typed_function(tool).complaints({"day": "2026-02-30", "at": {"city": 1}, "x-y": 2})
    assert [line.split(": ")[0] for line in found] == ["$.day", "$.at.city", '$["x-y"]']
    assert not any("2026-02-30" in line for line in found)


class Fussy(BaseModel):
    x: int

    @field_validator("x")
    @classmethod
    def judge(cls, value):
        raise KeyError("a mistake in the validator, password=hunter2")


def test_a_validator_that_fails_is_a_complaint_and_no_crash():
    def tool(record: Fussy): ...

    found = typed_function(tool).complaints({"record": {"x": 1}})
    assert found == ["$: checking the declared types failed with KeyError"]


def test_a_typed_function_is_a_value():
    def tool(a: int): ...

    made = typed_function(tool)
    assert isinstance(made, TypedFunction)
    assert made.func is tool
    assert "_model" not in repr(made)


@given(st.dictionaries(st.sampled_from("abc"), st.integers() | st.text() | st.none()))
def test_complaints_and_the_call_agree(arguments):
    def tool(a: int, b: str = "", c: int | None = None):
        return {"a": a}

    made = typed_function(tool)
    if made.complaints(arguments):
        with pytest.raises(ValueError, match="validation error"):
            made(**arguments)
    else:
        assert made(**arguments)["a"] == int(arguments["a"])
