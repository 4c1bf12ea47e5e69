"""The chunks of a Chat stream, written short, and texts cut and mixed anywhere."""

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from apisurface import ToolCall, actionable_calls, assemble_chat_stream


def chunk(delta: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish} | more]}


def tool(
    index: int | None = None,
    id: str | None = None,
    name: str | None = None,
    arguments: Any = None,
) -> dict[str, Any]:
    """One fragment; what is None is left out."""
    function = {"name": name, "arguments": arguments}
    item = {
        "index": index,
        "id": id,
        "type": "function" if id else None,
        "function": {key: value for key, value in function.items() if value is not None},
    }
    return {key: value for key, value in item.items() if value is not None}


def tools(*items: dict[str, Any]) -> dict[str, Any]:
    return chunk({"tool_calls": list(items)})


END = chunk({}, "tool_calls")


def calls_of(chunks: Iterable[dict[str, Any]], provider: str = "openai-chat") -> list[ToolCall]:
    return actionable_calls(assemble_chat_stream(chunks, provider=provider))


def plain(calls: list[ToolCall]) -> list[tuple[str | None, str, dict[str, Any]]]:
    return [(call.id, call.name, call.arguments) for call in calls]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


ARGUMENTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=3)


@st.composite
def pieces(draw: st.DrawFn, text: str) -> list[str]:
    """Cut a text anywhere."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@st.composite
def interleaved(draw: st.DrawFn, rows: list[list[Any]]) -> list[Any]:
    """Mix several sequences, each in its own order."""
    left = [list(row) for row in rows if row]
    found = []
    while left:
        row = draw(st.sampled_from(left))
        found.append(row.pop(0))
        left = [row for row in left if row]
    return found
