"""Check whether a database file can be trusted, and read from it.

A cache directory is untrusted input. Before anything else opens the file, it, its schema and its
settings are compared with what diskcache creates, so that no foreign trigger, view, setting or
journal takes effect. Reading is limited by the size of the file, since cyclic references between
pages make a small file look endless. Reading works in read-only directories.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import struct
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from ...digest import sha256
from ...errors import StoreError
from .entry import MAX_ENTRY

DATABASE = "cache.db"

LOCK_TIMEOUT = 5.0
"""Seconds to wait for the lock of another program."""

MAX_SIZE = 16 * 1024**3
"""The maximum size of a database in bytes. 100,000 texts of usual length take 1 GiB."""

SETTINGS: dict[str, str | int] = {
    "cull_limit": 0,
    "disk_min_file_size": 2**15,
    "disk_pickle_protocol": 5,
    "eviction_policy": "none",
    "size_limit": 2**30,
    "sqlite_auto_vacuum": 1,
    "sqlite_cache_size": 2**13,
    # Without a write-ahead log, the database file alone is a complete copy.
    "sqlite_journal_mode": "delete",
    # Truncating a memory-mapped file would kill the process.
    "sqlite_mmap_size": 0,
    "sqlite_synchronous": 2,
    "statistics": 0,
    "tag_index": 0,
}
_COUNTERS = {"count", "size", "hits", "misses"}
SCHEMA_SHA256 = "2c8bf9cc2b06b20b20d62aa7b57f4bf99121cd5c54f4255f7b7e19b38ac9e49d"
"""SHA-256 of the schema that diskcache 5.6 creates; a test compares it with the real one."""

_MAX_SETTING = 64 * 1024
"""The maximum size in bytes of a value in the schema or the settings."""

_BASE_STEPS, _STEPS_PER_BYTE, _STEPS_PER_LOOKUP = 1_000_000, 1, 1_000
"""The maximum number of virtual machine steps for reading, many times what SQLite needs."""

_SQLITE_HEADER = b"SQLite format 3\x00"
_ROLLBACK_JOURNAL = b"\x01\x01"
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_INDEX_INTERIOR, _TABLE_INTERIOR, _INDEX_LEAF, _TABLE_LEAF = 2, 5, 10, 13


def untrusted_reason(path: Path, *, thorough: bool, lock_timeout: float) -> str | None:
    """Return why a database cannot be trusted, or None if it can, or does not exist.

    `thorough` also reads the whole database. Raises StoreError if the database cannot be checked
    now; then nothing may open it.
    """
    try:
        # The journal comes first, since another process could create both in between.
        journal = lstat(path.with_name(DATABASE + "-journal"))
        database = lstat(path)
        if journal and not (database and stat.S_ISREG(journal.st_mode)):
            return "its journal is not one of SQLite"
        if not database:
            return None
        if not stat.S_ISREG(database.st_mode):
            return "it is not a file"
        with path.open("rb") as file:
            header = file.read(100)
            page_size = int.from_bytes(header[16:18]) or 1
            page_size = 65536 if page_size == 1 else page_size
            problem = _header_problem(path, header, database.st_size)
            if problem or (problem := _journal_problem(path, page_size)):
                return problem
            # Closing the file releases all locks of this process on it: do it last.
            with closing(connect(path, lock_timeout)) as connection:
                return _content_problem(connection, file, page_size, thorough=thorough)
    except (OSError, sqlite3.OperationalError) as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code not in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_INTERRUPT):
            raise StoreError(
                f"the cache {path} cannot be read ({describe_error(error)})"
            ) from error
        return describe_error(error)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return describe_error(error)


def lstat(path: Path) -> os.stat_result | None:
    """Return `path.lstat()`, or None if the path does not exist. Raises StoreError."""
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"the cache {path} cannot be read ({describe_error(error)})") from error


def _header_problem(path: Path, header: bytes, size: int) -> str | None:
    """Return why SQLite must not open a file with this header and size, or None."""
    if not header:
        return "it is empty"
    if not header.startswith(_SQLITE_HEADER):
        return "it is not a SQLite database"
    if header[18:20] != _ROLLBACK_JOURNAL or lstat(path.with_name(DATABASE + "-wal")):
        return "it needs a write-ahead log"
    return "it is too large" if size > MAX_SIZE else None


def _journal_problem(path: Path, page_size: int) -> str | None:
    """Return why SQLite must not recover from the rollback journal, or None if it may.

    See "The Rollback Journal" in the description of SQLite's file format.
    """
    journal = path.with_name(DATABASE + "-journal")
    size = path.stat().st_size
    try:
        with journal.open("rb") as file:
            before = os.fstat(file.fileno())
            header = file.read(28)
            file.seek(max(0, before.st_size - len(_JOURNAL_MAGIC)))
            ending = file.read(len(_JOURNAL_MAGIC))
        # If another program wrote meanwhile, journal and size do not belong together.
        after = journal.stat()
        if (before.st_ino, before.st_size) != (after.st_ino, after.st_size) or (
            size != path.stat().st_size
        ):
            return _journal_problem(path, page_size)
    except FileNotFoundError:
        return None
    if ending == _JOURNAL_MAGIC and before.st_size >= 16:
        return "its journal names other files"
    if len(header) < 28 or not header.startswith(_JOURNAL_MAGIC):
        return None  # SQLite ignores such a journal
    pages, _, journal_page_size = struct.unpack_from(">3I", header, 16)
    # If the writer was killed while it truncated the file, the journal has all removed pages except
    # the lock-byte page: with auto_vacuum, no page is free.
    max_pages = size // page_size + before.st_size // page_size + 1
    if (
        journal_page_size != page_size
        or not 0 < pages <= max_pages
        or max_pages * page_size > 2 * MAX_SIZE
    ):
        return "its journal is damaged"
    return None


def _content_problem(
    connection: sqlite3.Connection, file: BinaryIO, page_size: int, *, thorough: bool
) -> str | None:
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_SETTING)
    if _schema_sha256(connection) != SCHEMA_SHA256:
        return "its schema is not the one of diskcache"
    settings = dict(connection.execute("SELECT key, value FROM Settings LIMIT 100"))
    counters = {name: settings.pop(name, None) for name in _COUNTERS}
    if settings != SETTINGS or not all(type(n) is int for n in counters.values()):
        return "its settings are not the ones of this plugin"
    # A table of texts has many pages, and reading it is limited by connect() anyway.
    roots = connection.execute(
        "SELECT CAST(rootpage AS INTEGER) FROM sqlite_master "
        "WHERE type = 'index' OR type = 'table' AND ?",
        (thorough,),
    )
    if not _trees_are_sound(file, page_size, {root for (root,) in roots}):
        return "it is damaged"
    # This reads the whole file, so it is only done before texts are generated.
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_ENTRY)
    if thorough and list(connection.execute("PRAGMA integrity_check(1)")) != [("ok",)]:
        return "it is damaged"
    return None


def _trees_are_sound(file: BinaryIO, page_size: int, roots: Collection[int]) -> bool:
    """Tell whether no page of these B-trees is referenced twice, and no row is too long.

    SQLite reads a whole key for each comparison, even if it is as long as the file.
    """
    max_local_key = (page_size - 12) * 64 // 255 - 23  # without overflow pages
    max_lengths = {
        _INDEX_INTERIOR: max_local_key,
        _INDEX_LEAF: max_local_key,
        _TABLE_LEAF: MAX_ENTRY,
    }
    pages = os.fstat(file.fileno()).st_size // page_size
    pending, seen = list(roots), set(roots)
    try:
        while pending:
            number = pending.pop()
            if not 1 <= number <= pages:
                return False
            file.seek((number - 1) * page_size)
            page = file.read(page_size)
            start = 100 if number == 1 else 0
            kind = page[start]
            interior = kind in (_INDEX_INTERIOR, _TABLE_INTERIOR)
            if not interior and kind not in (_INDEX_LEAF, _TABLE_LEAF):
                return False
            limit = max_lengths.get(kind)
            cells = int.from_bytes(page[start + 3 : start + 5])
            offsets = struct.unpack_from(f">{cells}H", page, start + (12 if interior else 8))
            children = [start + 8, *offsets] if interior else ()
            for (child,) in (struct.unpack_from(">I", page, offset) for offset in children):
                if child in seen:
                    return False
                seen.add(child)
                pending.append(child)
            if limit is not None:
                lengths = (_varint(page, offset + 4 * interior) for offset in offsets)
                if max(lengths, default=0) > limit:
                    return False
    except (IndexError, struct.error):
        return False
    return True


def _varint(page: bytes, offset: int) -> int:
    """Return the variable-length integer at the start of a cell."""
    length = page[offset]
    if length < 0x80:
        return length
    length &= 0x7F
    for byte in page[offset + 1 : offset + 8]:
        length = length << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return length


def describe_error(error: OSError | sqlite3.Error | UnicodeDecodeError) -> str:
    """Return an error message on one line, even if SQLite quotes a damaged database in it."""
    # Python raises UnicodeDecodeError if SQLite quotes a name that is not UTF-8.
    unreadable = isinstance(error, UnicodeDecodeError)
    if unreadable or getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
        return "it is damaged"
    reason = getattr(error, "strerror", None) or str(error)
    return reason if reason.isprintable() else "it is damaged"


def connect(path: Path, lock_timeout: float, *, lookups: int = 0) -> sqlite3.Connection:
    """Open a database for reading its current state, with limits on time and size.

    Reading raises OperationalError (SQLITE_INTERRUPT) if it takes more steps than an undamaged file
    of this size and `lookups` lookups can need, and DatabaseError if it returns more text than the
    file can contain.
    """
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=lock_timeout
    )
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_ENTRY)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        # This recovers from a journal, which can change the size of the file.
        connection.execute("PRAGMA schema_version").fetchone()
        size = path.stat().st_size
        remaining = size

        def text(data: bytes) -> str:
            nonlocal remaining
            remaining -= len(data)
            if remaining < 0:
                raise sqlite3.DatabaseError("it is damaged")
            # An error here would make the rest of the database unreadable.
            return data.decode(errors="replace")

        connection.text_factory = text
        steps = _BASE_STEPS + _STEPS_PER_BYTE * size + _STEPS_PER_LOOKUP * lookups
        connection.set_progress_handler(lambda: True, min(steps, 2**31 - 1))
    except BaseException:
        connection.close()
        raise
    return connection


def _schema_sha256(connection: sqlite3.Connection) -> str:
    rows = connection.execute(
        "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master ORDER BY name LIMIT 100"
    )
    return sha256(repr(rows.fetchall()))


def select(connection: sqlite3.Connection, key: str) -> str | None:
    """Return the entry of a key, or None if there is none. An entry of another type is empty."""
    row = connection.execute("SELECT value FROM Cache WHERE key = ? AND raw = 1", (key,)).fetchone()
    if row is None:
        return None
    return row[0] if isinstance(row[0], str) else ""


def select_all(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Return all keys with their entries, except entries that are not text."""
    # Other types are not read, since the limit of connect() only counts text.
    return connection.execute(
        "SELECT key, value FROM Cache WHERE typeof(raw) = 'integer' AND raw = 1 "
        "AND typeof(key) = 'text' AND typeof(value) = 'text'"
    )
