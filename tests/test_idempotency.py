"""One key, one effect: in one process, in several, and after one was killed."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apisurface.idempotency import Claim, MemoryStore, SQLiteStore, fingerprint


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    if request.param == "memory":
        yield MemoryStore()
    else:
        made = SQLiteStore(tmp_path / "book.db")
        yield made
        made.close()


# --- both stores -----------------------------------------------------------------


def test_a_new_key_runs_and_a_finished_one_replays(store):
    assert store.claim("k", "f") == Claim("run")
    store.finish("k", {"value": [1, None, "é"]})
    assert store.claim("k", "f") == Claim("replay", {"value": [1, None, "é"]})
    assert store.claim("k", "f") == Claim("replay", {"value": [1, None, "é"]})


def test_a_claim_is_an_answer_that_does_not_change():
    with pytest.raises(AttributeError):
        Claim("busy").state = "run"  # type: ignore[misc]


def test_the_replayed_result_is_a_copy(store):
    store.claim("k", "f")
    result = {"value": [1]}
    store.finish("k", result)
    result["value"].append(2)
    store.claim("k", "f").result["value"].append(3)
    assert store.claim("k", "f").result == {"value": [1]}


def test_a_key_with_another_fingerprint_is_refused_running_and_done(store):
    store.claim("k", "f")
    assert store.claim("k", "g") == Claim("mismatch")
    store.finish("k", {})
    assert store.claim("k", "g") == Claim("mismatch")


def test_keys_do_not_know_each_other(store):
    assert store.claim("k", "f") == Claim("run")
    assert store.claim("l", "f") == Claim("run")


def test_a_running_key_is_busy_after_the_timeout(store):
    store.claim("k", "f")
    assert store.claim("k", "f", 0) == Claim("busy")
    assert store.claim("k", "f", 0.05) == Claim("busy")


@pytest.mark.parametrize("long", [1e300, float("inf"), threading.TIMEOUT_MAX])
def test_a_timeout_may_be_as_long_as_one_likes(store, long):
    store.claim("k", "f")
    threading.Timer(0.05, store.finish, ("k", {"value": 1})).start()
    assert store.claim("k", "f", long) == Claim("replay", {"value": 1})


def test_a_file_locked_by_another_is_waited_for_no_longer_than_asked(tmp_path):
    store = SQLiteStore(tmp_path / "book.db")
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            store.claim("k", "f", 0.05)
        other.execute("ROLLBACK")
    assert store.claim("k", "f", 0.05) == Claim("run")


def test_nobody_knows_is_in_doubt_until_a_person_decides(store):
    store.claim("k", "f")
    store.finish("k", None)
    assert store.claim("k", "f") == Claim("in_doubt")
    assert store.claim("k", "f") == Claim("in_doubt")
    store.finish("k", {"value": "looked"})
    assert store.claim("k", "f").result == {"value": "looked"}
    store.forget("k")
    assert store.claim("k", "f") == Claim("run")


def test_forgetting_an_unknown_key_and_finishing_a_forgotten_one_do_nothing(store):
    store.forget("k")
    store.claim("k", "f")
    store.forget("k")
    store.finish("k", {"value": 1})
    assert store.claim("k", "f") == Claim("run")


def test_who_waits_gets_the_result(store):
    store.claim("k", "f")
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(store.claim("k", "f")))
    waiting.start()
    store.finish("k", {"value": 1})
    waiting.join(60)
    assert answers == [Claim("replay", {"value": 1})]


def test_of_many_threads_one_runs(store):
    start, answers = threading.Barrier(8), []

    def claim():
        start.wait(60)
        answer = store.claim("k", "f")
        if answer.state == "run":
            store.finish("k", {})
        answers.append(answer.state)

    threads = [threading.Thread(target=claim) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(answers) == ["replay"] * 7 + ["run"]


@pytest.mark.parametrize("key", ["é", "a'b", "x" * 10_000, " ", "0"])
def test_any_text_is_a_key(store, key):
    assert store.claim(key, "f") == Claim("run")
    store.finish(key, {"value": key})
    assert store.claim(key, "f").result == {"value": key}


def test_a_result_that_is_not_json_is_refused_and_the_key_stays_claimed(store):
    store.claim("k", "f")
    with pytest.raises(TypeError):
        store.finish("k", {"value": {1}})
    assert store.claim("k", "f", 0) == Claim("busy")


def test_forgetting_a_key_that_others_wait_for_leaves_them_in_doubt():
    store = MemoryStore()
    store.claim("k", "f")
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(store.claim("k", "f").state))
    waiting.start()
    while not store._change._waiters:
        pass
    store.forget("k")
    waiting.join(60)
    assert answers == ["in_doubt"]


# --- fingerprints ----------------------------------------------------------------


def test_a_fingerprint_knows_name_and_arguments_and_not_their_order():
    assert fingerprint("f", {"a": 1, "b": 2}) == fingerprint("f", {"b": 2, "a": 1})
    different = [("f", {}), ("g", {}), ("f", {"a": 1}), ("f", {"a": "1"}), ("f", {"a": True})]
    assert len({fingerprint(*call) for call in different}) == len(different)


@given(st.text(), st.dictionaries(st.text(), st.integers() | st.text() | st.none()))
def test_a_fingerprint_is_short_and_stable(name, arguments):
    made = fingerprint(name, arguments)
    assert made == fingerprint(name, dict(reversed(arguments.items())))
    assert len(made) == 64


# --- the file --------------------------------------------------------------------


def test_a_store_survives_its_process_and_its_object(tmp_path):
    path = tmp_path / "book.db"
    with_store(path, lambda store: (store.claim("k", "f"), store.finish("k", {"value": 1})))
    assert with_store(path, lambda store: store.claim("k", "f")).result == {"value": 1}


def with_store(path, use):
    store = SQLiteStore(path)
    try:
        return use(store)
    finally:
        store.close()


def test_two_stores_on_one_file_see_each_other(tmp_path):
    one, two = SQLiteStore(tmp_path / "book.db"), SQLiteStore(str(tmp_path / "book.db"))
    one.claim("k", "f")
    assert two.claim("k", "f", 0) == Claim("busy")
    one.finish("k", {"value": 1})
    assert two.claim("k", "f").result == {"value": 1}
    one.close()
    two.close()


def test_a_closed_store_leaves_doubt_and_no_file(tmp_path):
    store = SQLiteStore(tmp_path / "book.db")
    store.claim("k", "f")
    assert len(list(tmp_path.glob("*.owner"))) == 1
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["book.db"]
    assert with_store(tmp_path / "book.db", lambda s: s.claim("k", "f")) == Claim("in_doubt")


def test_a_closed_store_can_be_used_again_under_a_new_name(tmp_path):
    store = SQLiteStore(tmp_path / "book.db")
    store.close()
    assert store.claim("k", "f") == Claim("run")
    store.close()
    store.close()
    assert store.claim("l", "f") == Claim("run")
    store.finish("l", {})
    store.close()


def test_a_collected_store_gives_its_lock_up(tmp_path):
    store = SQLiteStore(tmp_path / "book.db")
    store.claim("k", "f")
    del store
    assert list(tmp_path.glob("*.owner")) == []


@pytest.mark.parametrize("path", [":memory:", ""])
def test_a_store_without_a_file_is_refused(path):
    with pytest.raises(ValueError, match="needs a file"):
        SQLiteStore(path)


def test_a_file_that_is_no_database_is_an_error(tmp_path):
    path = tmp_path / "book.db"
    path.write_text("this is not a database, however long it may become" * 50)
    with pytest.raises(sqlite3.DatabaseError):
        SQLiteStore(path)


def test_the_repr_names_the_file_only(tmp_path):
    assert repr(SQLiteStore(tmp_path / "b.db")) == f"SQLiteStore({str(tmp_path / 'b.db')!r})"


# --- several processes -----------------------------------------------------------

PROGRAM = """
import sys, time
from apisurface.idempotency import SQLiteStore

store = SQLiteStore(sys.argv[1])
claim = store.claim("k", "f")
print(claim.state, flush=True)
if claim.state == "run":
    with open(sys.argv[2], "a") as ledger:
        ledger.write("paid ")
    if sys.argv[3] == "hang":
        print("paid", flush=True)
        time.sleep(600)
    store.finish("k", {"value": "paid"})
"""


def program(tmp_path: Path, how: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, tmp_path / "book.db", tmp_path / "ledger", how]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_killed_process_leaves_doubt_and_one_effect(tmp_path):
    process = program(tmp_path, "hang")
    assert process.stdout.readline() == "run\n"
    assert process.stdout.readline() == "paid\n"
    store = SQLiteStore(tmp_path / "book.db")
    assert store.claim("k", "f", 0) == Claim("busy")
    process.kill()
    process.communicate()
    for _ in range(2):
        assert store.claim("k", "f") == Claim("in_doubt")
    assert program(tmp_path, "go on").communicate()[0] == "in_doubt\n"
    assert (tmp_path / "ledger").read_text() == "paid "
    store.close()
    assert list(tmp_path.glob("*.owner")) == []


def test_who_waits_for_a_process_that_is_killed_learns_of_it(tmp_path):
    process = program(tmp_path, "hang")
    process.stdout.readline()
    process.stdout.readline()
    store, answers = SQLiteStore(tmp_path / "book.db"), []
    waiting = threading.Thread(target=lambda: answers.append(store.claim("k", "f").state))
    waiting.start()
    process.kill()
    process.communicate()
    waiting.join(60)
    assert answers == ["in_doubt"]
    store.close()


def test_of_several_processes_one_acts(tmp_path):
    SQLiteStore(tmp_path / "book.db")
    processes = [program(tmp_path, "go on") for _ in range(4)]
    said = sorted(process.communicate()[0].strip() for process in processes)
    assert said == ["replay", "replay", "replay", "run"]
    assert (tmp_path / "ledger").read_text() == "paid "


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork to test")
def test_a_forked_child_claims_under_its_own_name(tmp_path):
    code = """
import os, sys
from apisurface.idempotency import SQLiteStore
store = SQLiteStore(sys.argv[1])
store.claim("parent", "f")
pid = os.fork()
if pid == 0:
    store.claim("child", "f")
    sys.exit(0)
os.waitpid(pid, 0)
print(store.claim("parent", "f", 0).state, store.claim("child", "f", 0).state)
"""
    command = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "book.db")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == "busy in_doubt\n"
