"""No check may fail in silence: `python -m tools.silence`.

Looks through what runs the checks (Makefile, .ci, tools, tests) for ways to swallow a failure,
to try again until it is gone, or to skip without a reason.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.report import Finding, arguments, finish

SHELL = {
    "the exit code is thrown away": re.compile(r"\|\|\s*(true|:|echo|exit 0)(?!\w)|;\s*true\b"),
    "errors are switched off": re.compile(r"\bset \+e\b|\bmake\b.* -\w*[ik]\b|^\.IGNORE"),
    "a failed step goes on": re.compile(r"continue.on.error|allow.failure"),
    "failures are tried again": re.compile(r"--reruns|rerunfailures|\bflaky\b|--last-failed"),
}
IGNORED_RECIPE = re.compile(r"^\t@?-")
BROAD = {"", "Exception", "BaseException"}
MARKS = {"pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail", "pytest.importorskip"}


def check_script(where: str, text: str) -> Iterator[Finding]:
    """Yield what a Makefile, shell script or workflow swallows."""
    for number, line in enumerate(text.splitlines(), start=1):
        for what, pattern in SHELL.items():
            if pattern.search(line):
                yield Finding(f"{where}:{number}", f"{what}: {line.strip()[:80]}")
        if where.endswith("Makefile") and IGNORED_RECIPE.match(line):
            yield Finding(f"{where}:{number}", "a recipe line whose failure is ignored")


def check_python(where: str, text: str) -> Iterator[Finding]:
    """Yield what a Python file swallows or skips without a reason."""
    for node in ast.walk(ast.parse(text)):
        what = ""
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else ""
            idle = all(isinstance(n, ast.Pass | ast.Continue) or is_text(n) for n in node.body)
            if caught in BROAD and idle:
                what = f"except {caught or 'everything'} and nothing done about it"
        elif isinstance(node, ast.Call):
            what = check_call(ast.unparse(node.func), node)
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in {"pytest.mark.flaky"}:
            what = "failures are tried again"
        if what:
            yield Finding(f"{where}:{getattr(node, 'lineno', 0)}", what)
    for function in ast.walk(ast.parse(text)):
        for mark in getattr(function, "decorator_list", []):
            if ast.unparse(mark) in MARKS:
                yield Finding(f"{where}:{mark.lineno}", f"{ast.unparse(mark)} without a reason")


def check_call(name: str, call: ast.Call) -> str:
    """Say what is wrong with a call, if anything."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if name.endswith("suppress") and {ast.unparse(arg) for arg in call.args} & BROAD:
        return "every exception is suppressed"
    if name in MARKS and "reason" not in keywords:
        return f"{name} without a reason"
    if name in {"pytest.skip", "pytest.xfail"} and not call.args and "reason" not in keywords:
        return f"{name} without a reason"
    strict = keywords.get("strict")
    if name == "pytest.mark.xfail" and strict is not None and ast.unparse(strict) != "True":
        return "an xfail that may pass unnoticed"
    return ""


def is_text(node: ast.stmt) -> bool:
    """Say whether a statement is only a text or an ellipsis."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def check(root: Path) -> Iterator[Finding]:
    """Yield every place where a failure could go unheard."""
    scripts = [root / "Makefile", *sorted((root / ".ci").rglob("*"))]
    scripts += sorted((root / ".github").rglob("*.y*ml"))
    for path in scripts:
        if path.is_file():
            yield from check_script(str(path.relative_to(root)), path.read_text("utf-8"))
    for folder in ("tools", "tests", "book"):
        for path in sorted((root / folder).rglob("*.py")):
            where = str(path.relative_to(root))
            if "_build" not in path.parts:
                yield from check_python(where, path.read_text("utf-8"))


def main(argv: list[str] | None = None) -> int:
    """Check the project named on the command line."""
    root = arguments(__doc__).parse_args(argv).root
    return finish("silence", check(root), "no failure is swallowed, retried or skipped unheard")


if __name__ == "__main__":
    sys.exit(main())
