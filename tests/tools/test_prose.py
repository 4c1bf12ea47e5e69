"""What prose may say: each rule of tools/prose.py, claim by claim."""

import nbformat
import pytest

from tools import claims, evidence, prose
from tools.passages import passages

CODE = "import json\nlimit = 1_000\nrate = 0.08  # 77\nraise KeyError('no such key')"
OUTPUT = "accuracy 76.5 %\n37 tokens and 0.523\nno more than three  words\nDraft 2020-12"


def unproved(markdown: str, *, errors: frozenset[str] = frozenset({"KeyError"})) -> list[str]:
    output = nbformat.v4.new_output("stream", text=OUTPUT)
    proof = claims.Proof(evidence.of_cell(nbformat.v4.new_code_cell(CODE, outputs=[output])))
    found = []
    for passage in passages(markdown):
        if not passage.sourced:
            found += [c.token for c in claims.claims(passage, errors) if c not in proof]
    return found


@pytest.mark.parametrize(
    "text",
    [
        "It costs 37 tokens, 76.5 % of them, or 76.50%.",
        "At most 1,000 or 1000 or 1\u202f000 of them.",
        "A share of 8 % is 0.08.",
        "From 37\u20131000 in Draft 2020-12.",
        "Figure 3 and exercises 4, 5 and 6 of part 2; see § 10.2.3 of RFC 9110 and step 12.",
        "## 4. A numbered heading",
        "1. a listed\n2. thing",
        "UTF-8, HTTP/1.1, b086, GPT-4 and 4xx are names.",
        "One, two or twelve of `99` and $98$ and\n\n$$ 97 $$",
        "Version 3.14 of it {cite}`key`.",
        "It took 55 s [there](https://example.com) (checked 2026-11-30).",
        "A `KeyError`, and the line `KeyError: no such key`.",
        'It says "no more than three words", and calls it "strict".',
        "See https://example.com/issues/4711 for more.",
        "<!-- 96 -->\n\n% 95\n\n```python\n94\n```\n\n```{mermaid}\ngraph 93\n```",
        "Thirty-seven tokens; an `IndexErr` and Error as a word.",
    ],
)
def test_what_may_be_said(text):
    assert unproved(text) == []


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("About 0.52 or 76 %.", ["0.52", "76 %"]),
        ("A comment proves nothing: 77.", ["77"]),
        ("Forty or thirty-eight tokens.", ["Forty", "thirty-eight"]),
        ("Read there on 2026-11-30, without a link: 5.", ["2026-11-30", "5"]),
        ("It took 55 s [there](https://example.com).", ["55"]),
        ("Cited {cite}`key` 1.\n\nBut 91 is another paragraph.", ["91"]),
        ("| a | b |\n|---|---|\n| 92 {cite}`k` | 93 |\n| 94 | x |", ["94"]),
        ("- 92 {cite}`k`\n- 93", ["93"]),
        ("- item\n\n  - nested 92 {cite}`k`\n\n  after 93", ["93"]),
        (
            ":::{admonition} What bites: 90 of them\n:class: bites\n\nBody 91.\n:::",
            ["90", "91"],
        ),
        ("````{note}\n```{tip}\n91\n```\n````", ["91"]),
        ("```{mermaid}\n:alt: Ninety arrows\n:caption: 91?\na --> b\n```", ["Ninety", "91"]),
        ("term\n: 91 things", ["91"]),
        ("> 91 quoted", ["91"]),
        ("<b>91</b> raw", ["91"]),
        ("![91 dots](x.png)", ["91"]),
        ("A `ValueError` or httpx.ReadTimeout.", ["ReadTimeout", "ValueError"]),
        ("The line `KeyError: another key`.", ["KeyError: another key"]),
        ("It says “no more than four words”.", ["no more than four words"]),
        ("{ref}`91 of them <coins:x>` and {term}`92 <nucleus>`", ["91", "92"]),
        ("The last 37.5, -91 and .92", ["37.5", "91", ".92"]),
        ("Version 3.14.1 of 2024-05", ["3.14.1", "2024-05"]),
        ("A 3x and a 91ms", ["3", "91"]),
    ],
)
def test_what_must_be_proved(text, tokens):
    assert unproved(text) == tokens


def test_a_finding_names_line_cell_token_and_sentence(tmp_path):
    book = tmp_path / "book"
    book.mkdir()
    cells = [
        nbformat.v4.new_markdown_cell("# Title\n\nFirst. Then 91 tokens. Last.", id="says"),
        nbformat.v4.new_code_cell("1", id="one"),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), book / "x.ipynb")
    (found,) = prose.check(tmp_path)
    assert found.where == "book/x.ipynb [says]:3"
    assert "number '91'" in found.what
    assert "“Then 91 tokens.”" in found.what


def test_a_page_stands_on_the_outputs_of_the_cells_it_refers_to(tmp_path):
    book = tmp_path / "book"
    book.mkdir()
    output = nbformat.v4.new_output("stream", text="37 tokens")
    cell = nbformat.v4.new_code_cell("limit = 91", id="one", outputs=[output])
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), book / "x.ipynb")
    page = book / "intro.md"
    page.write_text(
        "{ref}`37 <x:one>` and [37](#x:one), but not 91: {ref}`x:one`.\n\n37 alone."
    )
    assert [found.what.split("'")[1] for found in prose.check(tmp_path)] == ["91", "37"]


def test_exceptions_of_the_package_are_known_whatever_they_are_called(tmp_path):
    module = tmp_path / "src/apisurface/m.py"
    module.parent.mkdir(parents=True)
    module.write_text(
        "class Late(Base): ...\nclass Base(ValueError): ...\nclass Plain: ...\n", "utf-8"
    )
    known = prose.known_errors(tmp_path)
    assert {"Late", "Base", "KeyError", "KeyboardInterrupt"} <= known
    assert "Plain" not in known


def test_pictures_prove_nothing():
    data = {"text/plain": "<Figure size 792x396>", "image/svg+xml": "<path d='M 91 92'/>"}
    output = nbformat.v4.new_output("display_data", data=data)
    assert evidence.output_text(output) == ""
