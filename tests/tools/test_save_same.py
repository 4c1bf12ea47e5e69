"""What is saved means the same: notebook and module are run and asked the same questions."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from IPython.core.inputtransformer2 import TransformerManager

Namespace = dict[str, Any]


@contextmanager
def namespace(name: str) -> Iterator[Namespace]:
    """Yield the names of a module that dataclasses and typing can find."""
    before = sys.modules.get(name)
    sys.modules[name] = made = ModuleType(name)
    try:
        yield made.__dict__
    finally:
        sys.modules[name] = before or made


def run_cells(path: Path) -> Namespace:
    """Run a notebook's cells one after the other, as a kernel would."""
    flags = 0
    with namespace("notebook") as space:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = TransformerManager().transform_cell("".join(cell["source"]))
            code = compile(source, cell["id"], "exec", flags, dont_inherit=True)
            flags |= code.co_flags & annotations.compiler_flag
            exec(code, space)
        return space


def run_module(text: str) -> Namespace:
    with namespace("saved") as space:
        exec(compile(text, "module", "exec", dont_inherit=True), space)
        return space


@pytest.fixture
def same(mini: Any) -> Callable[..., str]:
    """Save cells, run both sides, compare what each question answers; return the module."""

    def check(*cells: str, ask: str) -> str:
        mini.code("wire", *cells)
        text: str = mini.module("wire")
        asked = compile(ask, "ask", "eval")
        answers = [
            repr(eval(asked, space)).replace("notebook.", "").replace("saved.", "")
            for space in (run_cells(mini.file("wire")), run_module(text))
        ]
        assert answers[0] == answers[1]
        return text

    return check


def test_signature_split_over_lines(same: Any) -> None:
    text = same(
        """
        #@save
        def chat(
            url: str,
            *,
            limit: int = 3,  # attempts
        ) -> tuple[
            str, int
        ]:
            return url, limit
        """,
        ask="chat('u'), chat('u', limit=5)",
    )
    assert "    limit: int = 3,  # attempts\n" in text


def test_column_zero_text_in_a_triple_quoted_string(same: Any) -> None:
    text = same(
        '#@save\ndef page() -> str:\n    return """\ndef fake():\n#@save\n%%time\n!ls\n"""\n',
        ask="page()",
    )
    assert '"""\ndef fake():\n#@save\n%%time\n!ls\n"""' in text


def test_the_mark_inside_a_string_is_no_mark(same: Any) -> None:
    same(
        """
        MARK = "#@save"
        OTHER = '''
        #@save
        '''
        """,
        """
        #@save
        def mark() -> str:
            return "#@save"
        """,
        ask="mark()",
    )


@pytest.mark.parametrize("count", [1, 3])
def test_decorators(same: Any, count: int) -> None:
    marks = "\n".join(["@twice"] * count)
    same(
        """
        #@save
        def twice(function):
            return lambda x: function(function(x))
        """,
        f"#@save\n{marks}\ndef add(x):\n    return x + 1",
        ask="add(0)",
    )


def test_stacked_library_decorators(same: Any) -> None:
    text = same(
        "import functools",
        """
        #@save
        from contextlib import contextmanager

        @functools.lru_cache(
            maxsize=None,  # all of them
        )
        @functools.wraps(len)
        def size(text):
            return len(text) + 1
        """,
        """
        #@save
        @contextmanager
        def opened():
            yield 5
        """,
        ask="size('abc'), size.__name__, size.cache_info().maxsize",
    )
    assert "import functools\nfrom contextlib import contextmanager\n" in text


def test_bracketed_constant_keeps_its_lines_and_comments(same: Any) -> None:
    text = same(
        """
        #@save
        # The roles, in order.
        ROLES = {
            "system": [
                1,  # first
            ],
            # the human
            "user": (2,
                     3),
        }
        """,
        ask="ROLES",
    )
    assert "# cell: c1\n# The roles, in order.\nROLES = {\n" in text
    assert '    # the human\n    "user": (2,\n             3),\n}\n' in text


def test_async_functions_and_generators(same: Any) -> None:
    same(
        """
        #@save
        async def count(n):
            for i in range(n):
                yield i
        """,
        """
        #@save
        async def total(n):
            return sum([i async for i in count(n)])
        """,
        "import asyncio",
        ask="__import__('asyncio').run(total(4))",
    )


def test_an_import_inside_a_function_stays_there(same: Any) -> None:
    text = same(
        """
        #@save
        def dump(x):
            import json as _json
            from os.path import join
            return _json.dumps([x, join("a", "b")])
        """,
        ask="dump(1)",
    )
    head = text.partition("# cell:")[0]
    assert "import" not in head.partition("\n")[2]


def test_only_needed_imports_are_taken_and_sorted(same: Any) -> None:
    text = same(
        "import os, sys\nimport json as j\nfrom collections import (OrderedDict as OD, deque)",
        "from typing import Any\nimport string  # not needed\nimport collections.abc",
        """
        #@save
        def f(x: Any) -> Any:
            return j.dumps(x), deque([1]), OD(a=1), isinstance(x, collections.abc.Sized)
        """,
        ask="f([1])",
    )
    lines = text.partition("\n\n")[2].partition("\n\n")[0].split("\n")
    assert lines == [
        "import collections.abc",
        "import json as j",
        "from collections import OrderedDict as OD",
        "from collections import deque",
        "from typing import Any",
    ]


def test_an_import_may_be_repeated_further_down(same: Any) -> None:
    same(
        "#@save\nimport json\n\n\ndef f(x=json):\n    return x.dumps(1)",
        "#@save\nimport json\n\n\ndef g(x=json):\n    return x.dumps(2)",
        ask="f(), g()",
    )


def test_imports_in_a_marked_cell_move_to_the_head(same: Any) -> None:
    text = same(
        """
        #@save
        # why it exists
        import re
        from typing import (
            Any,
        )

        PATTERN: Any = re.compile(
            r"a+"
        )
        """,
        ask="PATTERN.pattern",
    )
    assert "import re\nfrom typing import Any\n\n# cell: c1\n# why it exists\n" in text
    assert text.count("import") == 3 - 1


def test_crlf_and_a_missing_last_newline(mini: Any) -> None:
    mini.add(
        "wire",
        (
            "c1",
            '#@save\r\ndef f():\r\n    """Doc.\r\n\r\n    More."""\r\n    return """a\r\nb"""',
        ),
    )
    text = mini.module("wire")
    assert "\r" not in text
    assert text.endswith('b"""\n')
    assert run_module(text)["f"]() == run_cells(mini.file("wire"))["f"]() == "a\nb"


def test_odd_line_separators_inside_strings_survive(mini: Any) -> None:
    mini.add("wire", ("c1", '#@save\nX = "a\x0cb\u2028c\x85d"\n'), ("c2", "#@save\nY = X\n"))
    text = mini.module("wire")
    assert run_module(text)["Y"] == run_cells(mini.file("wire"))["Y"] == "a\x0cb\u2028c\x85d"


def test_comments_and_blank_lines_inside_are_kept(same: Any) -> None:
    text = same(
        """
        #@save

        # Above.


        def f():
            # inside

            return 1  # after

        # below
        """,
        ask="f()",
    )
    body = "# Above.\n\n\ndef f():\n    # inside\n\n    return 1  # after\n\n# below\n"
    assert text.endswith("# cell: c1\n" + body)


def test_the_docstring_is_the_modules(mini: Any) -> None:
    doc = '#@save\n"""Wire: a thing.\n\ncolumn 0 \\n {x}\n""";'
    mini.add("wire", ("doc", doc), ("c1", "#@save\nX = 1"), doc=False)
    text = mini.module("wire")
    assert (
        ast.get_docstring(ast.parse(text), clean=False) == "Wire: a thing.\n\ncolumn 0 \n {x}\n"
    )
    assert text.startswith(
        "# Generated from book/wire.ipynb: edit it there, then run `make save`.\n"
    )


def test_a_stored_echo_of_the_docstring_is_no_work(mini: Any) -> None:
    echo = {"data": {"text/plain": "'x'"}, "metadata": {}, "output_type": "execute_result"}
    outputs = {"outputs": [echo | {"execution_count": 1}], "execution_count": 1}
    mini.add("wire", ("doc", '#@save\n"""x"""', outputs), doc=False)
    assert mini.refusals() == []


def test_annotations_stay_eager_or_lazy_as_in_the_notebook(same: Any) -> None:
    cell = """
        #@save
        def f(x: int) -> list[int]:
            return [x]
        """
    assert "__future__" not in same(cell, ask="f.__annotations__")
    future = "from __future__ import annotations"
    text = same(future, cell, ask="f.__annotations__")
    assert '"""\n\nfrom __future__ import annotations\n\n\n# cell' in text


def test_the_future_may_begin_in_the_first_saved_definition(same: Any) -> None:
    text = same(
        """
        #@save
        from __future__ import annotations

        import json


        def f(x: json.Later) -> json.Gone:
            return json.dumps(x)
        """,
        "#@save\ndef g(x: int):\n    return x",
        ask="f(1), f.__annotations__, g.__annotations__",
    )
    assert text.count("__future__") == 1


def test_what_looks_like_ipython_but_is_python(same: Any) -> None:
    same(
        """
        #@save
        # really?
        def f(x=5):  # why?
            y = (x
        % 3)
            return "what?", y, '''
        %time
        !ls
        x?
        '''
        """,
        ask="f()",
    )


def test_lazy_annotations_may_look_ahead(same: Any) -> None:
    same(
        "from __future__ import annotations\nfrom dataclasses import dataclass",
        """
        #@save
        @dataclass
        class Node:
            next: Node | Leaf | None = None

            def last(self) -> Leaf:
                return Leaf()
        """,
        """
        #@save
        @dataclass
        class Leaf:
            kind: str = "leaf"
        """,
        ask="Node().last(), Node.__annotations__, Leaf.__annotations__",
    )


def test_names_in_string_annotations_bring_their_imports(same: Any) -> None:
    text = same(
        "from typing import Literal, cast\nimport re",
        "from collections.abc import Iterator, Mapping",
        """
        #@save
        def f(x: "Iterator[int]", kind: Literal["Mapping"] = "Mapping") -> "list[re.Pattern]":
            return cast("list[re.Pattern[str]]", list(x))
        """,
        ask="f(iter([1])), __import__('typing').get_type_hints(f)",
    )
    assert "Mapping\n" not in text.partition("# cell")[0]
    assert "import re\nfrom collections.abc import Iterator\n" in text


def test_type_checking_imports_stay_behind_their_guard(same: Any) -> None:
    text = same(
        """
        import httpx
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            import httpx
            from collections.abc import Mapping
        """,
        """
        #@save
        def send(client: "httpx.Client | None" = None, *more: "Mapping[str, str]") -> str:
            import httpx

            return httpx.URL("http://h").host
        """,
        ask="send()",
    )
    assert (
        "\n\nif TYPE_CHECKING:\n    from collections.abc import Mapping\n\n    import httpx\n"
        in text
    )
    assert "\nimport httpx" not in text


def test_rungs_before_the_saved_version_do_not_count(same: Any) -> None:
    same(
        "def f():\n    return 'naive'",
        "#@save\ndef g():\n    return f()",
        "print\nf()",
        "#@save\ndef f():\n    return 'saved'",
        ask="g()",
    )


def test_overloads_are_one_definition(same: Any) -> None:
    same(
        """
        #@save
        from typing import overload

        @overload
        def f(x: int) -> int: ...
        @overload
        def f(x: str) -> str: ...
        def f(x):
            return x
        """,
        ask="f(1), f('a')",
    )


def test_scopes_that_hide_a_name(same: Any) -> None:
    same(
        "LIMIT = 'unsaved'; other = 'unsaved'",
        """
        #@save
        class Box:
            LIMIT = 3
            double = LIMIT * 2
            squares = [i * i for i in range(LIMIT)]

            def f(self, other, *args, **rest):
                def g():
                    nonlocal other
                    other += 1
                    return other
                return g(), [LIMIT for LIMIT in (1, 2)], (lambda LIMIT=5: LIMIT)(), args, rest

            def h(self):
                try:
                    raise ValueError("x")
                except ValueError as LIMIT:
                    text = str(LIMIT)
                match {"a": 1, "b": 2}:
                    case {"a": other, **more}:
                        pass
                if (n := len(text)) > 0:
                    import json as LIMIT
                return text, other, more, n, LIMIT.dumps(1)
        """,
        ask="Box().f(1, 2, x=3), Box().h(), Box.squares, Box.double",
    )


def test_typing_and_enum_constructs(same: Any) -> None:
    same(
        "from typing import Any, NamedTuple, TypeAlias, TypedDict, TypeVar\nimport enum",
        "#@save\nT = TypeVar('T', bound='Base')",
        "#@save\nclass Base:\n    pass",
        "#@save\nTree: TypeAlias = 'dict[str, Tree] | Base | None'",
        "#@save\nPoint = NamedTuple('Point', [('x', int)])",
        "#@save\nBody = TypedDict('Body', {'from': str, 'n': int}, total=False)",
        "#@save\nclass Color(enum.Enum):\n    RED = 1\n    BLUE = enum.auto()",
        "#@save\ndef first(x: list[T]) -> T:\n    return x[0]",
        ask="first([1]), Point(1), Body(n=1), Color.BLUE, Tree, T.__bound__",
    )


def test_magics_in_other_cells_do_not_disturb(mini: Any) -> None:
    mini.code(
        "wire",
        "%matplotlib inline\nimport json",
        "%%capture\nimport re",
        "!ls\n?print\njson?",
        "this is not python",
        "%%writefile x.py\n#@save\nX = 1",
        "#@save\ndef f(x):\n    return json.dumps(x), re.escape(x)",
    )
    assert run_module(mini.module("wire"))["f"]("a.") == ('"a."', "a\\.")


def test_a_chapter_may_hand_on_what_an_earlier_one_saved(mini: Any) -> None:
    mini.code("wire", "#@save\ndef chat():\n    return 'hi'")
    mini.code("late", "#@save\nfrom apisurface.wire import chat as chat", "#@save\nX = 1")
    assert mini.save() == 0
    assert "from apisurface.wire import chat as chat\n" in mini.module("late")
    script = "import apisurface as a, apisurface.late as late; print(late.chat is a.chat)"
    command = [sys.executable, "-B", "-c", f"import sys; sys.path.insert(0, 'src'); {script}"]
    done = subprocess.run(command, cwd=mini.root, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_chapters_import_from_earlier_ones(mini: Any) -> None:
    mini.code(
        "wire", "#@save\ndef chat():\n    return 'hi'", "#@save\ndef _hid():\n    return 1"
    )
    mini.code(
        "late",
        "from apisurface.wire import chat\nimport json",
        """
        #@save
        def ask():
            from apisurface.wire import _hid

            return chat(), _hid(), json.dumps(1)
        """,
    )
    assert mini.save() == 0
    script = "import apisurface as a; print(a.ask(), a.__all__, a.__version__)"
    command = [sys.executable, "-B", "-c", f"import sys; sys.path.insert(0, 'src'); {script}"]
    done = subprocess.run(command, cwd=mini.root, capture_output=True, text=True, check=True)
    assert done.stdout == "('hi', 1, '1') ['ask', 'chat'] 1.2.3\n"
    assert "import json\n\nfrom apisurface.wire import chat\n" in mini.module("late")
