"""A schema as a document: subschemas, references, names that nobody knows."""

import pytest

from apisurface.drafts import UnsupportedSchema, newer_than, pointer_step
from apisurface.references import SchemaDocument, unknown_keywords
from apisurface.validator import validate


@pytest.mark.parametrize(
    ("schema", "target"),
    [
        ({"$ref": "#/$defs/a", "$defs": {"a": True}}, "/$defs/a"),
        ({"$ref": "#a", "$defs": {"x": {"$anchor": "a"}}}, "/$defs/x"),
        (
            {"$ref": "http://h/s#/$defs/a", "$id": "http://h/s", "$defs": {"a": True}},
            "/$defs/a",
        ),
        ({"$ref": "b", "$id": "http://h/a/", "$defs": {"x": {"$id": "b"}}}, "/$defs/x"),
        ({"$ref": "urn:x:1#/$defs/a", "$id": "urn:x:1", "$defs": {"a": True}}, "/$defs/a"),
        ({"$ref": "#/$defs/a~1b~0", "$defs": {"a/b~": True}}, "/$defs/a~1b~0"),
        ({"$ref": "#/$defs/a%25%20b", "$defs": {"a% b": True}}, "/$defs/a% b"),
        ({"$ref": "#/$defs/T<x>", "$defs": {"T<x>": True}}, "/$defs/T<x>"),
        ({"$ref": "#/prefixItems/0", "prefixItems": [True]}, "/prefixItems/0"),
        ({"$ref": "#/x-mine/0/a", "x-mine": [{"a": {"type": "null"}}]}, "/x-mine/0/a"),
        ({"$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a"}}}, "/$defs/x"),
    ],
)
def test_references_within_the_document_resolve(schema, target):
    keyword = "$ref" if "$ref" in schema else "$dynamicRef"
    document = SchemaDocument(schema)
    assert document.resolve(f"/{keyword}") == target
    assert target in document.schemas


@pytest.mark.parametrize(
    "ref",
    [
        "#/nothing",
        "#nothing",
        "#/items/00",
        "#/items/-1",
        "#/items/5",
        "other",
        "//h/x",
        "#/$ref",
    ],
)
def test_references_to_nothing_are_refused_with_their_place(ref):
    with pytest.raises(UnsupportedSchema) as caught:
        SchemaDocument({"not": {"items": {"$ref": ref}}})
    assert (caught.value.keyword, caught.value.pointer) == ("$ref", "/not/items/$ref")


def test_data_that_looks_like_a_schema_is_data():
    schema = {
        "const": {"$ref": "http://h/x", "minLength": -1, "$id": "b"},
        "default": {"type": "x"},
    }
    assert validate(schema["const"], schema) == []
    assert unknown_keywords(schema) == []


def test_unknown_names_are_listed_with_their_places():
    schema = {
        "minLenght": 1,
        "properties": {"nullable": {"nullable": True}, "a/b": {"anyOf": [{"x-y": 1}]}},
        "enum": [{"nullable": 1}],
    }
    assert unknown_keywords(schema) == [
        "/minLenght",
        "/properties/nullable/nullable",
        "/properties/a~1b/anyOf/0/x-y",
    ]


def test_two_schemas_may_not_share_a_name():
    twice = {"$defs": {"a": {"$anchor": "n"}, "b": {"$anchor": "n"}}}
    with pytest.raises(UnsupportedSchema, match="the name of two schemas"):
        SchemaDocument(twice)
    with pytest.raises(UnsupportedSchema, match="the name of two schemas"):
        SchemaDocument({"$defs": {"a": {"$id": "n"}, "b": {"$id": "n"}}})


def test_data_that_is_no_json_is_refused_at_its_keyword():
    for schema, keyword, pointer in (
        ({"const": {"a": {1}}}, "const", "/const/a"),
        ({"properties": {"a": {1}}}, "a", "/properties/a"),
        ({"a": {1: 2}}, "a", "/a"),
    ):
        with pytest.raises(UnsupportedSchema) as caught:
            SchemaDocument(schema)
        assert (caught.value.keyword, caught.value.pointer) == (keyword, pointer)


def test_a_dynamic_reference_is_redirected_by_whoever_led_to_it():
    schema = {
        "$id": "http://h/strings",
        "$ref": "list",
        "$defs": {
            "text": {"$dynamicAnchor": "item", "type": "string"},
            "list": {
                "$id": "list",
                "items": {"$dynamicRef": "#item"},
                "$defs": {"any": {"$dynamicAnchor": "item"}},
            },
        },
    }
    assert validate(["a", 1], schema) == ["$[1]: expected string, got integer"]
    assert (
        validate(
            ["a", 1],
            {
                **schema,
                "$ref": "other",
                "$defs": {
                    "other": {"$id": "other", "$ref": "list"},
                    "list": schema["$defs"]["list"],
                },
            },
        )
        == []
    )


def test_drafts_know_what_came_after_them():
    assert newer_than("https://json-schema.org/draft/2020-12/schema") == set()
    assert "prefixItems" in newer_than("https://json-schema.org/draft/2019-09/schema")
    assert "$anchor" in newer_than("http://json-schema.org/draft-07/schema#")
    assert newer_than("http://json-schema.org/draft-08/schema") is None
    assert pointer_step("a/b~") == "/a~1b~0"
