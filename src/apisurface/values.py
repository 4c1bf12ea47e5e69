# Generated from book/values.ipynb: edit it there, then run `make save`.
"""JSON values as Python holds them: type, equality, exact multiples, and their place in a text.

`is_plain` says whether a value is JSON at all, in Python's plainest types and not nested too
deep; the rest of this module and of the validator expects such values. `plain_copy` makes one,
or says where it cannot be done.

Not here: reading text (`parsing`), schemas (`references` and the chapters after it).
"""

import json
import math
import re
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any, cast

# cell: type-names
TYPE_NAMES: dict[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


# cell: type-name
def type_name(value: object) -> str:
    """Return JSON's name for the type of a value, or Python's for what is no JSON.

    A float is a number even when it is whole; whether it may stand for an integer is a question
    for the schema.
    """
    return TYPE_NAMES.get(type(value), type(value).__name__)


# cell: equality-key
def equality_key(value: Any) -> Hashable:
    """Return something hashable, the same for two values exactly when JSON calls them equal.

    Numbers are equal by value (1 and 1.0), booleans differ from numbers at every depth, the
    order of an object's members does not count. Takes plain values (`is_plain`). Source: JSON
    Schema Core, Draft 2020-12, 4.2.2.
    """
    kind = type(value)
    if kind is list:
        items: list[Hashable] = ["array"]
        for item in value:
            items.append(equality_key(item))
        return tuple(items)
    if kind is dict:
        members: list[Hashable] = []
        for name, item in value.items():
            members.append((name, equality_key(item)))
        return ("object", frozenset(members))
    if kind is bool:
        return ("boolean", str(value))
    if kind in (int, float) and abs(value) >= 2**53:
        return ("number", hex(int(value)))
    return cast(Hashable, value)


# cell: is-multiple
def is_multiple(value: int | float, divisor: Fraction) -> bool:
    """Say whether a number is a whole multiple of another one, exactly, on their decimal text.

    Takes a finite number and a positive fraction. An integer of any length and a float of any
    exponent are fine: the work is one remainder of integers.
    """
    exact = value if type(value) is int else Fraction(repr(value))
    below = exact.denominator * divisor.numerator
    return exact.numerator * divisor.denominator % below == 0


# cell: max-nesting
MAX_NESTING = 500  # containers in containers; half of what Python's own stack can bear


# cell: is-plain
_SCALARS = frozenset({str, int, bool, type(None)})


# cell: is-plain-function
def is_plain(value: Any) -> bool:
    """Say whether a value is JSON in exactly Python's own types, not nested too deep.

    False for subclasses, for NaN and infinity, for keys that are no strings, for everything
    that JSON does not know, and beyond `MAX_NESTING` levels. Time and memory are linear; a
    container that stands in many places is looked at once per level.
    """
    level = [value]
    for depth in range(MAX_NESTING + 1):
        if depth == MAX_NESTING and any(type(inner) is not float for inner in level):
            return False
        deeper: list[Any] = []
        for inner in level:
            kind = type(inner)
            if kind is dict:
                for key, item in inner.items():
                    if type(key) is not str:
                        return False
                    if type(item) not in _SCALARS:
                        deeper.append(item)
            elif kind is list:
                deeper += [item for item in inner if type(item) not in _SCALARS]
            elif kind is float:
                if not math.isfinite(inner):
                    return False
            elif kind not in _SCALARS:
                return False
        if not deeper:
            return True
        level = list({id(one): one for one in deeper}.values())
    return False


# cell: visible
def visible(text: str, limit: int = 80) -> str:
    """Return text fit for one line of a message: nothing unseen in it, cut at `limit`.

    Control characters, those that have no width and those that turn the direction of the text
    are written as escapes.
    """
    text = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


# cell: unprintable
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


# cell: shown
def shown(value: Any, limit: int = 80) -> str:
    """Return a plain value as JSON text for a message, printable and cut at `limit`."""
    try:
        return visible(json.dumps(value, ensure_ascii=False), limit)
    except ValueError:  # more digits than Python turns into text
        return f"{type_name(value)} with a very long number"


# cell: member-step
def member_step(key: str) -> str:
    """Return the step of a path that leads to a member: `.name`, or `["any other"]`.

    A key of more than 80 characters is shown without its middle.
    """
    if key.isidentifier() and len(key) <= 80:
        return f".{key}"
    return f"[{shown(key if len(key) <= 80 else f'{key[:50]}…{key[-20:]}', 600)}]"


# cell: path-text
def path_text(steps: Sequence[str | int]) -> str:
    """Return a path from `$` for keys and indexes; a very long one without its middle."""
    text = "$" + "".join(f"[{s}]" if isinstance(s, int) else member_step(s) for s in steps)
    return text if len(text) <= 240 else f"{text[:120]}…{text[-119:]}"


# cell: plain-copy
def plain_copy(value: Any) -> tuple[Any, list[tuple[tuple[str | int, ...], str]]]:
    """Return a value in plain types, and each place (keys and indexes) where it is not JSON.

    Subclasses of the seven types become those types, and no method of theirs is called.
    Nothing is raised for a value, however odd: the second part says what it was.
    """
    faults: list[tuple[tuple[str | int, ...], str]] = []
    above: set[int] = set()

    def copied(value: Any, steps: tuple[str | int, ...]) -> Any:
        is_dict = issubclass(type(value), dict)
        if not is_dict and not issubclass(type(value), list):
            return _plain_scalar(value, steps, faults)
        if id(value) in above or len(steps) >= MAX_NESTING:
            endless = "contains itself" if id(value) in above else ""
            faults.append((steps, endless or f"nested deeper than {MAX_NESTING} levels"))
            return None
        above.add(id(value))
        items: dict[Any, Any] = {}
        for key, item in list(dict.items(value) if is_dict else enumerate(list.copy(value))):
            if is_dict and not issubclass(type(key), str):
                faults.append((steps, f"expected string keys, got {type_name(key)}"))
            else:
                name = str.__str__(key) if is_dict else key
                items[name] = copied(item, (*steps, name))
        above.remove(id(value))
        return items if is_dict else list(items.values())

    try:
        plain = copied(value, ())
    except RecursionError:  # called from a place that is itself deep
        plain, faults = None, [((), "nested too deep for the stack that is left")]
    return plain, faults


# cell: plain-scalar
def _plain_scalar(
    value: Any, steps: tuple[str | int, ...], faults: list[tuple[tuple[str | int, ...], str]]
) -> Any:
    """Return a string, number, boolean or null as the plain type, or note the fault."""
    kind = type(value)  # isinstance would also believe a __class__ that is made up
    if kind is bool or value is None:
        return value
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        return int.__add__(value, 0)
    if issubclass(kind, float) and math.isfinite(value):
        return float.__add__(value, 0.0)
    got = float.__repr__(value) if issubclass(kind, float) else type_name(value)
    faults.append((steps, f"expected a JSON value, got {got}"))
    return None
