"""The cache in a directory of this machine.

Writing goes through diskcache, with a Disk that knows texts and no files: no pickle is ever read,
and no file that a row names.
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
from .database import (
    DATABASE,
    LOCK_TIMEOUT,
    SETTINGS,
    connect,
    lstat,
    reason_of,
    select,
    select_all,
    why_foreign,
)
from .entry import LEASE, MAX_KEY, StoredText, decode, encode

if TYPE_CHECKING:
    import diskcache

MAX_REQUESTS = 32 * 1024 * 1024
"""Characters of what texts were asked for with that are returned at once."""

_one_thread = threading.RLock()
"""Held as long as a thread reads or writes a database.

When a process closes a file, it loses all locks that it has on it, also those of another thread
that is in the middle of writing. So POSIX says.
"""


class DiskStore:
    """A Cache in a directory of this machine."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / DATABASE
        self._cache: diskcache.Cache | None = None

    def load(
        self, keys: Collection[str], *, since: datetime | None = None
    ) -> tuple[dict[str, StoredText], list[str]]:
        """Return those of the texts that are there, and what is wrong with the store."""
        texts: dict[str, StoredText] = {}
        damaged: list[str] = []

        def read(connection: sqlite3.Connection) -> None:
            for key in keys:
                entry = select(connection, key)
                if entry is None:
                    continue
                text = decode(key, entry)
                if text is None:
                    damaged.append(
                        f"the cache entry {key[:12]}… in {self._path} was changed or damaged, "
                        "and is ignored"
                    )
                elif since is None or text.generated_at > since:
                    texts[key] = text

        problems = self._read(read, lookups=len(keys))
        return texts, problems + damaged

    def prepare(self) -> list[str]:
        """Make sure that texts can be saved; raises StoreError, otherwise says what is wrong."""
        with _one_thread:
            return self._prepare() if self._cache is None else []

    def _prepare(self) -> list[str]:
        directory = str(self._directory)
        if directory.startswith("~") or os.path.expandvars(directory) != directory:
            raise StoreError(
                f"the cache {self._path} cannot be used, since diskcache would take a part of its "
                "path for a variable; choose another cache_dir"
            )
        problems = self._set_aside_if_foreign(thorough=True)
        with _writing(self._path):
            if not self._path.exists():
                _create(self._directory)
            # While it opens, diskcache waits a whole minute where another program is writing.
            with closing(sqlite3.connect(self._path, timeout=LOCK_TIMEOUT)) as connection:
                connection.execute("BEGIN IMMEDIATE")
            self._cache = _open_diskcache(self._directory, **SETTINGS)
        return problems

    def save(self, texts: Mapping[str, StoredText]) -> None:
        """Keep texts, on the disk before this returns. Raises StoreError."""
        with self._transaction() as cache:
            for key, text in texts.items():
                cache.set(key, encode(key, text))
                cache.delete(_CLAIM + key)

    def claim(self, keys: Collection[str], owner: str) -> set[str]:
        """Return those of `keys` that `owner` alone may ask the service for now, or still may."""
        claimed = set()
        with self._transaction() as cache:
            for key in keys:
                holder, expires = cache.get(_CLAIM + key, expire_time=True)
                # A claim that lasts longer than any can was made before the clock was set back.
                lasts = isinstance(expires, float) and expires <= time.time() + LEASE
                if holder in (None, owner) or not lasts:
                    cache.set(_CLAIM + key, owner, expire=LEASE)
                    claimed.add(key)
        return claimed

    def release(self, keys: Collection[str], owner: str) -> None:
        """Give up claims of `owner`. Raises StoreError."""
        with self._transaction() as cache:
            for key in keys:
                if cache.get(_CLAIM + key) == owner:
                    cache.delete(_CLAIM + key)

    def pause(self, seconds: float) -> None:
        """Do nothing: no other machine has this directory."""

    def paused(self) -> float:
        """Return 0: no other machine can have passed on a pause."""
        return 0.0

    def shared(self, keys: Collection[str]) -> set[str]:
        """Return nothing: no other machine has this directory."""
        return set()

    def requests(self) -> tuple[dict[str, dict[str, object]], list[str]]:
        """Return what each text was asked for with, by key, and what is wrong with the store."""
        requests: dict[str, dict[str, object]] = {}

        def read(connection: sqlite3.Connection) -> None:
            left = MAX_REQUESTS
            for key, entry in select_all(connection):
                if len(key) <= MAX_KEY and not key.startswith(_CLAIM):
                    text = decode(key, entry)
                    request = text.request if text else {}
                    left -= len(repr(request))
                    requests[key] = request if left > 0 else {}

        problems = self._read(read)
        return requests, problems

    def delete(self, keys: Collection[str]) -> None:
        """Drop texts. Raises StoreError."""
        with self._transaction() as cache:
            for key in keys:
                cache.delete(key)

    def close(self) -> list[str]:
        """Let go of the database; all that went wrong was said before."""
        if self._cache is not None:
            self._cache.close()
            self._cache = None
        return []

    def _read(self, read: Callable[[sqlite3.Connection], None], *, lookups: int = 0) -> list[str]:
        """Read from the database, if it is there; return what is wrong with it."""
        with _one_thread:
            return self._read_alone(read, lookups)

    def _read_alone(self, read: Callable[[sqlite3.Connection], None], lookups: int) -> list[str]:
        problems: list[str] = []
        try:
            problems += self._set_aside_if_foreign()
            if self._path.exists():
                with closing(connect(self._path, lookups=lookups)) as connection:
                    read(connection)
        except StoreError as error:
            problems.append(str(error))
        except (OSError, sqlite3.DatabaseError, UnicodeDecodeError) as error:
            problems.append(self._problem_with_reading(error))
        return problems

    def _problem_with_reading(
        self, error: OSError | sqlite3.DatabaseError | UnicodeDecodeError
    ) -> str:
        reason = reason_of(error)
        passing = isinstance(error, OSError | sqlite3.OperationalError)
        if passing and getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_INTERRUPT:
            return f"the cache {self._path} cannot be read ({reason})"
        try:
            return self._set_aside(reason)
        except StoreError as failure:
            return str(failure)

    @contextmanager
    def _transaction(self) -> Iterator[diskcache.Cache]:
        with _one_thread:
            self.prepare()
            cache: diskcache.Cache = self._cache
            with _writing(self._path), cache.transact():
                yield cache

    def _set_aside_if_foreign(self, *, thorough: bool = False) -> list[str]:
        judged = lstat(self._path)
        reason = why_foreign(self._path, thorough=thorough)
        if reason is None:
            return []
        found = lstat(self._path)
        if judged and not (found and os.path.samestat(judged, found)):
            # Another build has set it aside meanwhile, and may have begun a new one.
            return self._set_aside_if_foreign(thorough=thorough)
        return [self._set_aside(reason)]

    def _set_aside(self, reason: str) -> str:
        self.close()  # or whatever is saved next would go to the renamed file
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
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
        return (
            f"the cache {self._path} cannot be trusted ({reason}); "
            f"it was renamed to {DATABASE}.set-aside-{stamp}, and a new one is used"
        )


_CLAIM = "claim:"


def _create(directory: Path) -> None:
    """Make an empty database; another process never sees it half made."""
    directory.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=directory, prefix=".new-") as temporary:
        # Nothing is lost with what is made here, so its many small steps need not reach the disk.
        cache = _open_diskcache(Path(temporary), **SETTINGS | {"sqlite_synchronous": 0})
        cache.reset("sqlite_synchronous", SETTINGS["sqlite_synchronous"])
        cache.close()
        database = Path(temporary, DATABASE)
        try:
            # A link, since a rename would replace what another process has made meanwhile.
            (directory / DATABASE).hardlink_to(database)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            database.rename(directory / DATABASE)


def _open_diskcache(directory: Path, **settings: str | int) -> diskcache.Cache:
    import diskcache

    class TextDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
        """Keeps texts in their rows: no pickles, no files."""

        def put(self, key: str) -> tuple[str, bool]:
            return key, True

        def store(self, value: str, read: bool, key: object = None) -> tuple[int, int, None, str]:
            return len(value), diskcache.core.MODE_RAW, None, value

        def fetch(self, mode: int, filename: object, value: object, read: bool) -> str:
            if mode != diskcache.core.MODE_RAW or not isinstance(value, str):
                raise OSError("not a text")  # diskcache takes it for a miss
            return value

        def remove(self, file_path: str) -> None:
            """Do nothing: a row of this cache has no file, whatever it says."""

    deadline = time.monotonic() + LOCK_TIMEOUT
    while True:
        try:
            return diskcache.Cache(str(directory), timeout=LOCK_TIMEOUT, disk=TextDisk, **settings)
        except sqlite3.OperationalError as error:
            # For one of its statements, diskcache does not wait at all.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn what diskcache, sqlite3 and the file system raise into StoreError."""
    import diskcache

    try:
        yield
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
        raise StoreError(f"the cache {path} cannot be written ({reason_of(error)})") from error
    except diskcache.Timeout as error:
        raise StoreError(f"the cache {path} is locked by another program") from error
