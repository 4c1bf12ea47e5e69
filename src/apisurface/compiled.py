# Generated from book/compiled.ipynb: edit it there, then run `make save`.
"""Python source for a schema: the writer that the keywords use.

A keyword is a function that takes the `SchemaWriter`, the `SchemaNode` at which it stands and
its argument, and writes lines. `SchemaWriter.program` turns a `SchemaDocument` into the source
of a function `start(v, out, memo)` and the constants it uses. No text of a schema ever stands
in the source: every constant is bound to a name.

Not here: the keywords (`keywords`, `validator`), what they mean.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NamedTuple

from apisurface.drafts import UnsupportedSchema, pointer_step
from apisurface.ecma import UnsupportedPattern
from apisurface.patterns import compile_pattern
from apisurface.references import SchemaDocument
from apisurface.values import TYPE_NAMES


# cell: expr
class Code(str):
    """A piece of generated code within a message, as against its text."""


# cell: same-value
SAME_VALUE = "\0"  # in a path: whatever leads to the value that a function was called with


# cell: node
class SchemaNode(NamedTuple):
    """A schema at its place, and the names that generated code has for what belongs to it."""

    schema: Any
    pointer: str
    value: str
    out: str
    path: str
    args: tuple[str, ...] = ()
    seen: str = ""  # the set of keys and indexes already evaluated, if anybody asks
    scope: tuple[str, ...] = ()  # base addresses passed, for $dynamicRef
    refusal: str = "no value is allowed"  # what the schema `false` says here

    def step(self, text: str, *args: str) -> "SchemaNode":
        """Return this node with a longer path; `text` is a template for `args`."""
        return self._replace(path=self.path + text, args=(*self.args, *args))


# cell: as-template
def as_template(text: str) -> str:
    """Return text for a template, its percent signs doubled."""
    return text.replace("%", "%%")


# cell: keyword-type
Keyword = Callable[["SchemaWriter", SchemaNode, Any], None]


# cell: tests
_TESTS = {
    "object": "type({0}) is dict",
    "array": "type({0}) is list",
    "string": "type({0}) is str",
    "number": "(type({0}) is int or type({0}) is float)",
    "integer": "(type({0}) is int or type({0}) is float and {0}.is_integer())",
    "boolean": "type({0}) is bool",
    "null": "{0} is None",
}


# cell: writer
class SchemaWriter:
    """Writes the program for a document, keyword by keyword.

    `typed` has the keywords that constrain values of one type (object, array, string, number),
    `others` the rest, in the order in which they are written. Raises `UnsupportedSchema` for a
    pattern that cannot be compiled and for a program of more than 20,000 functions.
    """

    def __init__(
        self,
        document: SchemaDocument,
        typed: Mapping[str, Mapping[str, Keyword]],
        others: Mapping[str, Keyword],
    ) -> None:
        self.document, self.typed, self.others = document, typed, others
        self.names: dict[str, Any] = {"NAMES": TYPE_NAMES, "SAME_VALUE": SAME_VALUE}
        self.lines: list[str] = []
        self._depth = self._inside = self._count = 0
        self._patterns: dict[str, Callable[[str], bool]] = {}
        self._bound: dict[str, str] = {}
        self._functions: dict[tuple[str, bool, tuple[str, ...]], str] = {}
        self._waiting: list[tuple[str, str, bool, tuple[str, ...]]] = []

    def program(self, path: str = "$") -> str:
        """Return the source; `names` then has every constant that it uses.

        `path` is what the paths in messages begin with.
        """
        for pointer, schema in self.document.schemas.items():
            if type(schema) is dict:  # also where no value will ever meet the pattern
                for text in [schema["pattern"]] if "pattern" in schema else []:
                    self._compile(text, f"{pointer}/pattern", "pattern")
                for text in schema.get("patternProperties", ()):
                    place = f"{pointer}/patternProperties{pointer_step(text)}"
                    self._compile(text, place, "patternProperties")
        self._function("start", "", False, self._enter((), ""), as_template(path))
        while self._waiting:
            self._function(*self._waiting.pop(), SAME_VALUE)
        return "\n".join(self.lines)

    def _function(
        self, name: str, pointer: str, tracked: bool, scope: tuple[str, ...], path: str
    ) -> None:
        schema, seen = self.document.schemas[pointer], "seen" if tracked else ""
        with self.block(f"def {name}(v, out, memo{', seen' if tracked else ''}):"):
            self._emit(SchemaNode(schema, pointer, "v", "out", path, (), seen, scope))

    def _enter(self, scope: tuple[str, ...], pointer: str) -> tuple[str, ...]:
        base = self.document.bases[pointer]
        moved = base in self.document.moving and base not in scope
        return (*scope, base) if moved else scope

    def fresh(self, letter: str) -> str:
        """Return a name that nothing has yet."""
        self._count += 1
        return f"{letter}{self._count}"

    def bind(self, value: Any, letter: str = "C") -> str:
        """Return a name under which the program finds a constant."""
        name = self.fresh(letter)
        self.names[name] = value
        return name

    def _compile(self, text: str, place: str, keyword: str) -> None:
        if text not in self._patterns:
            try:
                self._patterns[text] = compile_pattern(text)
            except UnsupportedPattern as error:
                raise UnsupportedSchema(str(error), keyword=keyword, pointer=place) from None

    def pattern(self, text: str) -> str:
        """Return the name of a function that says whether a pattern matches."""
        if text not in self._bound:
            self._bound[text] = self.bind(self._patterns[text], "P")
        return self._bound[text]

    def line(self, text: str) -> None:
        """Write one line."""
        self.lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write a head; what is written inside the context is its body."""
        self.line(head)
        before = len(self.lines)
        self._depth += 1
        yield
        if len(self.lines) == before:
            self.line("pass")
        self._depth -= 1

    def text(self, template: str, args: tuple[str, ...]) -> str:
        """Return code for a template filled with variables; a constant when there are none."""
        if not args:
            return self.bind(template % (), "M")
        return f"{self.bind(template, 'M')} % ({', '.join(args)},)"

    def fail(self, node: SchemaNode, *parts: str) -> None:
        """Write the line that reports an error at a node: text, and `Code` for code."""
        said = "".join("%s" if isinstance(part, Code) else as_template(part) for part in parts)
        args = (*node.args, *(part for part in parts if isinstance(part, Code)))
        self.line(f"{node.out}({self.text(f'{node.path}: {said}', args)})")

    def child(self, node: SchemaNode, *steps: str | int, value: str = "") -> SchemaNode:
        """Return the node of a subschema; with `value`, of one for another value."""
        schema, pointer = node.schema, node.pointer
        for key in steps:
            schema, pointer = schema[key], pointer + pointer_step(key)
        scope = self._enter(node.scope, pointer)
        below = node._replace(schema=schema, pointer=pointer, scope=scope)
        return below._replace(value=value, seen="") if value else below

    def write(self, node: SchemaNode) -> None:
        """Write the check of a subschema: here, or as a call where it would nest too deep."""
        if type(node.schema) is dict and self._inside > 8:  # Python takes 20 loops in loops
            self.call(node, node.pointer)
        else:
            self._emit(node)

    def branch(self, node: SchemaNode) -> tuple[str, str]:
        """Write a subschema aside; return the names of its errors and of what it has seen."""
        errors, out = self.fresh("e"), self.fresh("o")
        seen = self.fresh("s") if node.seen else ""
        self.line(f"{errors} = []")
        self.line(f"{out} = {errors}.append")
        if seen:
            self.line(f"{seen} = set()")
        self.write(node._replace(out=out, seen=seen))
        return errors, seen

    def call(self, node: SchemaNode, pointer: str) -> None:
        """Write a call of the function for a schema, and pass its errors on."""
        key = (pointer, bool(node.seen), self._enter(node.scope, pointer))
        if key not in self._functions:
            if len(self._functions) >= 20_000:
                raise UnsupportedSchema("too many subschemas", pointer=node.pointer)
            self._functions[key] = self.fresh("f")
            self._waiting.append((self._functions[key], *key))
        name, found = self._functions[key], self.fresh("r")
        fresh = "([], set())" if node.seen else "([],)"
        if pointer in self.document.shared:
            place = f"{name}, id({node.value})"
            self.line(f"{found} = memo.get(({place}))")
            with self.block(f"if {found} is None:"):
                self.line(f"{found} = memo[{place}] = {fresh}")
                self._run(name, node, found)
                self.line(f"{found}[0][:] = dict.fromkeys({found}[0])")
        else:
            self.line(f"{found} = {fresh}")
            self._run(name, node, found)
        if node.seen:
            self.line(f"{node.seen} |= {found}[1]")
        with self.block(f"for x in {found}[0]:"):
            if node.path == SAME_VALUE:
                self.line(f"{node.out}(x)")
            else:
                place = self.text(node.path, node.args)
                self.line(f"{node.out}(x.replace(SAME_VALUE, {place}))")

    def _run(self, name: str, node: SchemaNode, found: str) -> None:
        seen = f", {found}[1]" if node.seen else ""
        self.line(f"{name}({node.value}, {found}[0].append, memo{seen})")

    def _emit(self, node: SchemaNode) -> None:
        """Write the check of one schema: its type, the keywords of each type, the rest."""
        schema = node.schema
        if type(schema) is bool:
            if not schema:
                self.fail(node, node.refusal)
            return
        own = node
        if "unevaluatedItems" in schema or "unevaluatedProperties" in schema:
            own = node._replace(seen=self.fresh("s"))
            self.line(f"{own.seen} = set()")
        self._inside += 1
        self._typed(own)
        for keyword, write in self.others.items():
            if keyword in schema:
                write(self, own, schema[keyword])
        self._inside -= 1
        if own is not node and node.seen:
            self.line(f"{node.seen} |= {own.seen}")

    def _typed(self, node: SchemaNode) -> None:
        schema, value = node.schema, node.value
        names = schema.get("type", list(self.typed))
        names = [names] if type(names) is str else names
        wide = {"number" if name == "integer" else name for name in names}
        otherwise = "if"
        if "type" in schema:
            tests = (_TESTS[name].format(value) for name in names)
            with self.block(f"if not ({' or '.join(tests)}):"):
                got = Code(f"NAMES[type({value})]")
                self.fail(node, f"expected {' or '.join(names)}, got ", got)
            otherwise = "elif"
        for kind, keywords in self.typed.items():
            present = [keyword for keyword in keywords if keyword in schema]
            if present and kind in wide:
                alone = otherwise == "elif" and wide == {kind}
                head = "else:" if alone else f"{otherwise} {_TESTS[kind].format(value)}:"
                with self.block(head):
                    for keyword in present:
                        keywords[keyword](self, node, schema[keyword])
                otherwise = "elif"


# cell: run
def compile_program(
    writer: SchemaWriter, helpers: Mapping[str, Any], path: str = "$"
) -> Callable[..., None]:
    """Compile what a writer writes; return its function `start(value, out, memo)`.

    `helpers` are the functions that the keywords' lines call, `path` is what the paths in
    messages begin with. Raises `UnsupportedSchema` like
    `SchemaWriter.program`.
    """
    code = compile(writer.program(path), "<schema>", "exec")
    scope = {**helpers, **writer.names}
    FunctionType(code, scope)()  # runs the module: defines its functions in scope, no others
    start: Callable[..., None] = scope["start"]
    return start
