"""Cells in any order: what runs as a notebook is refused, or means the same as a module."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from tools.saving import layout

# A handful of names that get in each other's way, marked and unmarked.
NAMES = ["LIMIT", "items", "f", "g", "A", "json", "len"]
SAVED = [
    "{n} = 3",
    "{n}: list = [{m}]",
    "{n} = {{'a': lambda: {m}}}",
    "{n} = [{m} for {m} in (1, 2)]",
    "{n} = [{m} for _ in (1, 2)]",
    "{n} = tuple({m} for {k} in [(1,)])",
    "def {n}(x={m}):\n    return x",
    "def {n}():\n    return {m}",
    "def {n}():\n    {m} = 5\n    return {m}",
    "def {n}(*{m}, **{k}):\n    return {m}, {k}",
    "def {n}():\n    import json as {m}\n    return {m}.dumps(1)",
    "def {n}():\n    return [{m} for {m} in (7,)], {k}",
    "def {n}():\n    def inner():\n        nonlocal {m}\n        {m} += 1\n    {m} = 0\n    inner()\n    return {m}",
    "def {n}():\n    global {m}\n    {m} = 50\n    return {m}",
    "def {n}():\n    try:\n        raise ValueError(1)\n    except ValueError as {m}:\n        pass\n    return {k}",
    "def {n}():\n    if ({m} := 4):\n        return {m}, {k}",
    "def {n}(x: {m} = 1) -> 'str':\n    return x",
    "def {n}(x: '{m}' = 1):\n    return x",
    "@staticmethod\ndef {n}():\n    return {m}",
    "def _{n}(z):\n    return z",
    "class {n}:\n    {m} = 1\n    both = {m}, {k}\n    def __repr__(self):\n        return repr({m})",
    "class {n}:\n    try_it = [{m} for _ in (1,)]\n    def __repr__(self):\n        return 'x'",
    "class {n}:\n    {m}: int = 4\n    def __repr__(self):\n        return repr(self.{m})",
    "class {n}(object):\n    def __call__(self):\n        return {m}",
    "import json\n\ndef {n}():\n    return json.dumps({m}, default=lambda o: type(o).__name__)",
    "async def {n}():\n    return {m}",
    "{n} = (lambda {m}=2: {m})()",
    "{n} = (lambda: {m})",
]
UNSAVED = [
    "{n} = {m}",
    "{n} = 9",
    "{n} += 1",
    "{n}.extra = 1",
    "{n}.append(4)",
    "{n}['a'] = 5",
    "del {n}",
    "import json",
    "import marshal as {n}",
    "from json import dumps as {n}",
    "def {n}(x=0):\n    return 'rung'",
    "class {n}:\n    pass",
    "for {n} in range(3): pass",
    "[{n} := 7 for _ in (1,)]",
    "def change():\n    global {n}\n    {n} = 60\nchange()",
    "def local():\n    {n} = 60\nlocal()",
    "try:\n    raise ValueError(2)\nexcept ValueError as {n}:\n    pass",
    "match 8:\n    case {n}:\n        pass",
    "setattr({n}, 'more', 1)",
    "value = repr({n})",
    "with open('/dev/null') as {n}: pass",
    "if True:\n    {n} = 12",
    "%time {n} = 3",
    "%%capture\n{n} = 4",
    "from __future__ import annotations",
]
Names = dict[str, Any]
SEEN: Counter[str] = Counter()
DOC = '#@save\n"""Doc."""'


@contextmanager
def namespace(name: str) -> Iterator[Names]:
    """Yield the names of a module that dataclasses and typing can find."""
    sys.modules[name] = made = ModuleType(name)
    made.__dict__["get_ipython"] = lambda: Shell(made.__dict__)
    try:
        yield made.__dict__
    finally:
        del sys.modules[name]


class Shell:
    """As much of IPython as the magics above need."""

    def __init__(self, space: Names) -> None:
        self.space = space

    def run_line_magic(self, name: str, line: str) -> None:
        exec(line, self.space)

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        exec(cell, self.space)


@st.composite
def chapters(draw: Any) -> list[str]:
    cells, known = [], ["json"]
    for _ in range(draw(st.integers(4, 12))):
        saved = draw(st.sampled_from([True, True, False]))
        shape = draw(st.sampled_from(SAVED if saved else UNSAVED))
        name = draw(st.sampled_from(NAMES))
        more = st.sampled_from(draw(st.sampled_from([known, NAMES])))
        text = shape.format(n=name, m=draw(more), k=draw(more))
        cells.append(f"#@save\n{text}" if saved else text)
        known = [*known, name] if saved else known
    return cells


def run(cells: list[str]) -> Names | None:
    """Run cells as a kernel does; None when one of them fails."""
    flags = 0
    with namespace("notebook") as space:
        for source in cells:
            try:
                magic = source.startswith("%")
                text = TransformerManager().transform_cell(source) if magic else source
                code = compile(text, "cell", "exec", flags, dont_inherit=True)
                flags |= code.co_flags & annotations.compiler_flag
                exec(code, space)
            except Exception:
                return None
        return space


def answers(space: dict[str, Any], names: list[str]) -> list[str]:
    """Ask each saved name what it is, and what it answers when called."""
    told = []
    for name in names:
        thing = space[name]
        try:
            value = thing() if callable(thing) else thing
            if hasattr(value, "close") and hasattr(value, "send"):
                value.close()
        except Exception as error:
            value = error
        told.append(f"{name}: {type(thing).__name__} {plain(value)}")
        told.append(f"{name}: {plain(getattr(thing, '__annotations__', None))}")
    return told


def plain(value: Any) -> str:
    if isinstance(value, dict):
        return str({str(k): plain(v) for k, v in value.items()})
    if isinstance(value, list | tuple | set):
        return type(value).__name__ + str([plain(v) for v in value])
    if callable(value):
        return f"callable {getattr(value, '__name__', type(value).__name__)}"
    try:
        text = repr(value)
    except Exception as error:
        text = type(error).__name__
    return f"{type(value).__name__} " + re.sub(r"(notebook|saved)\.| at 0x\w+", "", text)


@pytest.fixture(scope="module")
def small(shared_mini: Any) -> Iterator[Any]:
    """The book to write to; at the end, the search must not have been empty."""
    yield shared_mini
    for what in ("cells that fail", "cells refused", "cells kept", "names saved"):
        assert SEEN[what] > 30, SEEN


@settings(max_examples=40)
@given(chapters())
def test_refused_or_the_same(small: Any, candidates: list[str]) -> None:
    """Keep each cell that runs and is not refused; what remains must mean the same."""
    cells = [DOC]
    for candidate in candidates:
        more = [*cells, candidate]
        if run(more) is None:
            SEEN["cells that fail"] += 1
            continue
        small.add("wire", *((f"c{n}", text) for n, text in enumerate(more)), doc=False)
        if small.read().refusals:
            SEEN["cells refused"] += 1
            continue
        cells = more
    small.add("wire", *((f"c{n}", text) for n, text in enumerate(cells)), doc=False)
    (module,) = small.read().modules
    names = [saved.name for saved in module.saved]
    SEEN["names saved"] += len(names)
    SEEN["cells kept"] += len(cells)
    notebook = run(cells)
    assert notebook is not None
    with namespace("saved") as space:
        exec(compile(layout.module(module), "module", "exec", dont_inherit=True), space)
        assert answers(notebook, names) == answers(space, names)
