"""Namespaces: what is looked up in them, and which names an inner one binds for itself."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class When(Enum):
    """When a name is looked up: at import, when something is called, or by type checkers."""

    NOW = "import"
    LATER = "call"
    TYPE = "type"


@dataclass(frozen=True)
class Use:
    """A read of a module-level name; `dotted` is the longest attribute chain from it."""

    name: str
    line: int
    when: When
    dotted: str
    called: bool = False


@dataclass(frozen=True)
class Touch:
    """A binding or a change of a module-level name, in words: `import`, `def`, `del` …"""

    name: str
    line: int
    how: str


@dataclass
class Scope:
    """One namespace while the tree is walked."""

    kind: str
    parent: Scope | None = None
    bound: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)  # by a `global` statement


class Bound(ast.NodeVisitor):
    """The names that a function body binds itself, without those of inner scopes."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.declared: set[str] = set()
        self.outer: set[str] = set()

    def of(self, nodes: Sequence[ast.AST]) -> Bound:
        """Walk a body."""
        for node in nodes:
            self.visit(node)
        self.names -= self.declared | self.outer
        return self

    def visit_Name(self, node: ast.Name) -> None:
        """A name that is set or deleted is bound here."""
        if not isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_Global(self, node: ast.Global) -> None:
        """These are the module's."""
        self.declared.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """These are an outer function's."""
        self.outer.update(node.names)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.names.add(alias.asname or alias.name.partition(".")[0])

    visit_Import = visit_ImportFrom = _import

    def _definition(self, node: Function | ast.ClassDef) -> None:
        self.names.add(node.name)
        for part in node.decorator_list:
            self.visit(part)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _definition

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Only its defaults are evaluated here."""
        for default in node.args.defaults:
            self.visit(default)

    def _comprehension(self, node: Comprehension) -> None:
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                self.visit(inner.target)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def generic_visit(self, node: ast.AST) -> None:
        """Some nodes hold names as plain strings."""
        if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            self.names.add(node.name)
        if isinstance(node, ast.MatchMapping) and node.rest:
            self.names.add(node.rest)
        super().generic_visit(node)


def function_scope(body: Sequence[ast.AST], every: list[ast.arg], parent: Scope) -> Scope:
    """Return the namespace of a function with this body and these parameters."""
    found = Bound().of(body)
    names = found.names | {argument.arg for argument in every} | {"__class__"}
    return Scope("function", parent, names, found.declared)


def arguments_of(node: ast.arguments) -> list[ast.arg]:
    """Return all parameters, the positional ones first."""
    extra = [argument for argument in (node.vararg, node.kwarg) if argument]
    return [*node.posonlyargs, *node.args, *node.kwonlyargs, *extra]


def line_of(node: ast.AST) -> int:
    """Return the line on which a node starts."""
    return int(getattr(node, "lineno", 0))


def dotted(node: ast.AST) -> str:
    """Return `a.b.c` for a chain of attributes that starts at a name, else nothing."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
