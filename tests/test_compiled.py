"""Source for a schema: no text of it becomes code, it stays flat, and its work is bounded."""

import pytest

from apisurface.compiled import Code, SchemaNode, SchemaWriter, as_template, compile_program
from apisurface.drafts import UnsupportedSchema
from apisurface.keywords import TYPED_KEYWORDS
from apisurface.references import SchemaDocument
from apisurface.validator import _OTHERS, compile_validator, validate


def nested(depth, make):
    value = None
    for _ in range(depth):
        value = make(value)
    return value


def run(schema, value, typed, others=None, path="$"):
    """Compile a schema with keywords of our own and return what it says of a value."""
    writer = SchemaWriter(SchemaDocument(schema), typed, others or {})
    errors = []
    compile_program(writer, {}, path)(value, errors.append, {})
    return errors


def test_a_keyword_writes_the_lines_that_check():
    def odd(writer, node, wanted):
        with writer.block(f"if {node.value} % 2 != {writer.bind(wanted)}:"):
            writer.fail(node, "100% ", Code(f"{node.value} % 2"), " left")

    table = {"number": {"x-odd": odd}}
    assert run({"x-odd": 1}, 4, table) == ["$: 100% 0 left"]
    assert run({"x-odd": 1}, 5, table) == run({"x-odd": 1}, "5", table) == []
    assert run({"x-odd": 1}, 4, table, path="50%s") == ["50%s: 100% 0 left"]
    assert run({"type": "integer", "x-odd": 1}, "5", table) == [
        "$: expected integer, got string"
    ]


def test_a_path_is_a_template_for_what_is_only_known_later():
    node = SchemaNode({}, "", "v", "out", "$").step(as_template(".a%")).step("[%d]", "i1")
    assert (node.path, node.args) == ("$.a%%[%d]", ("i1",))
    assert node.path % 3 == "$.a%[3]"


def source(schema):
    """Return the lines of the program that the validator's own tables write."""
    document = SchemaDocument(schema)
    return SchemaWriter(document, TYPED_KEYWORDS, _OTHERS).program().splitlines()


@pytest.mark.parametrize(
    "wrap",
    [
        lambda v: {"items": v or True},
        lambda v: {"properties": {"a": v or True}, "required": ["a"]},
        lambda v: {"anyOf": [{"items": v or {"type": "null"}}, False]},
        lambda v: {"type": "object", "additionalProperties": v or False},
        lambda v: {"allOf": [v or True], "unevaluatedProperties": False},
    ],
)
def test_a_program_is_flat_whatever_the_schema(wrap):
    """Python compiles no twenty loops in loops, so what is deeper becomes a function."""
    schema = nested(120, wrap)
    depths = [(len(line) - len(line.lstrip())) // 4 for line in source(schema)]
    assert max(depths) < 40
    assert isinstance(compile_validator(schema)({"a": [1]}), list)


def test_one_definition_is_one_function_however_often_it_is_used():
    uses = {f"u{n}": {"$ref": "#/$defs/big"} for n in range(50)}
    schema = {"properties": uses, "$defs": {"big": {"minProperties": 1}}}
    assert sum(line.startswith("def ") for line in source(schema)) == 2
    errors = validate({use: {} for use in uses}, schema)
    assert errors == [f"$.{use}: expected at least 1 property" for use in uses]


def test_one_result_per_value_serves_every_place_that_asks():
    schema = {"$defs": {"d": {"items": {"type": "null"}}}, "allOf": [], "properties": {}}
    schema["allOf"] = [{"$ref": "#/$defs/d"}, {"items": {"$ref": "#/$defs/d"}}]
    shared = [1]
    assert validate([shared, shared], schema) == [
        "$[0]: expected null, got array",
        "$[1]: expected null, got array",
        "$[0][0]: expected null, got integer",
        "$[1][0]: expected null, got integer",
    ]


def test_what_a_reference_has_seen_counts_for_who_asks():
    """The function behind a reference exists twice, with and without book of what was seen."""
    schema = {
        "$defs": {"p": {"properties": {"a": {"type": "null"}}}},
        "properties": {"in": {"$ref": "#/$defs/p"}},
        "$ref": "#/$defs/p",
        "unevaluatedProperties": False,
    }
    assert validate({"a": None, "in": {"a": 1, "b": 1}, "c": 1}, schema) == [
        "$.in.a: expected null, got integer",
        "$.c: unexpected property",
    ]


def test_what_an_inner_book_has_seen_counts_outside():
    inner = {"properties": {"a": True}, "unevaluatedProperties": {"type": "null"}}
    schema = {"allOf": [inner], "properties": {"b": True}, "unevaluatedProperties": False}
    assert validate({"a": 1, "c": None}, schema) == []
    assert validate({"a": 1, "b": None}, {**schema, "allOf": [{"properties": {}}]}) == [
        "$.a: unexpected property"
    ]
    both = {"anyOf": [{"properties": {"a": True}}, {"properties": {"b": True}}]}
    assert validate({"a": 1, "b": 1}, {**both, "unevaluatedProperties": False}) == []


def test_a_long_program_is_as_right_as_a_short_one():
    """With blocks that have nothing to do, on lines beyond those that Python counts quickly."""
    names = [f"p{n}" for n in range(400)]
    schema = {"items": {"patternProperties": {f"^{name}$": True for name in names}}}
    schema["items"]["if"] = {"required": names}
    schema["items"]["properties"] = {name: {"type": "null"} for name in names}
    assert validate([{"p399": None}], schema) == []
    assert validate([{"p399": 1}], schema) == ["$[0].p399: expected null, got integer"]


def test_a_pattern_that_cannot_be_compiled_is_refused_where_it_stands():
    for schema, keyword, pointer in (
        ({"$defs": {"unused": {"pattern": "("}}}, "pattern", "/$defs/unused/pattern"),
        ({"type": "null", "pattern": "(a)\\1"}, "pattern", "/pattern"),
        (
            {"not": {"patternProperties": {"a/(": {}}}},
            "patternProperties",
            "/not/patternProperties/a~1(",
        ),
    ):
        with pytest.raises(UnsupportedSchema) as caught:
            source(schema)
        assert (caught.value.keyword, caught.value.pointer) == (keyword, pointer)


@pytest.mark.parametrize("keyword", ["allOf", "properties", "items", "not", "$defs", "anyOf"])
@pytest.mark.parametrize("depth", [200, 100_000])
def test_deep_schemas_are_checked_or_refused(keyword, depth):
    wrap = {
        "allOf": lambda v: {"allOf": [v]},
        "anyOf": lambda v: {"anyOf": [v, False]},
        "properties": lambda v: {"properties": {"a": v}},
        "$defs": lambda v: {"$defs": {"a": v}},
        "items": lambda v: {"items": v},
        "not": lambda v: {"not": v},
    }[keyword]
    schema = True
    for _ in range(depth):
        schema = wrap(schema)
    if depth > 500:
        with pytest.raises(UnsupportedSchema, match="deeper than 500 levels"):
            validate(1, schema)
    else:
        assert validate(1, schema) == []


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("extra", [{}, {"unevaluatedProperties": False}])
def test_references_that_double_cost_no_more(keyword, extra):
    defs = {
        f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
        for n in range(40)
    }
    schema = {"$defs": {**defs, "d40": {"type": "null"}}, "$ref": "#/$defs/d0", **extra}
    assert len(validate({"x": 1}, schema)) <= 2


def test_a_tree_with_alternatives_is_visited_once_per_place():
    branch = {"properties": {"c": {"$ref": "#"}}}
    schema = {"anyOf": [{**branch, "required": ["x"]}, {**branch, "required": ["y"]}]}
    value = {"y": 1}
    for _ in range(100):
        value = {"c": value, "y": 1}
    assert validate(value, schema) == []
    assert len(validate(nested(100, lambda v: {"c": v}), schema)) == 1


HOSTILE = [
    '"); raise SystemExit("',
    "'''",
    "\\",
    "%s%d%(x)s",
    "{v}",
    "\n    import os",
    "\0",
    "__class__",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_schema_becomes_code(text):
    schema = {
        "properties": {text: {"const": text}},
        "required": [text],
        "patternProperties": {"^zz": {"enum": [text, 1]}},
        "dependentRequired": {text: [text + "x"]},
        "$defs": {text: {"title": text}},
    }
    assert len(validate({}, schema)) == 1
    assert len(validate({text: 1}, schema)) == 2
