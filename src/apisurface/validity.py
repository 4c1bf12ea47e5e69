# Generated from book/validity.ipynb: edit it there, then run `make save`.
"""The validity experiment: how often an answer fits its schema, and how often it is then true.

Fifty tickets, one scripted candidate for each of three levels, and the same check for all. The
scripts stand for a model; `measure_validity` counts the outputs of a real one the same way.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from apisurface.extraction import Extraction, extract, library_check
from apisurface.levels import REFUND_SCHEMA
from apisurface.objects import parse_object
from apisurface.wire import ScriptedModel, chat

# cell: known-orders
KNOWN_ORDERS: frozenset[str] = frozenset(f"O-{number:04d}" for number in range(1, 51))


# cell: make-tickets
def make_tickets(count: int = 50) -> list[dict[str, Any]]:
    """Make refund tickets whose every field is known: the truth that candidates are held to.

    Ticket i, from 1, asks for `900 + 37 i` cents on order i, in EUR when i is a multiple of 5
    and in USD otherwise. Raises ValueError unless there are 1 to 999: ids have three digits.
    """
    if type(count) is not int or not 1 <= count <= 999:
        raise ValueError(f"count must be a whole number from 1 to 999, got {count!r}")
    return [
        {
            "ticket_id": f"T-{i:03d}",
            "order_id": f"O-{i:04d}",
            "amount_cents": 900 + 37 * i,
            "currency": "USD" if i % 5 else "EUR",
        }
        for i in range(1, count + 1)
    ]


# cell: semantic-check
def semantic_check(value: Any) -> str | None:
    """Say what a schema cannot: whether the order exists; None means nothing is wrong.

    Takes any value, since it may be asked before the shape is known. The orders are
    `KNOWN_ORDERS`; a program of your own asks its ledger here.
    """
    order = value.get("order_id") if isinstance(value, dict) else None
    known = isinstance(order, str) and order in KNOWN_ORDERS
    return None if known else "order_id does not exist"


# cell: decision
def _decision(ticket: Mapping[str, Any]) -> dict[str, Any]:
    """Return the right decision for a ticket, in the order of the schema."""
    return {
        "ticket_id": ticket["ticket_id"],
        "action": "refund",
        "order_id": ticket["order_id"],
        "amount_cents": ticket["amount_cents"],
        "currency": ticket["currency"],
    }


# cell: scripted-candidate
def scripted_candidate(ticket: Mapping[str, Any], level: int) -> str:
    """Return what a model at one level of enforcement answers to a ticket, faults included.

    Level 1, prompt only: a lower-case currency on every 4th ticket, prose around every 7th.
    Level 2, JSON mode: a field too many on every 11th. Level 3, schema-constrained: an order
    that does not exist on every 10th. Raises ValueError for another level, or a ticket whose
    `ticket_id` does not end in its number.
    """
    if level not in (1, 2, 3):
        raise ValueError(f"level must be 1, 2 or 3, got {level!r}")
    i, value = int(ticket["ticket_id"][2:]), _decision(ticket)
    if level == 1 and i % 4 == 0:
        value["currency"] = value["currency"].lower()
    if level == 2 and i % 11 == 0:
        value["note"] = "not in schema"
    if level == 3 and i % 10 == 0:
        value["order_id"] = f"O-9{i:03d}"
    text = json.dumps(value)
    return f"Here is the extraction: {text}" if level == 1 and i % 7 == 0 else text


# cell: measure-validity
def measure_validity(
    texts: Iterable[str],
    schema: dict[str, Any],
    check: Callable[[Any], str | None] = semantic_check,
) -> dict[str, int]:
    """Count how far each output gets: `total`, `parsed`, `valid` and `accepted`.

    An output is parsed when `parse_object` reads it, valid when the schema (Draft 2020-12)
    allows it and accepted when `check` finds nothing; each count is of those before it.
    Raises ValueError for a schema that is none.
    """
    violations = library_check(schema)
    counts = {"total": 0, "parsed": 0, "valid": 0, "accepted": 0}
    for text in texts:
        counts["total"] += 1
        try:
            value = parse_object(text)
        except ValueError:
            continue
        valid = not violations(value)
        counts["parsed"] += 1
        counts["valid"] += valid
        counts["accepted"] += valid and check(value) is None
    return counts


# cell: repaired
def _repaired(tickets: Sequence[Mapping[str, Any]], level: int) -> list[Extraction]:
    """Run the repair loop on every ticket: the scripted candidate, then the right decision."""
    found = []
    for ticket in tickets:
        texts = [scripted_candidate(ticket, level), json.dumps(_decision(ticket))]
        turns = [({"role": "assistant", "content": text}, "stop") for text in texts]
        invoke = partial(chat, "https://offline", "scripted", transport=ScriptedModel(turns))
        ask = [{"role": "user", "content": f"Decide ticket {ticket['ticket_id']}."}]
        found.append(extract(invoke, ask, REFUND_SCHEMA, semantic_check=semantic_check))
    return found


# cell: run-validity-experiment
def run_validity_experiment(count: int = 50) -> dict[str, Any]:
    """Measure three levels of enforcement on the same tickets, then let the loop repair.

    Returns `validity` (level to the share that fits the schema), `business_invalid` (how many
    fit at level 3 and name no order), `repair_rate` and `tokens_per_success` of the loop over
    level 2, and `app_validated`: the shares `accepted` and `repaired` of the loop over level 3.
    Raises ValueError unless `count` is 1 to 50, the number of orders that exist.
    """
    if type(count) is not int or not 1 <= count <= len(KNOWN_ORDERS):
        raise ValueError(f"count must be 1 to {len(KNOWN_ORDERS)} tickets, got {count!r}")
    tickets = make_tickets(count)
    counts = {
        level: measure_validity(
            (scripted_candidate(ticket, level) for ticket in tickets), REFUND_SCHEMA
        )
        for level in (1, 2, 3)
    }
    mended, checked = _repaired(tickets, 2), _repaired(tickets, 3)
    return {
        "validity": {level: found["valid"] / count for level, found in counts.items()},
        "business_invalid": counts[3]["valid"] - counts[3]["accepted"],
        "repair_rate": sum(one.attempts > 1 for one in mended) / count,
        "tokens_per_success": sum(one.total_tokens for one in mended) / len(mended),
        "app_validated": {
            "accepted": sum(semantic_check(one.value) is None for one in checked) / count,
            "repaired": sum(one.attempts > 1 for one in checked) / count,
        },
    }
