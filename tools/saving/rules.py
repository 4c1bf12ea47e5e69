"""What one marked cell may contain: one definition with its imports, or names handed on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tools.saving.bound import dotted
from tools.saving.cells import Cell, Refusal
from tools.saving.imports import PACKAGE, Import, is_typing_block
from tools.saving.scopes import Names

# A constant is computed from the code alone: no console, file, clock, chance or network.
IMPURE = {
    *(
        "print",
        "input",
        "open",
        "display",
        "breakpoint",
        "exec",
        "eval",
        "exit",
        "quit",
        "help",
    ),
    *("setattr", "delattr"),
}
IMPURE_MODULES = {
    *("os", "subprocess", "socket", "time", "random", "secrets", "shutil", "tempfile"),
    *("asyncio", "warnings"),
}
IMPURE_METHODS = {
    *("write", "writelines", "read_text", "read_bytes", "write_text", "write_bytes"),
    *("now", "utcnow", "today", "basicConfig", "uuid1", "uuid4"),
}
BY_TEXT = {"globals", "eval", "exec", "__import__"}
# IPython binds these again after each cell.
IPYTHON = re.compile(r"_+|_i{1,3}|_i?\d+|_[ids]h|_oh|_exit_code|In|Out|exit|quit|get_ipython")
WORK = "move it into a function or into a cell without the mark"
IN_CLASS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Saved:
    """One saved name: what it is, where it stands, its definition (several with overloads)."""

    name: str
    kind: str  # function, class or constant
    cell: Cell
    nodes: tuple[Definition, ...]
    names: Names

    @property
    def public(self) -> bool:
        """Whether the package exports it."""
        return not self.name.startswith("_")


def source(cell: Cell) -> str:
    """Return a marked cell's text without the mark and without the imports that move up."""
    lines: list[str | None] = list(cell.source.split("\n"))
    lines[0] = None
    for node in cell.tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) or is_typing_block(node):
            for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[number] = None
    kept = [line for line in lines if line is not None]
    while kept and not kept[0].strip():
        kept.pop(0)
    while kept and not kept[-1].strip():
        kept.pop()
    return "\n".join(kept) + "\n"


def docstring(cell: Cell) -> ast.Expr | None:
    """Return the string that is all this cell says, if so."""
    body = cell.tree.body
    if len(body) == 1 and isinstance(body[0], ast.Expr) and _is_text(body[0]):
        return body[0]
    return None


def _is_text(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def definition(cell: Cell, names: Names) -> tuple[Saved | None, list[Refusal]]:
    """Find what a marked cell defines, and everything in it that cannot be saved."""
    refusals: list[Refusal] = []
    found: list[Definition] = []
    for node in cell.tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) or is_typing_block(node):
            refusals += _alone(cell, node)
        elif isinstance(node, Definition):
            found.append(node)
        elif _is_text(node):
            what = "a bare string that is not the chapter's first marked cell"
            refusals.append(cell.refuse(node.lineno, what, "make it a comment, or take it out"))
        else:
            what = f"does work at import ({_quote(node)})"
            refusals.append(cell.refuse(node.lineno, what, WORK))
    if not found:
        if not refusals and not handed_on(cell):
            remedy = "take the mark off: needed imports are found in any cell"
            refusals.append(cell.refuse(1, "the mark saves no definition", remedy))
        return None, refusals
    saved, problems = _one(cell, found, names)
    return saved, refusals + problems + list(_quiet(cell, found, names))


def handed_on(cell: Cell) -> set[Import]:
    """Return what a marked cell only hands on, each as `from apisurface.x import A as A`."""
    found = set()
    for node in cell.tree.body:
        if not isinstance(node, ast.ImportFrom):
            return set()
        for name in node.names:
            if name.asname != name.name or not str(node.module).startswith(f"{PACKAGE}."):
                return set()
            found.add(Import(str(node.module), name.name, name.name))
    return found


def _one(
    cell: Cell, found: list[Definition], names: Names
) -> tuple[Saved | None, list[Refusal]]:
    first, last = found[0], found[-1]
    name = _name(last)
    if not name:
        what = f"binds no single plain name ({_quote(last)})"
        return None, [cell.refuse(last.lineno, what, "assign one value to one name")]
    if isinstance(last, ast.AnnAssign) and last.value is None:
        return None, [cell.refuse(last.lineno, f"{name} has no value", "give it one")]
    if not all(_name(node) == name and _overload(node) for node in found[:-1]):
        second = found[1]
        what = f"two definitions under one mark ({_name(first)}, {_name(second) or '…'})"
        return None, [cell.refuse(second.lineno, what, "give each its own marked cell")]
    kind = "class" if isinstance(last, ast.ClassDef) else "function"
    kind = "constant" if isinstance(last, ast.Assign | ast.AnnAssign) else kind
    saved = Saved(name, kind, cell, tuple(found), names)
    refusals = []
    for bind in names.binds:
        if bind.name != name and bind.how != "import":
            what = f"also binds {bind.name} ({bind.how})"
            remedy = f"let this cell define only {name}"
            refusals.append(cell.refuse(bind.line, what, remedy))
        elif bind.name == name and bind.how != "import" and not _defines(bind.line, found):
            remedy = "keep changing state in an object"
            refusals.append(cell.refuse(bind.line, f"rebinds {name} ({bind.how})", remedy))
    if name.startswith("__") or IPYTHON.fullmatch(name):
        what = f"{name} is a name that Python or IPython keeps for itself"
        refusals.append(cell.refuse(last.lineno, what, "choose another"))
    return saved, refusals


def _defines(line: int, found: list[Definition]) -> bool:
    return any(line == node.lineno for node in found)


def _name(node: Definition) -> str:
    if isinstance(node, ast.Assign):
        target: ast.expr | None = node.targets[0] if len(node.targets) == 1 else None
    elif isinstance(node, ast.AnnAssign):
        target = node.target
    else:
        return node.name
    return target.id if isinstance(target, ast.Name) else ""


def _overload(node: Definition) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(
        dotted(decorator).rpartition(".")[2] == "overload" for decorator in node.decorator_list
    )


def _quiet(cell: Cell, found: list[Definition], names: Names) -> Iterator[Refusal]:
    """Refuse a class body that works, names found by their text, and anything printed."""
    for use in names.uses:
        if use.name in BY_TEXT:
            what = f"{use.name}() finds names by their text, which saving cannot follow"
            yield cell.refuse(use.line, what, "name what you mean")
    for node in found:
        if isinstance(node, ast.ClassDef):
            yield from _class_body(cell, node)
    for output in cell.outputs:
        what = f"a saved cell that prints (its stored output is a {output})"
        yield cell.refuse(1, what, "show it in a cell of its own, and run the notebook again")


def impure(name: str) -> bool:
    """Whether a call to this (`time.time`, `print`, `?.read_text`) has no place at import."""
    root, _, rest = name.partition(".")
    last = rest.rpartition(".")[2]
    # A seeded generator is as constant as a table.
    if name == "random.Random":
        return False
    return name in IMPURE or (bool(rest) and (root in IMPURE_MODULES or last in IMPURE_METHODS))


def _class_body(cell: Cell, node: ast.ClassDef) -> Iterator[Refusal]:
    for inner in node.body:
        plain = isinstance(inner, ast.Pass | IN_CLASS)
        constant = isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant)
        if not plain and not constant:
            what = f"a class body does work at import ({_quote(inner)})"
            yield cell.refuse(inner.lineno, what, WORK)
        if isinstance(inner, ast.ClassDef):
            yield from _class_body(cell, inner)


def _alone(cell: Cell, node: ast.stmt) -> Iterator[Refusal]:
    """An import in a marked cell moves to the module's head, so its lines must be its own."""
    lines = cell.source.split("\n")[node.lineno - 1 : node.end_lineno]
    for other in cell.tree.body:
        apart = other.lineno > (node.end_lineno or 0) or (other.end_lineno or 0) < node.lineno
        if other is not node and not apart:
            what = "an import that shares its line"
            yield cell.refuse(node.lineno, what, "give each its own line")
    if any("#" in line for line in lines):
        what = "a comment on an import would be lost"
        yield cell.refuse(node.lineno, what, "put it on a line above")


def _quote(node: ast.AST) -> str:
    text = ast.unparse(node).split("\n")[0]
    return text if len(text) <= 40 else text[:39] + "…"
