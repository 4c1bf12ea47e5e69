"""What holding a schema costs a real model, token by token: the legal mass along one object.

The mask is exact here, because the language is small: one refund decision with its keys in
order and one way to space them. The model sees the whole vocabulary at every step; the next
token is the likeliest of those that keep the text a beginning of some legal object.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from tools.distributions import END, NextToken, Token, rounded
from tools.exchanges import SHOWN_TICKET
from tools.model_server import ModelServer
from tools.tape import pack

Part: TypeAlias = tuple[str, ...] | re.Pattern[str]  # alternatives, or what eats all it can
DIGIT = tuple("0123456789")
INTEGER = re.compile("0|[1-9][0-9]*")
SPACINGS = {"default": (", ", ": "), "compact": (",", ":")}
LONGEST = 120  # tokens; an integer may be as long as the model likes


def refund_language(comma: str, colon: str) -> list[Part]:
    """Return the refund decision as a sequence of parts."""

    def key(name: str) -> str:
        return f'"{name}"{colon}'

    return [
        ("{" + key("ticket_id") + '"T-',),
        *[DIGIT] * 3,
        (f'"{comma}{key("action")}"',),
        ("refund", "deny", "escalate"),
        (f'"{comma}{key("order_id")}"O-',),
        *[DIGIT] * 4,
        (f'"{comma}{key("amount_cents")}',),
        INTEGER,
        (f'{comma}{key("currency")}"',),
        ("USD", "EUR"),
        ('"}',),
    ]


def begins(text: str, parts: Sequence[Part]) -> bool:
    """Return whether `text` is a beginning of the language, or the whole of a word of it."""
    if not text or not parts:
        return not text
    part, rest = parts[0], parts[1:]
    if isinstance(part, re.Pattern):
        found = part.match(text)
        return found is not None and begins(text[found.end() :], rest)
    return any(
        option.startswith(text)
        or (text.startswith(option) and begins(text[len(option) :], rest))
        for option in part
    )


def ends(text: str) -> bool:
    """Return whether a beginning of the language is a whole word of it."""
    return text.endswith("}")


def legal_tokens(text: str, tokens: list[Token], parts: Sequence[Part]) -> list[Token]:
    """Return the tokens that may follow `text`, likeliest first."""
    if ends(text):
        return [token for token in tokens if token.id == END]
    first = {chr(code) for code in range(128) if begins(text + chr(code), parts)}
    found = []
    for token in tokens:
        piece = token.data.decode("ascii", "replace")
        if piece and piece[0] in first and begins(text + piece, parts):
            found.append(token)
    return found


def constrained(asked: NextToken, prompt: str, parts: Sequence[Part]) -> dict[str, Any]:
    """Return one greedy generation under the mask, with the price of every step."""
    text, ids, steps = "", list[int](), list[dict[str, Any]]()
    while len(ids) < LONGEST:
        tokens, _ = asked.after(prompt, ids)
        legal = legal_tokens(text, tokens, parts)
        mass = math.fsum(token.p for token in legal)
        step = {
            "token": legal[0].row(),
            "legal_mass": rounded(mass),
            "legal_tokens": len(legal),
            "wanted": tokens[0].row(),
        }
        steps.append(step)
        if ends(text):
            break
        ids.append(legal[0].id)
        text += legal[0].data.decode("ascii")
    bits = -math.fsum(math.log2(step["legal_mass"]) for step in steps)
    return {"text": pack(text.encode()), "total_bits": rounded(bits), "steps": steps}


def tax(server: ModelServer) -> dict[str, Any]:
    """Return the same request under two spacings of the same schema."""
    asked = NextToken(server)
    prompt = asked.render(SHOWN_TICKET)
    runs = {
        name: constrained(asked, prompt, refund_language(comma, colon))
        for name, (comma, colon) in SPACINGS.items()
    }
    asked.close()
    about = (
        "The legal mass at every step of two constrained generations, which differ in spaces."
    )
    row = ["id", "text", "p"]
    return {"about": about, "row": row, "prompt": prompt, "spacings": SPACINGS, "runs": runs}
