"""The sample of broken modules: what is broken, what is left alone, and that it is found out."""

import ast
import textwrap

import pytest

pytest.importorskip("cosmic_ray", reason="cosmic-ray is only there after make mutants")

from tools import mutants

MODULE = textwrap.dedent(
    '''
    """A module that says 1 + 1."""


    def half(number: int | None, steps: list[int | str]) -> float | None:
        """Return half of it, or None."""
        rest: int | None = number
        return None if rest is None else rest / 2
    '''
).lstrip()


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "half.py"
    path.write_text(MODULE, encoding="utf-8")
    return path


def test_each_mutant_differs_from_the_module_and_is_python(module):
    texts = [mutants.mutated(mutant, MODULE) for mutant in mutants.mutants("half", module)]
    assert texts
    assert MODULE not in texts
    assert len(set(texts)) == len(texts)
    for text in texts:
        ast.parse(text)


def test_only_code_that_runs_is_broken(module):
    found = list(mutants.mutants("half", module))
    assert {mutant.line for mutant in found} == {MODULE.count("\n")}
    operators = {mutant.operator.removeprefix("core/") for mutant in found}
    assert {"ReplaceBinaryOperator_Div_Mul", "NumberReplacer"} <= operators


def test_types_are_found_wherever_they_stand():
    source = "def f(a: int, *b: str, c: bytes = 0) -> None:\n    d: float = 1\n    return d\n"
    source += "if TYPE_CHECKING: import x\nif True: pass\n"
    texts = [
        source.splitlines()[start[0] - 1][start[1] : end[1]]
        for start, end in mutants.quiet_spans(ast.parse(source))
    ]
    kinds = ["None", "bytes", "float", "if TYPE_CHECKING: import x", "int", "str"]
    assert sorted(texts) == kinds


def test_a_change_is_shown_as_the_lines_out_and_in(module, monkeypatch):
    monkeypatch.setattr(mutants, "PACKAGE", module.parent)
    mutant = next(m for m in mutants.mutants("half", module) if "Div_Mul" in m.operator)
    out, into = mutants.change(mutant).splitlines()
    assert out.strip() == "-    return None if rest is None else rest / 2"
    assert into.strip() == "+    return None if rest is None else rest * 2"


def test_a_mutant_of_another_text_is_refused():
    mutant = mutants.Mutant("half", "core/ReplaceBinaryOperator_Div_Mul", 0, 1)
    with pytest.raises(ValueError, match="does not fit"):
        mutants.mutated(mutant, "x = 1\n")
