"""The databases that can hold a ledger. Only this module knows sqlite3 and psycopg.

Both run the same queries, with parameters such as `:name`.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import ConfigurationError, LedgerError, ReplacedLedgerError

if TYPE_CHECKING:
    import psycopg

# What a row has depends on the query.
Execute: TypeAlias = Callable[..., list[tuple[Any, ...]]]
"""Runs a query with its parameters, and returns the rows."""

TIMEOUT = 5.0
"""Seconds to wait for a lock, a query or a connection. Far less than a lease."""

_POSTGRESQL_CONNECTION = {
    "connect_timeout": int(TIMEOUT),
    # For a server that is gone without a word.
    "tcp_user_timeout": int(1000 * TIMEOUT),
    "keepalives_idle": 3,
    "keepalives_interval": 1,
    "keepalives_count": 3,
}
_POSTGRESQL_TIMEOUTS = "SELECT " + ", ".join(
    f"set_config('{name}', '{1000 * TIMEOUT:.0f}', true)"
    for name in ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
)
"""Sets the timeouts of a transaction, in milliseconds."""


def is_address(value: str) -> bool:
    """Tell whether a ledger is at an address, and no file.

    That is also one with a wrong or misspelled scheme: a path would be shown, with the password in
    it.
    """
    return "://" in value or ("//" in value and "@" in value)


class _IdleConnections:
    """The open connections that no thread uses now.

    Several threads can take from the list and append to it: both are atomic.
    """

    def __init__(self) -> None:
        self._idle: list[Any] = []  # those of sqlite3 and psycopg have no common type

    def take(self) -> Any:
        """Return a connection that nobody else gets, or None if there is none."""
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def put_back(self, connection: Any) -> None:
        """Keep a connection for the next transaction."""
        self._idle.append(connection)

    def close(self) -> None:
        """Close all connections."""
        while connection := self.take():
            connection.close()


class SQLite:
    """A file, which is created where it is missing.

    Once it was opened, it has to stay: connections to a file that was removed or replaced would
    write on into the old one, which nobody reads any more.
    """

    blob = "BLOB"
    for_update = ""
    tables_query = "SELECT 1 FROM sqlite_master WHERE name = 'contentgen_attempts'"
    """Selects a row if the tables are there."""

    time_query = "SELECT (julianday('now') - 2440587.5) * 86400.0"
    """Selects the seconds since 1970."""

    def __init__(self, path: Path, timeout: float = TIMEOUT) -> None:
        self._idle = _IdleConnections()
        self._path = path
        self.name = str(path)
        self._timeout = timeout
        self._opened: tuple[int, int] | None = None
        self._writing = threading.Lock()  # fairer than SQLite's own, for which threads poll

    def close(self) -> None:
        """Close the connections that no transaction uses."""
        self._idle.close()

    @contextmanager
    def transaction(self, *locks: str, writes: bool = True) -> Iterator[Execute]:
        """Yield what runs queries: all of them are in force afterwards, or none.

        No other transaction that `writes` runs meanwhile, so that no `locks` are needed. Raises
        LedgerError, and ReplacedLedgerError if the file is another one than at first.
        """
        with self._writing if writes else nullcontext():
            try:
                self._check_file()
                connection = self._idle.take() or self._connect()
                with _closing_after_errors(connection):
                    connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                    run = connection.execute
                    yield lambda query, **values: run(query, values).fetchall()
                    connection.commit()
                self._idle.put_back(connection)
            except (OSError, sqlite3.Error) as error:
                reason = getattr(error, "strerror", "") or str(error)
                raise LedgerError(
                    f"the ledger {self.name} cannot be used ({reason}); make sure that it and its "
                    "directory can be written, the disk has room, and no other program locks it. A "
                    "damaged file has to be replaced by a backup",
                    reason,
                ) from error

    def _check_file(self) -> None:
        """Raise ReplacedLedgerError if the path names another file than the one that was opened."""
        if self._opened is None or self._opened == self._identity():
            return
        reason = "its file was removed or replaced"
        raise ReplacedLedgerError(
            f"the ledger {self.name} cannot be used any more, since {reason} while the server was "
            "running: stop the server before you restore a backup, and start it again afterwards",
            reason,
        )

    def _identity(self) -> tuple[int, int] | None:
        """Return what tells the file from another one at its path, or None if there is none."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _connect(self) -> sqlite3.Connection:
        # SQLite gives its other files the mode of this one. If the file exists, it is not opened,
        # since closing it would release the locks that this process has on it.
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        connection = sqlite3.connect(
            self._path, timeout=self._timeout, isolation_level=None, check_same_thread=False
        )
        # The file keeps this mode. Where another program has the lock to set the mode at the same
        # time, this fails at once, and is not needed.
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        self._opened = self._opened or self._identity()
        return connection


class PostgreSQL:
    """A server at an address such as `postgresql://writer@db.example/contentgen`.

    Raises ConfigurationError if that is not an address, or psycopg is missing.
    """

    blob = "BYTEA"
    for_update = "FOR UPDATE"
    tables_query = "SELECT 1 WHERE to_regclass('contentgen_attempts') IS NOT NULL"
    # now() would be the start of the transaction, before it has waited for its locks.
    time_query = "SELECT CAST(extract(epoch FROM clock_timestamp()) AS float8)"

    def __init__(self, address: str) -> None:
        self._idle = _IdleConnections()
        try:
            from psycopg import ProgrammingError
            from psycopg.conninfo import conninfo_to_dict, make_conninfo
        except ModuleNotFoundError as error:
            raise ConfigurationError(
                f"ledger: needs the package {error.name}; install it with: "
                'pip install "mkdocs-contentgen[postgres]"'
            ) from error
        not_an_address = ConfigurationError(
            "ledger: is not an address such as postgresql://writer@db.example/contentgen; "
            "write special characters of a password as %40 and so on"
        )
        try:
            host = str(conninfo_to_dict(address).get("host", "this machine"))
            self._address = make_conninfo(address, **_POSTGRESQL_CONNECTION)
        except ProgrammingError:
            raise not_an_address from None  # the error quotes the address
        if "@" in host:  # A password has an unescaped `@`, so its end counts as part of the host.
            raise not_an_address
        self.name = f"on {host}"

    def close(self) -> None:
        """Close the connections that no transaction uses."""
        self._idle.close()

    @contextmanager
    def transaction(self, *locks: str, writes: bool = True) -> Iterator[Execute]:
        """Yield what runs queries: all of them are in force afterwards, or none.

        No other transaction with one of the same `locks` runs meanwhile, whether it `writes` or
        not. Raises LedgerError.
        """
        import psycopg

        try:
            connection = self._begin()
            with _closing_after_errors(connection):  # so that no broken one is used again
                for name in locks:
                    connection.execute(
                        "SELECT pg_advisory_xact_lock(hashtextextended(%s, 71))", [name]
                    )
                yield partial(_execute_with_psycopg, connection)
                connection.commit()
            self._idle.put_back(connection)
        except psycopg.Error as error:
            cause = error.diag.message_primary
            # Before the last colon, there can be parts of the address.
            reason = cause or str(error).partition("\n")[0].rpartition(": ")[2].strip()
            hint = (
                "make sure that the server runs and can be written, and that `ledger` has its "
                "address, user and password"
            )
            message = f"the ledger {self.name} cannot be used ({reason}); {hint}"
            raise LedgerError(message, cause or hint) from error

    def _begin(self) -> psycopg.Connection:
        """Return a connection in a transaction: a new one where the idle ones have broken."""
        import psycopg

        connection: psycopg.Connection | None = self._idle.take()
        while connection:
            try:
                connection.execute(_POSTGRESQL_TIMEOUTS)
            except psycopg.Error:
                connection.close()
                connection = self._idle.take()
            else:
                return connection
        # PgBouncer can give each transaction another server, which has no prepared statements.
        connection = psycopg.connect(self._address, prepare_threshold=None)
        connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        connection.execute(_POSTGRESQL_TIMEOUTS)
        return connection


@contextmanager
def _closing_after_errors(connection: Any) -> Iterator[None]:
    """Close a connection after an error in the block, so that what was not committed is undone."""
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _execute_with_psycopg(
    connection: psycopg.Connection, query: str, **values: object
) -> list[tuple[Any, ...]]:
    cursor = connection.execute(_translated(query), values)
    return cursor.fetchall() if cursor.description else []


@cache
def _translated(query: str) -> bytes:
    return re.sub(r":(\w+)", r"%(\1)s", query).encode()
