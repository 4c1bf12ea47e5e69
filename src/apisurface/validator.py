# Generated from book/validator.ipynb: edit it there, then run `make save`.
"""JSON Schema, checked with the standard library alone: every violation, each with its path.

`validate` is the simple door; `compile_validator` gives the same answers with the work on the
schema done once. A schema that cannot be enforced as it stands is refused before any value is
looked at, and nothing is ever fetched:

    BoundaryError
    └── UnsupportedSchema (ValueError)

Draft 2020-12. `format` and the content keywords are annotations; formats are checked on demand.
Not here: reading text (`parsing`), names that no draft knows (`references.unknown_keywords`).
"""

import marshal
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from apisurface.compiled import SAME_VALUE, Keyword, SchemaNode, SchemaWriter, compile_program
from apisurface.drafts import UnsupportedSchema
from apisurface.keywords import KEYWORD_HELPERS, TYPED_KEYWORDS
from apisurface.references import SchemaDocument
from apisurface.values import equality_key, is_plain, path_text, plain_copy, shown, visible


# cell: enum
def _enum(w: SchemaWriter, node: SchemaNode, values: list[Any]) -> None:
    said = [shown(value) for value in values[:20]]
    if len(values) > 20:
        said.append(f"… ({len(values)} in all)")
    if values and {str}.issuperset(map(type, values)):
        known = w.bind(frozenset(values), "S")
        test = f"type({node.value}) is not str or {node.value} not in {known}"
    else:
        known = w.bind(frozenset(map(equality_key, values)), "S")
        test = f"equality_key({node.value}) not in {known}"
    with w.block(f"if {test}:"):
        one = "" if len(values) == 1 else "one of "
        w.fail(node, f"expected {one}{', '.join(said)}" if values else node.refusal)


# cell: const
def _const(w: SchemaWriter, node: SchemaNode, value: Any) -> None:
    _enum(w, node, [value])


# cell: reference
def _reference(keyword: str) -> Keyword:
    def write(w: SchemaWriter, node: SchemaNode, _: Any) -> None:
        w.call(node, w.document.resolve(f"{node.pointer}/{keyword}", node.scope))

    return write


# cell: all-of
def _all_of(w: SchemaWriter, node: SchemaNode, schemas: list[Any]) -> None:
    for index in range(len(schemas)):
        w.write(w.child(node, "allOf", index))


# cell: if
def _if(w: SchemaWriter, node: SchemaNode, _: Any) -> None:
    errors, seen = w.branch(w.child(node, "if"))
    with w.block(f"if not {errors}:"):
        if seen:
            w.line(f"{node.seen} |= {seen}")
        if "then" in node.schema:
            w.write(w.child(node, "then"))
    with w.block("else:"):
        if "else" in node.schema:
            w.write(w.child(node, "else"))


# cell: dependent-schemas
def _dependent_schemas(w: SchemaWriter, node: SchemaNode, schemas: dict[str, Any]) -> None:
    with w.block(f"if type({node.value}) is dict:"):
        for key in schemas:
            with w.block(f"if {w.bind(key, 'K')} in {node.value}:"):
                w.write(w.child(node, "dependentSchemas", key))


# cell: not
def _not(w: SchemaWriter, node: SchemaNode, schema: Any) -> None:
    errors, _ = w.branch(w.child(node, "not")._replace(seen=""))
    with w.block(f"if not {errors}:"):
        w.fail(node, f"must not fit {shown(schema)}")


# cell: branches
def _branches(keyword: str, *, several: bool) -> Keyword:
    def write(w: SchemaWriter, node: SchemaNode, schemas: list[Any]) -> None:
        enough = several and not node.seen
        results, turn = [], w.fresh("t")
        with w.block(f"for {turn} in (0,):"):  # once, so that break leads to its end
            for index in range(len(schemas)):
                errors, seen = w.branch(w.child(node, keyword, index))
                results.append(errors)
                with w.block(f"if not {errors}:"):
                    if enough:
                        w.line("break")
                    elif seen:
                        w.line(f"{node.seen} |= {seen}")
            found = w.fresh("a")
            w.line(f"{found} = ({', '.join(results)},)")
            if not enough:
                right = "[] in {0}" if several else "{0}.count([]) == 1"
                with w.block(f"if {right.format(found)}:"):
                    w.line("break")
            w.line(f"{node.out}(none_fits({w.text(node.path, node.args)}, {found}))")

    return write


# cell: wrong-type
_WRONG_TYPE = re.compile(r"expected ([a-z]+(?: or [a-z]+)*), got ([a-z]+)")


# cell: other-constant
_OTHER_CONSTANT = re.compile(r': expected (?:["{[\d-]|true$|false$|null$)')


# cell: none-fits
def _none_fits(path: str, branches: Sequence[list[str]]) -> str:
    """Return the one error for `anyOf` and `oneOf`: the branch that is nearest comes first.

    Far is a branch that wants another type; then one whose constants differ (they name the kind
    of record that was meant); then one with more errors.
    """
    fits = [str(place) for place, errors in enumerate(branches, 1) if not errors]
    if fits:
        return f"{path}: fits alternatives {' and '.join(fits)}, expected exactly one"
    own = f"{path}: "
    told = [[error.removeprefix(own) for error in errors] for errors in branches]
    types = [_WRONG_TYPE.fullmatch("; ".join(errors)) for errors in told]
    if all(types):
        names = dict.fromkeys(n for found in types if found for n in found[1].split(" or "))
        return f"{own}expected {' or '.join(names)}, {told[0][0].rpartition(', ')[2]}"

    def distance(errors: list[str]) -> tuple[bool, int, int]:
        wrong_type = any(map(_WRONG_TYPE.fullmatch, errors))
        return wrong_type, sum(map(bool, map(_OTHER_CONSTANT.search, errors))), len(errors)

    near = []
    for errors in sorted(told, key=distance)[:3]:
        more = [f"{len(errors) - 4} more"] if len(errors) > 4 else []
        near.append("; ".join([*errors[:4], *more]))
    others = len(told) - 3
    more = [f"{others} more alternative{'s' if others > 1 else ''}"] if others > 0 else []
    text = f"fits none of {len(told)} alternatives; nearest: {' | or: '.join([*near, *more])}"
    return own + (text if len(text) <= 800 else f"{text[:799]}…")


# cell: unevaluated-items
def _unevaluated_items(w: SchemaWriter, node: SchemaNode, _: Any) -> None:
    index, item = w.fresh("i"), w.fresh("v")
    below = w.child(node, "unevaluatedItems", value=item).step("[%d]", index)
    with w.block(f"if type({node.value}) is list:"):
        each = w.block(f"for {index}, {item} in enumerate({node.value}):")
        with each, w.block(f"if {index} not in {node.seen}:"):
            w.write(below._replace(refusal="unexpected item"))
        w.line(f"{node.seen}.update(range(len({node.value})))")


# cell: unevaluated-properties
def _unevaluated_properties(w: SchemaWriter, node: SchemaNode, _: Any) -> None:
    key, item = w.fresh("k"), w.fresh("v")
    below = w.child(node, "unevaluatedProperties", value=item)
    below = below.step("%s", f"member_step({key})")
    with w.block(f"if type({node.value}) is dict:"):
        each = w.block(f"for {key}, {item} in {node.value}.items():")
        with each, w.block(f"if {key} not in {node.seen}:"):
            w.write(below._replace(refusal="unexpected property"))
        w.line(f"{node.seen}.update({node.value})")


# cell: others
_OTHERS: Mapping[str, Keyword] = {
    "enum": _enum,
    "const": _const,
    "$ref": _reference("$ref"),
    "$dynamicRef": _reference("$dynamicRef"),
    "allOf": _all_of,
    "anyOf": _branches("anyOf", several=True),
    "oneOf": _branches("oneOf", several=False),
    "not": _not,
    "if": _if,
    "dependentSchemas": _dependent_schemas,
    "unevaluatedItems": _unevaluated_items,
    "unevaluatedProperties": _unevaluated_properties,
}


# cell: helpers
_HELPERS = {
    **KEYWORD_HELPERS,
    "equality_key": equality_key,
    "none_fits": _none_fits,
}


# cell: format
def _format(formats: Mapping[str, Callable[[str], bool]]) -> Keyword:
    def write(w: SchemaWriter, node: SchemaNode, name: str) -> None:
        if name in formats:
            with w.block(f"if not {w.bind(formats[name], 'P')}({node.value}):"):
                w.fail(node, f"expected format {visible(name)}")

    return write


# cell: compile-validator
def compile_validator(
    schema: Any, *, formats: Mapping[str, Callable[[str], bool]] | None = None
) -> Callable[[Any], list[str]]:
    """Return a function that gives every violation of a value, with the schema's work done.

    The same answers as `validate`. The schema is read once: changing it later changes nothing.
    The function may be shared between threads. `formats` says for each format to be asserted
    whether a string has it; all others stay annotations. Raises `UnsupportedSchema`.
    """
    return _compiled(schema, formats or {}, "$")


# cell: compiled
def _compiled(
    schema: Any, formats: Mapping[str, Callable[[str], bool]], path: str
) -> Callable[[Any], list[str]]:
    """Return the function for a schema, for paths that begin as said."""
    typed = {**TYPED_KEYWORDS}
    if formats:
        typed["string"] = {**typed["string"], "format": _format(dict(formats))}
    writer = SchemaWriter(SchemaDocument(schema), typed, _OTHERS)
    start = compile_program(writer, _HELPERS, path)

    def fault(steps: Sequence[str | int], reason: str) -> str:
        return f"{path}{path_text(steps)[1:]}: {reason}"

    def violations(instance: Any) -> list[str]:
        errors: list[str] = []
        try:
            if not is_plain(instance):
                instance, faults = plain_copy(instance)
                if faults:
                    return [fault(*found) for found in faults]
            start(instance, errors.append, {})
        except RecursionError:
            return [fault((), "nested deeper than can be checked on the stack that is left")]
        once = len(errors) < 2 or len(errors) == len(set(errors))
        return errors if once else list(dict.fromkeys(errors))

    return violations


# cell: remembered
@lru_cache(maxsize=128)
def _remembered(content: bytes) -> Callable[[Any], list[str]]:
    return _compiled(marshal.loads(content), {}, SAME_VALUE)


# cell: validate
def validate(instance: Any, schema: Any, path: str = "$") -> list[str]:
    """Return every violation of a schema by a value, each with its path; empty when valid.

    `path` is what the paths begin with. The order is that of the schema: properties as they are
    listed, then what is missing, then what is unexpected. A value of the wrong type is one
    violation. Schemas are remembered by content, so one that was changed is read again.
    Raises `UnsupportedSchema` for a schema that is malformed, leaves its document or cannot be
    enforced. Source: JSON Schema, Draft 2020-12.
    """
    try:
        violations = _remembered(marshal.dumps(schema, 2))
    except ValueError as error:
        if isinstance(error, UnsupportedSchema):
            raise
        violations = _compiled(schema, {}, SAME_VALUE)
    return [error.replace(SAME_VALUE, path) for error in violations(instance)]
