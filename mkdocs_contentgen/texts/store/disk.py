"""The cache in a local directory.

Texts are written with diskcache, whose Disk is replaced by one that only handles text: no pickle is
read, and no file that a row names.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...errors import StoreError
from ...text import Text
from .database import (
    DATABASE,
    LOCK_TIMEOUT,
    SETTINGS,
    connect,
    describe_error,
    lstat,
    select,
    select_all,
    untrusted_reason,
)
from .entry import (
    LEASE,
    MAX_KEY,
    Cache,
    NoteKind,
    decode,
    encode,
    is_idempotency_key,
    new_idempotency_key,
    note_keys,
)

if TYPE_CHECKING:
    import diskcache

MAX_REQUESTS = 32 * 1024 * 1024
"""The maximum size of all requests that are returned together, in characters."""

_database_lock = threading.RLock()
"""Held while a thread reads or writes a database.

When a process closes a file, POSIX releases all its locks on that file, including those of other
threads.
"""


class DiskStore(Cache):
    """A Cache in a local directory. Waits `lock_timeout` seconds for another program."""

    def __init__(self, directory: Path, *, lock_timeout: float = LOCK_TIMEOUT) -> None:
        self._directory = directory
        self._lock_timeout = lock_timeout
        self._path = directory / DATABASE
        self._cache: diskcache.Cache | None = None

    def load(
        self, keys: Collection[str], *, since: datetime | None = None
    ) -> tuple[dict[str, Text], list[str]]:
        texts: dict[str, Text] = {}
        entry_problems: list[str] = []

        def read(connection: sqlite3.Connection) -> None:
            for key in keys:
                entry = select(connection, key)
                if entry is None:
                    continue
                text = decode(key, entry)
                if text is None:
                    start = key.rpartition(":")[2][:12]
                    entry_problems.append(
                        f"the cache entry {start}… in {self._path} was changed or damaged, and is "
                        "ignored"
                    )
                elif since is None or text.generated_at > since:
                    texts[key] = text

        problems = self._read(read, lookups=len(keys))
        return texts, problems + entry_problems

    def prepare(self) -> list[str]:
        if self._cache is not None:
            return []
        directory = str(self._directory)
        if directory.startswith("~") or os.path.expandvars(directory) != directory:
            raise StoreError(
                f"the cache {self._path} cannot be used, since diskcache would expand a "
                "variable in its path; choose another cache_dir"
            )
        with _database_lock:
            problems = self._set_aside_if_untrusted(thorough=True)
            with _translated_errors(self._path):
                if not self._path.exists():
                    _create(self._directory)
                # diskcache itself would wait a minute for the lock of another program.
                with closing(sqlite3.connect(self._path, timeout=self._lock_timeout)) as database:
                    database.execute("BEGIN IMMEDIATE")
                self._cache = _open_diskcache(self._directory, self._lock_timeout, **SETTINGS)
        return problems

    def save(self, texts: Mapping[str, Text]) -> None:
        with self._transaction() as cache:
            for key, text in texts.items():
                cache.set(key, encode(key, text))
                for row in (_CLAIM + key, *_extra_rows(key)):
                    cache.delete(row)

    def claim(self, keys: Collection[str], owner: str, *, refresh: bool = False) -> dict[str, str]:
        claimed = {}
        with self._transaction() as cache:
            for key in keys:
                current_owner, expires = cache.get(_CLAIM + key, expire_time=True)
                # A claim with a longer lease was made before the clock was set back.
                valid = isinstance(expires, float) and expires <= time.time() + LEASE
                if current_owner in (None, owner) or not valid:
                    cache.set(_CLAIM + key, owner, expire=LEASE)
                    idempotency_key = cache.get(_IDEMPOTENCY + key)
                    if refresh or not is_idempotency_key(idempotency_key):
                        idempotency_key = new_idempotency_key()
                        cache.set(_IDEMPOTENCY + key, idempotency_key)
                    claimed[key] = idempotency_key
        return claimed

    def release(self, keys: Collection[str], owner: str, *, answered: bool = False) -> None:
        with self._transaction() as cache:
            for key in keys:
                if cache.get(_CLAIM + key) == owner:
                    cache.delete(_CLAIM + key)
                    if answered:
                        cache.delete(_IDEMPOTENCY + key)

    def requests(
        self, kind: NoteKind | None = None
    ) -> tuple[dict[str, dict[str, object]], list[str]]:
        requests: dict[str, dict[str, object]] = {}

        def read(connection: sqlite3.Connection) -> None:
            remaining = MAX_REQUESTS
            for name, entry in select_all(connection):
                prefix, _, key = name.rpartition(":")
                if prefix == (kind or "") and len(key) <= MAX_KEY:
                    text = decode(name, entry)
                    request = text.request if text else {}
                    remaining -= len(repr(request))
                    requests[key] = request if remaining > 0 else {}

        problems = self._read(read)
        return requests, problems

    def delete(self, keys: Collection[str]) -> None:
        with self._transaction() as cache:
            for key in keys:
                for row in (key, *_extra_rows(key)):
                    cache.delete(row)

    def close(self) -> list[str]:
        if self._cache is not None:
            self._cache.close()
            self._cache = None
        return []

    def _read(self, read: Callable[[sqlite3.Connection], None], *, lookups: int = 0) -> list[str]:
        problems: list[str] = []
        with _database_lock:
            try:
                problems += self._set_aside_if_untrusted()
                if self._path.exists():
                    opened = connect(self._path, self._lock_timeout, lookups=lookups)
                    with closing(opened) as connection:
                        read(connection)
            except StoreError as error:
                problems.append(str(error))
            except (OSError, sqlite3.DatabaseError, UnicodeDecodeError) as error:
                problems.append(self._read_problem(error))
        return problems

    def _read_problem(self, error: OSError | sqlite3.DatabaseError | UnicodeDecodeError) -> str:
        reason = describe_error(error)
        transient = isinstance(error, OSError | sqlite3.OperationalError)
        if transient and getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_INTERRUPT:
            return f"the cache {self._path} cannot be read ({reason})"
        try:
            return self._set_aside(reason)
        except StoreError as failure:
            return str(failure)

    @contextmanager
    def _transaction(self) -> Iterator[diskcache.Cache]:
        with _database_lock:
            self.prepare()
            cache: diskcache.Cache = self._cache
            with _translated_errors(self._path), cache.transact():
                yield cache

    def _set_aside_if_untrusted(self, *, thorough: bool = False) -> list[str]:
        before = lstat(self._path)
        reason = untrusted_reason(self._path, thorough=thorough, lock_timeout=self._lock_timeout)
        if reason is None:
            return []
        after = lstat(self._path)
        if before and not (after and os.path.samestat(before, after)):
            # Another build has set it aside meanwhile, and may have created a new one.
            return self._set_aside_if_untrusted(thorough=thorough)
        return [self._set_aside(reason)]

    def _set_aside(self, reason: str) -> str:
        self.close()  # otherwise texts would be saved to the renamed file
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        problem = (
            f"the cache {self._path} cannot be trusted ({reason}); "
            f"it was renamed to {DATABASE}.set-aside-{stamp}, and a new one is used"
        )
        try:
            for suffix in ("", "-journal", "-wal", "-shm"):
                path = self._path.with_name(DATABASE + suffix)
                with suppress(FileNotFoundError):  # another build may be faster
                    path.rename(f"{path}.set-aside-{stamp}")
        except OSError as error:
            raise StoreError(
                f"the cache {self._path} cannot be trusted ({reason}), "
                f"nor can it be set aside ({error.strerror}); remove it"
            ) from error
        return problem


_CLAIM, _IDEMPOTENCY = "claim:", "idempotency:"


def _extra_rows(key: str) -> list[str]:
    """Return the keys of the rows that are only needed as long as there is no text."""
    return [_IDEMPOTENCY + key, *note_keys(key)]


def _create(directory: Path) -> None:
    """Create an empty database atomically."""
    directory.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=directory, prefix=".new-") as temporary:
        # Synchronous writes are slow here, and an empty database can be lost.
        cache = _open_diskcache(
            Path(temporary), LOCK_TIMEOUT, **SETTINGS | {"sqlite_synchronous": 0}
        )
        cache.reset("sqlite_synchronous", SETTINGS["sqlite_synchronous"])
        cache.close()
        database = Path(temporary, DATABASE)
        try:
            # Unlike a rename, a link does not replace the database of another process.
            (directory / DATABASE).hardlink_to(database)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            database.rename(directory / DATABASE)


def _open_diskcache(directory: Path, lock_timeout: float, **settings: str | int) -> diskcache.Cache:
    import diskcache

    class TextDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
        """Stores texts in rows, without pickles and files."""

        def put(self, key: str) -> tuple[str, bool]:
            return key, True

        def store(self, value: str, read: bool, key: object = None) -> tuple[int, int, None, str]:
            return len(value), diskcache.core.MODE_RAW, None, value

        def fetch(self, mode: int, filename: object, value: object, read: bool) -> str:
            if mode != diskcache.core.MODE_RAW or not isinstance(value, str):
                raise OSError  # a cache miss for diskcache
            return value

        def remove(self, file_path: str) -> None:
            """Do nothing, since rows of this cache have no files, whatever they name."""

    deadline = time.monotonic() + lock_timeout
    while True:
        try:
            return diskcache.Cache(str(directory), timeout=lock_timeout, disk=TextDisk, **settings)
        except sqlite3.OperationalError as error:
            # diskcache executes one statement without a timeout.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


@contextmanager
def _translated_errors(path: Path) -> Iterator[None]:
    """Raise errors of diskcache, sqlite3 and the file system as StoreError."""
    import diskcache

    try:
        yield
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
        raise StoreError(f"the cache {path} cannot be written ({describe_error(error)})") from error
    except diskcache.Timeout as error:
        raise StoreError(f"the cache {path} is locked by another program") from error
