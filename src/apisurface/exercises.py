# Generated from book/exercises.ipynb: edit it there, then run `make save`.
"""Checks for exercises: run probes on an answer, and say right or wrong and why.

An `Exercise` holds probes, what each should give, and the wrong answers people really give.
`check(exercise, answer)` returns a `Verdict` whose `repr` is the text that the reader sees. An
answer can be anything: a function, a class, a plain value.

Probes run in this process: what an answer prints is shown and not judged, one that never ends
is stopped by interrupting the kernel, and nothing keeps a reader from reading the probes.
"""

import math
import re
import textwrap
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal


# cell: same
def _same(got: Any, want: Any) -> bool:
    """Compare two values without parts: floats closely, nan with nan, bool only with bool."""
    if isinstance(got, bool) or isinstance(want, bool):
        return isinstance(got, bool) and isinstance(want, bool) and got == want
    if isinstance(got, float) and isinstance(want, float) and math.isnan(want):
        return math.isnan(got)
    numbers = isinstance(got, float | int) and isinstance(want, float | int)
    if numbers and (isinstance(got, float) or isinstance(want, float)):
        return math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-12)
    return bool(got == want)


# cell: plain
def _plain(value: Any) -> str:
    """Return `repr` without what changes from run to run."""
    kind = type(value)
    if kind is float:
        return repr(float(f"{value:.12g}"))
    if kind is dict:
        return f"{{{', '.join(f'{_plain(k)}: {_plain(v)}' for k, v in value.items())}}}"
    if kind in (set, frozenset):
        return f"{kind.__name__}([{', '.join(sorted(map(_plain, value)))}])"
    if kind is list:
        return f"[{', '.join(map(_plain, value))}]"
    if kind is tuple:
        return f"({', '.join(map(_plain, value))}{',' * (len(value) == 1)})"
    text = f"{kind.__name__}: {value}" if isinstance(value, BaseException) else repr(value)
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", text)


# cell: show
def _show(value: Any, limit: int = 120) -> str:
    """Return one line for any value, the same on each run, at most `limit` characters long."""
    try:
        text = _plain(value)
    except Exception:  # a broken `__repr__`, a list that holds itself
        text = f"<{type(value).__name__}>"
    return text if len(text) <= limit else f"{text[: limit - 40]} … {text[-37:]}"


# cell: parts
def _parts(value: Any) -> dict[str, Any]:
    """Return what a container holds, each part under the text that reaches it."""
    if isinstance(value, dict):
        return {f"[{key!r}]": part for key, part in value.items()}
    if isinstance(value, list | tuple):
        return {f"[{index}]": part for index, part in enumerate(value)}
    if is_dataclass(value) and not isinstance(value, type):
        return {f".{part.name}": getattr(value, part.name) for part in fields(value)}
    return {}


# cell: difference
def _difference(got: Any, want: Any, at: str = "result") -> str | None:
    """Return None for equal values, else where they part ("" when showing both says it)."""
    kinds = (dict, list, tuple, *([type(want)] if is_dataclass(want) else []))
    if any(isinstance(got, kind) and isinstance(want, kind) for kind in kinds):
        ours, theirs = _parts(got), _parts(want)
        for name in theirs | ours:
            if name not in ours or name not in theirs:
                return f"{at}{name} is {'missing' if name in theirs else 'one too many'}"
            deeper = _difference(ours[name], theirs[name], at + name)
            if deeper is not None:
                return deeper
        return None
    if _same(got, want):
        return None
    if isinstance(got, str) and isinstance(want, str) and len(want) > 60:
        pairs = enumerate(zip(got, want, strict=False))
        start = next((i for i, (a, b) in pairs if a != b), min(len(got), len(want)))
        tail, wanted = _show(got[start : start + 20]), _show(want[start : start + 20])
        return f"{at} goes on with {tail} from index {start}, expected {wanted}"
    return "" if at == "result" else f"{at} is {_show(got)}, expected {_show(want)}"


# cell: raises
@dataclass(frozen=True)
class Raises:
    """The expected result of a probe that must fail: an exception, and words in its text."""

    error: type[BaseException]
    text: str = ""

    def __str__(self) -> str:
        return self.error.__name__ + (f" with {self.text!r} in its text" if self.text else "")


# cell: mistake
@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people really give, as an answer that runs, and why it is wrong."""

    answer: Any = field(repr=False)
    why: str


# cell: exercise
@dataclass(frozen=True)
class Exercise:
    """Probes, what each must give, the known mistakes, and what a right answer is told.

    `probes` maps a label to a function from an answer to a result; it builds its inputs anew.
    `expected` maps the same labels to the right results, or to `Raises`. `mistakes` maps a
    short name to a `Mistake`; there are at least two. `lesson` says what makes an answer right.
    Raises ValueError, with every fault and its remedy, when these cannot work together.
    """

    name: str
    probes: Mapping[str, Callable[[Any], Any]] = field(repr=False)
    expected: Mapping[str, Any] = field(repr=False)
    mistakes: Mapping[str, Mistake] = field(repr=False)
    lesson: str = field(repr=False)

    def __post_init__(self) -> None:
        faults = "".join(f"\n- {fault}" for fault in _faults(self))
        if faults:
            raise ValueError(f"{self.name} would mislead its readers:{faults}")


# cell: failure
@dataclass(frozen=True)
class _Failure:
    """What an exception left behind; `depth` tells the probe's own from one further inside."""

    kind: type[BaseException]
    text: str
    depth: int


# cell: run
def _run(exercise: Exercise, answer: Any) -> dict[str, Any]:
    """Return what each probe gives on an answer: a result, or a `_Failure`."""
    results: dict[str, Any] = {}
    for label, probe in exercise.probes.items():
        try:
            results[label] = probe(answer)
        except (Exception, SystemExit) as error:
            depth = len(traceback.extract_tb(error.__traceback__))
            results[label] = _Failure(type(error), _show(error, limit=10_000), depth)
    return results


# cell: reason
def _reason(got: Any, want: Any) -> str | None:
    """Return None when a probe gave what it should, else what `_difference` says."""
    try:
        if isinstance(want, Raises):
            failed = isinstance(got, _Failure) and issubclass(got.kind, want.error)
            return None if failed and want.text in got.text else ""
        return "" if isinstance(got, _Failure) else _difference(got, want)
    except Exception:  # what refuses to be compared is not the expected result
        return ""


# cell: failed
def _failed(results: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """Return the labels of the probes that did not give what they should."""
    return [label for label in expected if _reason(results[label], expected[label]) is not None]


# cell: imitates
def _imitates(results: Mapping[str, Any], model: Mapping[str, Any]) -> bool:
    """Return whether two answers behave alike: equal results, the same kind of exception."""
    pairs = model.items()
    wanted = {key: Raises(r.kind) if isinstance(r, _Failure) else r for key, r in pairs}
    return not _failed(results, wanted)


# cell: blank
def _blank(value: Any, depth: int = 3) -> bool:
    """Return whether a value is None, `...`, or a container of nothing else."""
    parts = _parts(value).values() if depth else ()
    empty = len(parts) > 0 and all(_blank(part, depth - 1) for part in parts)
    return value is None or value is ... or empty


# cell: stubs
_STUBS: tuple[Callable[..., Any], ...] = (lambda *_, **__: ..., lambda *_, **__: None)


# cell: untried
def _untried(exercise: Exercise, answer: Any, results: Mapping[str, Any]) -> bool:
    """Return whether there is no answer yet: nothing, or a function that returns nothing."""
    for stub in _STUBS:
        empty = _run(exercise, stub)
        # A probe may choke on nothing; the same failure at the same depth is the probe's own.
        failures = {key for key, r in results.items() if isinstance(r, _Failure)}
        choked = {key for key in failures if results[key] == empty[key]}
        silent = choked | {key for key, r in results.items() if _blank(r)}
        rest = {key: empty[key] for key in empty if key not in silent}
        if silent and not _failed(results, rest):
            return True
    return _blank(answer)


# cell: verdict
@dataclass(frozen=True, repr=False)
class Verdict:
    """What `check` found; its `repr` is the text for the reader, and it is true when right.

    `state` is "untried", "wrong" or "right"; `mistake` names the known mistake, if it is one.
    """

    state: Literal["untried", "wrong", "right"]
    text: str
    mistake: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the answer is right."""
        return self.state == "right"

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return self.text


# cell: say
def _say(*lines: str) -> str:
    """Join lines of prose, each wrapped for a narrow page."""
    wrap = textwrap.TextWrapper(78, break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrap.fill(line) for line in lines)


# cell: evidence
def _evidence(label: str, got: Any, want: Any) -> str:
    """Return the lines that show one probe: its label, both results, the place they part."""
    failed, place = isinstance(got, _Failure), _reason(got, want)
    ours = textwrap.shorten(got.text, 120, placeholder=" …") if failed else _show(got)
    theirs = want if isinstance(want, Raises) else _show(want)
    lines = [f"Probe:    {label}", f"Got:      {ours}", f"Expected: {theirs}"]
    return "\n".join(lines + [f"Place:    {place}"] * bool(place))


# cell: check
def check(exercise: Exercise, answer: Any) -> Verdict:
    """Run the probes on an answer and return the verdict; what the answer raises is part of it.

    A right answer is told the lesson. One that does nothing yet is told how to begin. One that
    does on every probe what a known mistake does is told which it is and why it is wrong. Any
    wrong answer sees the first probe that it fails. A KeyboardInterrupt passes through.
    """
    name, expected, results = exercise.name, exercise.expected, _run(exercise, answer)
    failed = _failed(results, expected)
    if not failed:
        return Verdict("right", _say(f"{name}: right.", exercise.lesson))
    if _untried(exercise, answer, results):
        begin = "Put your answer in place of `...` and run the cell again."
        return Verdict("untried", _say(f"{name}: not tried yet.", begin))
    first = _evidence(failed[0], results[failed[0]], expected[failed[0]])
    count = f"{len(failed)} of {len(expected)}"
    again = f"Probes that fail: {count}. Change your answer and run the cell again."
    for known, mistake in exercise.mistakes.items():
        if _imitates(results, _run(exercise, mistake.answer)):
            why = _say(f"{name}: wrong. A known mistake: {known}.", mistake.why)
            return Verdict("wrong", f"{why}\n\n{first}\n\n{again}", known)
    return Verdict("wrong", f"{name}: wrong.\n\n{first}\n\n{again}")


# cell: faults
def _faults(exercise: Exercise) -> Iterator[str]:
    """Yield everything that would mislead a reader, each fault with its remedy."""
    probes, expected, mistakes = exercise.probes, exercise.expected, exercise.mistakes
    lonely = probes.keys() ^ expected.keys()
    if lonely:
        yield f"only one of probes and expected has {sorted(lonely)}: give both the same labels"
        return
    if not exercise.lesson.strip():
        yield "the lesson is empty: say what makes an answer right"
    if len(mistakes) < 2:
        yield f"mistakes holds {len(mistakes)}: catalogue at least two that people really make"
    if any(check(exercise, stub).passed for stub in (..., *_STUBS)):
        yield "an empty stub is right: add a probe that it fails"
    for name, mistake in mistakes.items():
        if not mistake.why.strip():
            yield f"mistake {name!r} has no why: say which belief to give up"
        found = check(exercise, mistake.answer)
        if found.mistake is None and found.state == "wrong":
            yield (
                f"mistake {name!r} behaves differently the second time: let the probes build "
                "their inputs and return plain data"
            )
        elif found.mistake != name:
            other = found.mistake or found.state
            yield f"mistake {name!r} is taken for {other!r}: add a probe that parts the two"
