"""Whether a database file can be trusted, judged before anything else opens it.

A cache directory may come from anywhere. The file, its schema and its settings are compared with
what diskcache itself makes, so that triggers, views, settings and journals of others never get to
work. What is read is bounded by the size of the file, since pages that refer to each other in
circles make a small file look endless. Reading also works where the directory is read-only.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import struct
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from ...errors import StoreError
from .entry import MAX_ENTRY

DATABASE = "cache.db"

LOCK_TIMEOUT = 5.0
"""Seconds to wait for another program to finish its writing."""

MAX_SIZE = 16 * 1024**3
"""Bytes of a database; a hundred thousand texts of the usual length take one of these sixteen."""

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

_MAX_SETTING = 64 * 1024
"""Bytes of one value in the schema or the settings."""

_STEPS, _STEPS_PER_BYTE, _STEPS_PER_LOOKUP = 1_000_000, 1, 1_000
"""Steps of SQLite's virtual machine that reading may take, many times what it takes."""

_SQLITE_HEADER = b"SQLite format 3\x00"
_ROLLBACK_JOURNAL = b"\x01\x01"
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_INDEX_INTERIOR, _TABLE_INTERIOR, _INDEX_LEAF, _TABLE_LEAF = 2, 5, 10, 13


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
            header = file.read(100)
            page_size = int.from_bytes(header[16:18]) or 1
            page_size = 65536 if page_size == 1 else page_size
            problem = _header_problem(path, header, database.st_size)
            if problem or (problem := _journal_problem(path, page_size)):
                return problem
            # It is closed before the file, with which all locks of this process on it end.
            with closing(connect(path)) as connection:
                return _content_problem(connection, file, page_size, thorough=thorough)
    except (OSError, sqlite3.OperationalError) as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code not in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_INTERRUPT):
            raise StoreError(f"the cache {path} cannot be read ({reason_of(error)})") from error
        return reason_of(error)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return reason_of(error)


def lstat(path: Path) -> os.stat_result | None:
    """Return what stands at a path, or None for nothing. Raises StoreError."""
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"the cache {path} cannot be read ({reason_of(error)})") from error


def _header_problem(path: Path, header: bytes, size: int) -> str | None:
    """Say why SQLite must not open a file with this header and size, or return None."""
    if not header:
        return "it is empty"
    if not header.startswith(_SQLITE_HEADER):
        return "it is not a SQLite database"
    if header[18:20] != _ROLLBACK_JOURNAL or lstat(path.with_name(DATABASE + "-wal")):
        return "it needs a write-ahead log"
    return "it is too large" if size > MAX_SIZE else None


def _journal_problem(path: Path, page_size: int) -> str | None:
    """Say what recovery from the journal, if there is one, would do that no recovery has to.

    See "The Rollback Journal" in the description of SQLite's file format.
    """
    journal = path.with_name(DATABASE + "-journal")
    size = path.stat().st_size
    try:
        with journal.open("rb") as file:
            judged = os.fstat(file.fileno())
            header = file.read(28)
            file.seek(max(0, judged.st_size - len(_JOURNAL_MAGIC)))
            ending = file.read(len(_JOURNAL_MAGIC))
        # Journal and size belong together only where nobody writes meanwhile.
        found = journal.stat()
        if (judged.st_ino, judged.st_size) != (found.st_ino, found.st_size) or (
            size != path.stat().st_size
        ):
            return _journal_problem(path, page_size)
    except FileNotFoundError:
        return None
    if ending == _JOURNAL_MAGIC and judged.st_size >= 16:
        return "its journal names other files"
    if len(header) < 28 or not header.startswith(_JOURNAL_MAGIC):
        return None  # SQLite takes nothing from such a journal
    pages, _, journal_page_size = struct.unpack_from(">3I", header, 16)
    # Who was killed while the file was being cut shorter has noted all pages that are gone, but for
    # the one of SQLite's locks, since none is free in a database with auto_vacuum.
    most = size // page_size + judged.st_size // page_size + 1
    if journal_page_size != page_size or not 0 < pages <= most or most * page_size > 2 * MAX_SIZE:
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
    # Tables are read within the limits of connect(), and a table of texts has many pages.
    roots = connection.execute(
        "SELECT CAST(rootpage AS INTEGER) FROM sqlite_master "
        "WHERE type = 'index' OR type = 'table' AND ?",
        (thorough,),
    )
    if not _trees_are_sound(file, page_size, {root for (root,) in roots}):
        return "it is damaged"
    # It reads the whole file, so it is for those who are about to pay for a text.
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_ENTRY)
    if thorough and list(connection.execute("PRAGMA integrity_check(1)")) != [("ok",)]:
        return "it is damaged"
    return None


def _trees_are_sound(file: BinaryIO, page_size: int, roots: Collection[int]) -> bool:
    """Tell whether each page of these B-trees is in them once, and no row is too long.

    SQLite reads a key as a whole each time that it compares one, even if it is as long as the file.
    """
    longest_key = (page_size - 12) * 64 // 255 - 23  # that needs no other page
    longest = {_INDEX_INTERIOR: longest_key, _INDEX_LEAF: longest_key, _TABLE_LEAF: MAX_ENTRY}
    pages = os.fstat(file.fileno()).st_size // page_size
    todo, seen = list(roots), set(roots)
    try:
        while todo:
            number = todo.pop()
            if not 1 <= number <= pages:
                return False
            file.seek((number - 1) * page_size)
            page = file.read(page_size)
            start = 100 if number == 1 else 0
            kind = page[start]
            interior = kind in (_INDEX_INTERIOR, _TABLE_INTERIOR)
            if not interior and kind not in (_INDEX_LEAF, _TABLE_LEAF):
                return False
            limit = longest.get(kind)
            cells = int.from_bytes(page[start + 3 : start + 5])
            offsets = struct.unpack_from(f">{cells}H", page, start + (12 if interior else 8))
            children = [start + 8, *offsets] if interior else ()
            for (child,) in (struct.unpack_from(">I", page, offset) for offset in children):
                if child in seen:
                    return False
                seen.add(child)
                todo.append(child)
            if limit is not None:
                lengths = (_length(page, offset + 4 * interior) for offset in offsets)
                if max(lengths, default=0) > limit:
                    return False
    except (IndexError, struct.error):
        return False
    return True


def _length(page: bytes, offset: int) -> int:
    """Return the number that a cell begins with, seven bits a byte."""
    length = page[offset]
    if length < 0x80:
        return length
    length &= 0x7F
    for byte in page[offset + 1 : offset + 8]:
        length = length << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return length


def reason_of(error: OSError | sqlite3.Error | UnicodeDecodeError) -> str:
    """Say what went wrong, on one line, whatever the database holds that SQLite quotes."""
    # Python cannot read what SQLite says where that quotes a name that is not UTF-8.
    unreadable = isinstance(error, UnicodeDecodeError)
    if unreadable or getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
        return "it is damaged"
    reason = getattr(error, "strerror", None) or str(error)
    return reason if reason.isprintable() else "it is damaged"


def connect(path: Path, *, lookups: int = 0) -> sqlite3.Connection:
    """Open a database for reading alone, as it is now, and for no more than it can hold.

    Where reading takes more steps than a sound file of its size, and so many `lookups`, can need,
    SQLite raises OperationalError (SQLITE_INTERRUPT); where it gives more text than there is,
    DatabaseError.
    """
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=LOCK_TIMEOUT
    )
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_ENTRY)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        # It begins with the recovery from a journal, after which the file has its size.
        connection.execute("PRAGMA schema_version").fetchone()
        size = path.stat().st_size
        left = size

        def text(data: bytes) -> str:
            nonlocal left
            left -= len(data)
            if left < 0:
                raise sqlite3.DatabaseError("it is damaged")
            # What is not UTF-8 is no error, which would hide the rest of the database.
            return data.decode(errors="replace")

        connection.text_factory = text
        steps = _STEPS + _STEPS_PER_BYTE * size + _STEPS_PER_LOOKUP * lookups
        connection.set_progress_handler(lambda: True, min(steps, 2**31 - 1))
    except BaseException:
        connection.close()
        raise
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


def select_all(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Return all keys with their entries, but those that are no text."""
    # Of other types nothing is read, so that only text counts for the limit of connect().
    return connection.execute(
        "SELECT key, value FROM Cache WHERE typeof(raw) = 'integer' AND raw = 1 "
        "AND typeof(key) = 'text' AND typeof(value) = 'text'"
    )
