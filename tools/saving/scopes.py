"""Follow names through a cell: what it reads, binds and changes at module level, and when."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tools.saving.bound import (
    Bound,
    Comprehension,
    Function,
    Scope,
    Touch,
    Use,
    When,
    arguments_of,
    dotted,
    function_scope,
    line_of,
)

GENERICS = {"Annotated", "Callable", "Optional", "Union", "dict", "frozenset", "list", "set"}
GENERICS |= {"tuple", "type", "Generic", "Iterable", "Iterator", "Mapping", "Sequence"}
SETTERS = {"setattr", "delattr", "setitem", "delitem", "__setattr__", "__delattr__"}
MUTATORS = {
    *("append", "extend", "insert", "add", "update", "clear", "pop", "popitem", "remove"),
    *("discard", "setdefault", "sort", "reverse"),
}


class Names(ast.NodeVisitor):
    """Collect the uses, bindings and changes of one cell."""

    def __init__(self, *, lazy_annotations: bool = False) -> None:
        self.lazy = lazy_annotations
        self.uses: list[Use] = []
        self.binds: list[Touch] = []
        self.changes: list[Touch] = []
        self.calls: list[tuple[str, int]] = []  # what runs at import, dotted
        self.scope = Scope("module")
        self.when = When.NOW
        self.typing = False

    # --- scopes ----------------------------------------------------------------------

    @contextmanager
    def _inside(self, scope: Scope, when: When | None = None) -> Iterator[None]:
        before = self.scope, self.when
        self.scope, self.when = scope, when or self.when
        yield
        self.scope, self.when = before

    @contextmanager
    def _annotation(self, when: When) -> Iterator[None]:
        before = self.typing, self.when
        self.typing, self.when = True, when
        yield
        self.typing, self.when = before

    def _is_global(self, name: str) -> bool:
        scope: Scope | None = self.scope
        first = True
        while scope is not None and scope.kind != "module":
            if name in scope.declared:
                return True
            if name in scope.bound and (first or scope.kind != "class"):
                return False
            scope, first = scope.parent, False
        return True

    def _bind(self, name: str, node: ast.AST, how: str) -> None:
        scope = self.scope
        while scope.kind == "comprehension" and scope.parent is not None:
            if name in scope.bound:
                return
            scope = scope.parent
        if scope.kind == "module" or name in scope.declared:
            self.binds.append(Touch(name, line_of(node), how))
        else:
            scope.bound.add(name)

    def _use(self, name: str, node: ast.AST, dotted: str, called: bool = False) -> None:
        if self._is_global(name):
            self.uses.append(Use(name, line_of(node), self.when, dotted, called))

    def _change(self, node: ast.expr, how: str) -> None:
        root = node
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Starred):
            root = root.value
        if isinstance(root, ast.Name) and self._is_global(root.id):
            self.changes.append(Touch(root.id, line_of(node), how))

    # --- names -----------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> None:
        """A plain name is read, bound or deleted."""
        if isinstance(node.ctx, ast.Load):
            self._use(node.id, node, node.id)
        else:
            self._bind(node.id, node, "del" if isinstance(node.ctx, ast.Del) else "assignment")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """A chain `a.b.c` reads `a`; setting or deleting at its end changes `a`."""
        if not isinstance(node.ctx, ast.Load):
            self._change(node, f"attribute {node.attr} set or deleted")
        chain = dotted(node)
        if chain:
            self._use(chain.partition(".")[0], node, chain)
        else:
            self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """An item; inside annotations strings are types, except those of Literal."""
        if not isinstance(node.ctx, ast.Load):
            self._change(node, "item set or deleted")
        self.visit(node.value)
        name = dotted(node.value).rpartition(".")[2]
        if name == "Literal":
            return
        if name == "Annotated" and isinstance(node.slice, ast.Tuple):
            with self._annotation(self.when):
                self.visit(node.slice.elts[0])
            before, self.typing = self.typing, False
            for part in node.slice.elts[1:]:
                self.visit(part)
            self.typing = before
        elif name in GENERICS and not self.typing:
            with self._annotation(self.when):
                self.visit(node.slice)
        else:
            self.visit(node.slice)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A string in an annotation is the type it spells."""
        if not (self.typing and isinstance(node.value, str)):
            return
        try:
            tree = ast.parse(node.value.strip(), mode="eval")
        except (SyntaxError, ValueError):
            return
        for inner in ast.walk(tree):
            if hasattr(inner, "lineno"):
                inner.lineno = node.lineno
        with self._annotation(When.TYPE):
            self.visit(tree.body)

    def visit_Call(self, node: ast.Call) -> None:
        """A call; some change their first argument, some take a type spelled as text."""
        name = dotted(node.func)
        last = name.rpartition(".")[2]
        if isinstance(node.func, ast.Attribute) and not name:
            last = node.func.attr
        if self.when is When.NOW:
            self.calls.append((name or f"?.{last}", node.lineno))
        if name and not self.typing:
            self._use(name.partition(".")[0], node, name, called=True)
        else:
            self.visit(node.func)
        if (last in SETTERS or name.endswith("patch.object")) and node.args:
            self._change(node.args[0], f"changed by {name or last}()")
        elif isinstance(node.func, ast.Attribute) and last in MUTATORS:
            self._change(node.func.value, f"changed by .{last}()")
        elif isinstance(node.func, ast.Attribute) and last == "register":
            self._change(node.func.value, "extended by .register()")
        spelled = {"cast": 0, "TypeVar": 99}.get(last)
        for number, argument in enumerate(node.args):
            if number == spelled:
                with self._annotation(self.when):
                    self.visit(argument)
            else:
                self.visit(argument)
        for keyword in node.keywords:
            if spelled is not None and keyword.arg == "bound":
                with self._annotation(self.when):
                    self.visit(keyword.value)
            else:
                self.visit(keyword.value)

    # --- statements that bind --------------------------------------------------------

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """An augmented assignment reads and binds."""
        if isinstance(node.target, ast.Name):
            self._use(node.target.id, node, node.target.id)
        self.visit(node.value)
        self.visit(node.target)

    def visit_Assign(self, node: ast.Assign) -> None:
        """The value is read before the names are bound."""
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """An annotated assignment; inside functions the annotation is never evaluated."""
        local = self.scope.kind == "function" and node.simple
        with self._annotation(When.TYPE if local or self.lazy else self.when):
            self.visit(node.annotation)
        if node.value is not None:
            alias = dotted(node.annotation).rpartition(".")[2] == "TypeAlias"
            with self._annotation(self.when) if alias else self._inside(self.scope):
                self.visit(node.value)
        if node.value is not None or not isinstance(node.target, ast.Name):
            self.visit(node.target)

    def visit_Import(self, node: ast.Import) -> None:
        """`import a.b` binds `a`."""
        for alias in node.names:
            self._bind(alias.asname or alias.name.partition(".")[0], node, "import")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`from a import b` binds `b`."""
        for alias in node.names:
            self._bind(alias.asname or alias.name, node, "import")

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """The caught error is bound, then deleted."""
        if node.name:
            self._bind(node.name, node, "except clause")
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        """A capture pattern binds."""
        if node.name:
            self._bind(node.name, node, "match")
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        """A star pattern binds."""
        if node.name:
            self._bind(node.name, node, "match")

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        """The rest of a mapping pattern binds."""
        if node.rest:
            self._bind(node.rest, node, "match")
        self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """A walrus binds in the nearest scope that is no comprehension."""
        self.visit(node.value)
        self.visit(node.target)

    # --- definitions -----------------------------------------------------------------

    def _decorators(self, nodes: Sequence[ast.expr]) -> None:
        for node in nodes:
            name = dotted(node)
            if name:
                self._use(name.partition(".")[0], node, name, called=True)
                if name.endswith(".register"):
                    self._change(node, "extended by .register")
                if self.when is When.NOW:
                    self.calls.append((name, node.lineno))
            else:
                self.visit(node)

    def _function(self, node: Function) -> None:
        self._decorators(node.decorator_list)
        self._defaults(node.args)
        every = arguments_of(node.args)
        with self._annotation(When.TYPE if self.lazy else self.when):
            for annotation in [*(argument.annotation for argument in every), node.returns]:
                if annotation is not None:
                    self.visit(annotation)
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and every and every[0].arg in {"self", "cls"}:
                for argument in decorator.args:
                    self._change(argument, f"extended by a decorator on {node.name}")
        self._bind(node.name, node, "def")
        with self._inside(function_scope(node.body, every, self.scope), When.LATER):
            for statement in node.body:
                self.visit(statement)

    visit_FunctionDef = _function
    visit_AsyncFunctionDef = _function

    def _defaults(self, arguments: ast.arguments) -> None:
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            if default is not None:
                self.visit(default)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """A lambda's body runs later, its defaults now."""
        self._defaults(node.args)
        scope = function_scope([ast.Expr(node.body)], arguments_of(node.args), self.scope)
        with self._inside(scope, When.LATER):
            self.visit(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A class body runs at once, in a namespace its methods do not see."""
        self._decorators(node.decorator_list)
        for part in [*node.bases, *(keyword.value for keyword in node.keywords)]:
            self.visit(part)
        found = Bound().of(node.body)
        scope = Scope("class", self.scope, {"__module__", "__qualname__"}, found.declared)
        with self._inside(scope):
            for statement in node.body:
                self.visit(statement)
        self._bind(node.name, node, "class")

    def _comprehension(self, node: Comprehension) -> None:
        self.visit(node.generators[0].iter)  # evaluated outside, as Python does
        bound = Bound().of([generator.target for generator in node.generators]).names
        with self._inside(Scope("comprehension", self.scope, bound)):
            for number, generator in enumerate(node.generators):
                if number:
                    self.visit(generator.iter)
                for condition in generator.ifs:
                    self.visit(condition)
            parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            for part in parts:
                self.visit(part)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def names_of(tree: ast.Module, *, lazy_annotations: bool = False) -> Names:
    """Walk a whole cell."""
    names = Names(lazy_annotations=lazy_annotations)
    for statement in tree.body:
        names.visit(statement)
    return names
