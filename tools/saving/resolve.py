"""Find where each name that saved code uses comes from, and whether it stays what it is."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.saving import imports, rules
from tools.saving.bound import Use, When
from tools.saving.cells import Cell, Chapter, Refusal
from tools.saving.imports import Found, Import
from tools.saving.rules import Saved
from tools.saving.scopes import Names, names_of

# What Python itself binds everywhere; IPython and `site` add more, which a module may lack.
BUILTINS = {name for name in dir(builtins) if not name.startswith("_")} | {"__debug__"}
BUILTINS -= {"display", "get_ipython", "exit", "quit", "copyright", "credits", "license"}


@dataclass
class Module:
    """What one chapter saves."""

    chapter: Chapter
    docstring: str = ""
    title: str = ""
    saved: list[Saved] = field(default_factory=list)
    needed: set[Import] = field(default_factory=set)
    lazy: bool = False

    @property
    def stem(self) -> str:
        """The module's name and its chapter's."""
        return self.chapter.stem

    @property
    def names(self) -> dict[str, Saved]:
        """What it saves, by name."""
        return {saved.name: saved for saved in self.saved}


def resolve(module: Module, known: set[str]) -> Iterator[Refusal]:
    """Find where each used name comes from; collect the needed imports."""
    found = imports.top_level(module.chapter)
    bound = _bindings(module.chapter)
    before: set[str] = set()
    for saved in module.saved:
        yield from imports.inner(saved.cell, known)
        yield from _calls(module, saved, found)
        for use in saved.names.uses:
            if not _within(saved, use.line) or use.name in rules.BY_TEXT:
                continue  # refused already
            if use.name in module.names:
                yield from _in_time(saved, use, before)
            elif candidates := [one for one in found if one.item.bound == use.name]:
                yield from _import(module, saved, use, candidates)
            else:
                yield from _unknown(saved, use, bound)
        before.add(saved.name)
    runtime = {item.bound for item in module.needed if not item.typing_only}
    module.needed = {i for i in module.needed if not i.typing_only or i.bound not in runtime}
    if any(item.typing_only for item in module.needed):
        module.needed.add(Import("typing", "TYPE_CHECKING"))
    yield from _rebound(module, found)


def _calls(module: Module, saved: Saved, found: list[Found]) -> Iterator[Refusal]:
    """Refuse calls that would work, not define, when the module is imported."""
    for name, line in saved.names.calls:
        full = _full_name(name, found)
        own = name.partition(".")[0] in module.names
        if _within(saved, line) and not own and rules.impure(full):
            yield saved.cell.refuse(line, f"calls {full}() at import", rules.WORK)


def _import(
    module: Module, saved: Saved, use: Use, candidates: list[Found]
) -> Iterator[Refusal]:
    """Take over the import that a use means."""
    chosen, problem = _choose(saved, use, candidates)
    if problem is not None:
        yield problem
    above = [one for one in candidates if _above(module.chapter, one, saved, use)]
    if use.when is When.NOW and not above:
        what = f"uses {use.name} at import, but it is imported further down"
        yield saved.cell.refuse(use.line, what, "move the import up")
    for one in chosen:
        module.needed.add(one.item)
        yield from imports.allowed(module.chapter, one)


def _within(saved: Saved, line: int) -> bool:
    """Whether a line belongs to the definition itself, its decorators included."""
    marks = [mark for node in saved.nodes for mark in getattr(node, "decorator_list", ())]
    return any(n.lineno <= line <= (n.end_lineno or 0) for n in [*saved.nodes, *marks])


def _above(chapter: Chapter, found: Found, saved: Saved, use: Use) -> bool:
    """Whether an import stands above a use, in an earlier cell or on an earlier line."""
    if found.cell is saved.cell:
        return found.line < use.line
    return chapter.cells.index(found.cell) < chapter.cells.index(saved.cell)


def _full_name(name: str, found: list[Found]) -> str:
    """Return what a dotted name means once its import is looked through."""
    root, dot, rest = name.partition(".")
    for item in [one.item for one in found if one.item.bound == root]:
        if item.name or item.alias:
            root = f"{item.module}.{item.name}".rstrip(".")
    return root + dot + rest


def _bindings(chapter: Chapter) -> dict[str, Cell]:
    """Return every name that some unmarked cell binds at its top level."""
    bound: dict[str, Cell] = {}
    for cell in chapter.cells:
        if not cell.saved:
            for bind in names_of(cell.tree).binds:
                bound[bind.name] = cell
    return bound


def _in_time(saved: Saved, use: Use, before: set[str]) -> Iterator[Refusal]:
    if use.when is When.NOW and use.name not in before and use.name != saved.name:
        what = f"uses {use.name} at import, but {use.name} is saved further down"
        yield saved.cell.refuse(use.line, what, f"move the cell that saves {use.name} up")
    elif use.when is When.NOW and use.name == saved.name:
        what = f"uses {use.name} while it is being defined"
        yield saved.cell.refuse(use.line, what, "spell the type as a string, or rename")


def _unknown(saved: Saved, use: Use, bound: dict[str, Cell]) -> Iterator[Refusal]:
    if use.name in bound:
        other = bound[use.name].id
        what = f"{saved.name} uses {use.name}, which cell {other} binds without saving it"
        yield saved.cell.refuse(use.line, what, f"mark that cell, or pass {use.name} in")
    elif use.name.startswith("__") and use.name not in BUILTINS:
        what = f"{use.name} is another thing in a notebook than in a module"
        yield saved.cell.refuse(use.line, what, "write out what you mean")
    elif use.name not in BUILTINS:
        what = f"{saved.name} uses {use.name}, which nothing in this notebook saves or imports"
        yield saved.cell.refuse(use.line, what, "save it, import it, or pass it in")


def _choose(
    saved: Saved, use: Use, candidates: list[Found]
) -> tuple[list[Found], Refusal | None]:
    """Pick the import that a use means; two different ones for one name are refused."""
    typed = [f for f in candidates if f.item.typing_only]
    runtime = [f for f in candidates if not f.item.typing_only]
    pool = typed if typed and use.when is When.TYPE else runtime
    if not pool:
        what = f"{saved.name} uses {use.name} when it runs, but only type checkers import it"
        return [], saved.cell.refuse(use.line, what, "import it inside the function")
    kinds = {f.item for f in pool}
    whole = all(not item.name and not item.alias for item in kinds)  # import a.b, import a.c
    if len(kinds) > 1 and not whole:
        first = next(f for f in pool if f.item == pool[0].item)
        other = next(f for f in pool if f.item != first.item)
        places = f"cells {first.cell.id}, {other.cell.id}"
        what = f"{use.name} is bound by two different imports ({places})"
        return [], other.cell.refuse(other.line, what, "give one of them another name")
    if whole:
        fits = [f for f in pool if f"{use.dotted}.".startswith(f"{f.item.module}.")]
        longest = max((len(f.item.module) for f in fits), default=0)
        pool = [f for f in fits if len(f.item.module) == longest] or pool
    return list({f.item: f for f in reversed(pool)}.values()), None


def _rebound(module: Module, found: list[Found]) -> Iterator[Refusal]:
    """Refuse unmarked cells that change what a saved or imported name means."""
    names = module.names
    needed = {item.bound for item in module.needed}
    foreign = {f.item.bound for f in found if f.item.root == imports.PACKAGE}
    done: dict[str, Saved] = {}
    for cell in module.chapter.cells:
        if cell.saved:
            own = [saved for saved in module.saved if saved.cell is cell]
            done |= {saved.name: saved for saved in own}
            for bind in names_of(cell.tree).binds:
                if bind.how == "import" and bind.name in names:
                    yield _clash(cell, bind.line, bind.name)
            continue
        seen: Names = names_of(cell.tree)
        for bind in seen.binds:
            if bind.how == "import" and bind.name in names:
                yield _clash(cell, bind.line, bind.name)
            elif bind.name in done and bind.how != "import":
                owner = done[bind.name].cell.id
                what = f"binds {bind.name} again ({bind.how}), which cell {owner} saved"
                yield cell.refuse(bind.line, what, "give it another name, or move it above")
            elif bind.name in needed and bind.how != "import":
                what = f"binds {bind.name} ({bind.how}), which saved code imports"
                yield cell.refuse(bind.line, what, "give it another name")
        for change in seen.changes:
            if change.name in done:
                saved = done[change.name]
                if "changed by ." in change.how and saved.kind != "constant":
                    continue
                what = f"changes {change.name} ({change.how}), which cell {saved.cell.id} saved"
                yield cell.refuse(change.line, what, "do it in the saved cell, or to a copy")
            elif change.name in foreign and "changed by ." not in change.how:
                what = f"changes {change.name} ({change.how}), which another chapter saved"
                yield cell.refuse(change.line, what, "use a copy or a subclass")


def _clash(cell: Cell, line: int, name: str) -> Refusal:
    what = f"imports {name}, a name that this chapter saves"
    return cell.refuse(line, what, "import it under another name")
