"""The ledger in a file, for one process that serves.

Commands use the file at the same time. All changes are on the disk before a method returns.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ...errors import LedgerError, LostLedgerError
from ..usage import Usage
from .protocol import (
    Beginning,
    Begun,
    Costs,
    KeyedRequest,
    Ledger,
    Limited,
    Look,
    MonthlyUsage,
    exceeds,
    month_of,
    next_look,
    rest_of_month,
)
from .users import (
    NAME,
    Event,
    Limits,
    Token,
    User,
    check_name,
    decode_events,
    decode_user,
    encode,
    revoked_tokens,
)

LOCK_TIMEOUT = 5.0
"""Seconds to wait for the lock of another program."""

_APPLICATION_ID = 0x63676C64
"""The id in SQLite's header that marks the file as a ledger: "cgld"."""

_VERSION = 2

_MINUTE = 60.0

_SCHEMA = (
    "CREATE TABLE requests (user TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, "
    "body BLOB, answered REAL, PRIMARY KEY (user, key))",
    "CREATE INDEX answers ON requests (answered) WHERE body IS NOT NULL",
    "CREATE INDEX running ON requests (user) WHERE body IS NULL",
    "CREATE TABLE usage (month TEXT NOT NULL, user TEXT NOT NULL, texts INTEGER NOT NULL, "
    "failed INTEGER NOT NULL, calls INTEGER NOT NULL, input_tokens INTEGER NOT NULL, "
    "output_tokens INTEGER NOT NULL, cost REAL NOT NULL, unpriced INTEGER NOT NULL, "
    "PRIMARY KEY (month, user))",
    f"PRAGMA application_id = {_APPLICATION_ID}",
    f"PRAGMA user_version = {_VERSION}",
    "CREATE TABLE parts (user TEXT NOT NULL, key TEXT NOT NULL, "
    "fingerprint TEXT NOT NULL, parts BLOB NOT NULL, saved REAL NOT NULL, "
    "PRIMARY KEY (user, key))",
    "CREATE TABLE users (name TEXT PRIMARY KEY, user BLOB NOT NULL)",
    "CREATE TABLE events (event BLOB NOT NULL)",
    "CREATE TABLE uses (user TEXT NOT NULL, token TEXT NOT NULL, at REAL NOT NULL, "
    "PRIMARY KEY (user, token))",
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)

_IF_MISSING = re.compile("^(CREATE (?:TABLE|INDEX))")

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
        monotonic: Callable[[], float] = time.monotonic,
        lock_timeout: float = LOCK_TIMEOUT,
    ) -> None:
        self._path = path
        self._clock = clock
        self._monotonic = monotonic
        # Only one process serves, so these need no table.
        self._recent: dict[str, deque[tuple[float, KeyedRequest]]] = {}
        self._reserved: dict[KeyedRequest, float] = {}
        self._identities: dict[str, tuple[int, int]] = {}
        with self._translated_errors():
            self._lock = _lock(path) if serving else None
            try:
                self._database = _open(path, lock_timeout)
                # Those who ask who somebody is do not wait for what is written.
                self._reader = _connect(path, lock_timeout)
                if serving:
                    with self._transaction() as database:
                        database.execute("DELETE FROM requests WHERE body IS NULL")
            except BaseException:
                self._unlock()
                raise

    def __exit__(self, *error: object) -> None:
        with suppress(sqlite3.Error):
            self._database.close()
            self._reader.close()
        file, log, *_ = self._files()
        known = self._identities
        # SQLite would apply the log of a file that is gone to the one in its place.
        if known and _identity(file) != known[file] and _identity(log) == known[log]:
            for name in (log, f"{self._path}-shm"):
                Path(name).unlink(missing_ok=True)
        self._unlock()

    def user(self, name: str) -> User | None:
        with self._translated_errors():
            return decode_user(_stored_user(self._reader, name))

    def users(self) -> dict[str, User]:
        with self._translated_errors():
            rows = self._database.execute("SELECT name, CAST(user AS BLOB) FROM users ORDER BY 1")
            found = {str(name): decode_user(user) for name, user in rows}
            return {name: user for name, user in found.items() if user and NAME.fullmatch(name)}

    def replace_user(self, old: User | None, new: User | None, event: Event) -> bool:
        name = check_name(event.user)
        with self._transaction() as database:
            if decode_user(_stored_user(database, name)) != old:
                return False
            database.execute("DELETE FROM users WHERE name = ?", (name,))
            if new:
                database.execute("INSERT INTO users VALUES (?, ?)", (name, encode(new)))
            database.execute("INSERT INTO events VALUES (?)", (encode(event),))
            for token in revoked_tokens(old, new):
                database.execute("DELETE FROM uses WHERE user = ? AND token = ?", (name, token))
            return True

    def events(self) -> list[Event]:
        with self._translated_errors():
            rows = self._database.execute("SELECT CAST(event AS BLOB) FROM events ORDER BY rowid")
            return decode_events(event for (event,) in rows)

    def note_uses(self, uses: Mapping[tuple[str, str], float]) -> None:
        rows = [(*names, at) for names, at in uses.items()]
        with self._transaction() as database:
            database.executemany("INSERT OR REPLACE INTO uses VALUES (?, ?, ?)", rows)

    def uses(self) -> dict[tuple[str, str], float]:
        with self._translated_errors():
            rows = self._database.execute("SELECT user, token, CAST(at AS REAL) FROM uses")
            return {(str(user), str(token)): at for user, token, at in rows}

    def begin(
        self, request: KeyedRequest, limits: Limits, max_cost: float | None, reserve: float
    ) -> Beginning:
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
            recent = self._recent_requests(request.user)
            if limited := self._limited(request.user, limits, max_cost, reserve, recent):
                return limited
            database.execute(
                "INSERT INTO requests (user, key, fingerprint) VALUES (?, ?, ?)",
                (request.user, request.key, request.fingerprint),
            )
            saved = database.execute(
                "SELECT CAST(parts AS BLOB) FROM parts "
                "WHERE user = ? AND key = ? AND fingerprint = ?",
                (request.user, request.key, request.fingerprint),
            ).fetchone()
        self._reserved[request] = reserve
        recent.append((self._monotonic(), request))
        left = limits.requests_per_minute - len(recent)
        reset = recent[0][0] + _MINUTE - self._monotonic()
        return Begun(left, reset, saved[0] if saved else b"")

    def _recent_requests(self, user: str) -> deque[tuple[float, KeyedRequest]]:
        """Return the times of a user's requests in the last minute, by a clock that never jumps."""
        recent = self._recent.setdefault(user, deque())
        while recent and recent[0][0] <= self._monotonic() - _MINUTE:
            recent.popleft()
        return recent

    def _limited(
        self,
        user: str,
        limits: Limits,
        max_cost: float | None,
        reserve: float,
        recent: deque[tuple[float, KeyedRequest]],
    ) -> Limited | None:
        now = self._clock()
        costs = self._costs(user, now)
        own = sum(cost for it, cost in self._reserved.items() if it.user == user)
        for name, limit, spent, reserved in (
            ("max_cost", max_cost, costs.all, sum(self._reserved.values())),
            ("cost_per_month", limits.cost_per_month, costs.user, own),
        ):
            if limit is not None and exceeds(spent + reserved + reserve, limit):
                # What is reserved may be free again soon.
                is_spent = exceeds(spent + reserve, limit)
                return Limited(name, rest_of_month(now) if is_spent else None)
        if len(recent) >= limits.requests_per_minute:
            first = recent[len(recent) - limits.requests_per_minute][0]
            return Limited("requests_per_minute", first + _MINUTE - self._monotonic())
        running = self._database.execute(
            "SELECT count(*) FROM requests WHERE user = ? AND body IS NULL", (user,)
        ).fetchone()
        return Limited("parallel") if running[0] >= limits.parallel else None

    def _costs(self, user: str, now: float) -> Costs:
        row = self._database.execute(
            "SELECT total(cost) FILTER (WHERE user = ?), total(cost) FROM usage WHERE month = ?",
            (user, month_of(now)),
        ).fetchone()
        return Costs(*row)

    def finish(self, request: KeyedRequest, body: bytes | None, usage: Usage) -> Costs:
        now = self._clock()
        with self._transaction() as database:
            if body is None:
                database.execute(_WITHDRAW, (request.user, request.key))
            else:
                # With a clock that was set back, it would seem to be old soon.
                last = database.execute(
                    "SELECT max(answered) FROM requests WHERE body IS NOT NULL"
                ).fetchone()[0]
                answered = max(now, last or 0.0)
                database.execute(
                    "INSERT INTO requests VALUES (?, ?, ?, ?, ?) ON CONFLICT (user, key) "
                    "DO UPDATE SET body = excluded.body, answered = excluded.answered "
                    "WHERE body IS NULL AND fingerprint = excluded.fingerprint",
                    (request.user, request.key, request.fingerprint, body, answered),
                )
            texts, failed = (0, 1) if body is None else (1, 0)
            self._add_usage(request.user, texts, failed, usage)
            costs = self._costs(request.user, now)
        self._reserved.pop(request, None)
        return costs

    def _add_usage(self, user: str, texts: int, failed: int, usage: Usage) -> None:
        counts = (usage.calls, usage.input_tokens, usage.output_tokens)
        cost = (usage.cost or 0.0, usage.cost is None)
        row = (month_of(self._clock()), user, texts, failed, *counts, *cost)
        self._database.execute(_ADD_USAGE, row)

    def withdraw(self, request: KeyedRequest) -> None:
        with self._transaction() as database:
            database.execute(_WITHDRAW, (request.user, request.key))
        self._reserved.pop(request, None)
        recent = self._recent.get(request.user, deque())
        kept = [it for it in recent if it[1] != request]
        recent.clear()
        recent.extend(kept)

    def save_parts(self, request: KeyedRequest, parts: bytes, usage: Usage) -> None:
        row = (request.user, request.key, request.fingerprint, parts, self._clock())
        with self._transaction() as database:
            if parts:
                database.execute("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?)", row)
            else:
                database.execute("DELETE FROM parts WHERE user = ? AND key = ?", row[:2])
            if usage.calls:
                self._add_usage(request.user, 0, 0, usage)

    def beat(self) -> None:
        if not self._identities:
            self._identities = {path: _identity(path) for path in self._files()}
        with self._transaction() as database:  # which fails for a full or read-only disk
            _set(database, "beat", str(self._clock()))

    def expire(self, seconds: float) -> int:
        with self._transaction() as database:
            row = database.execute("SELECT value FROM settings WHERE name = 'look'").fetchone()
            last = Look(*map(float, str(row[0]).split())) if row else None
            before, look = next_look(last, self._clock(), seconds)
            _set(database, "look", f"{look.before} {look.at}")
            if before is None:
                return 0
            database.execute("DELETE FROM parts WHERE saved < ?", (before,))
            return database.execute(
                "DELETE FROM requests WHERE body IS NOT NULL AND answered < ?", (before,)
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

    def back_up(self, file: Path) -> None:
        """Copy the ledger to a file that does not exist, and that only its owner can read.

        Raises LedgerError.
        """
        try:
            os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise LedgerError(f"{file} cannot be written ({reason}); name another file") from error
        try:
            with closing(sqlite3.connect(file)) as copy:
                self._database.backup(copy)
        except sqlite3.Error as error:
            for name in (file, f"{file}-journal"):
                Path(name).unlink(missing_ok=True)
            raise LedgerError(f"the copy {file} cannot be written ({_reason(error)})") from error

    def restore(self, file: Path) -> None:
        """Put what back_up() has copied in the place of what this ledger has.

        Raises LedgerError, also if the file is no ledger.
        """
        if not file.is_file():
            raise LedgerError(f"there is no file {file}; name a copy of a ledger")
        with SQLiteLedger(file, serving=False) as copy, self._translated_errors():
            copy._database.backup(self._database)

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
            for path, identity in self._identities.items():
                if _identity(path) != identity:
                    raise LostLedgerError(
                        f"the ledger {self._path} was replaced or deleted while this server used "
                        "it; put it back, or restart the server to use the new one"
                    )
            yield
        except (OSError, sqlite3.Error, TypeError, ValueError, OverflowError) as error:
            reason, hint = _reason_and_hint(error)
            raise LedgerError(
                f"the ledger {self._path} cannot be used ({reason}); {hint}"
            ) from error

    def _files(self) -> list[str]:
        """Return the files of the ledger, which must stay those that this process has opened."""
        locks = [f"{self._path}.lock"] if self._lock is not None else []
        return [f"{self._path}", f"{self._path}-wal", *locks]

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _stored_user(database: sqlite3.Connection, name: str) -> object:
    found = database.execute("SELECT CAST(user AS BLOB) FROM users WHERE name = ?", (name,))
    row = found.fetchone()
    return row[0] if row else None


def _identity(path: str) -> tuple[int, int]:
    """Return what tells a file from another one in its place; zeros if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  faster, and called very often
    except FileNotFoundError:
        return 0, 0
    return found.st_dev, found.st_ino


def _set(database: sqlite3.Connection, name: str, value: str) -> None:
    database.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))


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
            f"the ledger {path} is in use by another server; stop it, or for several processes or "
            "machines, set `ledger: redis://…`"
        ) from error
    return lock


def _open(path: Path, lock_timeout: float) -> sqlite3.Connection:
    """Open a database, and create it if there is none. Raises LedgerError if it is no ledger."""
    # SQLite gives its other files the mode of this one. If the file exists, it is not opened here,
    # since closing it would release the locks that this process has on it.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    database = _connect(path, lock_timeout)
    try:
        database.execute("PRAGMA trusted_schema = OFF")
        created = _is_ledger(database, path)
        _write_ahead(database, lock_timeout)
        database.execute("PRAGMA synchronous = FULL")
        if not created:
            _create(database, path)
        _upgrade(database)
    except BaseException:
        database.close()
        raise
    return database


def _connect(path: Path, lock_timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(
        path, timeout=lock_timeout, isolation_level=None, check_same_thread=False
    )


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


def _upgrade(database: sqlite3.Connection) -> None:
    """Give a ledger of version 1 the tables of this one."""
    if database.execute("PRAGMA user_version").fetchone()[0] >= _VERSION:
        return
    database.execute("BEGIN IMMEDIATE")
    if database.execute("PRAGMA user_version").fetchone()[0] < _VERSION:  # another may be faster
        users = database.execute("SELECT * FROM users").fetchall()
        database.execute("DROP TABLE users")
        for statement in _SCHEMA:
            database.execute(_IF_MISSING.sub(r"\1 IF NOT EXISTS", statement))
        for name, token_hash, added in users:
            user = User(added, {"default": Token(token_hash, added)})
            database.execute("INSERT INTO users VALUES (?, ?)", (name, encode(user)))
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


def _reason(error: sqlite3.Error) -> str:
    return _reason_and_hint(error)[0]


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
