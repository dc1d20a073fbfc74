"""The ledger in a file, for one process that serves.

Commands use the file at the same time. All changes are on the disk before a method returns.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from ....errors import LedgerError
from ..usage import Usage
from .protocol import (
    Beginning,
    KeyedRequest,
    Ledger,
    Limited,
    Limits,
    MonthlyUsage,
    check_name,
    month_of,
    rest_of_month,
)

LOCK_TIMEOUT = 5.0
"""Seconds to wait for the lock of another program."""

_APPLICATION_ID = 0x63676C64
"""The id in SQLite's header that marks the file as a ledger: "cgld"."""

_VERSION = 1

_SCHEMA = (
    "CREATE TABLE users (name TEXT PRIMARY KEY, token_hash TEXT NOT NULL, added REAL NOT NULL)",
    "CREATE TABLE requests (user TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, "
    "body BLOB, answered REAL, PRIMARY KEY (user, key))",
    "CREATE INDEX answers ON requests (answered) WHERE body IS NOT NULL",
    "CREATE INDEX running ON requests (user) WHERE body IS NULL",
    "CREATE TABLE recent_requests (user TEXT NOT NULL, at REAL NOT NULL)",
    "CREATE INDEX recent_requests_by_user ON recent_requests (user, at)",
    "CREATE TABLE usage (month TEXT NOT NULL, user TEXT NOT NULL, texts INTEGER NOT NULL, "
    "failed INTEGER NOT NULL, calls INTEGER NOT NULL, input_tokens INTEGER NOT NULL, "
    "output_tokens INTEGER NOT NULL, cost REAL NOT NULL, unpriced INTEGER NOT NULL, "
    "PRIMARY KEY (month, user))",
    f"PRAGMA application_id = {_APPLICATION_ID}",
    f"PRAGMA user_version = {_VERSION}",
)

_PARTS = (
    "CREATE TABLE IF NOT EXISTS parts (user TEXT NOT NULL, key TEXT NOT NULL, "
    "fingerprint TEXT NOT NULL, parts BLOB NOT NULL, saved REAL NOT NULL, "
    "PRIMARY KEY (user, key))"
)
"""A table that ledgers of earlier versions do not have."""

_WITHDRAW = "DELETE FROM requests WHERE user = ? AND key = ? AND body IS NULL"

_ADD_USAGE = """
INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (month, user) DO UPDATE SET
    texts = texts + excluded.texts, failed = failed + excluded.failed,
    calls = calls + excluded.calls, input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens, cost = cost + excluded.cost,
    unpriced = unpriced + excluded.unpriced
"""


class SQLiteLedger(Ledger):
    """A Ledger in the file `path`, which is created if it does not exist.

    With `serving`, no other process can serve with the file until this ledger is closed, and
    requests of a process that has died can be begun again. Each method waits `lock_timeout`
    seconds for another program. Raises LedgerError if the file cannot be used.
    """

    def __init__(
        self,
        path: Path,
        *,
        serving: bool,
        clock: Callable[[], float] = time.time,
        lock_timeout: float = LOCK_TIMEOUT,
    ) -> None:
        self._path = path
        self._clock = clock
        with self._translated_errors():
            self._lock = _lock(path) if serving else None
            try:
                self._database = _open(path, lock_timeout)
                if serving:
                    with self._transaction() as database:
                        database.execute("DELETE FROM requests WHERE body IS NULL")
            except BaseException:
                self._unlock()
                raise

    def __exit__(self, *error: object) -> None:
        with suppress(sqlite3.Error):
            self._database.close()
        self._unlock()

    def add_user(self, name: str, token_hash: str) -> bool:
        row = (check_name(name), token_hash, self._clock())
        with self._transaction() as database:
            added = database.execute("INSERT OR IGNORE INTO users VALUES (?, ?, ?)", row)
            return added.rowcount > 0

    def remove_user(self, name: str) -> bool:
        with self._transaction() as database:
            return database.execute("DELETE FROM users WHERE name = ?", (name,)).rowcount > 0

    def token_hash(self, name: str) -> str | None:
        with self._translated_errors():
            found = self._database.execute("SELECT token_hash FROM users WHERE name = ?", (name,))
            row = found.fetchone()
            return str(row[0]) if row else None

    def users(self) -> dict[str, datetime]:
        with self._translated_errors():
            rows = self._database.execute(
                "SELECT name, CAST(added AS REAL) FROM users ORDER BY name"
            )
            return {str(name): datetime.fromtimestamp(added, UTC) for name, added in rows}

    def begin(self, request: KeyedRequest, limits: Limits, max_cost: float | None) -> Beginning:
        now = self._clock()
        with self._transaction() as database:
            row = database.execute(
                "SELECT fingerprint, body FROM requests WHERE user = ? AND key = ?",
                (request.user, request.key),
            ).fetchone()
            if row:
                fingerprint, body = row
                if fingerprint != request.fingerprint:
                    return "other body"
                if body is not None and not isinstance(body, bytes):
                    raise sqlite3.DatabaseError
                return "running" if body is None else body
            if limited := self._limited(request.user, limits, max_cost, now):
                return limited
            database.execute(
                "INSERT INTO requests (user, key, fingerprint) VALUES (?, ?, ?)",
                (request.user, request.key, request.fingerprint),
            )
            database.execute("INSERT INTO recent_requests VALUES (?, ?)", (request.user, now))
            return "begun"

    def over_budget(self, user: str, limits: Limits, max_cost: float | None) -> Limited | None:
        now = self._clock()
        names = (("max_cost", max_cost), ("cost_per_month", limits.cost_per_month))
        with self._translated_errors():
            costs = self._database.execute(
                "SELECT total(cost), total(cost) FILTER (WHERE user = ?) FROM usage "
                "WHERE month = ?",
                (user, month_of(now)),
            ).fetchone()
        for (name, limit), cost in zip(names, costs, strict=True):
            if limit is not None and cost >= limit:
                return Limited(name, rest_of_month(now))
        return None

    def finish(self, request: KeyedRequest, body: bytes | None, usage: Usage) -> None:
        now = self._clock()
        with self._transaction() as database:
            if body is None:
                database.execute(_WITHDRAW, (request.user, request.key))
            else:
                database.execute(
                    "INSERT INTO requests VALUES (?, ?, ?, ?, ?) ON CONFLICT (user, key) "
                    "DO UPDATE SET body = excluded.body, answered = excluded.answered "
                    "WHERE body IS NULL AND fingerprint = excluded.fingerprint",
                    (request.user, request.key, request.fingerprint, body, now),
                )
            texts, failed = (0, 1) if body is None else (1, 0)
            counts = (usage.calls, usage.input_tokens, usage.output_tokens)
            cost = (usage.cost or 0.0, usage.cost is None)
            database.execute(
                _ADD_USAGE, (month_of(now), request.user, texts, failed, *counts, *cost)
            )

    def withdraw(self, request: KeyedRequest) -> None:
        with self._transaction() as database:
            database.execute(_WITHDRAW, (request.user, request.key))

    def load_parts(self, request: KeyedRequest) -> bytes:
        with self._translated_errors():
            row = self._database.execute(
                "SELECT CAST(parts AS BLOB) FROM parts "
                "WHERE user = ? AND key = ? AND fingerprint = ?",
                (request.user, request.key, request.fingerprint),
            ).fetchone()
            return row[0] if row else b""

    def save_parts(self, request: KeyedRequest, parts: bytes) -> None:
        row = (request.user, request.key, request.fingerprint, parts, self._clock())
        with self._transaction() as database:
            if parts:
                database.execute("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?)", row)
            else:
                database.execute("DELETE FROM parts WHERE user = ? AND key = ?", row[:2])

    def beat(self) -> None:
        # If the file was deleted, what is written to it now is lost.
        with self._translated_errors():
            self._path.stat()

    def expire(self, seconds: float) -> int:
        before = (self._clock() - seconds,)
        with self._transaction() as database:
            database.execute("DELETE FROM parts WHERE saved < ?", before)
            return database.execute(
                "DELETE FROM requests WHERE body IS NOT NULL AND answered < ?", before
            ).rowcount

    def usage(self) -> list[MonthlyUsage]:
        with self._translated_errors():
            rows = self._database.execute(
                "SELECT user, month, CAST(texts AS INTEGER), CAST(failed AS INTEGER), "
                "CAST(calls AS INTEGER), CAST(input_tokens AS INTEGER), "
                "CAST(output_tokens AS INTEGER), "
                "CASE WHEN unpriced THEN NULL ELSE CAST(cost AS REAL) END "
                "FROM usage ORDER BY month, user"
            )
            return [
                MonthlyUsage(str(user), str(month), texts, failed, Usage(*usage))
                for user, month, texts, failed, *usage in rows
            ]

    def _limited(
        self, user: str, limits: Limits, max_cost: float | None, now: float
    ) -> Limited | None:
        if limited := self.over_budget(user, limits, max_cost):
            return limited
        database = self._database
        # Times in the future were stored before the clock was set back.
        database.execute(
            "DELETE FROM recent_requests WHERE at <= ? OR at > ?", (now - 60, now + 60)
        )
        row = database.execute(
            "SELECT CAST(at AS REAL) FROM recent_requests WHERE user = ? "
            "ORDER BY at DESC LIMIT 1 OFFSET ?",
            (user, limits.requests_per_minute - 1),
        ).fetchone()
        if row:
            return Limited("requests_per_minute", min(60.0, row[0] + 60 - now))
        (running,) = database.execute(
            "SELECT count(*) FROM requests WHERE user = ? AND body IS NULL", (user,)
        ).fetchone()
        return Limited("parallel") if running >= limits.parallel else None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._translated_errors():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            finally:
                # After some errors, SQLite has ended the transaction already.
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error, TypeError, ValueError, OverflowError) as error:
            reason, hint = _reason_and_hint(error)
            raise LedgerError(
                f"the ledger {self._path} cannot be used ({reason}); {hint}"
            ) from error

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _lock(path: Path) -> int | None:
    """Return the lock of the process that serves with a file, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        raise LedgerError(
            f"the ledger {path} is in use by another server; for several processes or machines, "
            "set `ledger: redis://…`"
        ) from error
    return lock


def _open(path: Path, lock_timeout: float) -> sqlite3.Connection:
    """Open a database, and create it if there is none. Raises LedgerError if it is no ledger."""
    # SQLite gives its other files the mode of this one. If the file exists, it is not opened here,
    # since closing it would release the locks that this process has on it.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    database = sqlite3.connect(
        path, timeout=lock_timeout, isolation_level=None, check_same_thread=False
    )
    try:
        database.execute("PRAGMA trusted_schema = OFF")
        created = _is_ledger(database, path)
        _write_ahead(database, lock_timeout)
        database.execute("PRAGMA synchronous = FULL")
        if not created:
            _create(database, path)
        database.execute(_PARTS)
    except BaseException:
        database.close()
        raise
    return database


def _write_ahead(database: sqlite3.Connection, lock_timeout: float) -> None:
    deadline = time.monotonic() + lock_timeout
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            # SQLite does not wait for the lock that it needs for this.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _create(database: sqlite3.Connection, path: Path) -> None:
    database.execute("BEGIN IMMEDIATE")
    if not _is_ledger(database, path):  # another process may be faster
        for statement in _SCHEMA:
            database.execute(statement)
    database.execute("COMMIT")


def _is_ledger(database: sqlite3.Connection, path: Path) -> bool:
    """Return False if the database is empty. Raises LedgerError if it is not a ledger."""
    # The tables come first, since another process could create both in between.
    has_tables = database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if application == _APPLICATION_ID and version > _VERSION:
        raise LedgerError(
            f"the ledger {path} is of a newer mkdocs-contentgen than this one; update it"
        )
    if application == _APPLICATION_ID:
        return True
    if has_tables:
        raise LedgerError(
            f"the ledger {path} is the database of another program; set `ledger` to another file"
        )
    return False


_UNWRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_HINTS = {
    sqlite3.SQLITE_NOTADB: "set `ledger` to another file",
    sqlite3.SQLITE_BUSY: "end the other program that uses it, and try again",
    sqlite3.SQLITE_FULL: "make room on the disk",
    sqlite3.SQLITE_IOERR: "make sure that the disk works, and has room",
    **dict.fromkeys(_UNWRITABLE, "make the file and its directory writable"),
}


def _reason_and_hint(error: Exception) -> tuple[str, str]:
    if isinstance(error, OSError):
        hint = "make the file and its directory writable, or set `ledger` to another file"
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            hint = "create its directory, or set `ledger` to another file"
        return error.strerror or type(error).__name__, hint
    hint = _HINTS.get(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF, "")
    # Other messages can quote what is in the file.
    if hint and str(error).isprintable():
        return str(error), hint
    return "it is damaged", "restore it from a backup, or set `ledger` to another file"
