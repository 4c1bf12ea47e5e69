# Generated from book/keywords.ipynb: edit it there, then run `make save`.
"""The keywords that constrain values of one type: numbers, strings, arrays, objects.

Each is a function of a `SchemaWriter`, a `SchemaNode` and the keyword's argument, which writes
the lines that check it (JSON Schema Validation, Draft 2020-12, 6; Core, 10.3).
`TYPED_KEYWORDS` is their table.

Not here: keywords for values of any type and those that combine schemas (`validator`).
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from apisurface.compiled import Code, Keyword, SchemaNode, SchemaWriter, as_template
from apisurface.values import equality_key, is_multiple, member_step, shown, visible


# cell: bound
def _bound(sign: str, words: str) -> Keyword:
    def write(w: SchemaWriter, node: SchemaNode, limit: Any) -> None:
        with w.block(f"if {node.value} {sign} {w.bind(limit)}:"):
            w.fail(node, f"expected {words} {shown(limit)}")

    return write


# cell: multiple-of
def _multiple_of(w: SchemaWriter, node: SchemaNode, divisor: Any) -> None:
    exact = w.bind(Fraction(divisor if type(divisor) is int else repr(divisor)))
    with w.block(f"if not is_multiple({node.value}, {exact}):"):
        w.fail(node, f"expected a multiple of {shown(divisor)}")


# cell: size
def _size(sign: str, words: str, one: str, many: str) -> Keyword:
    def write(w: SchemaWriter, node: SchemaNode, limit: Any) -> None:
        with w.block(f"if len({node.value}) {sign} {w.bind(int(limit))}:"):
            things = one if limit == 1 else many
            w.fail(node, f"expected {words} {shown(int(limit))} {things}")

    return write


# cell: pattern
def _pattern(w: SchemaWriter, node: SchemaNode, text: str) -> None:
    matches = w.pattern(text)
    with w.block(f"if not {matches}({node.value}):"):
        w.fail(node, f"does not match {visible(text, 160)}")


# cell: prefix-items
def _prefix_items(w: SchemaWriter, node: SchemaNode, schemas: list[Any]) -> None:
    for index in range(len(schemas)):
        with w.block(f"if len({node.value}) > {index}:"):
            item = w.fresh("v")
            w.line(f"{item} = {node.value}[{index}]")
            below = w.child(node, "prefixItems", index, value=item).step(f"[{index}]")
            w.write(below._replace(refusal="unexpected item"))
    if node.seen:
        w.line(f"{node.seen}.update(range(min({len(schemas)}, len({node.value}))))")


# cell: items
def _items(w: SchemaWriter, node: SchemaNode, _: Any) -> None:
    start = len(node.schema.get("prefixItems", ()))
    rest = f"{node.value}[{start}:], {start}" if start else node.value
    index, item = w.fresh("i"), w.fresh("v")
    with w.block(f"for {index}, {item} in enumerate({rest}):"):
        below = w.child(node, "items", value=item).step("[%d]", index)
        w.write(below._replace(refusal="unexpected item"))
    if node.seen:
        w.line(f"{node.seen}.update(range(len({node.value})))")


# cell: contains
def _contains(w: SchemaWriter, node: SchemaNode, schema: Any) -> None:
    low, high = node.schema.get("minContains", 1), node.schema.get("maxContains")
    index, item, count = w.fresh("i"), w.fresh("v"), w.fresh("n")
    w.line(f"{count} = 0")
    with w.block(f"for {index}, {item} in enumerate({node.value}):"):
        errors, _ = w.branch(w.child(node, "contains", value=item).step("[%d]", index))
        with w.block(f"if not {errors}:"):
            w.line(f"{count} += 1")
            if node.seen:
                w.line(f"{node.seen}.add({index})")
    for sign, words, limit in (("<", "at least", low), (">", "at most", high)):
        if limit is not None:
            things = "item that fits" if limit == 1 else "items that fit"
            with w.block(f"if {count} {sign} {w.bind(limit)}:"):
                said = f"expected {words} {shown(int(limit))} {things} {shown(schema)}, got "
                w.fail(node, said, Code(count))


# cell: repeats
def repeated_items(values: list[Any]) -> Iterator[tuple[int, int]]:
    """Yield each item that equals an earlier one, with the first it equals: two indexes.

    Takes plain values (`apisurface.values.is_plain`); the time is linear in their size.
    """
    first: dict[Any, int] = {}
    for index, value in enumerate(values):
        before = first.setdefault(equality_key(value), index)
        if before != index:
            yield index, before


# cell: unique-items
def _unique_items(w: SchemaWriter, node: SchemaNode, wanted: bool) -> None:
    if wanted:
        index, before = w.fresh("i"), w.fresh("i")
        with w.block(f"for {index}, {before} in repeated_items({node.value}):"):
            w.fail(node.step("[%d]", index), "repeats item ", Code(before))


# cell: properties
def _properties(w: SchemaWriter, node: SchemaNode, schemas: dict[str, Any]) -> None:
    required = frozenset(node.schema.get("required", ()))
    for key in schemas:
        name, item = w.bind(key, "K"), w.fresh("v")
        with w.block(f"if {name} in {node.value}:"):
            if node.seen:
                w.line(f"{node.seen}.add({name})")
            w.line(f"{item} = {node.value}[{name}]")
            below = w.child(node, "properties", key, value=item)
            below = below.step(as_template(member_step(key)))
            w.write(below._replace(refusal="unexpected property"))
        if key in required:
            with w.block("else:"):
                w.fail(node.step(as_template(member_step(key))), "required")


# cell: required
def _required(w: SchemaWriter, node: SchemaNode, names: list[str]) -> None:
    known = node.schema.get("properties", {})
    for key in names:
        if key not in known:
            with w.block(f"if {w.bind(key, 'K')} not in {node.value}:"):
                w.fail(node.step(as_template(member_step(key))), "required")


# cell: member-node
def _member(w: SchemaWriter, node: SchemaNode, key: str, value: str, *steps: str) -> None:
    """Write the check of a member whose key is only known when the program runs."""
    below = w.child(node, *steps, value=value).step("%s", f"member_step({key})")
    w.write(below._replace(refusal="unexpected property"))


# cell: pattern-properties
def _pattern_properties(w: SchemaWriter, node: SchemaNode, schemas: dict[str, Any]) -> None:
    key, item = w.fresh("k"), w.fresh("v")
    with w.block(f"for {key}, {item} in {node.value}.items():"):
        for text in schemas:
            matches = w.pattern(text)
            with w.block(f"if {matches}({key}):"):
                if node.seen:
                    w.line(f"{node.seen}.add({key})")
                _member(w, node, key, item, "patternProperties", text)


# cell: additional-properties
def _additional_properties(w: SchemaWriter, node: SchemaNode, schema: Any) -> None:
    known = w.bind(frozenset(node.schema.get("properties", ())), "S")
    key, item = w.fresh("k"), w.fresh("v")
    if schema is not True:
        tests = [f"{key} not in {known}"]
        for text in node.schema.get("patternProperties", ()):
            tests.append(f"not {w.pattern(text)}({key})")
        some = w.block(f"if not {known}.issuperset({node.value}):")
        each = w.block(f"for {key}, {item} in {node.value}.items():")
        with some, each, w.block(f"if {' and '.join(tests)}:"):
            _member(w, node, key, item, "additionalProperties")
    if node.seen:
        w.line(f"{node.seen}.update({node.value})")


# cell: property-names
def _property_names(w: SchemaWriter, node: SchemaNode, _: Any) -> None:
    key = w.fresh("k")
    with w.block(f"for {key} in {node.value}:"):
        below = w.child(node, "propertyNames", value=key)
        w.write(below.step(": name %s", f"shown({key})"))


# cell: dependent-required
def _dependent_required(w: SchemaWriter, node: SchemaNode, names: dict[str, list[str]]) -> None:
    for key, needed in names.items():
        with w.block(f"if {w.bind(key, 'K')} in {node.value}:"):
            for name in needed:
                place = node.step(as_template(member_step(name)))
                with w.block(f"if {w.bind(name, 'K')} not in {node.value}:"):
                    w.fail(place, f"required because {shown(key)} is there")


# cell: typed
TYPED_KEYWORDS: Mapping[str, Mapping[str, Keyword]] = {
    "number": {
        "minimum": _bound("<", "at least"),
        "exclusiveMinimum": _bound("<=", "more than"),
        "maximum": _bound(">", "at most"),
        "exclusiveMaximum": _bound(">=", "less than"),
        "multipleOf": _multiple_of,
    },
    "string": {
        "minLength": _size("<", "at least", "character", "characters"),
        "maxLength": _size(">", "at most", "character", "characters"),
        "pattern": _pattern,
    },
    "array": {
        "minItems": _size("<", "at least", "item", "items"),
        "maxItems": _size(">", "at most", "item", "items"),
        "prefixItems": _prefix_items,
        "items": _items,
        "contains": _contains,
        "uniqueItems": _unique_items,
    },
    "object": {
        "properties": _properties,
        "patternProperties": _pattern_properties,
        "required": _required,
        "dependentRequired": _dependent_required,
        "additionalProperties": _additional_properties,
        "propertyNames": _property_names,
        "minProperties": _size("<", "at least", "property", "properties"),
        "maxProperties": _size(">", "at most", "property", "properties"),
    },
}


# cell: helpers
KEYWORD_HELPERS: Mapping[str, Any] = {
    "is_multiple": is_multiple,
    "member_step": member_step,
    "repeated_items": repeated_items,
    "shown": shown,
}
