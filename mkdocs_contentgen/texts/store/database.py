"""Open the database of a cache for writing, with diskcache but without its pickles and files."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import diskcache

from ...errors import StoreError

_SETTINGS: dict[str, str | int] = {
    "cull_limit": 0,
    "eviction_policy": "none",
    # A write-ahead log would need files beside the database, also for reading it.
    "sqlite_journal_mode": "delete",
    # Truncating a memory-mapped file would kill the process.
    "sqlite_mmap_size": 0,
    "sqlite_synchronous": 2,
}

_WRITING_WHAT_DIFFERS = {
    "INSERT OR REPLACE INTO Settings VALUES (?, ?)": (
        "INSERT INTO Settings VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2 "
        "WHERE value IS NOT ?2"
    ),
    "UPDATE Settings SET value = ? WHERE key = ?": (
        "UPDATE Settings SET value = ?1 WHERE key = ?2 AND value IS NOT ?1"
    ),
}
"""What is executed in place of two statements of diskcache: they write only what differs.

It writes each setting when it opens a database, in a transaction of its own. For settings that are
there already, that takes a tenth of a second.
"""


class _TextDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Stores texts in rows, without pickles and files."""

    def put(self, key: str) -> tuple[str, bool]:
        is_raw = True  # no pickle
        return key, is_raw

    def store(self, value: str, read: bool, key: object = None) -> tuple[int, int, None, str]:
        return len(value), diskcache.core.MODE_RAW, None, value

    def fetch(self, mode: int, filename: object, value: object, read: bool) -> str:
        if mode != diskcache.core.MODE_RAW or not isinstance(value, str):
            raise OSError  # a cache miss for diskcache
        return value

    def remove(self, file_path: str) -> None:
        """Do nothing: a file that a row names is none of this cache."""


class _TextCache(diskcache.Cache):  # type: ignore[misc]  # diskcache has no types
    """A cache without an index of tags, which is opened without writing."""

    @property
    def _sql_retry(self) -> Callable[..., sqlite3.Cursor]:
        """The function with which diskcache executes a statement."""
        execute: Callable[..., sqlite3.Cursor] = super()._sql_retry

        def execute_if_it_differs(statement: str, *values: object) -> sqlite3.Cursor:
            return execute(_WRITING_WHAT_DIFFERS.get(statement, statement), *values)

        return execute_if_it_differs

    def drop_tag_index(self) -> None:
        """Do nothing, since there is none.

        diskcache would drop it without waiting for the lock of another program.
        """


def open_database(path: Path, lock_timeout: float) -> diskcache.Cache:
    """Open a database, or create it. Waits `lock_timeout` seconds for another program.

    Raises OSError, sqlite3.Error, and StoreError for a path that diskcache would change.
    """
    directory = str(path.parent)
    if directory.startswith("~") or os.path.expandvars(directory) != directory:
        raise StoreError(
            f"the cache {path} cannot be used, since diskcache would expand a variable in its "
            "path; choose another cache_dir"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        if not any(path.parent.iterdir()):
            _leave_out_of_git(path.parent)
        _create(path)
    # diskcache itself would wait a minute for the lock of another program.
    with closing(sqlite3.connect(path, timeout=lock_timeout)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        # Without this table, the database is damaged, and diskcache would make an empty one.
        connection.execute("SELECT 1 FROM Cache")
    return _TextCache(directory, timeout=lock_timeout, disk=_TextDisk, **_SETTINGS)


def _leave_out_of_git(directory: Path) -> None:
    """Make git ignore a directory with all that is in it, wherever `cache_dir` has put it."""
    # Another build can have done that meanwhile.
    with suppress(FileExistsError), (directory / ".gitignore").open("x", encoding="utf-8") as file:
        file.write("*\n")


def _create(path: Path) -> None:
    """Create an empty database at once, so that nobody takes half of one for damaged."""
    with TemporaryDirectory(dir=path.parent, prefix=".new-") as temporary:
        # Synchronous writes are slow here, and an empty database can be lost.
        cache = _TextCache(temporary, disk=_TextDisk, **_SETTINGS | {"sqlite_synchronous": 0})
        cache.reset("sqlite_synchronous", _SETTINGS["sqlite_synchronous"])
        cache.close()
        database = Path(temporary, path.name)
        try:
            path.hardlink_to(database)  # a rename would replace the database of another build
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            database.rename(path)
