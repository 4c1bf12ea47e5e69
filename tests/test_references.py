"""A schema as a document: subschemas, references, names that nobody knows."""

import pytest

from apisurface.drafts import UnsupportedSchema
from apisurface.references import SchemaDocument, unknown_keywords
from apisurface.validator import validate
from apisurface.values import MAX_NESTING


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
    for first, second in ("ab", "ba"):
        for keyword in ("$anchor", "$dynamicAnchor", "$id"):
            twice = {"$defs": {first: {keyword: "n"}, second: {keyword: "n"}}}
            with pytest.raises(UnsupportedSchema, match="the name of two schemas") as caught:
                SchemaDocument(twice)
            assert caught.value.pointer == f"/$defs/{second}/{keyword}"


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


@pytest.mark.parametrize("outer", ["http://h/a", "http://h/z"])
def test_the_outermost_that_has_the_name_decides(outer):
    """Whatever the order of the addresses, and whatever stands first in the document."""
    inner = {
        "$id": "http://h/m",
        "$dynamicAnchor": "leaf",
        "items": {"$dynamicRef": "#leaf"},
        "type": ["array", "string"],
    }
    schema = {
        "$id": outer,
        "$dynamicAnchor": "leaf",
        "anyOf": [{"type": "integer"}, {"$ref": "m"}],
        "$defs": {"inner": inner},
    }
    assert validate(["x"], schema) == []
    assert validate([1, ["x", 2]], schema) == []
    assert validate([1], {"$ref": "http://h/m", "$defs": {"inner": inner}}) == [
        "$[0]: expected array or string, got integer"
    ]
    document = SchemaDocument(schema)
    place = "/$defs/inner/items/$dynamicRef"
    assert document.resolve(place) == "/$defs/inner"
    assert document.resolve(place, ("http://h/m", outer)) == "/$defs/inner"
    assert document.resolve(place, (outer, "http://h/m")) == ""
    assert document.resolve(place, ("http://h/elsewhere", "http://h/m")) == "/$defs/inner"


def test_a_reference_may_lead_to_a_place_that_leads_on():
    schema = {
        "$ref": "#/x-a/deep",
        "x-a": {"deep": {"$ref": "#/x-b/0"}},
        "x-b": [{"items": {"$ref": "#/x-c"}}],
        "x-c": {"type": "string"},
    }
    assert validate(["a", 1], schema) == ["$[1]: expected string, got integer"]
    with pytest.raises(UnsupportedSchema) as caught:
        SchemaDocument({**schema, "x-c": {"type": "text"}})
    assert caught.value.pointer == "/x-c/type"
    with pytest.raises(UnsupportedSchema, match="cyclic"):
        SchemaDocument({**schema, "x-b": [{"$ref": "#"}]})


def test_two_ways_to_one_place_are_no_circle():
    defs = {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/c"}, "c": {"type": "null"}}
    ways = [{"$ref": f"#/$defs/{name}"} for name in "abcab"]
    assert validate(1, {"$defs": defs, "allOf": ways}) == ["$: expected null, got integer"]
    assert SchemaDocument({"$defs": defs, "allOf": ways}).shared == {
        f"/$defs/{name}" for name in "abc"
    }


def test_a_row_of_references_may_be_as_long_as_the_limit():
    def row(count):
        defs = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(count)}
        return {"$defs": {**defs, f"d{count}": {"type": "null"}}, "$ref": "#/$defs/d0"}

    assert SchemaDocument(row(MAX_NESTING - 2)).resolve("/$ref") == "/$defs/d0"
    with pytest.raises(UnsupportedSchema, match="more than 500 schemas in a row"):
        SchemaDocument(row(MAX_NESTING - 1))


def test_addresses_are_relative_to_the_nearest_id():
    schema = {
        "$id": "http://h/x/",
        "$ref": "y/z",
        "$defs": {
            "y": {
                "$id": "y/",
                "$anchor": "here",
                "properties": {"up": {"$ref": "#/$defs/q"}, "here": {"$ref": "#here"}},
                "$defs": {"q": {"$id": "z"}},
            }
        },
    }
    document = SchemaDocument(schema)
    assert document.bases["/$defs/y/$defs/q"] == "http://h/x/y/z"
    assert document.resolve("/$ref") == "/$defs/y/$defs/q"
    assert document.resolve("/$defs/y/properties/up/$ref") == "/$defs/y/$defs/q"
    assert document.resolve("/$defs/y/properties/here/$ref") == "/$defs/y"
    with pytest.raises(UnsupportedSchema, match="leads to nothing"):
        SchemaDocument({**schema, "$ref": "#here"})
