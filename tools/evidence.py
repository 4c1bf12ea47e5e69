"""What a notebook's cells say by themselves: their code without comments, and their outputs."""

from __future__ import annotations

import ast
import html
import io
import json
import re
import tokenize
from dataclasses import dataclass

from tools.notebooks import Notebook

TAG = re.compile(r"<style.*?</style>|<[^>]*>", re.S)


@dataclass(frozen=True)
class Evidence:
    """The code and the outputs that prose is held against."""

    code: str = ""
    outputs: str = ""

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(f"{self.code}\n{other.code}", f"{self.outputs}\n{other.outputs}")


def of_notebook(notebook: Notebook) -> Evidence:
    """Return the evidence of all code cells together."""
    total = Evidence()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            total += of_cell(cell)
    return total


def of_cell(cell: Notebook) -> Evidence:
    """Return the evidence of one code cell."""
    return Evidence(code_text(cell.source), "\n".join(map(output_text, cell.outputs)))


def code_text(source: str) -> str:
    """Return code without its comments (they prove nothing), then its strings as they read."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
        tree = ast.parse(source)
    except (SyntaxError, tokenize.TokenError):
        return source
    lines = source.splitlines()
    for token in reversed(tokens):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    nodes = ast.walk(tree)
    values = (node.value for node in nodes if isinstance(node, ast.Constant))
    return "\n".join([*lines, *(value for value in values if isinstance(value, str))])


def output_text(output: Notebook) -> str:
    """Return what one output says in words; pictures say nothing here."""
    if output.output_type == "stream":
        return str(output.text)
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    data = output.data
    if any(kind.startswith("image/") for kind in data):
        return ""
    parts = [data.get("text/plain", ""), data.get("text/markdown", "")]
    parts += [html.unescape(TAG.sub(" ", data.get("text/html", "")))]
    parts += [json.dumps(data[kind]) for kind in data if kind.endswith("json")]
    return "\n".join(parts)
