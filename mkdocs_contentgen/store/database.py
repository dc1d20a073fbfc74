"""Whether a database file can be trusted, judged before anything else opens it.

A cache directory may come from anywhere. The file, its schema and its settings are compared with
what diskcache itself makes, so that triggers, views, settings and journals of others never get to
work. Reading is a plain SELECT, which also works where the directory is read-only.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

from ..errors import StoreError
from .entry import MAX_ENTRY

DATABASE = "cache.db"

LOCK_TIMEOUT = 5.0
"""Seconds to wait for another program to finish its writing."""

SETTINGS: dict[str, str | int] = {
    "cull_limit": 0,
    "disk_min_file_size": 2**15,
    "disk_pickle_protocol": 5,
    "eviction_policy": "none",
    "size_limit": 2**30,
    "sqlite_auto_vacuum": 1,
    "sqlite_cache_size": 2**13,
    # No write-ahead log: a copy of the database file alone is complete.
    "sqlite_journal_mode": "delete",
    # A file that somebody truncates while it is mapped would kill the process.
    "sqlite_mmap_size": 0,
    "sqlite_synchronous": 2,
    "statistics": 0,
    "tag_index": 0,
}
_COUNTERS = {"count", "size", "hits", "misses"}
SCHEMA_SHA256 = "2c8bf9cc2b06b20b20d62aa7b57f4bf99121cd5c54f4255f7b7e19b38ac9e49d"
"""SHA-256 of the schema that diskcache 5.6 makes; a test holds it against the real one."""

_SQLITE_HEADER = b"SQLite format 3\x00"
_ROLLBACK_JOURNAL = b"\x01\x01"
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


def why_foreign(path: Path, *, thorough: bool) -> str | None:
    """Say why a database is not one that this module made, or None if it is, or is not there.

    Raises StoreError where that cannot be told now: then nothing may open the database.
    """
    try:
        # The journal first: with none, what stands beside the database was left there by others.
        journal = lstat(path.with_name(DATABASE + "-journal"))
        database = lstat(path)
        if journal and not (database and stat.S_ISREG(journal.st_mode)):
            return "its journal is not one of SQLite"
        if not database:
            return None
        if not stat.S_ISREG(database.st_mode):
            return "it is not a file"
        with path.open("rb") as file:
            header = file.read(20)
        if not header:
            return "it is empty"
        if not header.startswith(_SQLITE_HEADER):
            return "it is not a SQLite database"
        if header[18:20] != _ROLLBACK_JOURNAL or lstat(path.with_name(DATABASE + "-wal")):
            return "it needs a write-ahead log"
        if _journal_names_files(path.with_name(DATABASE + "-journal")):
            return "its journal names other files"
        with closing(connect(path)) as connection:
            if _schema_sha256(connection) != SCHEMA_SHA256:
                return "its schema is not the one of diskcache"
            settings = dict(connection.execute("SELECT key, value FROM Settings LIMIT 100"))
            counters = {name: settings.pop(name, None) for name in _COUNTERS}
            if settings != SETTINGS or not all(type(n) is int for n in counters.values()):
                return "its settings are not the ones of this plugin"
            # It reads the whole file, so it is for those who are about to pay for a text.
            if thorough and list(connection.execute("PRAGMA integrity_check(1)")) != [("ok",)]:
                return "it is damaged"
    except (OSError, sqlite3.OperationalError) as error:
        if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_ERROR:
            raise StoreError(f"the cache {path} cannot be read ({reason_of(error)})") from error
        return reason_of(error)
    except sqlite3.DatabaseError as error:
        return reason_of(error)
    return None


def lstat(path: Path) -> os.stat_result | None:
    """Return what stands at a path, or None for nothing. Raises StoreError."""
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"the cache {path} cannot be read ({reason_of(error)})") from error


def _journal_names_files(journal: Path) -> bool:
    """Tell whether recovery from this journal would make SQLite delete a file that it names."""
    try:
        with journal.open("rb") as file:
            file.seek(max(0, journal.stat().st_size - len(_JOURNAL_MAGIC)))
            return file.read() == _JOURNAL_MAGIC
    except FileNotFoundError:
        return False


def reason_of(error: OSError | sqlite3.Error) -> str:
    """Say what went wrong, on one line, whatever the database holds that SQLite quotes."""
    reason = getattr(error, "strerror", None) or str(error)
    return reason if reason.isprintable() else "it is damaged"


def connect(path: Path) -> sqlite3.Connection:
    """Open a database for reading alone."""
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=LOCK_TIMEOUT
    )
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_ENTRY)
    # What is not UTF-8 is no error, which would hide the rest of the database.
    connection.text_factory = lambda data: data.decode(errors="replace")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA query_only = ON")
    return connection


def _schema_sha256(connection: sqlite3.Connection) -> str:
    rows = connection.execute(
        "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master ORDER BY name LIMIT 100"
    )
    return hashlib.sha256(repr(rows.fetchall()).encode()).hexdigest()


def select(connection: sqlite3.Connection, key: str) -> str | None:
    """Return the entry of a key, empty where it is no text, or None where there is none."""
    row = connection.execute("SELECT value FROM Cache WHERE key = ? AND raw = 1", (key,)).fetchone()
    if row is None:
        return None
    return row[0] if isinstance(row[0], str) else ""
