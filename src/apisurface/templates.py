# Generated from book/templates.ipynb: edit it there, then run `make save`.
"""Chat templates: the one text that a model reads in place of your messages.

A toy with the parts of a real one: literal markers per role, a separator, and
the opening of the assistant's turn. It renders text; it has no tokenizer, no
tools, no tool calls and no pictures, and refuses with a ValueError what it
would otherwise drop.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from apisurface.wire import Message


# cell: markers
class Markers(TypedDict):
    """The literal text before and after one role's content."""

    open: str
    close: str


# cell: chat-template
class ChatTemplate(TypedDict):
    """Markers for each role, the text between turns, the answer's opening."""

    roles: Mapping[str, Markers]
    sep: str
    assistant_open: str


# cell: content-text
def _content_text(message: Message, where: str) -> str:
    """Return content as text: verbatim, nothing for None, text parts joined."""
    if not isinstance(message, Mapping):
        got = type(message).__name__
        raise ValueError(f"{where}: expected a message with role and content, got {got}")
    content: Any = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list | tuple):
        got = type(content).__name__
        raise ValueError(f"{where}.content: expected text, None or a list of parts, got {got}")
    texts: list[str] = []
    for index, part in enumerate(content):
        typed = part if isinstance(part, Mapping) else {"type": type(part).__name__}
        kind, text = typed.get("type"), typed.get("text")
        if kind != "text" or not isinstance(text, str):
            what = "a text part without text" if kind == "text" else f"a part of type {kind!r}"
            raise ValueError(
                f"{where}.content[{index}]: {what} cannot be written by this template, which "
                "knows {'type': 'text', 'text': …} only; say it in words or leave it out"
            )
        texts.append(text)
    return "".join(texts)


# cell: require
def _require(name: str, value: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    """Raise ValueError unless the template, or a role of it, has all its keys."""
    missing = [key for key in keys if key not in value]
    if missing:
        raise ValueError(f"{name} lacks {', '.join(missing)}")


# cell: render-chat-template
def render_chat_template(messages: Sequence[Message], template: ChatTemplate) -> str:
    """Return the text a model reads: messages in markers, the answer's opening.

    Turns are joined with `sep`; `assistant_open` follows the last one without
    it. Content is text, None or absent (both nothing) or a list of text parts,
    joined with nothing between. It stands verbatim: no braces are filled,
    nothing is trimmed, and control tokens in it are kept, so look with
    `find_control_tokens` first. Keys other than role and content (`name`,
    `tool_call_id`, …) are no text here. The messages are not changed.

    Raises ValueError, with the message's index and a remedy, for a role
    without markers, a part that is not text, and proposed tool calls, which
    these templates have no place for.
    """
    _require("the template", template, ("roles", "sep", "assistant_open"))
    roles, turns = template["roles"], []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        text, role = _content_text(message, where), message.get("role")
        if not isinstance(role, str) or role not in roles:
            raise ValueError(
                f"{where}: the template has no markers for role {role!r}, only for "
                f"{', '.join(roles)}; use one of these or a template that knows the role"
            )
        if message.get("tool_calls"):
            raise ValueError(
                f"{where}: the template has no markers for tool calls, and leaving them out "
                "would change what was said; render it with the model's own template"
            )
        _require(f"the template's role {role!r}", roles[role], ("open", "close"))
        turns.append(roles[role]["open"] + text + roles[role]["close"])
    return template["sep"].join(turns) + template["assistant_open"]


# cell: count-tokens
def count_tokens(text: str) -> int:
    r"""Return how many toy tokens a text has: words and single marks.

    A word is a run of `\w`; a mark is one character that is neither that nor
    space. No model counts like this: a real tokenizer cuts long words into
    pieces and takes a control token as one. Use it to compare, not to pay.
    """
    return len(re.findall(r"\w+|[^\w\s]", text))


# cell: find-control-tokens
def find_control_tokens(
    messages: Sequence[Message], control_tokens: Iterable[str]
) -> list[str]:
    """Return where content spells a control token; empty when it never does.

    Each finding names message, token and place, such as
    `messages[1].content: '<|im_end|>' at character 2`. Text parts are joined
    first, as the renderer joins them, so a token split over two parts is found.
    Pass the special tokens of the model's tokenizer. Only content is searched,
    not names, tool calls or tool descriptions.

    Raises ValueError for an empty token, for tokens given as one string, and
    for content that `render_chat_template` refuses.
    """
    tokens = sorted(control_tokens, key=len, reverse=True)
    if isinstance(control_tokens, str) or "" in tokens:
        raise ValueError("control_tokens: expected several non-empty strings")
    pattern = re.compile("|".join(map(re.escape, tokens)) or r"(?!)")
    return [
        f"messages[{index}].content: {found[0]!r} at character {found.start()}"
        for index, message in enumerate(messages)
        for found in pattern.finditer(_content_text(message, f"messages[{index}]"))
    ]
