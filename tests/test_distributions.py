"""The recorded distributions and the recorded tax add up."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.distributions import KEPT, Token, summary
from tools.exchanges import REFUND
from tools.tax import END, SPACINGS, begins, legal_tokens, refund_language

FOLDER = Path(__file__).resolve().parent.parent / "book/recordings"
DISTRIBUTIONS = json.loads((FOLDER / "distributions.json").read_text(encoding="utf-8"))
TAX = json.loads((FOLDER / "tax.json").read_text(encoding="utf-8"))
STEPS = [
    pytest.param(step, id=f"{prompt['name']}-{at}")
    for prompt in DISTRIBUTIONS["prompts"]
    for at, step in enumerate(prompt["steps"])
]


@pytest.mark.parametrize("step", STEPS)
def test_a_recorded_distribution_is_one(step: dict[str, Any]) -> None:
    probabilities = [p for _, _, p in step["top"]]
    assert len(probabilities) == KEPT
    assert probabilities == sorted(probabilities, reverse=True)
    assert math.fsum(probabilities) + step["tail"] == pytest.approx(1, abs=1e-4)
    assert step["reported_mass"] == pytest.approx(1, abs=1e-2)
    assert 0 <= step["entropy_bits"] <= math.log2(step["vocabulary"])


@pytest.mark.parametrize("step", STEPS)
def test_a_recorded_nucleus_is_the_one_of_its_top(step: dict[str, Any]) -> None:
    for threshold, size in step["nucleus"].items():
        mass = [math.fsum(p for _, _, p in step["top"][:n]) for n in range(KEPT + 1)]
        if size <= KEPT:
            assert mass[size - 1] < float(threshold) <= mass[size] + 1e-4
        else:
            assert mass[KEPT] < float(threshold)


@pytest.mark.parametrize("spacing", SPACINGS)
def test_a_taxed_generation_is_legal_and_priced(spacing: str) -> None:
    run = TAX["runs"][spacing]
    comma, colon = SPACINGS[spacing]
    value = json.loads(run["text"])
    jsonschema.validate(value, REFUND)
    assert run["text"] == json.dumps(value, separators=(comma, colon))
    assert "".join(step["token"][1] for step in run["steps"]) == run["text"] + "<|im_end|>"
    for step in run["steps"]:
        assert 0 < step["token"][2] <= step["legal_mass"] * (1 + 1e-5) <= 1 + 1e-4
        assert step["wanted"][2] >= step["token"][2]
    bits = -math.fsum(math.log2(step["legal_mass"]) for step in run["steps"])
    assert run["total_bits"] == pytest.approx(bits, rel=1e-5)


@pytest.mark.parametrize("spacing", SPACINGS)
@given(
    ticket=st.from_regex(r"T-[0-9]{3}", fullmatch=True),
    order=st.from_regex(r"O-[0-9]{4}", fullmatch=True),
    action=st.sampled_from(["refund", "deny", "escalate"]),
    amount=st.integers(0, 10**12),
    currency=st.sampled_from(["USD", "EUR"]),
    data=st.data(),
)
def test_beginnings_are_exactly_those_of_legal_objects(
    spacing: str,
    ticket: str,
    order: str,
    action: str,
    amount: int,
    currency: str,
    data: st.DataObject,
) -> None:
    parts = refund_language(*SPACINGS[spacing])
    value = {
        "ticket_id": ticket,
        "action": action,
        "order_id": order,
        "amount_cents": amount,
        "currency": currency,
    }
    text = json.dumps(value, separators=SPACINGS[spacing]).encode().decode("ascii")
    assert all(begins(text[:end], parts) for end in range(len(text) + 1))
    assert not begins(text + " ", parts)
    at = data.draw(st.integers(0, len(text) - 1))
    wrong = data.draw(st.characters(codec="ascii").filter(lambda c: c not in text[at]))
    damaged = text[:at] + wrong
    if re.fullmatch(r"[a-zA-Z0-9]", wrong) is None and text[at] not in ",0123456789":
        assert not begins(damaged, parts)


def test_no_leading_zero() -> None:
    parts = refund_language(*SPACINGS["compact"])
    start = '{"ticket_id":"T-001","action":"deny","order_id":"O-0001","amount_cents":'
    assert begins(start + "0,", parts)
    assert not begins(start + "05", parts)
    assert not begins(start + "-", parts)


def test_only_the_end_may_follow_a_whole_object() -> None:
    parts = refund_language(*SPACINGS["compact"])
    tokens = [Token(5, b" ", 0.6), Token(END, b"", 0.3), Token(7, b"{", 0.1)]
    assert [t.id for t in legal_tokens("", tokens, parts)] == [7]
    assert [t.id for t in legal_tokens('"currency":"USD"}', tokens, parts)] == [END]


def test_the_summary_counts_the_token_that_crosses() -> None:
    tokens = [Token(i, b"x", p) for i, p in enumerate([0.6, 0.25, 0.1, 0.03, 0.02])]
    found = summary(tokens, 1.0)
    assert found["nucleus"]["0.7"] == 2
    assert found["nucleus"]["0.5"] == 1
    assert found["tail"] == 0
