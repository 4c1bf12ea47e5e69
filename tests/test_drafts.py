"""Which keywords there are: arguments that are none, keywords of other drafts, where schemas are."""

import math

import pytest

from apisurface.drafts import (
    KEYWORDS,
    OTHER_DRAFTS,
    UnsupportedSchema,
    check_keywords,
    newer_than,
    pointer_step,
    subschemas,
)
from apisurface.transport import BoundaryError
from apisurface.validator import compile_validator, validate

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def refusal(schema):
    with pytest.raises(UnsupportedSchema) as caught:
        compile_validator(schema)
    return caught.value.keyword, caught.value.pointer


ARGUMENTS = [
    ("minLength maxLength", [-1, 1.5, True, "1", None]),
    ("minItems maxItems minContains maxContains minProperties maxProperties", [-1, 1.5, True]),
    ("minimum maximum exclusiveMinimum exclusiveMaximum", ["1", True, False, None]),
    ("multipleOf", [0, 0.0, -1, True, "1"]),
    ("type", ["dict", [], ["null", "null"], ["string", 1], None, {}]),
    ("enum", [{"a": 1}, "a"]),
    ("required", ["a", True, [1], ["a", "a"]]),
    ("dependentRequired", [[], {"a": "b"}, {"a": ["b", "b"]}]),
    ("uniqueItems deprecated readOnly writeOnly", [1, "true", None]),
    ("pattern", [1, "("]),
    ("format $ref $dynamicRef $schema title description $comment", [1, None, []]),
    ("contentEncoding contentMediaType", [1, {}]),
    ("examples", [{}, "a"]),
    ("$id", [1, "#name", "http://h/x#a"]),
    ("$anchor $dynamicAnchor", ["1", "a b", "", "#a", 1]),
    ("$vocabulary", [[], {"http://h/x": 1}]),
    ("allOf anyOf oneOf prefixItems", [[], {}, "a", True]),
    ("properties patternProperties dependentSchemas $defs definitions", [[], 1, True]),
    ("not if then else items contains contentSchema propertyNames", [[], 1, None]),
    ("additionalProperties unevaluatedItems unevaluatedProperties", [[], "a", None]),
]
WRONG = {keyword: wrong for keywords, wrong in ARGUMENTS for keyword in keywords.split()}


def test_each_keyword_that_can_be_malformed_is_tried():
    assert KEYWORDS.keys() - WRONG.keys() == {"const", "default"}


@pytest.mark.parametrize("keyword", WRONG)
def test_a_malformed_argument_is_refused_by_name_and_place(keyword):
    for argument in WRONG[keyword]:
        schema = {keyword: argument}
        assert refusal(schema) == (keyword, f"/{keyword}"), argument
        assert refusal({"$defs": {"unused": schema}}) == (keyword, f"/$defs/unused/{keyword}")
        for _ in range(2):  # a refusal is not remembered as an answer
            with pytest.raises(UnsupportedSchema):
                validate({}, schema)


@pytest.mark.parametrize(
    ("schema", "keyword", "pointer"),
    [
        ({"patternProperties": {"[": True}}, "patternProperties", "/patternProperties/["),
        ({"properties": {"a/b": 5}}, "properties", "/properties/a~1b"),
        ({"allOf": [True, []]}, "allOf", "/allOf/1"),
        ({"type": "number", "pattern": "("}, "pattern", "/pattern"),
        (
            {"type": "null", "propertyNames": {"pattern": "("}},
            "pattern",
            "/propertyNames/pattern",
        ),
        ({"contentSchema": {"type": "dict"}}, "type", "/contentSchema/type"),
        ({"$schema": "http://example.com/mine"}, "$schema", "/$schema"),
        ({"$schema": "http://json-schema.org/draft-03/schema#"}, "$schema", "/$schema"),
        ({"$schema": DRAFT_7, "minContains": 1}, "minContains", "/minContains"),
        ({"const": {1}}, "const", "/const"),
        ({"enum": [math.nan]}, "enum", "/enum/0"),
        ({"minLength": math.inf}, "minLength", "/minLength"),
        ("string", "", ""),
        (None, "", ""),
        (1, "", ""),
        ([], "", ""),
        ((), "", ""),
        (object(), "", ""),
    ],
)
def test_what_is_no_schema_is_refused_where_it_stands(schema, keyword, pointer):
    assert refusal(schema) == (keyword, pointer)


@pytest.mark.parametrize("keyword", [key for key, kind in KEYWORDS.items() if kind == "count"])
def test_a_count_is_whole_however_it_is_written(keyword):
    for count in (0, 0.0, -0.0, 1, 2.0, 10**30, 1e300):
        check_keywords({keyword: count}, "", set())


@pytest.mark.parametrize("keyword", OTHER_DRAFTS)
def test_a_keyword_that_is_gone_is_refused_and_its_successor_named(keyword):
    with pytest.raises(UnsupportedSchema, match=r"; write .* instead$") as caught:
        validate({}, {"items": {keyword: "x"}})
    assert (caught.value.keyword, caught.value.pointer) == (keyword, f"/items/{keyword}")
    successor = str(caught.value).split("; write ")[1].split()[0]
    assert successor in KEYWORDS


def test_items_as_a_list_is_refused_and_not_reinterpreted():
    with pytest.raises(UnsupportedSchema, match="write prefixItems instead"):
        validate([1], {"items": [{"type": "string"}]})


def test_another_draft_is_accepted_as_far_as_it_means_the_same():
    schema = {"$schema": DRAFT_7, "properties": {"a": {"$ref": "#/definitions/a"}}}
    schema["definitions"] = {"a": {"type": "null"}}
    assert validate({"a": 1}, schema) == ["$.a: expected null, got integer"]
    beside = {"$schema": DRAFT_7, "$ref": "#/definitions/a", "definitions": {"a": {}}}
    assert validate(1, beside) == []
    assert validate(1, {**beside, "title": "t", "x-mine": 1}) == []
    assert refusal({**beside, "type": "object"}) == ("$ref", "/$ref")
    later = {**beside, "$schema": "https://json-schema.org/draft/2019-09/schema"}
    assert validate(1, {**later, "type": "integer"}) == []


def test_id_was_a_name_in_draft_4_and_is_a_property_elsewhere():
    draft_4 = {"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://x/y"}
    assert validate(1, draft_4) == []
    assert refusal({**draft_4, "properties": {"a": {"id": "z"}}}) == ("id", "/properties/a/id")
    assert refusal({"id": "http://x/y"}) == ("id", "/id")
    assert validate(1, {"id": {"type": "string"}}) == []


def test_one_document_has_one_draft():
    mixed = {"$schema": DRAFT_7, "items": {"$schema": "http://json-schema.org/draft-06/schema"}}
    with pytest.raises(UnsupportedSchema, match="is not that of the whole") as caught:
        compile_validator(mixed)
    assert caught.value.pointer == "/items/$schema"
    assert validate(1, {"$schema": DRAFT_7, "items": {"$schema": DRAFT_7}}) == []


def test_drafts_know_what_came_after_them():
    latest = "https://json-schema.org/draft/2020-12/schema"
    assert newer_than(latest) == newer_than(latest + "#") == set()
    came = [
        ("draft/2020-12", "draft/2019-09", "prefixItems unevaluatedItems $dynamicRef"),
        ("draft/2019-09", "draft-07", "dependentRequired dependentSchemas $anchor minContains"),
        ("draft-07", "draft-06", "if then else"),
        ("draft-06", "draft-04", "const contains propertyNames"),
    ]
    for has, lacks, names in came:
        old = newer_than(f"http://json-schema.org/{lacks}/schema#")
        assert old.issuperset(names.split())
        assert not newer_than(f"http://json-schema.org/{has}/schema").intersection(
            names.split()
        )
    for unknown in ("http://json-schema.org/draft-08/schema", f"x{latest}", f"{latest}/x", ""):
        assert newer_than(unknown) is None


def test_where_a_schema_holds_others():
    schema = {
        "properties": {"a/b": {"type": "null"}, "~": True},
        "anyOf": [True, False],
        "not": {"const": {"not": 1}},
        "x-mine": {"not": 1},
    }
    assert list(subschemas(schema)) == [
        ("properties", "/properties/a~1b", {"type": "null"}),
        ("properties", "/properties/~0", True),
        ("anyOf", "/anyOf/0", True),
        ("anyOf", "/anyOf/1", False),
        ("not", "/not", {"const": {"not": 1}}),
    ]
    assert pointer_step("a/b~") == "/a~1b~0"
    assert pointer_step(3) == "/3"


def test_the_refusal_says_the_keyword_the_place_and_the_reason():
    with pytest.raises(BoundaryError) as caught:
        check_keywords({"minLength": -1}, "/properties/a", set())
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.keyword, error.pointer) == ("minLength", "/properties/a/minLength")
    assert error.reason == "expected a whole number, 0 or more, got -1"
    assert str(error) == f"minLength at #/properties/a/minLength: {error.reason}"
    assert str(UnsupportedSchema("why")) == "schema at #: why"
    long = UnsupportedSchema("why", keyword="k", pointer="/" + "\n" * 1000)
    assert len(str(long)) < 1300
    assert "\n" not in str(long)
