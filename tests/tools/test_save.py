"""The command: what it writes, what `--check` says, what `where` and the API page know."""

from __future__ import annotations

import ast
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import notebooks, save, where
from tools.saving.imports import Import, render

ROOT = Path(__file__).resolve().parents[2]
RUFF = [sys.executable, "-m", "ruff"]
WIRE = [
    ("setup", "import json\nfrom typing import Any\nfrom collections.abc import Callable"),
    ("roles", '#@save\n# The roles. In order.\nROLES: tuple[str, ...] = ("system", "user")'),
    ("private", '#@save\ndef _hid() -> None:\n    """Hide."""'),
    (
        "box",
        '''#@save
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Box:
    """A *box* of `{"a": 1}`, e.g. one. Not more."""

    size: int
    tags: list[str] = field(default_factory=list)
    _inner: int = 0

    def __call__(self, x: int) -> int:
        """Add."""
        return x + self.size

    @property
    def double(self) -> int:
        """Twice."""
        return 2 * self.size

    def _quiet(self) -> None:
        """Hide."""''',
    ),
    (
        "send",
        '''#@save
def send(
    body: dict[str, Any],
    *,
    key: Callable[[str], str] = lambda x: x,
) -> str:
    """Send it
    all. Then stop."""
    return key(json.dumps(body))''',
    ),
]


@pytest.fixture
def saved(mini: Any) -> Any:
    mini.add("wire", *WIRE)
    assert mini.save() == 0
    return mini


def test_an_empty_book_is_saved_too(mini: Any) -> None:
    assert mini.save() == 0
    assert mini.save("--check") == 0
    assert sorted(mini.files()) == [
        "book/_toc.yml",
        "book/api.md",
        "pyproject.toml",
        "src/apisurface/__init__.py",
    ]
    front = (mini.root / "src/apisurface/__init__.py").read_text()
    assert '__all__: list[str] = []\n__version__ = "1.2.3"\n' in front


def test_saving_again_changes_no_byte(saved: Any, capsys: Any) -> None:
    before = saved.files()
    stamps = {path: path.stat().st_mtime_ns for path in saved.root.rglob("*")}
    assert saved.save() == 0
    assert "all up to date" in capsys.readouterr().out
    assert saved.files() == before
    assert {path: path.stat().st_mtime_ns for path in saved.root.rglob("*")} == stamps


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_the_bytes_do_not_depend_on_the_hash_seed(saved: Any, seed: str) -> None:
    command = [sys.executable, "-m", "tools.save", "--check", "--root", str(saved.root)]
    environment = os.environ | {"PYTHONHASHSEED": seed}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_front_page_exports_the_public_names_only(saved: Any) -> None:
    front = (saved.root / "src/apisurface/__init__.py").read_text()
    assert "from apisurface.wire import ROLES, Box, send\n" in front
    assert '__all__ = [\n    "ROLES",\n    "Box",\n    "send",\n]\n' in front


FUNCTION = ("f", '#@save\ndef f() -> int:\n    """Give."""\n    return 1')
CLASS = ("a", '#@save\n@final\nclass A:\n    """Hold."""')
CONSTANT = ("x", "#@save\n# One.\nX = 1")
USES = ("y", "#@save\nY: Any = json")
HEADS = {
    "nothing": ("h", "1"),
    "imports": ("h", "import json\nfrom typing import Any, final"),
    "future": ("h", "from __future__ import annotations"),
    "guarded": (
        "h",
        "from typing import TYPE_CHECKING, Any, final\n"
        "if TYPE_CHECKING:\n    import httpx\nimport json",
    ),
}


def test_what_is_written_is_clean(mini: Any) -> None:
    """Whatever the first definition and the imports are, ruff finds nothing to change."""
    (mini.root / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    mini.add("wire", *WIRE)
    number = 0
    for head, cell in HEADS.items():
        orders = [[FUNCTION, CONSTANT], [CONSTANT, FUNCTION]]
        if head in {"imports", "guarded"}:
            orders += [[CLASS, USES], [USES, CLASS], [CONSTANT, USES], [USES, FUNCTION]]
        if head == "guarded":
            guard = ("g", '#@save\ndef g(x: "httpx.URL") -> None:\n    """Take."""')
            orders = [[guard, *order] for order in orders] + [
                [*order, guard] for order in orders
            ]
        for order in orders:
            number += 1
            cells = [(n, text.replace(" f(", f" f{number}(")) for n, text in order]
            cells = [(n, text.replace("class A", f"class A{number}")) for n, text in cells]
            cells = [(n, text.replace("X =", f"X{number} =")) for n, text in cells]
            cells = [(n, text.replace("Y:", f"Y{number}:")) for n, text in cells]
            cells = [(n, text.replace(" g(", f" g{number}(")) for n, text in cells]
            mini.add(f"m{number}", cell, *cells)
    assert mini.save() == 0
    for command in (["check"], ["format", "--diff"]):
        done = subprocess.run(
            [*RUFF, *command, "--no-cache", "src"],
            cwd=mini.root,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode()


def test_notebooks_are_tidied_to_canonical_bytes(mini: Any, capsys: Any) -> None:
    mini.add("wire", *WIRE)
    assert mini.save("--check") == 1
    assert "book/wire.ipynb: is not in canonical bytes" in capsys.readouterr().err
    assert mini.save() == 0
    text = mini.file("wire").read_text()
    assert text == notebooks.canonical(notebooks.read(mini.file("wire")))
    assert mini.save("--check") == 0


def test_check_names_the_cell_of_an_edited_module(saved: Any, capsys: Any) -> None:
    path = saved.root / "src/apisurface/wire.py"
    path.write_text(path.read_text().replace("x + self.size", "x - self.size"))
    before = saved.files()
    assert saved.save("--check") == 1
    told = capsys.readouterr().err
    assert "src/apisurface/wire.py: differs (look at book/wire.ipynb, cell box)" in told
    assert "    -        return x - self.size\n    +        return x + self.size\n" in told
    assert told.endswith("To make them agree: make save\n")
    assert saved.files() == before
    assert saved.save() == 0
    assert saved.save("--check") == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n")),
        lambda path: path.write_bytes(path.read_bytes() + b"\n"),
        lambda path: path.write_bytes(b"\xff" + path.read_bytes()),
        lambda path: path.write_bytes(b""),
    ],
    ids=["missing", "crlf", "longer", "not utf-8", "empty"],
)
@pytest.mark.parametrize(
    "name", ["src/apisurface/wire.py", "src/apisurface/__init__.py", "book/api.md"]
)
def test_check_sees_any_other_byte(saved: Any, capsys: Any, name: str, damage: Any) -> None:
    before = saved.files()
    damage(saved.root / name)
    assert saved.save("--check") == 1
    assert f"{name}: " in capsys.readouterr().err
    assert saved.save() == 0
    assert saved.files() == before


def test_a_changed_cell_is_a_difference(saved: Any, capsys: Any) -> None:
    made = json.loads(saved.file("wire").read_text())
    made["cells"][2]["source"][2] = 'ROLES: tuple[str, ...] = ("system",)'
    notebooks.write(saved.file("wire"), __import__("nbformat").from_dict(made))
    assert saved.save("--check") == 1
    assert "(look at book/wire.ipynb, cell roles)" in capsys.readouterr().err


def test_a_module_that_no_chapter_saves(saved: Any, capsys: Any) -> None:
    orphan = saved.root / "src/apisurface/old.py"
    orphan.write_text("# Generated from book/old.ipynb: …\n")
    assert saved.save("--check") == 1
    assert "src/apisurface/old.py: no chapter saves it" in capsys.readouterr().err
    assert saved.save() == 0
    assert not orphan.exists()


def test_a_module_written_by_hand_is_never_deleted(saved: Any, capsys: Any) -> None:
    extra = saved.root / "src/apisurface/extra.py"
    extra.write_text("X = 1\n")
    before = saved.files()
    for options in (["--check"], []):
        assert saved.save(*options) == 1
        assert "src/apisurface/extra.py: is written by hand" in capsys.readouterr().err
    assert saved.files() == before


def test_where_knows_every_name(saved: Any, capsys: Any) -> None:
    root = ["--root", str(saved.root)]
    assert where.main(root) == 0
    assert capsys.readouterr().out.splitlines() == [
        "apisurface.wire.ROLES  book/wire.ipynb, cell roles",
        "apisurface.wire._hid   book/wire.ipynb, cell private",
        "apisurface.wire.Box    book/wire.ipynb, cell box",
        "apisurface.wire.send   book/wire.ipynb, cell send",
    ]
    for name in ("send", "wire.send", "apisurface.wire.send"):
        assert where.main([name, *root]) == 0
        assert capsys.readouterr().out == "apisurface.wire.send  book/wire.ipynb, cell send\n"
    assert where.main(["gone", *root]) == 1
    assert capsys.readouterr().err == "no cell saves gone\n"


def test_the_api_page(saved: Any) -> None:
    page = (saved.root / "book/api.md").read_text().partition("## ")[2]
    assert (
        page
        == """A chapter

`apisurface.wire`, from [its chapter](wire.ipynb).

### `ROLES`

```python
ROLES: tuple[str, ...] = ("system", "user")
```

The roles. {ref}`Where it is built <wire:roles>`.

### `Box`

```python
@dataclass(frozen=True)
class Box
    size: int
    tags: list[str] = field(default_factory=list)
    def __call__(self, x: int) -> int
    @property
    def double(self) -> int
```

A \\*box\\* of `{"a": 1}`, e.g. one. {ref}`Where it is built <wire:box>`.

### `send`

```python
def send(
    body: dict[str, Any],
    *,
    key: Callable[[str], str] = lambda x: x,
) -> str
```

Send it all. {ref}`Where it is built <wire:send>`.
"""
    )


def test_imports_stand_as_ruff_wants_them(tmp_path: Path) -> None:
    chance = random.Random(7)
    modules = "json os os.path xml.dom xml.etree collections collections.abc re httpx zlib "
    modules += "jsonschema jsonschema.validators apisurface.wire apisurface.levels typing"
    names = "a B c1 c10 c9 A _x _X AB A_B aB Ab x_1 XY Xy Z typing_extensions TYPE T1 T10 T9"
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    package = tmp_path / "src/apisurface"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('"""Doc."""\n')
    for number in range(150):
        items: dict[str, Import] = {}
        for _ in range(chance.randint(1, 30)):
            module = chance.choice(modules.split())
            name = chance.choice(["", *names.split()])
            if module.startswith("apisurface") and not name:
                continue
            alias = chance.choice(["", "", "", "q", "R2"])
            item = Import(module, name, "" if alias == name else alias, chance.random() < 0.2)
            items.setdefault(item.bound, item)
        if any(item.typing_only for item in items.values()):
            items["TYPE_CHECKING"] = Import("typing", "TYPE_CHECKING")
        block = render(items.values(), future=chance.random() < 0.3)
        used = ", ".join(sorted(items))
        text = f'"""Doc."""\n\n{block}\n\n# cell: x\nX = [{used}]  # noqa: E501\n'
        assert len(ast.parse(text).body) > 1 or not items
        (package / f"m{number}.py").write_text(text)
    select = ["check", "--select", "I,F401,F811,E", "--no-cache", "src"]
    done = subprocess.run(
        [*RUFF, *select], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    command = [*RUFF, "format", "--diff", "--no-cache", "--config", "line-length=96", "src"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    changed = [
        line for line in done.stdout.splitlines() if line.startswith("-") and "X =" not in line
    ]
    assert not [line for line in changed if not line.startswith("---")]


def test_outputs_are_what_save_writes(saved: Any) -> None:
    texts = save.outputs(saved.read())
    names = {path.relative_to(saved.root).as_posix() for path in texts}
    assert names == set(saved.files()) - {"book/_toc.yml", "pyproject.toml"}
