"""The validity experiment: its tickets, its scripts, and the figures of the contract."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apisurface import (
    KNOWN_ORDERS,
    REFUND_SCHEMA,
    make_tickets,
    measure_validity,
    run_validity_experiment,
    scripted_candidate,
    semantic_check,
)


def test_the_figures_of_the_contract():
    result = run_validity_experiment()
    assert list(result) == [
        *("validity", "business_invalid", "repair_rate", "tokens_per_success"),
        "app_validated",
    ]
    assert result["validity"] == {1: 0.76, 2: 0.92, 3: 1.0}
    assert result["business_invalid"] == 5
    assert result["repair_rate"] == 0.08
    assert result["tokens_per_success"] == 85.96
    assert f"{result['tokens_per_success']:.1f}" == "86.0"
    assert result["app_validated"] == {"accepted": 1.0, "repaired": 0.1}


def test_the_experiment_is_the_same_each_time_and_for_fewer_tickets():
    assert run_validity_experiment() == run_validity_experiment()
    assert run_validity_experiment(1)["tokens_per_success"] > 0
    small = run_validity_experiment(3)
    assert small["validity"] == {1: 1.0, 2: 1.0, 3: 1.0}
    assert (small["business_invalid"], small["repair_rate"]) == (0, 0.0)


@pytest.mark.parametrize("count", [0, -1, 51, 2.5, "50", True, None])
def test_an_experiment_without_a_ledger_for_it_is_refused(count):
    with pytest.raises(ValueError, match="count must be 1 to 50 tickets"):
        run_validity_experiment(count)


def test_tickets():
    tickets = make_tickets()
    assert len(tickets) == 50
    assert tickets[0] == {
        "ticket_id": "T-001",
        "order_id": "O-0001",
        "amount_cents": 937,
        "currency": "USD",
    }
    assert tickets[49]["ticket_id"] == "T-050"
    assert [t["amount_cents"] for t in tickets] == [900 + 37 * i for i in range(1, 51)]
    assert [t["ticket_id"] for t in tickets if t["currency"] == "EUR"] == [
        f"T-{i:03d}" for i in range(5, 51, 5)
    ]
    assert {t["order_id"] for t in tickets} == KNOWN_ORDERS
    assert make_tickets(999)[-1]["ticket_id"] == "T-999"


@pytest.mark.parametrize("count", [0, 1000, 1.0, True, "3"])
def test_a_count_of_tickets_that_cannot_be_made_is_refused(count):
    with pytest.raises(ValueError, match="whole number from 1 to 999"):
        make_tickets(count)


def test_known_orders():
    assert len(KNOWN_ORDERS) == 50
    assert {"O-0001", "O-0050"} <= KNOWN_ORDERS
    assert not {"O-0000", "O-0051", "O-9010"} & KNOWN_ORDERS


@pytest.mark.parametrize(
    "value",
    [{"order_id": "O-9010"}, {"order_id": "O-0000"}, {"order_id": "o-0001"}, {"order_id": None}]
    + [{"order_id": ["O-0001"]}, {"order_id": {}}, {}, [], "O-0001", None, 3],
)
def test_anything_but_a_known_order_does_not_exist(value):
    assert semantic_check(value) == "order_id does not exist"


def test_a_known_order_is_no_complaint():
    assert semantic_check({"order_id": "O-0050", "x": 1}) is None


CLEAN = (
    '{"ticket_id": "T-001", "action": "refund", "order_id": "O-0001", '
    '"amount_cents": 937, "currency": "USD"}'
)


@pytest.mark.parametrize(
    ("level", "number", "part"),
    [
        (1, 4, '"currency": "usd"'),
        (1, 20, '"currency": "eur"'),
        (1, 7, 'Here is the extraction: {"ticket_id": "T-007"'),
        (1, 28, '"currency": "usd"'),
        (2, 11, ', "note": "not in schema"}'),
        (3, 10, '"order_id": "O-9010"'),
        (3, 50, '"order_id": "O-9050"'),
    ],
)
def test_each_level_has_its_fault_on_its_tickets(level, number, part):
    assert part in scripted_candidate(make_tickets()[number - 1], level)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_faults_stand_nowhere_else(level):
    multiples = {1: (4, 7), 2: (11,), 3: (10,)}[level]
    for number, ticket in enumerate(make_tickets(), start=1):
        text = scripted_candidate(ticket, level)
        clean = {"ticket_id": 0, "action": "refund", "order_id": 0} | ticket
        is_clean = text == json.dumps(clean | {"action": "refund"})
        assert is_clean == all(number % m for m in multiples), text
    assert scripted_candidate(make_tickets()[0], level) == CLEAN


@pytest.mark.parametrize("level", [0, 4, "1", None])
def test_another_level_is_refused(level):
    with pytest.raises(ValueError, match="level must be 1, 2 or 3"):
        scripted_candidate(make_tickets()[0], level)


def test_measuring_counts_how_far_each_output_gets():
    texts = [
        "no object here",
        '{"cut": ',
        '{"a": 1}',
        CLEAN.replace("O-0001", "O-9999"),
        f"Sure!\n```json\n{CLEAN}\n```",
        CLEAN,
    ]
    counts = measure_validity(texts, REFUND_SCHEMA)
    assert counts == {"total": 6, "parsed": 4, "valid": 3, "accepted": 2}
    assert list(counts) == ["total", "parsed", "valid", "accepted"]
    lenient = measure_validity(texts, REFUND_SCHEMA, lambda value: None)
    assert lenient["accepted"] == 3


def test_measuring_nothing_is_nothing():
    assert measure_validity([], {}) == {"total": 0, "parsed": 0, "valid": 0, "accepted": 0}


def test_a_schema_that_is_none_is_refused_before_anything_is_counted():
    with pytest.raises(ValueError, match="invalid schema"):
        measure_validity([CLEAN], {"type": "money"})


@given(st.lists(st.text() | st.just(CLEAN) | st.just('{"a": 1}')))
def test_counts_only_shrink_on_any_text(texts):
    counts = measure_validity(texts, REFUND_SCHEMA)
    assert counts["total"] == len(texts)
    assert counts["total"] >= counts["parsed"] >= counts["valid"] >= counts["accepted"]
    assert counts["accepted"] >= texts.count(CLEAN)
