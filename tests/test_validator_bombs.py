"""What is built to exhaust a validator ends in a right answer or a typed error.

Each kind of bomb runs in a process of its own, with a generous deadline and a limit on memory, so
that neither a hang nor a crash of the interpreter can pass for an answer.
"""

import subprocess
import sys
import textwrap

import pytest

DEADLINE = 180  # seconds; the slowest takes four on an idle machine
MEMORY = 1 << 30  # bytes of address space

BEGIN = """
from contextlib import suppress
with suppress(ImportError, ValueError):  # where the system knows no such limit
    import resource
    resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
import json
from apisurface.validator import UnsupportedSchema, compile_validator, validate

def outcome(instance, schema):
    try:
        errors = validate(instance, schema)
    except UnsupportedSchema as refusal:
        return "refused " + refusal.keyword
    longest = max(map(len, errors), default=0)
    assert longest < 2000, longest
    return "valid" if not errors else f"{{len(errors)}} errors"

def nested(depth, wrap, inner):
    for _ in range(depth):
        inner = wrap(inner)
    return inner
"""


def run(code: str) -> list[str]:
    """Run the code in a fresh interpreter and return the lines it printed."""
    source = BEGIN.format(memory=MEMORY) + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=DEADLINE
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


DEEP = 100_000
WRAPS = ["lambda x: [x]", "lambda x: {'a': x}"]


@pytest.mark.parametrize("wrap", WRAPS)
def test_an_instance_too_deep_is_one_violation_for_each_value(wrap):
    """Whoever asks about it, and whether there would be an answer at once or not."""
    lines = run(f"""
        deep, twin = nested({DEEP}, {wrap}, 1), nested({DEEP}, {wrap}, 1)
        schema = {{"items": {{"$ref": "#"}}, "additionalProperties": {{"$ref": "#"}}}}
        print(outcome(deep, schema), validate(deep, schema)[0][:2])
        print(outcome(deep, {{"type": ["array", "object"]}}))
        print(outcome(deep, {{"const": 1}}), outcome(deep, {{"enum": [1, "a"]}}))
        print(outcome([deep, twin], {{"uniqueItems": True}}))
        print(outcome(deep, {{"const": twin}}))
    """)
    assert lines[0] in ("1 errors $[", "1 errors $.")
    assert lines[1] in ("valid", "1 errors")
    assert lines[2] == "1 errors 1 errors"
    assert lines[3] in ("1 errors", "2 errors")  # they are equal, or each is too deep to tell
    assert lines[4].split()[0] in ("valid", "1", "refused")


DEEP_SCHEMAS = """{'allOf': [x]} | {'not': x} | {'items': x} | {'properties': {'a': x}}
{'prefixItems': [x]} | {'$defs': {'a': x}} | {'const': [x['const']]} | {'x-unknown': x}
{'enum': [[x['const']]], 'const': [x['const']]} | {'default': x} | {'if': x}"""


def test_a_schema_too_deep_is_refused_or_enforced():
    bodies = DEEP_SCHEMAS.replace("\n", " | ").split(" | ")
    bombs = [
        f"print(outcome([], nested({DEEP}, lambda x: {x}, {{'const': 1}})))" for x in bodies
    ]
    lines = run("\n".join(bombs))
    assert len(lines) == len(bodies) == 11
    assert {line.split()[0] for line in lines} <= {"refused", "valid", "1"}


def test_a_long_chain_of_references():
    (line,) = run(f"""
        chain = {{f"d{{i}}": {{"$ref": f"#/$defs/d{{i + 1}}"}} for i in range({DEEP})}}
        chain["d{DEEP}"] = {{"type": "string"}}
        print(outcome(1, {{"$ref": "#/$defs/d0", "$defs": chain}}))
    """)
    assert line.split()[0] in ("refused", "1")


DOUBLINGS = {
    "allOf": "{'allOf': [next, next]}",
    "anyOf": "{'anyOf': [next, next]}",
    "oneOf": "{'oneOf': [next, {'not': next}]}",
    "not": "{'not': {'allOf': [next, next]}}",
    "if": "{'if': next, 'then': next, 'else': next}",
    "dependentSchemas": "{'dependentSchemas': {'a': {'allOf': [next, next]}}}",
    "unevaluated": "{'allOf': [next, next], 'unevaluatedProperties': False}",
    "properties": "{'properties': {'a': next}, 'additionalProperties': next, 'allOf': [next]}",
}


def test_a_fan_out_does_not_explode():
    """Forty levels, each naming the next one twice: 2 to the 40th visits if none is remembered."""
    lines = run(f"""
        bodies = [{", ".join(f"lambda next: {body}" for body in DOUBLINGS.values())}]
        for body in bodies:
            definitions = {{"d40": {{"type": "object", "required": ["b"]}}}}
            for i in range(40):
                definitions[f"d{{i}}"] = body({{"$ref": f"#/$defs/d{{i + 1}}"}})
            schema = {{"$ref": "#/$defs/d0", "$defs": definitions}}
            print(outcome({{"a": {{}}, "b": 1}}, schema))
            print(outcome({{"a": 1}}, schema))
    """)
    assert len(lines) == 2 * len(DOUBLINGS)
    for line in lines:
        assert line.split()[0] in ("refused", "valid") or int(line.split()[0]) < 100, lines


CYCLES = [
    "{'$ref': '#'}",
    "{'$ref': '#/$defs/a', '$defs': {'a': {'$ref': '#/$defs/a'}}}",
    "{'$ref': '#/$defs/a', '$defs': {'a': {'$ref': '#/$defs/b'}, 'b': {'$ref': '#/$defs/a'}}}",
    "{'allOf': [{'$ref': '#'}]}",
    "{'anyOf': [True, {'$ref': '#'}]}",
    "{'oneOf': [{'$ref': '#'}]}",
    "{'not': {'$ref': '#'}}",
    "{'if': {'$ref': '#'}}",
    "{'if': True, 'then': {'$ref': '#'}}",
    "{'if': False, 'else': {'$ref': '#'}}",
    "{'dependentSchemas': {'a': {'$ref': '#'}}}",
    "{'$ref': '#n', '$defs': {'a': {'$anchor': 'n', 'allOf': [{'$ref': '#n'}]}}}",
    "{'$id': 'https://example.org/a', 'allOf': [{'$ref': 'https://example.org/a'}]}",
    "{'properties': {'a': {'$ref': '#/properties/a'}}}",
]


def test_a_reference_in_a_circle_onto_itself_is_refused():
    lines = run("\n".join(f"print(outcome({{'a': 1}}, {schema}))" for schema in CYCLES))
    assert [line.split()[0] for line in lines] == ["refused"] * len(CYCLES)


def test_recursion_that_goes_down_the_instance_is_fine():
    lines = run("""
        tree = {"type": "object", "required": ["v"], "properties": {
            "v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#"}}}}
        deep = nested(200, lambda kid: {"v": 1, "kids": [kid]}, {"v": True})
        wide = {"v": 1, "kids": [{"v": 1} for _ in range(100_000)]}
        print(outcome(deep, tree))
        print(outcome(wide, tree))
        print(outcome(nested(200, lambda x: [x], []), {"items": {"$ref": "#"}, "maxItems": 1}))
    """)
    assert lines == ["1 errors", "valid", "valid"]


NUMBERS = [
    ("10 ** 5000", "{'type': 'integer', 'minimum': 10 ** 5000}", "valid"),
    ("10 ** 5000 - 1", "{'minimum': 10 ** 5000}", "1 errors"),
    ("-(10 ** 5000)", "{'exclusiveMinimum': -(10 ** 5000)}", "1 errors"),
    ("10 ** 5000", "{'maximum': 1.5}", "1 errors"),
    ("10 ** 5000", "{'maximum': 1e308}", "1 errors"),
    ("10 ** 5000", "{'multipleOf': 0.1}", "valid"),
    ("10 ** 5000 + 1", "{'multipleOf': 10}", "1 errors"),
    ("10 ** 5000", "{'multipleOf': 3}", "1 errors"),
    ("10 ** 5000", "{'multipleOf': 5e-324}", None),
    ("1e308", "{'multipleOf': 5e-324}", None),
    ("1e308", "{'multipleOf': 0.5}", "valid"),
    ("1e308", "{'multipleOf': 10 ** 5000}", "1 errors"),
    ("10 ** 5000", "{'const': 10 ** 5000}", "valid"),
    ("10 ** 5000 + 1", "{'const': 10 ** 5000}", "1 errors"),
    ("10 ** 5000 + 1", "{'enum': [10 ** 5000, 1.5]}", "1 errors"),
    ("10 ** 5000", "{'type': 'string'}", "1 errors"),
    ("[10 ** 5000, 10 ** 5000]", "{'uniqueItems': True}", "1 errors"),
    ("[10 ** 5000, 1e308]", "{'uniqueItems': True}", "valid"),
    ("'abc'", "{'minLength': 10 ** 5000}", "1 errors"),
    ("[]", "{'minItems': 10 ** 5000}", "1 errors"),
    ("[1]", "{'contains': True, 'minContains': 10 ** 5000}", "1 errors"),
    ("{}", "{'minProperties': 10 ** 5000}", "1 errors"),
    ("{str(i): 10 ** 5000 for i in range(9)}", "{'additionalProperties': False}", "9 errors"),
    ("10 ** 5000", "{'not': {'const': 10 ** 5000}}", "1 errors"),
    ("10 ** 5000", "{'anyOf': [{'const': 10 ** 4999}, {'maximum': 10 ** 4999}]}", None),
]


@pytest.mark.parametrize(("instance", "schema", "expected"), NUMBERS, ids=range(len(NUMBERS)))
def test_numbers_of_five_thousand_digits(instance, schema, expected):
    """In one process: these are slow or crash in the message, not in the memory."""
    from apisurface.validator import validate

    errors = validate(eval(instance), eval(schema))
    assert all(len(error) < 2000 for error in errors)
    if expected is not None:
        assert (f"{len(errors)} errors" if errors else "valid") == expected


def test_a_huge_enum_is_looked_up():
    lines = run("""
        check = compile_validator({"items": {"enum": [f"v{i}" for i in range(200_000)]}})
        print(len(check([f"v{i}" for i in range(5_000)])))
        errors = check(["w"] * 5_000)
        print(len(errors), max(map(len, errors)) < 2000)
        check = compile_validator({"items": {"enum": [[i, {"a": i}] for i in range(50_000)]}})
        print(len(check([[i, {"a": i}] for i in range(5_000)])))
    """)
    assert lines == ["0", "5000 True", "0"]


def test_unique_items_is_not_quadratic():
    lines = run("""
        count = 100_000
        for items in (
            list(range(count)),
            [str(i) for i in range(count)],
            [[i] for i in range(count)],
            [{"a": i, "b": [i]} for i in range(count)],
            [[i % 2 == 0, i] for i in range(count)],
            [i / 7 for i in range(count)],
        ):
            print(outcome(items, {"uniqueItems": True}), outcome(items + items[-1:], {"uniqueItems": True}))
        print(outcome([1] * count, {"uniqueItems": True}).split()[1])
    """)
    assert lines == ["valid 1 errors"] * 6 + ["errors"]


def test_strings_of_ten_megabytes():
    lines = run("""
        text = "a" * 10_000_000
        print(outcome(text, {"maxLength": 10_000_000, "pattern": "^a+$"}))
        print(outcome(text + "!", {"maxLength": 10_000_000}))
        print(outcome(text + "!", {"pattern": "^[a-z]+$"}))
        print(outcome(text, {"enum": ["a", "b"]}))
        print(outcome(text, {"const": text}))
        print(outcome(text + "!", {"const": text}))
        print(outcome(text, {"type": "integer"}))
        print(outcome([text, text], {"uniqueItems": True}))
        print(outcome({text: 1}, {"additionalProperties": False}))
        print(outcome({}, {"required": [text]}))
        print(outcome({text: 1}, {"propertyNames": {"maxLength": 3}}))
        print(outcome(text, {"not": {"const": text}}))
    """)
    assert lines[0] == lines[4] == "valid"
    assert {*lines[1:4], *lines[5:]} == {"1 errors"}


CATASTROPHES = [
    ("^(a+)+$", "'a' * 5_000 + '!'"),
    ("^(a|a)*$", "'a' * 5_000 + '!'"),
    ("^(a|aa)+$", "'a' * 5_000 + '!'"),
    ("^(\\w+\\s?)*$", "'word ' * 2_000 + '!'"),
    ("(x+x+)+y", "'x' * 5_000"),
    ("^(([a-z])+.)+[A-Z]([a-z])+$", "'a' * 5_000"),
    ("^(.*,){20}P", "'a,' * 500"),
    ("(.*)*(.*)*(.*)*=", "'a' * 5_000"),
]


def test_a_catastrophic_pattern_is_bounded():
    bombs = [f"print(outcome({text}, {{'pattern': {bad!r}}}))" for bad, text in CATASTROPHES]
    lines = run("\n".join(bombs))
    assert len(lines) == len(CATASTROPHES)
    assert set(lines) <= {"1 errors", "refused pattern"}


PATTERNS = [
    "'a' * 1_000_000",
    "'(?:a{1000}){1000}'",
    "'a{1000000000}'",
    "'(' * 100_000 + ')' * 100_000",
    "'a?' * 5_000 + 'a' * 5_000",
    "'|'.join('a' + str(i) for i in range(50_000))",
    "'[' + 'a-z' * 100_000 + ']'",
    "'(?=' * 500 + 'a' + ')' * 500",
]


def test_a_pattern_that_is_huge_or_unfolds_is_refused_or_answered():
    bombs = [f"print(outcome('a' * 5_000, {{'pattern': {bad}}}))" for bad in PATTERNS]
    lines = run("\n".join(bombs))
    assert len(lines) == len(PATTERNS)
    assert set(lines) <= {"1 errors", "valid", "refused pattern"}


def test_many_patterns_on_many_names():
    lines = run("""
        patterns = {f"^k{i}_": {"type": "integer"} for i in range(1_000)}
        record = {f"k{i}_x": 1 for i in range(1_000)}
        schema = {"patternProperties": patterns, "additionalProperties": False}
        print(outcome(record, schema), outcome(record | {"other": 1}, schema))
    """)
    assert lines == ["valid 1 errors"]


def test_many_references_to_one_definition_are_compiled_once():
    lines = run("""
        big = {"properties": {f"p{i}": {"type": "integer"} for i in range(1_000)}}
        uses = {f"u{i}": {"$ref": "#/$defs/big"} for i in range(2_000)}
        schema = {"properties": uses, "$defs": {"big": big}}
        print(outcome({"u7": {"p8": "x"}}, schema))
    """)
    assert lines == ["1 errors"]


def test_every_one_of_many_violations_is_listed():
    lines = run("""
        print(outcome([str(i) for i in range(30_000)], {"items": {"type": "integer"}}))
        print(outcome({f"k{i}": i for i in range(30_000)}, {"additionalProperties": False}))
        print(outcome({}, {"required": [f"k{i}" for i in range(30_000)]}))
    """)
    assert lines == ["30000 errors"] * 3


def test_what_contains_itself_and_what_json_cannot_hold_is_a_violation():
    lines = run("""
        loop = []; loop.append(loop)
        record = {}; record["a"] = record
        anywhere = {"items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}}
        for instance in (loop, record):
            print(outcome(instance, anywhere), outcome(instance, {"uniqueItems": True}).split()[0] in ("valid", "1"))
            print(outcome(instance, {"const": []}))
        nan, inf = float("nan"), float("inf")
        for instance in (nan, inf, -inf, (1, 2), b"x", {1, 2}, 1j, object(), {1: 2}, [nan, nan]):
            for schema in ({"type": "number"}, {"minimum": 1, "multipleOf": 0.5}, {"const": 1},
                           {"enum": [1]}, {"uniqueItems": True}, {"propertyNames": {"pattern": "a"}},
                           {"properties": {"a": True}, "additionalProperties": False}, {"items": False},
                           {"type": ["integer", "array", "object"]}, anywhere):
                outcome(instance, schema)
        print(outcome(nan, {"type": "string"}), outcome((1,), {"type": "string"}))
    """)
    assert lines[0] == lines[2] == "1 errors True"
    assert lines[1] == lines[3] == lines[4].split(" errors")[0] + " errors" == "1 errors"
    assert lines[4] == "1 errors 1 errors"
