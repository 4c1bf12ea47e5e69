"""The package as its users get it: what it exports, what it needs, what the wheel carries."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import apisurface
from tools import notebooks

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "apisurface"
MODULES = sorted(path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__")
ORDER = [path.stem for path in notebooks.chapters(ROOT) if path.stem in MODULES]
NEEDS = ["httpx", "jsonschema"]


def tree(stem: str) -> ast.Module:
    return ast.parse((PACKAGE / f"{stem}.py").read_text(encoding="utf-8"))


def defined(stem: str) -> list[str]:
    """Return the public names that a module defines itself."""
    names = []
    for node in tree(stem).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
    return [name for name in dict.fromkeys(names) if not name.startswith("_")]


def test_every_module_is_a_chapter_and_stands_alone_in_its_folder() -> None:
    assert sorted(ORDER) == MODULES
    assert [path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE] == []


def test_all_is_exact() -> None:
    names = [name for stem in MODULES for name in defined(stem)]
    assert len(names) == len(set(names))
    assert sorted(apisurface.__all__) == sorted(names)


@pytest.mark.parametrize("stem", MODULES)
def test_the_package_hands_on_the_modules_own_objects(stem: str) -> None:
    module = importlib.import_module(f"apisurface.{stem}")
    for name in defined(stem):
        assert getattr(apisurface, name) is getattr(module, name)


@pytest.mark.parametrize("stem", MODULES)
def test_public_names_and_modules_have_docstrings(stem: str) -> None:
    assert ast.get_docstring(tree(stem))
    for node in tree(stem).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            assert node.name.startswith("_") or ast.get_docstring(node), node.name


def test_arrows_only_point_backwards() -> None:
    for position, stem in enumerate(ORDER):
        for node in ast.walk(tree(stem)):
            if isinstance(node, ast.Import):
                assert not [a for a in node.names if a.name.partition(".")[0] == "apisurface"]
            elif isinstance(node, ast.ImportFrom):
                root, _, owner = (node.module or "").partition(".")
                assert not node.level
                assert root != "apisurface" or owner in ORDER[:position], (stem, owner)


def test_wire_and_what_it_imports_need_only_the_standard_library() -> None:
    todo, seen = ["wire"], set()
    while todo:
        stem = todo.pop()
        seen.add(stem)
        for node in tree(stem).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                root, _, owner = node.module.partition(".")
                todo += [owner] if root == "apisurface" and owner not in seen else []
                assert root in sys.stdlib_module_names | {"apisurface"}, (stem, root)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    assert alias.name.partition(".")[0] in sys.stdlib_module_names, stem


# --- the wheel -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: Any) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return Path(path)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: Any) -> Path:
    """The wheel as pip installs it, alone in a folder."""
    folder: Path = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index"]
    command += ["--disable-pip-version-check", "--quiet", "--target", str(folder), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(names: list[str]) -> set[str]:
    """Return the distributions that these need, themselves included."""
    found: set[str] = set()
    while names:
        name = normal(names.pop())
        if name in found:
            continue
        found.add(name)
        for requirement in map(Requirement, metadata.requires(name) or []):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                names.append(requirement.name)
    return found


def run_alone(installed: Path, script: str, *arguments: str) -> str:
    """Run a script in a Python that has the standard library, our wheel and what it needs."""
    allowed = closure(list(NEEDS))
    tops = metadata.packages_distributions()
    names = [top for top, owners in tops.items() if {normal(o) for o in owners} & allowed]
    guard = f"""
import json, sys
allowed = set({sorted(names)!r}) | set(sys.stdlib_module_names) | {{"apisurface"}}
class Guard:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in allowed:
            raise ModuleNotFoundError(f"No module named {{name!r}} (not needed by the package)")
sys.meta_path.insert(0, Guard())
sys.path.insert(0, {str(installed)!r})
sys.dont_write_bytecode = True
"""
    command = [sys.executable, "-I", "-W", "error", "-c", guard + script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=installed, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_carries_all_modules_and_the_marker_for_types(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = next(name for name in names if name.endswith("dist-info/METADATA"))
        facts = message_from_bytes(archive.read(info))
    expected = {f"apisurface/{stem}.py" for stem in [*MODULES, "__init__"]}
    assert {name for name in names if name.endswith(".py")} == expected
    assert "apisurface/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert facts["Name"] == "apisurface"
    assert facts["Version"] == apisurface.__version__
    needed = [line for line in facts.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert sorted(re.split(r"[^a-z]", line)[0] for line in needed) == NEEDS


def test_the_wheel_works_with_nothing_but_what_it_needs(installed: Path) -> None:
    script = """
import apisurface
assert apisurface.__file__.startswith(sys.argv[1]), apisurface.__file__
for name in apisurface.__all__:
    getattr(apisurface, name)
print(json.dumps([apisurface.__version__, apisurface.__all__]))
"""
    version, names = json.loads(run_alone(installed, script, str(installed)))
    assert version == apisurface.__version__
    assert names == apisurface.__all__


def test_any_module_can_be_imported_first(installed: Path) -> None:
    script = """
import importlib
for stem in sys.argv[1:]:
    for name in [name for name in sys.modules if name.partition(".")[0] == "apisurface"]:
        del sys.modules[name]
    importlib.import_module(f"apisurface.{stem}")
    import apisurface
    assert len(apisurface.__all__) == len(set(apisurface.__all__))
"""
    run_alone(installed, script, *MODULES)


def test_importing_it_loads_no_http_library_and_starts_nothing(installed: Path) -> None:
    script = """
import threading
import apisurface.wire, apisurface
loaded = {name.partition(".")[0] for name in sys.modules}
print(json.dumps([sorted(loaded & {"httpx", "httpcore", "anyio", "jinja2"}),
                  threading.active_count()]))
"""
    assert json.loads(run_alone(installed, script)) == [[], 1]
