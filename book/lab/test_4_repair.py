"""Step 4: a bounded number of repairs, and none for a call that needs none."""

from contextlib import suppress

from apisurface import ToolCall
from book.lab.refunds import GOOD, TWO_ERRORS, bad, good, shop

ENOUGH = 20  # a policy that is asked so often will never be left alone


class Enough(Exception):
    """The policy was asked too often."""


class Policy:
    """A fixer that answers with these calls, the last one again and again, and counts."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def __call__(self, errors, call):
        if len(self.asked) == ENOUGH:
            raise Enough
        self.asked.append((errors, call))
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


def test_a_good_call_is_not_repaired(engine):
    registry, ledger = shop()
    policy = Policy(ToolCall("issue_refund", {**GOOD, "amount_cents": 1}))
    result, repairs = engine.run_with_repair(policy, registry, good(id="c1"))
    assert policy.asked == [], (
        "repairs a valid call: nothing was wrong, and the policy was asked all the same. What "
        f"it returns is another call. It saw {policy.asked}"
    )
    assert ledger == [GOOD], f"repairs a valid call: what ran is {ledger}"
    assert (result.ok, repairs) == (True, 0), f"a good call: got {repairs} repairs, {result}"


def test_one_repair_mends_the_call(engine):
    registry, ledger = shop()
    policy = Policy(good(id="c1"))
    result, repairs = engine.run_with_repair(policy, registry, bad(id="c1"))
    assert (result.ok, ledger) == (True, [GOOD]), (
        f"a mended call: got {result}, ledger {ledger}"
    )
    assert repairs == 1, (
        "counts attempts: one repair was made. The first dispatch is not a repair. "
        f"Got {repairs}"
    )


def test_the_policy_sees_all_errors_and_the_call(engine):
    policy = Policy(good())
    engine.run_with_repair(policy, shop()[0], bad())
    [(errors, call)] = policy.asked
    assert sorted(errors) == sorted(TWO_ERRORS), (
        f"first error only: the policy has to know all that is wrong. Got {errors}"
    )
    assert call == bad(), f"another call: the policy mends what failed, and got {call}"


def test_repairs_are_bounded(engine):
    registry, ledger = shop()
    policy = Policy(*(ToolCall("issue_refund", {"order_id": f"A-{n}"}) for n in range(30)))
    result, repairs = None, 0
    with suppress(Enough):
        result, repairs = engine.run_with_repair(policy, registry, bad())
    assert len(policy.asked) < ENOUGH, (
        f"unbounded repair: the policy was asked {ENOUGH} times and more. A model that cannot "
        "mend its call costs money without end"
    )
    assert len(policy.asked) == repairs == 2, (
        "counts attempts: `max_repairs=2` allows two repairs after the first dispatch. The "
        f"policy was asked {len(policy.asked)} times, {repairs} reported"
    )
    last = ["$.amount_cents: required", "$.reason: required"]
    assert (result.ok, sorted(result.errors)) == (False, last), (
        f"gives up without a reason: the last failure is the result. Got {result}"
    )
    assert ledger == [], "run then catch: no repair made the call valid, and something ran"


def test_no_repairs_means_none(engine):
    policy = Policy(good())
    result, repairs = engine.run_with_repair(policy, shop()[0], bad(), max_repairs=0)
    assert (result.ok, repairs, policy.asked) == (False, 0, []), (
        f"counts attempts: max_repairs=0 forbids every repair. Got {result}, {repairs}"
    )


def test_each_repair_starts_from_the_latest_call(engine):
    registry, ledger = shop()
    half = ToolCall("issue_refund", {**GOOD, "amount_cents": 0})
    policy = Policy(half, good())
    result, repairs = engine.run_with_repair(policy, registry, bad())
    assert [call for _, call in policy.asked] == [bad(), half], (
        "another call: the second repair has to mend the result of the first. "
        f"The policy saw {[call for _, call in policy.asked]}"
    )
    assert (result.ok, repairs) == (True, 2), f"a call mended twice: {repairs}, {result}"
    assert ledger == [GOOD], f"a call mended twice: what ran is {ledger}"


def test_the_answer_belongs_to_the_call_that_was_made(engine):
    result, _ = engine.run_with_repair(Policy(good()), shop()[0], bad(id="c1"))
    assert result.call_id == "c1", (
        "lost ids: the mended call came without an id, and the model still waits for the "
        f"answer to c1. Got {result.call_id!r}"
    )
