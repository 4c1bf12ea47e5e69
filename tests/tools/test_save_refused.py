"""What cannot be saved faithfully is refused, with the notebook, the cell and a remedy named."""

from __future__ import annotations

import json
from typing import Any

import pytest

FUNCTION = "#@save\ndef f():\n    return 1"

# Each case: its cells c1, c2 …, the cell and line that are named, and words of the complaint.
CASES: dict[str, tuple[list[str], str, int, str]] = {
    # --- the mark
    "mark after blank line": (["\n#@save\nX = 1"], "c1", 2, "whole first line"),
    "mark that trails a line": (["X = 1  #@save"], "c1", 1, "whole first line"),
    "mark that trails a def": (["def f():  #@save\n    return 1"], "c1", 1, "whole first line"),
    "mark on a lower line": (["# a helper\n#@save\nX = 1"], "c1", 2, "whole first line"),
    "second mark in a saved cell": ([FUNCTION + "\n#@save"], "c1", 4, "whole first line"),
    "mark below a magic": (["%%time\n#@save\nX = 1"], "c1", 2, "whole first line"),
    "mark below a line magic": (["%load_ext x\n#@save\nX = 1"], "c1", 2, "whole first line"),
    "mark with a space": (["# @save\nX = 1"], "c1", 1, "'# @save' is not a mark"),
    "mark with a capital": (["#@Save\nX = 1"], "c1", 1, "'#@Save' is not a mark"),
    "mark with words": (["#@save the helper\nX = 1"], "c1", 1, "is not a mark"),
    "mark misspelt": (["#@saved\nX = 1"], "c1", 1, "is not a mark"),
    "mark without the at": (["#save\nX = 1"], "c1", 1, "is not a mark"),
    "mark after noqa": (["X = 1  # noqa #@save"], "c1", 1, "is not a mark"),
    "mark indented": ([" #@save\nX = 1"], "c1", 1, "whole first line"),
    "mark in a cell with a syntax error": (["x = (\n#@save"], "c1", 2, "whole first line"),
    # --- what stands under it
    "two definitions": ([FUNCTION + "\n\n\ndef g():\n    pass"], "c1", 6, "two definitions"),
    "definition and constant": (
        ["#@save\nX = 1\nclass A: pass"],
        "c1",
        3,
        "under one mark (X, A)",
    ),
    "nothing": (["#@save"], "c1", 1, "no definition"),
    "only imports": (["#@save\nimport json"], "c1", 1, "no definition"),
    "foreign names handed on": (
        ["#@save\nfrom json import loads as loads"],
        "c1",
        1,
        "no definition",
    ),
    "two names": (["#@save\nA = B = 1"], "c1", 2, "no single plain name"),
    "unpacking": (["#@save\nA, B = 1, 2"], "c1", 2, "no single plain name"),
    "attribute": (
        ["#@save\nclass A: pass", "#@save\nA.x = 1"],
        "c2",
        2,
        "no single plain name",
    ),
    "item": (["#@save\nA = {}", "#@save\nA['x'] = 1"], "c2", 2, "no single plain name"),
    "no value": (["#@save\nx: int"], "c1", 2, "x has no value"),
    "walrus": (["#@save\nX = (y := 3)"], "c1", 2, "also binds y"),
    "comprehension walrus": (["#@save\nX = [y := i for i in (1,)]"], "c1", 2, "also binds y"),
    "a later string": ([FUNCTION, '#@save\n"""More."""'], "c2", 2, "bare string"),
    "a string below": ([FUNCTION + '\n"""More."""'], "c1", 4, "bare string"),
    "print": (["#@save\nprint(1)"], "c1", 2, "does work at import (print(1))"),
    "print after a def": ([FUNCTION + "\nprint(f())"], "c1", 4, "does work at import"),
    "loop": (["#@save\nfor i in (): pass"], "c1", 2, "does work at import"),
    "if": (["#@save\nif True:\n    X = 1"], "c1", 2, "does work at import"),
    "try": (["#@save\ntry:\n    X = 1\nexcept ValueError: pass"], "c1", 2, "work at import"),
    "with": (["#@save\nwith x:\n    X = 1"], "c1", 2, "does work at import"),
    "assert": ([FUNCTION + "\nassert f() == 1"], "c1", 4, "does work at import"),
    "del": ([FUNCTION + "\ndel f"], "c1", 4, "does work at import"),
    "augmented": (["#@save\nX = 1\nX += 1"], "c1", 3, "does work at import (X += 1)"),
    "call on a class": (
        ["#@save\nclass A: pass\nsetattr(A, 'x', 1)"],
        "c1",
        3,
        "work at import",
    ),
    "await": (["#@save\nX = await f()"], "c1", 2, "is not valid Python"),
    "return": (["#@save\nreturn 1"], "c1", 2, "is not valid Python"),
    "line magic": (["#@save\n%time f()"], "c1", 2, "an IPython command (%time f())"),
    "shell": (["#@save\n!ls\nX = 1"], "c1", 2, "an IPython command (!ls)"),
    "shell result": (["#@save\nX = !ls"], "c1", 2, "is not valid Python"),
    "help": (["#@save\nimport json\njson.dumps?"], "c1", 3, "an IPython command (json.dumps?)"),
    "cell magic": (["#@save\n%%time\nX = 1"], "c1", 2, "an IPython command (%%time)"),
    "indented cell": (["#@save\n  X = 1"], "c1", 2, "is not valid Python"),
    "prompts": (["#@save\n>>> X = 1"], "c1", 2, "is not valid Python"),
    "syntax of a newer Python": (["#@save\ntype X = int"], "c1", 2, "is not valid Python"),
    "a lone surrogate": (["#@save\nX = '\ud800'"], "c1", 1, "is not valid Python"),
    "import beside code": (["#@save\nimport json; X = json"], "c1", 2, "shares its line"),
    "comment on an import": (
        ["#@save\nimport json  # why\nX = json"],
        "c1",
        2,
        "would be lost",
    ),
    "a name IPython rebinds": (["#@save\n_1 = 3"], "c1", 2, "keeps for itself"),
    "the last output": (["#@save\n_ = 3"], "c1", 2, "keeps for itself"),
    # --- work at import
    "print in a default": (["#@save\ndef f(x=print(1)): pass"], "c1", 2, "calls print() at"),
    "print in a decorator": (
        ["#@save\n@print('x')\ndef f(): pass"],
        "c1",
        2,
        "calls print() at",
    ),
    "print in a class": (["#@save\nclass A:\n    print(1)"], "c1", 3, "class body does work"),
    "loop in a class": (["#@save\nclass A:\n    for i in (): pass"], "c1", 3, "class body"),
    "inner class": (["#@save\nclass A:\n  class B:\n    if 1: x = 1"], "c1", 4, "class body"),
    "print in a value": (["#@save\nX = [print(i) for i in (1,)]"], "c1", 2, "calls print()"),
    "reads a file": (["#@save\nX = open('x').read()"], "c1", 2, "calls open() at import"),
    "reads a path": (
        ["from pathlib import Path", "#@save\nX = Path('x').read_text()"],
        *("c2", 2, "calls ?.read_text() at import"),
    ),
    "clock": (["import time as t\n#\n", "#@save\nX = t.time()"], "c2", 2, "calls time.time()"),
    "chance": (
        ["from random import random", "#@save\nX = random()"],
        "c2",
        2,
        "random.random()",
    ),
    "now": (
        ["from datetime import datetime", "#@save\nX = datetime.now()"],
        *("c2", 2, "calls datetime.datetime.now()"),
    ),
    "environment": (["import os", "#@save\nX = os.getenv('X')"], "c2", 2, "calls os.getenv()"),
    "names by text": (
        ["#@save\ndef f(): return globals()"],
        "c1",
        2,
        "finds names by their text",
    ),
    "eval": (["#@save\ndef f(): return eval('x')"], "c1", 2, "finds names by their text"),
    # --- names
    "unknown": (["#@save\ndef f():\n    return gone()"], "c1", 3, "nothing in this notebook"),
    "unsaved": (["def g(): pass", "#@save\ndef f(): return g()"], "c2", 2, "cell c1 binds"),
    "unsaved loop variable": (
        ["for i in (1,): pass", "#@save\nX = i"],
        "c2",
        2,
        "cell c1 binds",
    ),
    "unsaved in a method": (
        ["LIMIT = 3", "#@save\nclass A:\n    LIMIT = 4\n    def f(self): return LIMIT"],
        *("c2", 4, "cell c1 binds"),
    ),
    "unsaved in an annotation": (
        ["class G: pass", "#@save\ndef f(x: G): pass"],
        "c2",
        2,
        "c1 binds",
    ),
    "unsaved in text": (["class G: pass", "#@save\ndef f(x: 'G'): pass"], "c2", 2, "c1 binds"),
    "unsaved in a base": (["class G: pass", "#@save\nclass A(G): pass"], "c2", 2, "c1 binds"),
    "unsaved in a decorator": (["g = id", "#@save\n@g\ndef f(): pass"], "c2", 2, "c1 binds"),
    "unsaved in a default": (["g = 1", "#@save\ndef f(x=g): pass"], "c2", 2, "c1 binds"),
    "unsaved in a comprehension": (
        ["g = 1", "#@save\nX = [g for i in ()]"],
        "c2",
        2,
        "c1 binds",
    ),
    "hidden built-in": (["len = 3", "#@save\ndef f(): return len"], "c2", 2, "cell c1 binds"),
    "built-in hidden below": (
        ["#@save\ndef f(): return len", "len = 3"],
        "c1",
        2,
        "cell c2 binds",
    ),
    "IPython's display": (["#@save\ndef f(): display(1)"], "c1", 2, "nothing in this notebook"),
    "last output": (["#@save\ndef f(): return _"], "c1", 2, "nothing in this notebook"),
    "module name": (
        ["#@save\ndef f(): return __name__"],
        "c1",
        2,
        "another thing in a notebook",
    ),
    "file name": (["#@save\ndef f(): return __file__"], "c1", 2, "another thing in a notebook"),
    "conditional import": (
        ["try:\n    import json\nexcept ImportError:\n    json = None", "#@save\nX = json"],
        *("c2", 2, "cell c1 binds"),
    ),
    "saved twice": (
        [FUNCTION, FUNCTION],
        "c2",
        1,
        "f is saved a second time (first in cell c1)",
    ),
    "class extends itself": (
        ["#@save\nclass A: pass", "#@save\nclass A(A): x = 1"],
        *("c2", 1, "A is saved a second time"),
    ),
    "default before its constant": (
        ["#@save\ndef f(x=LIMIT): return x", "#@save\nLIMIT = 1"],
        *("c1", 2, "LIMIT is saved further down"),
    ),
    "decorator before its function": (
        [
            "def mark(f): return f",
            "#@save\n@mark\ndef f(): pass",
            "#@save\ndef mark(f): return f",
        ],
        *("c2", 2, "mark is saved further down"),
    ),
    "annotation before its class": (
        ["#@save\ndef f(x: A): pass", "#@save\nclass A: pass"],
        *("c1", 2, "A is saved further down"),
    ),
    "import below its use": (
        ["#@save\nX = [json]", "import json"],
        *("c1", 2, "uses json at import, but it is imported further down"),
    ),
    "itself": (["X = 1", "#@save\nX = X + 1"], "c2", 2, "uses X while it is being defined"),
    # --- changes further down
    "rebound": (
        [FUNCTION, "f = 3"],
        "c2",
        1,
        "binds f again (assignment), which cell c1 saved",
    ),
    "defined again": ([FUNCTION, "def f(): pass"], "c2", 1, "binds f again (def)"),
    "class again": (["#@save\nclass A: pass", "class A(A): x = 1"], "c2", 1, "binds A again"),
    "augmented below": (["#@save\nX = 1", "X += 1"], "c2", 1, "binds X again"),
    "deleted below": ([FUNCTION, "del f"], "c2", 1, "binds f again (del)"),
    "loop variable": ([FUNCTION, "for f in (): pass"], "c2", 1, "binds f again"),
    "with target": ([FUNCTION, "with open('x') as f: pass"], "c2", 1, "binds f again"),
    "except target": ([FUNCTION, "try: 1\nexcept OSError as f: 1"], "c2", 2, "binds f again"),
    "match target": ([FUNCTION, "match 1:\n  case f: 1"], "c2", 2, "binds f again"),
    "walrus below": ([FUNCTION, "[f := 1 for i in ()]"], "c2", 1, "binds f again"),
    "global below": ([FUNCTION, "def g():\n  global f\n  f = 1"], "c2", 3, "binds f again"),
    "imported below": ([FUNCTION, "from x import f"], "c2", 1, "imports f, a name"),
    "under capture": ([FUNCTION, "%%capture\nf = 1"], "c2", 2, "binds f again"),
    "under a magic": ([FUNCTION, "%time g()\nf = 1"], "c2", 2, "binds f again"),
    "timed": ([FUNCTION, "%time f = 1"], "c2", 1, "binds f again"),
    "imported above": (["from x import f", FUNCTION], "c1", 1, "imports f, a name"),
    "global in saved code": (
        ["#@save\nN = 0", "#@save\ndef f():\n    global N\n    N += 1"],
        *("c2", 4, "also binds N"),
    ),
    "global of itself": (["#@save\ndef f():\n    global f\n    f = 1"], "c1", 4, "rebinds f"),
    "attribute below": (
        ["#@save\nclass A: pass", "A.x = 1"],
        "c2",
        1,
        "changes A (attribute x",
    ),
    "method below": (
        ["#@save\nclass A: pass", "def g(self): pass\nA.g = g"],
        *("c2", 2, "changes A (attribute g set or deleted), which cell c1 saved"),
    ),
    "method by decorator": (
        ["#@save\nclass A: pass", "def into(c): ...", "@into(A)\ndef g(self): pass"],
        *("c3", 1, "changes A (extended by a decorator on g)"),
    ),
    "setattr below": (["#@save\nclass A: pass", "setattr(A, 'x', 1)"], "c2", 1, "changes A"),
    "set behind its back": (
        ["#@save\nclass A: pass", "type.__setattr__(A, 'x', 1)"],
        *("c2", 1, "changes A (changed by type.__setattr__())"),
    ),
    "registered with a decorator": (
        ["import functools", "#@save\n@functools.singledispatch\ndef f(x): pass"]
        + ["@f.register\ndef _(x: int): pass"],
        *("c3", 1, "changes f (extended by .register)"),
    ),
    "registered": (
        ["import abc", "#@save\nclass A(abc.ABC): pass", "A.register(int)"],
        *("c3", 1, "changes A (extended by .register())"),
    ),
    "attribute deleted": (["#@save\nclass A: x = 1", "del A.x"], "c2", 1, "changes A"),
    "deep attribute": (["#@save\nclass A: x = []", "A.x[0].y = 1"], "c2", 1, "changes A"),
    "item below": (
        ["#@save\nX = {}", "X['a'] = 1"],
        "c2",
        1,
        "changes X (item set or deleted)",
    ),
    "item augmented": (["#@save\nX = {}", "X['a'] += 1"], "c2", 1, "changes X"),
    "appended": (
        ["#@save\nX = []", "X.append(1)"],
        "c2",
        1,
        "changes X (changed by .append())",
    ),
    "updated deep": (["#@save\nX = {}", "X['a'].update(b=1)"], "c2", 1, "changes X"),
    "inside a function": (["#@save\nX = []", "def g():\n    X.pop()"], "c2", 2, "changes X"),
    "tuple target": (["#@save\nX = [1]", "a, X[0] = 1, 2"], "c2", 1, "changes X"),
    "for target": (["#@save\nX = [1]", "for X[0] in (): pass"], "c2", 1, "changes X"),
    "patched": (
        [
            "#@save\nclass A: x = 1",
            "from unittest import mock\nwith mock.patch.object(A, 'x', 2): 1",
        ],
        *("c2", 2, "changes A"),
    ),
    # --- imports
    "star": (["from json import *", FUNCTION], "c1", 1, "a star import hides"),
    "two imports of a name": (
        ["from json import loads", "from marshal import loads", "#@save\nX = [loads]"],
        *("c2", 1, "loads is bound by two different imports (cells c1, c2)"),
    ),
    "an alias and a module": (
        ["import json", "import marshal as json", "#@save\nX = [json]"],
        *("c2", 1, "two different imports"),
    ),
    "import rebound": (
        ["import json", "json = 1", "#@save\nX = [json]"],
        "c2",
        1,
        "binds json",
    ),
    "third party": (
        ["import numpy as np", "#@save\nX = [np]"],
        "c1",
        1,
        "needs numpy at import",
    ),
    "httpx at import": (
        ["import httpx", "#@save\nX = [httpx]"],
        "c1",
        1,
        "needs httpx at import",
    ),
    "jsonschema in wire": (
        ["import jsonschema", "#@save\nX = [jsonschema]"],
        "c1",
        1,
        "at import",
    ),
    "a book module": (
        ["from figures import plt", "#@save\nX = [plt]"],
        "c1",
        1,
        "figures at import",
    ),
    "a book module inside": (
        ["#@save\ndef f():\n    from figures import plt\n    return plt"],
        *("c1", 3, "imports figures, which no user's extra brings"),
    ),
    "a library inside that no extra brings": (
        ["#@save\ndef f():\n    import numpy.linalg\n    return numpy"],
        *("c1", 3, "imports numpy, which no user's extra brings"),
    ),
    "removed from Python": (
        ["import imp", "#@save\nX = [imp]"],
        "c1",
        1,
        "needs imp at import",
    ),
    "only for type checkers": (
        [
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import json",
            "#@save\ndef f(): return json",
        ],
        *("c2", 2, "only type checkers import it"),
    ),
    "relative": (["from . import x", FUNCTION], "c1", 1, "a relative import"),
    "relative inside": (
        ["#@save\ndef f():\n    from .x import y"],
        "c1",
        3,
        "a relative import",
    ),
    "the root": (
        ["from apisurface import f", "#@save\nX = 1"],
        "c1",
        1,
        "apisurface as a whole",
    ),
    "the root inside": (["#@save\ndef f():\n    import apisurface"], "c1", 3, "as a whole"),
    "a module whole": (
        ["import apisurface.wire", FUNCTION],
        "c1",
        1,
        "apisurface.wire as a whole",
    ),
    "itself imported": (["from apisurface.wire import f", FUNCTION], "c1", 1, "own module"),
    "future comes late": (
        [FUNCTION, "from __future__ import annotations", "#@save\ndef g(): pass"],
        *("c2", 1, "from __future__ import annotations comes after"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(mini: Any, name: str) -> None:
    cells, cell, line, words = CASES[name]
    mini.add("wire", *((f"c{n}", source) for n, source in enumerate(cells, 1)))
    told = mini.refusals()
    assert any(words in text for text in told), told
    refusal = next(text for text in told if words in text)
    assert refusal.startswith(f"book/wire.ipynb, cell {cell}, line {line}: ")
    assert "; " in refusal
    before = mini.files()
    assert mini.save() == 1
    assert mini.files() == before


@pytest.mark.parametrize(
    "output",
    [
        {"output_type": "stream", "name": "stdout", "text": "x"},
        {"output_type": "stream", "name": "stderr", "text": "x"},
        {"output_type": "display_data", "data": {}, "metadata": {}},
        {"output_type": "execute_result", "data": {}, "metadata": {}, "execution_count": 1},
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": []},
    ],
    ids=lambda output: output["output_type"] + output.get("name", ""),
)
def test_a_saved_cell_that_printed(mini: Any, output: dict[str, Any]) -> None:
    mini.add("wire", ("c1", FUNCTION, {"outputs": [output]}))
    assert mini.refusals()[0].startswith(
        "book/wire.ipynb, cell c1, line 1: a saved cell that prints"
    )


def test_a_first_cell_without_docstring(mini: Any) -> None:
    mini.add("wire", ("c1", FUNCTION), doc=False)
    assert mini.refusals()[0].startswith(
        "book/wire.ipynb, cell c1, line 1: the chapter's first"
    )


def test_a_name_two_chapters_save(mini: Any) -> None:
    mini.code("wire", FUNCTION).code("late", FUNCTION)
    (refusal,) = mini.refusals()
    assert refusal == (
        "book/late.ipynb, cell c1, line 1: f is already saved by book/wire.ipynb, cell c1; "
        "import it from apisurface.wire, or choose another name"
    )


def test_two_chapters_may_have_private_helpers_of_one_name(mini: Any) -> None:
    helper = "#@save\ndef _help():\n    return 1"
    assert mini.code("wire", helper).code("late", helper).refusals() == []


def test_a_name_that_hides_another_module(mini: Any) -> None:
    mini.code("wire", "#@save\nlate = 1").code("late", "#@save\ndef late(): pass")
    told = mini.refusals()
    assert told[0].startswith("book/late.ipynb, cell c1, line 1: late is already saved by")
    assert "book/wire.ipynb, cell c1, line 1: late is also the name of a chapter's" in told[1]


def test_a_name_may_be_its_own_modules(mini: Any) -> None:
    mini.code("dispatch", "#@save\ndef dispatch():\n    return 1")
    mini.code("errors", "from apisurface.dispatch import dispatch\n#", "#@save\nX = dispatch()")
    assert mini.save() == 0


def test_imports_only_point_backwards(mini: Any) -> None:
    mini.code("wire", "from apisurface.late import g", FUNCTION)
    mini.code(
        "late",
        "#@save\ndef g():\n    from apisurface.last import h",
        "from apisurface.wire import f",
    )
    mini.code("last", "#@save\ndef h(): pass", "from apisurface.wire import gone")
    told = mini.refusals()
    assert told == [
        "book/last.ipynb, cell c2, line 1: apisurface.wire saves no gone; "
        "save it in book/wire.ipynb, or import it from where it is",
        "book/late.ipynb, cell c1, line 3: last stands later in the table of contents; "
        "move the chapter or the name",
        "book/wire.ipynb, cell c1, line 1: late stands later in the table of contents; "
        "move the chapter or the name",
    ]


def test_another_chapters_class_is_not_changed_either(mini: Any) -> None:
    mini.code("wire", "#@save\nclass A: pass")
    mini.code("late", "from apisurface.wire import A", "A.x = 1", FUNCTION)
    assert (
        "changes A (attribute x set or deleted), which another chapter saved"
        in mini.refusals()[0]
    )


def test_httpx_may_not_be_needed_by_any_module_but_jsonschema_may(mini: Any) -> None:
    mini.code("wire", FUNCTION)
    mini.code("late", "import jsonschema, httpx", "#@save\ndef g(): return jsonschema")
    assert mini.refusals() == []
    mini.code("late", "import jsonschema, httpx", "#@save\ndef g(): return httpx")
    assert "needs httpx at import; import it inside the function" in mini.refusals()[0]


def test_an_extra_may_be_imported_inside_a_function(mini: Any) -> None:
    cell = "#@save\ndef f():\n    import jinja2, my_tool\n    return jinja2, my_tool"
    extras = (
        '[project.optional-dependencies]\ntemplates = ["Jinja2>=3.1"]\nbook = ["my-tool"]\n'
    )
    with (mini.root / "pyproject.toml").open("a") as file:
        file.write(extras)
    (refusal,) = mini.code("wire", cell).refusals()
    assert "imports my_tool, which no user's extra brings" in refusal
    with (mini.root / "pyproject.toml").open("a") as file:
        file.write("tools = [\"my-tool[x]; python_version > '3'\"]\n")
    assert mini.refusals() == []


def test_a_marked_cell_that_is_not_code(mini: Any) -> None:
    mini.add("wire", ("c1", "#@save\nX = 1", {"cell_type": "markdown"}))
    assert "cell c1, line 1: the mark stands in a cell that is not code" in mini.refusals()[0]


def test_a_notebook_outside_the_table_of_contents(mini: Any) -> None:
    mini.code("wire", FUNCTION)
    mini.stems = []
    mini.toc()
    assert (
        "book/wire.ipynb, cell doc, line 1: a marked cell in a notebook" in mini.refusals()[0]
    )
    assert mini.save("--check") == 1


def test_text_that_cannot_be_written(mini: Any) -> None:
    mini.add("wire", ("c1", "x = '\ud800'"))
    assert "book/wire.ipynb: is not a valid notebook (" in mini.refusals()[0]


def test_ids_are_needed_and_stand_once(mini: Any) -> None:
    mini.add("wire", ("c1", "x = 1"), ("c1", "y = 1"))
    assert mini.refusals() == [
        "book/wire.ipynb, cell c1: its id stands twice in the notebook; rename one of the two"
    ]
    made = json.loads(mini.file("wire").read_text())
    del made["cells"][1]["id"]
    mini.file("wire").write_text(json.dumps(made))
    assert "book/wire.ipynb, cell number 2: has no id" in mini.refusals()[0]


@pytest.mark.parametrize("text", ["", "<<<<<<< ours\n{}", "[]", "{}", '{"cells": 3}'])
def test_a_file_that_is_no_notebook(mini: Any, text: str) -> None:
    mini.code("wire", FUNCTION)
    mini.file("wire").write_text(text)
    assert mini.refusals()[0].startswith("book/wire.ipynb: is no notebook of format 4 (")


def test_a_stem_that_is_no_module_name(mini: Any) -> None:
    assert "cannot be a module's name" in mini.code("two-words", FUNCTION).refusals()[0]


def test_one_thing_is_told_once(mini: Any) -> None:
    (told,) = mini.code("wire", "#@save\nX = 1\nprint(X)").refusals()
    assert "does work at import (print(X))" in told


def test_every_refusal_of_the_book_is_told_at_once(mini: Any, capsys: Any) -> None:
    mini.code("wire", "#@save\nprint(1)", "#@save\ndef f(): return gone")
    mini.code("late", "#@save\nX = 1\nY = 2")
    assert mini.save() == 1
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in told] == [
        "book/late.ipynb, cell c1, line 3",
        "book/wire.ipynb, cell c1, line 2",
        "book/wire.ipynb, cell c2, line 2",
        "refused",
    ]
    assert told[-1] == "refused: 3; nothing was written"


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (
            "#@save\ndef boom():\n    raise ValueError('no')\n",
            "the package cannot be imported (ValueError: no)",
        ),
        ("#@save\ndef boom():\n    print('hi')\n", "prints when it is imported (hi)"),
    ],
)
def test_work_hidden_in_a_call_is_found_by_trying_the_import(
    mini: Any, capsys: Any, cell: str, words: str
) -> None:
    mini.code("wire", cell, "#@save\nX = boom()")
    before = mini.files()
    assert mini.save() == 1
    assert words in capsys.readouterr().err
    assert mini.files() == before
