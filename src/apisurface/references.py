# Generated from book/references.ipynb: edit it there, then run `make save`.
"""A schema as a document: its subschemas, what its references mean, what is malformed.

`SchemaDocument` reads a schema of JSON Schema Draft 2020-12 once and refuses, by keyword and
pointer, what is malformed, belongs to another draft or leaves the document
(`UnsupportedSchema`). Nothing is ever fetched. `unknown_keywords` lists the names that no
draft knows.

Not here: checking values (`validator`), patterns (`patterns`).
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urljoin

from apisurface.drafts import (
    IN_PLACE,
    KEYWORDS,
    OTHER_DRAFTS,
    UnsupportedSchema,
    check_keywords,
    newer_than,
    pointer_step,
    subschemas,
)
from apisurface.values import MAX_NESTING, is_plain, plain_copy, shown

# cell: max-schemas
_MAX_SCHEMAS = 250_000


# cell: document
class SchemaDocument:
    """One schema, read: subschemas by JSON pointer, base addresses, and targets of references.

    Raises `UnsupportedSchema` for what is malformed or unsupported anywhere in it, for a
    reference that leads to nothing or leaves the document, and for references that lead in a
    circle on one and the same value. Source: JSON Schema Core, Draft 2020-12, 8 and 9.
    """

    def __init__(self, schema: Any) -> None:
        self.root = _plain_schema(schema)
        self.schemas: dict[str, Any] = {}
        self.bases: dict[str, str] = {}
        self._order: list[str] = []
        self._resources = {"": ""}
        self._anchors: dict[tuple[str, str], str] = {}
        self._dynamic: dict[str, dict[str, str]] = {}  # name, base -> pointer
        self._targets: dict[str, str] = {}
        self._movable: dict[str, str] = {}  # place of a $dynamicRef -> name
        named = self.root.get("$schema") if type(self.root) is dict else None
        self._newer = (newer_than(named) if type(named) is str else None) or set()
        self._read("", self.root, "", "")
        for pointer in self._order:  # which grows where a reference leads out of all schemas
            for keyword in ("$ref", "$dynamicRef"):
                if type(self.schemas[pointer]) is dict and keyword in self.schemas[pointer]:
                    self._targets[f"{pointer}/{keyword}"] = self._find(pointer, keyword)
        several = [found for found in self._dynamic.values() if len(found) > 1]
        self.moving = {base for found in several for base in found}
        self._refuse_circles()
        sites = Counter(target for p in self._targets for target in self._candidates(p))
        self.shared = {target for target, count in sites.items() if count > 1}

    def _read(self, pointer: str, schema: Any, base: str, keyword: str) -> None:
        waiting = [(pointer, schema, base, keyword)]
        while waiting:
            pointer, schema, base, keyword = waiting.pop()
            if pointer in self.schemas:
                continue
            reason = "" if type(schema) in (dict, bool) else f"a schema, got {shown(schema)}"
            if reason or len(self.schemas) >= _MAX_SCHEMAS:
                reason = f"expected {reason or f'at most {_MAX_SCHEMAS} subschemas'}"
                raise UnsupportedSchema(reason, keyword=keyword, pointer=pointer)
            self.schemas[pointer] = schema
            self._order.append(pointer)
            if type(schema) is dict:
                check_keywords(schema, pointer, self._newer)
                base = self._name(pointer, schema, base)
                for inside, step, inner in reversed(list(subschemas(schema))):
                    waiting.append((pointer + step, inner, base, inside))
            self.bases[pointer] = base

    def _name(self, pointer: str, schema: dict[str, Any], base: str) -> str:
        """Note the names that a schema gives itself; return its base address."""
        taken = ""
        newer = newer_than(schema["$schema"]) if "$schema" in schema else self._newer
        if newer != self._newer:
            known = "no draft that is known here" if newer is None else "not that of the whole"
            reason = f"{shown(schema['$schema'])} is {known}"
            raise UnsupportedSchema(reason, keyword="$schema", pointer=f"{pointer}/$schema")
        if "$id" in schema:
            base = _join(base, schema["$id"]).removesuffix("#")
            taken = "" if self._resources.setdefault(base, pointer) == pointer else "$id"
        for keyword in ("$anchor", "$dynamicAnchor"):
            if keyword in schema:
                key = (base, schema[keyword])
                if self._anchors.setdefault(key, pointer) != pointer:
                    taken = keyword
                if keyword == "$dynamicAnchor":
                    self._dynamic.setdefault(schema[keyword], {})[base] = pointer
        if taken:
            reason = f"{shown(schema[taken])} is the name of two schemas"
            raise UnsupportedSchema(reason, keyword=taken, pointer=f"{pointer}/{taken}")
        return base

    def _find(self, pointer: str, keyword: str) -> str:
        """Return where a reference leads, and read what is there if nobody has."""
        ref = self.schemas[pointer][keyword]
        address, _, fragment = _join(self.bases[pointer], ref).partition("#")
        fragment = unquote(fragment)
        reason = f"{shown(ref)} leads to nothing"
        target: str | None = self._anchors.get((address, fragment))
        if address not in self._resources:
            target, reason = None, f"{shown(ref)} leaves the document, and nothing is fetched"
        elif not fragment or fragment.startswith("/"):
            target = self._resources[address] + fragment
        if target is not None and target not in self.schemas:
            found = _look_up(self.root, target)
            target = target if found else None
            if found and target is not None:
                near = target
                while near not in self.bases:
                    near = near.rpartition("/")[0]
                self._read(target, found[0], self.bases[near], keyword)
        if target is None:
            raise UnsupportedSchema(reason, keyword=keyword, pointer=f"{pointer}/{keyword}")
        if keyword == "$dynamicRef" and target in self._dynamic.get(fragment, {}).values():
            self._movable[f"{pointer}/{keyword}"] = fragment
        return target

    def _candidates(self, place: str) -> list[str]:
        """Return all targets that a reference may have: several for a `$dynamicRef` only."""
        if place in self._movable:
            return list(self._dynamic[self._movable[place]].values())
        return [self._targets[place]]

    def resolve(self, place: str, scope: tuple[str, ...] = ()) -> str:
        """Return the pointer that the reference at a pointer means.

        `scope` holds the base addresses passed on the way, the outermost first; it decides
        where a `$dynamicRef` leads when several places have the name.
        """
        found = self._dynamic[self._movable[place]] if place in self._movable else {}
        return next((found[base] for base in scope if base in found), self._targets[place])

    def _in_place(self, pointer: str) -> Iterator[tuple[str, str]]:
        """Yield the schemas that look at the same value as this one, with the place."""
        schema = self.schemas[pointer]
        if type(schema) is dict:
            for keyword in ("$ref", "$dynamicRef"):
                if keyword in schema:
                    for target in self._candidates(f"{pointer}/{keyword}"):
                        yield f"{pointer}/{keyword}", target
            for keyword, step, _ in subschemas(schema):
                if keyword in IN_PLACE:
                    yield pointer + step, pointer + step

    def _refuse_circles(self) -> None:
        """Refuse references that never get deeper into the value, or get there too late."""
        height: dict[str, int] = {}  # 0 while the search is still inside
        for start in self.schemas:
            trail = [] if start in height else [(start, self._in_place(start))]
            height.setdefault(start, 0)
            while trail:
                here, ways = trail[-1]
                for place, target in ways:
                    if height.get(target) == 0:
                        reason = "a cyclic reference: it comes back to itself on the same value"
                        keyword = place.rpartition("/")[2]
                        keyword = keyword if keyword.startswith("$") else "$ref"
                        raise UnsupportedSchema(reason, keyword=keyword, pointer=place)
                    if target not in height:
                        height[target] = 0
                        trail.append((target, self._in_place(target)))
                        break
                else:
                    height[here] = 1 + max(
                        (height[t] for _, t in self._in_place(here)), default=0
                    )
                    if height[here] > MAX_NESTING:
                        reason = f"more than {MAX_NESTING} schemas in a row for one value"
                        raise UnsupportedSchema(reason, pointer=here)
                    trail.pop()


# cell: plain-schema
def _plain_schema(schema: Any) -> Any:
    """Return the schema in plain types; refuse one that is not JSON."""
    if is_plain(schema):
        return schema
    plain, faults = plain_copy(schema)
    for steps, reason in faults:
        data = [step for step in steps if step in ("const", "enum", "default", "examples")]
        names = data[:1] or [step for step in steps if isinstance(step, str)][-1:]
        keyword = str(names[0]) if names else ""
        pointer = "".join(map(pointer_step, steps))
        raise UnsupportedSchema(reason, keyword=keyword, pointer=pointer)
    return plain


# cell: join
def _join(base: str, ref: str) -> str:
    """Return an address relative to a base; unlike urljoin, also for urn: and the like."""
    return base + ref if ref.startswith("#") else urljoin(base, ref) if ref else base


# cell: look-up
def _look_up(value: Any, pointer: str) -> list[Any]:
    """Return what a JSON pointer leads to, in a list that is empty for nothing."""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if type(value) is list and re.fullmatch("0|[1-9][0-9]{0,8}", key):
            value = dict(enumerate(value[: int(key) + 1]))
            key = int(key)  # type: ignore[assignment]
        if type(value) is not dict or key not in value:
            return []
        value = value[key]
    return [value]


# cell: unknown-keywords
def unknown_keywords(schema: Any) -> list[str]:
    """Return the JSON pointer of every keyword in a schema that no draft knows.

    Such names assert nothing (Draft 2020-12 calls them annotations): `minLenght` and OpenAPI's
    `nullable` are accepted and ignored. Raises `UnsupportedSchema` like `SchemaDocument`.
    """
    return [
        pointer + pointer_step(keyword)
        for pointer, inner in SchemaDocument(schema).schemas.items()
        if type(inner) is dict
        for keyword in inner
        if keyword not in KEYWORDS and keyword not in OTHER_DRAFTS
    ]
