# Generated from book/idempotency.ipynb: edit it there, then run `make save`.
"""Under one idempotency key there is one effect: the book in which that is kept.

A store answers `claim` before an effect and is told `finish` after it. `MemoryStore` knows what
one process did, `SQLiteStore` what all processes of one machine did, also those that died.

Not here: what an effect is and when it may happen (`dispatch`).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sqlite3
import threading
import time
import uuid
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol


# cell: claim
@dataclass(frozen=True)
class Claim:
    """What a store answers to the question whether the caller may act.

    `run`: yes, and then tell the store by `finish`. `replay`: no, `.result` is what the first
    call gave. `mismatch`: no, the key stands for a call with other arguments. `busy`: no,
    another one is still at it. `in_doubt`: no, and nobody knows whether the effect happened.
    """

    state: Literal["run", "replay", "mismatch", "busy", "in_doubt"]
    result: dict[str, Any] | None = None


# cell: store
class Store(Protocol):
    """What keeps the book: anything with these three methods."""

    def claim(self, key: str, fingerprint: str, timeout: float | None = None) -> Claim:
        """Ask to act under a key; wait while another one acts, at most `timeout` seconds."""

    def finish(self, key: str, result: dict[str, Any] | None) -> None:
        """Write down the result, a JSON object; None when nobody knows what happened."""

    def forget(self, key: str) -> None:
        """Strike a key out, so that it may act again: for a person who has looked."""


# cell: fingerprint
def fingerprint(name: str, arguments: dict[str, Any]) -> str:
    """Return a digest of a call: equal for equal names and arguments, in whatever key order."""
    text = json.dumps([name, arguments], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


# cell: memory-store
class MemoryStore:
    """A store for one process: it forgets everything when the process ends.

    Threads that claim a key while another one acts wait for it. Entries stay until they are
    forgotten, since a key may come back at any time.
    """

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._entries: dict[str, tuple[str, str, str]] = {}

    def claim(self, key: str, fingerprint: str, timeout: float | None = None) -> Claim:
        """Ask to act under a key; wait while another one acts, at most `timeout` seconds."""
        with self._change:
            if key not in self._entries:
                self._entries[key] = (fingerprint, "running", "")
                return Claim("run")
            if self._entries[key][0] != fingerprint:
                return Claim("mismatch")
            longest = None if timeout is None else min(timeout, threading.TIMEOUT_MAX)
            self._change.wait_for(lambda: self._state(key) != "running", longest)
            if self._state(key) == "running":
                return Claim("busy")
            if self._state(key) == "done":
                return Claim("replay", json.loads(self._entries[key][2]))
            return Claim("in_doubt")

    def finish(self, key: str, result: dict[str, Any] | None) -> None:
        """Write down the result, a JSON object; None when nobody knows what happened."""
        text = json.dumps(result)
        with self._change:
            if key in self._entries:
                state = "in_doubt" if result is None else "done"
                self._entries[key] = (self._entries[key][0], state, text)
                self._change.notify_all()

    def forget(self, key: str) -> None:
        """Strike a key out, so that it may act again: for a person who has looked."""
        with self._change:
            self._entries.pop(key, None)
            self._change.notify_all()

    def _state(self, key: str) -> str:
        """Return the state of a key; one that was forgotten meanwhile is in doubt."""
        return self._entries[key][1] if key in self._entries else "in_doubt"


# cell: release
def _release(lock: sqlite3.Connection, file: str, pid: int) -> None:
    """Give a lock back and remove its file, in the process that took it."""
    if os.getpid() == pid:
        lock.close()
        Path(file).unlink(missing_ok=True)


# cell: sqlite-store
class SQLiteStore:
    """A store in a file: several processes of one machine share it, and it survives them.

    A claim is on disk before `claim` returns. While its owner lives, others wait; when it has
    died without `finish`, the key is in doubt until somebody looks and calls `forget` or
    `finish`. The file must lie on a local disk: locks on network file systems cannot be relied
    upon. Beside it stands one small `.owner` file per living process. `close` gives the lock
    up; it also happens when the store is collected or the program ends.

    Raises ValueError for `:memory:`, which no two connections share; `sqlite3.Error` from every
    method when the file cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        if self.path in ("", ":memory:"):
            raise ValueError("a store that survives needs a file; use MemoryStore without one")
        self._lock = threading.Lock()
        self._owner, self._pid = "", 0
        with self._open() as db:
            db.execute(
                "CREATE TABLE IF NOT EXISTS calls (key TEXT PRIMARY KEY,"
                " fingerprint TEXT NOT NULL, owner TEXT NOT NULL, state TEXT NOT NULL,"
                " result TEXT, started TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)"
            )

    def __repr__(self) -> str:
        return f"SQLiteStore({self.path!r})"

    def claim(self, key: str, fingerprint: str, timeout: float | None = None) -> Claim:
        """Ask to act under a key; wait while another one acts, at most `timeout` seconds."""
        until = math.inf if timeout is None else time.monotonic() + timeout
        gone = False
        while True:
            with self._open(until) as db:
                db.execute("BEGIN IMMEDIATE")
                look = "SELECT fingerprint, owner, state, result FROM calls WHERE key = ?"
                found = db.execute(look, (key,)).fetchone()
                if found is None:
                    row = (key, fingerprint, self._me(), "running")
                    into = "INSERT INTO calls (key, fingerprint, owner, state)"
                    db.execute(f"{into} VALUES (?, ?, ?, ?)", row)
                db.execute("COMMIT")
            if found is None:
                return Claim("run")
            known, owner, state, result = found
            if known != fingerprint:
                return Claim("mismatch")
            if state == "done":
                return Claim("replay", json.loads(result))
            if state == "in_doubt" or gone:
                return Claim("in_doubt")
            gone = not self._lives(owner)  # then look once more: it may have finished just now
            if not gone:
                if time.monotonic() >= until:
                    return Claim("busy")
                time.sleep(0.02)

    def finish(self, key: str, result: dict[str, Any] | None) -> None:
        """Write down the result, a JSON object; None when nobody knows what happened."""
        row = ("in_doubt" if result is None else "done", json.dumps(result), key)
        with self._open() as db:
            db.execute("UPDATE calls SET state = ?, result = ? WHERE key = ?", row)

    def forget(self, key: str) -> None:
        """Strike a key out, so that it may act again: for a person who has looked."""
        with self._open() as db:
            db.execute("DELETE FROM calls WHERE key = ?", (key,))

    def close(self) -> None:
        """Give up the lock; what this process still runs is in doubt from now on."""
        with self._lock:
            if self._owner and self._pid == os.getpid():
                self._finalizer()
            self._owner = ""

    @contextmanager
    def _open(self, until: float = math.inf) -> Iterator[sqlite3.Connection]:
        """Open the database for one operation: connections do not pass between threads."""
        patience = min(30.0, max(0.0, until - time.monotonic()))  # seconds for others' locks
        with closing(sqlite3.connect(self.path, timeout=patience, isolation_level=None)) as db:
            yield db

    def _me(self) -> str:
        """Return the name under which this process claims; its lock is held from now on."""
        with self._lock:
            if not self._owner or self._pid != os.getpid():  # after a fork a new name
                name, pid = uuid.uuid4().hex, os.getpid()
                file = self._file(name)
                lock = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
                lock.execute("BEGIN EXCLUSIVE")
                self._finalizer = weakref.finalize(self, _release, lock, file, pid)
                self._owner, self._pid = name, pid
            return self._owner

    def _file(self, owner: str) -> str:
        """Return the path of an owner's lock file."""
        return f"{self.path}-{owner}.owner"

    def _lives(self, owner: str) -> bool:
        """Say whether the process that made a claim still holds its lock."""
        file = self._file(owner)
        if not os.path.exists(file):
            return False
        with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as probe:
            try:
                probe.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True
        with suppress(OSError):
            os.unlink(file)
        return False
