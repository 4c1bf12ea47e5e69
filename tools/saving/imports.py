"""A chapter's imports: which may stand in a module, and in what order."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.saving.cells import Cell, Chapter, Refusal

PACKAGE = "apisurface"
WIDTH = 96
# At import the package needs nothing more; httpx is loaded when a transport is made.
AT_IMPORT = {"jsonschema", "referencing"}  # the second comes with the first
DEPENDENCIES = {"httpx", *AT_IMPORT}
NOT_OURS = {"book", "test", "pages", "live", "judges"}  # extras for work on the book itself
_REMOVED = "aifc asynchat asyncore audioop cgi cgitb chunk crypt distutils imghdr imp lib2to3 "
_REMOVED += "mailcap msilib nis nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib "
_REMOVED += "uu xdrlib"
STDLIB = sys.stdlib_module_names - set(_REMOVED.split())  # the same on 3.11, 3.12 and 3.13


@dataclass(frozen=True)
class Import:
    """One imported name: `import module as alias` or `from module import name as alias`."""

    module: str
    name: str = ""
    alias: str = ""
    typing_only: bool = False

    @property
    def bound(self) -> str:
        """The name it binds."""
        return self.alias or self.name or self.module.partition(".")[0]

    @property
    def root(self) -> str:
        """The package it comes from."""
        return self.module.partition(".")[0]


@dataclass(frozen=True)
class Found:
    """An import and the place where it stands."""

    item: Import
    cell: Cell
    line: int


def of_statement(node: ast.stmt, *, typing_only: bool = False) -> list[Import]:
    """Return what one import statement binds."""
    if isinstance(node, ast.Import):
        return [Import(a.name, "", a.asname or "", typing_only) for a in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        names = [(a.name, "" if a.asname == a.name else a.asname or "") for a in node.names]
        return [Import(node.module, name, alias, typing_only) for name, alias in names]
    return []


def is_typing_block(node: ast.stmt) -> bool:
    """Whether this is `if TYPE_CHECKING:` with nothing but imports in it."""
    return (
        isinstance(node, ast.If)
        and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
        and all(isinstance(inner, ast.Import | ast.ImportFrom) for inner in node.body)
        and not node.orelse
    )


def top_level(chapter: Chapter) -> list[Found]:
    """Return every import at the top level of any cell; those of `__future__` aside."""
    found = []
    for cell in chapter.cells:
        for node in cell.tree.body:
            inner = node.body if isinstance(node, ast.If) and is_typing_block(node) else [node]
            for statement in inner:
                for item in of_statement(statement, typing_only=statement is not node):
                    if item.module != "__future__":
                        found.append(Found(item, cell, statement.lineno))
    return found


def lazy_from(chapter: Chapter) -> int | None:
    """Return the index of the first cell under `from __future__ import annotations`."""
    for index, cell in enumerate(chapter.cells):
        for node in cell.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                return index
    return None


def arrows(chapter: Chapter, order: list[str], saved: dict[str, set[str]]) -> Iterator[Refusal]:
    """Refuse imports, anywhere in a chapter, that do not point backwards in the book."""
    earlier = order[: order.index(chapter.stem)]
    for cell in chapter.cells:
        for node in ast.walk(cell.tree):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            if isinstance(node, ast.ImportFrom) and node.level:
                what = "a relative import"
                yield cell.refuse(node.lineno, what, f"write from {PACKAGE}.… import …")
            for item in of_statement(node):
                yield from _arrow(chapter, cell, node.lineno, item, order, earlier, saved)


def _arrow(
    chapter: Chapter,
    cell: Cell,
    line: int,
    item: Import,
    order: list[str],
    earlier: list[str],
    saved: dict[str, set[str]],
) -> Iterator[Refusal]:
    if item.name == "*":
        yield cell.refuse(line, "a star import hides what it binds", "import each name")
    if item.root != PACKAGE:
        return
    owner = item.module.partition(".")[2]
    remedy = f"write from {PACKAGE}.<chapter> import <name>"
    if not owner or not item.name:
        yield cell.refuse(line, f"imports {item.module} as a whole", remedy)
    elif owner == chapter.stem:
        yield cell.refuse(line, "imports the chapter's own module", "use the name as it is")
    elif owner in order and owner not in earlier:
        what = f"{owner} stands later in the table of contents"
        yield cell.refuse(line, what, "move the chapter or the name")
    elif item.name not in saved.get(owner, set()) | {"*"}:
        remedy = f"save it in book/{owner}.ipynb, or import it from where it is"
        yield cell.refuse(line, f"{item.module} saves no {item.name}", remedy)


def allowed(chapter: Chapter, found: Found) -> Iterator[Refusal]:
    """Refuse an import that the module may not make when it is imported."""
    item = found.item
    if item.typing_only or item.root == PACKAGE or item.root in STDLIB:
        return
    if item.root in AT_IMPORT and chapter.stem != "wire":
        return
    what = f"saved code needs {item.root} at import"
    remedy = "import it inside the function that needs it"
    if item.root not in DEPENDENCIES:
        remedy += " (with an error that names the extra), or do without it"
    else:
        remedy += ", and for annotations under `if TYPE_CHECKING:`"
    yield found.cell.refuse(found.line, what, remedy)


def installable(root: Path) -> set[str]:
    """Return what users of the package can have: its dependencies and their own extras."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project.get("optional-dependencies", {})
    listed = [
        name for extra, names in extras.items() if extra not in NOT_OURS for name in names
    ]
    names = [
        re.split(r"[^\w.-]", name)[0] for name in [*project.get("dependencies", []), *listed]
    ]
    return {name.lower().replace("-", "_") for name in names}


def inner(cell: Cell, known: set[str]) -> Iterator[Refusal]:
    """Refuse an import, anywhere in a marked cell, of what a user cannot have."""
    for node in ast.walk(cell.tree):
        if isinstance(node, ast.stmt):
            for item in of_statement(node):
                if item.root not in known | DEPENDENCIES | STDLIB | {PACKAGE, "__future__"}:
                    what = f"imports {item.root}, which no user's extra brings"
                    remedy = "do without it, or add an extra to pyproject.toml"
                    yield cell.refuse(node.lineno, what, remedy)


# --- order, as ruff's isort rules want it --------------------------------------------


def natural(text: str) -> list[tuple[int, int, str]]:
    """Return a sort key under which x9 stands before x10."""
    parts = re.findall(r"\d+|\D", text)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def kind(name: str) -> int:
    """Constants stand before classes, classes before the rest."""
    if len(name) > 1 and name.isupper():
        return 0
    return 1 if name[:1].isupper() else 2


def render(items: Iterable[Import], *, future: bool = False) -> str:
    """Return the import block of a module, sorted and wrapped."""
    items = set(items)
    sections = [["from __future__ import annotations"] if future else []]
    runtime = [item for item in items if not item.typing_only]
    for number in range(3):
        sections.append(_section([item for item in runtime if _section_of(item) == number]))
    typed = [item for item in items if item.typing_only]
    if typed:
        groups = [_section([i for i in typed if _section_of(i) == n], 4) for n in range(3)]
        body = "\n\n".join("\n".join(group) for group in groups if group)
        sections.append(["if TYPE_CHECKING:", body])
    return "\n\n".join("\n".join(section) for section in sections if section)


def _section_of(item: Import) -> int:
    return 0 if item.root in STDLIB else 2 if item.root == PACKAGE else 1


def _section(items: list[Import], indent: int = 0) -> list[str]:
    plain = {item for item in items if not item.name}
    lines = []
    for item in sorted(plain, key=lambda i: (natural(i.module.lower()), i.module, i.alias)):
        lines.append(f"import {item.module}" + (f" as {item.alias}" if item.alias else ""))
    groups: dict[tuple[str, str, str], list[str]] = {}
    for item in set(items) - plain:
        key = (item.module, item.name, item.alias) if item.alias else (item.module, "", "")
        groups.setdefault(key, []).append(item.name)

    def member(name: str) -> tuple[object, ...]:
        return kind(name), natural(name.lower()), name

    def statement(key: tuple[str, str, str]) -> tuple[object, ...]:
        first = min(groups[key], key=member)
        return natural(key[0].lower()), key[0], *member(first), key[2]

    for key in sorted(groups, key=statement):
        names = sorted(groups[key], key=member)
        if key[2]:
            names = [f"{key[1]} as {key[2]}"]
        lines.append(_wrapped(f"from {key[0]} import ", names, indent))
    return [" " * indent + line for line in lines]


def _wrapped(head: str, names: list[str], indent: int) -> str:
    line = head + ", ".join(names)
    if len(line) + indent <= WIDTH:
        return line
    pad = " " * indent
    return f"{head}(\n" + "".join(f"{pad}    {name},\n" for name in names) + f"{pad})"
