"""The cache: texts by the key of their request.

A text is paid for, so an entry is written at once and never evicted, and what cannot be used is
set aside, never deleted. A cache directory may come from anywhere, so nothing in it is trusted:

- Before anything else opens the database, its file, schema and settings are compared with what
  diskcache itself makes. Triggers, views, settings and journals of others never get to work.
- Reading is a plain SELECT. It also works where the directory is read-only, and it never meets
  the pickles and file names that a row can hold.
- Writing goes through diskcache, with a Disk that knows texts and no files.
- An entry counts only with its own key and the SHA-256 of its text in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from .errors import StoreError

if TYPE_CHECKING:
    import diskcache

DATABASE = "cache.db"

LOCK_TIMEOUT = 5.0
"""Seconds to wait for another program to finish its writing."""

LEASE = 10.0
"""Seconds that a claim lasts when its owner does not renew it, since it was killed."""


@dataclass(frozen=True)
class StoredText:
    """A text as the service sent it (interface section 2.2), with what asked for it and when."""

    html: str
    generated_at: datetime
    request: dict[str, object]


class Store(Protocol):
    """Keeps texts by the key of their request."""

    def load(self, keys: Iterable[str]) -> tuple[dict[str, StoredText], list[str]]:
        """Return those of the texts that are there, and what is wrong with the store."""

    def prepare(self) -> list[str]:
        """Make sure that texts can be saved; raises StoreError, otherwise says what is wrong."""

    def save(self, key: str, text: StoredText) -> None:
        """Keep a text, on the disk before this returns. Raises StoreError."""

    def claim(self, keys: Iterable[str], owner: str) -> set[str]:
        """Return those of `keys` that `owner` alone may ask the service for now, or still may.

        A claim that is not renewed within LEASE seconds is anybody's. Raises StoreError.
        """

    def release(self, keys: Iterable[str], owner: str) -> None:
        """Give up claims of `owner`. Raises StoreError."""

    def requests(self) -> dict[str, dict[str, object]]:
        """Return what each text that is there was asked for with, by key. Raises StoreError."""

    def delete(self, keys: Iterable[str]) -> None:
        """Drop texts. Raises StoreError."""

    def close(self) -> None:
        """Let go of files and connections."""


class DiskStore:
    """A Store in a directory of this machine."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / DATABASE
        self._cache: diskcache.Cache | None = None

    def load(self, keys: Iterable[str]) -> tuple[dict[str, StoredText], list[str]]:
        """Return those of the texts that are there, and what is wrong with the store."""
        texts: dict[str, StoredText] = {}
        try:
            problems = self._set_aside_if_foreign()
        except StoreError as error:
            return texts, [str(error)]
        try:
            if not self._path.exists():
                return texts, problems
            with closing(_connect(self._path)) as connection:
                for key in keys:
                    entry = _select(connection, key)
                    if entry is None:
                        continue
                    if text := _decode(key, entry):
                        texts[key] = text
                    else:
                        problems.append(
                            f"the cache entry {key[:12]}… in {self._path} was changed or damaged, "
                            "and is ignored"
                        )
        except (OSError, sqlite3.OperationalError) as error:
            problems.append(f"the cache {self._path} cannot be read ({_reason(error)})")
        except sqlite3.DatabaseError as error:
            try:
                problems.append(self._set_aside(_reason(error)))
            except StoreError as failure:
                problems.append(str(failure))
        return texts, problems

    def prepare(self) -> list[str]:
        """Make sure that texts can be saved; raises StoreError, otherwise says what is wrong."""
        if self._cache is not None:
            return []
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
            self._cache = _open_diskcache(self._directory)
        return problems

    def save(self, key: str, text: StoredText) -> None:
        """Keep a text, on the disk before this returns. Raises StoreError."""
        cache = self._prepared()
        with _writing(self._path), cache.transact():
            cache.set(key, _encode(key, text))
            cache.delete(_CLAIM + key)

    def claim(self, keys: Iterable[str], owner: str) -> set[str]:
        """Return those of `keys` that `owner` alone may ask the service for now, or still may."""
        cache = self._prepared()
        claimed = set()
        with _writing(self._path), cache.transact():
            for key in keys:
                holder, expires = cache.get(_CLAIM + key, expire_time=True)
                # A claim that lasts longer than any can was made before the clock was set back.
                lasts = isinstance(expires, float) and expires <= time.time() + LEASE
                if holder in (None, owner) or not lasts:
                    cache.set(_CLAIM + key, owner, expire=LEASE)
                    claimed.add(key)
        return claimed

    def release(self, keys: Iterable[str], owner: str) -> None:
        """Give up claims of `owner`. Raises StoreError."""
        cache = self._prepared()
        with _writing(self._path), cache.transact():
            for key in keys:
                if cache.get(_CLAIM + key) == owner:
                    cache.delete(_CLAIM + key)

    def requests(self) -> dict[str, dict[str, object]]:
        """Return what each text that is there was asked for with, by key. Raises StoreError."""
        self._set_aside_if_foreign()
        if not self._path.exists():
            return {}
        with _writing(self._path), closing(_connect(self._path)) as connection:
            rows = connection.execute(
                "SELECT key, value FROM Cache WHERE raw = 1 AND key NOT LIKE ?", (f"{_CLAIM}%",)
            )
            texts = {key: _decode(key, entry) for key, entry in rows if isinstance(entry, str)}
        return {key: text.request if text else {} for key, text in texts.items()}

    def delete(self, keys: Iterable[str]) -> None:
        """Drop texts. Raises StoreError."""
        cache = self._prepared()
        with _writing(self._path), cache.transact():
            for key in keys:
                cache.delete(key)

    def close(self) -> None:
        """Let go of the database."""
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _prepared(self) -> diskcache.Cache:
        self.prepare()
        return self._cache

    def _set_aside_if_foreign(self, *, thorough: bool = False) -> list[str]:
        judged = _lstat(self._path)
        reason = _why_foreign(self._path, thorough=thorough)
        if reason is None:
            return []
        found = _lstat(self._path)
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


# --- one entry -----------------------------------------------------------------------------------


def _encode(key: str, text: StoredText) -> str:
    return json.dumps(
        {
            "key": key,
            "sha256": _sha256(text.html),
            "generated_at": text.generated_at.isoformat(),
            "request": text.request,
            "html": text.html,
        },
        ensure_ascii=False,
    )


def _decode(key: str, entry: str) -> StoredText | None:
    try:
        fields = json.loads(entry)
        html, request = fields["html"], fields["request"]
        if fields["key"] != key or fields["sha256"] != _sha256(html):
            return None
        generated_at = datetime.fromisoformat(fields["generated_at"]).astimezone(UTC)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError):
        return None
    return StoredText(html, generated_at, request) if isinstance(request, dict) else None


def _sha256(html: str) -> str:
    return hashlib.sha256(html.encode()).hexdigest()


# --- the database --------------------------------------------------------------------------------

_SETTINGS: dict[str, str | int] = {
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
_SCHEMA_SHA256 = "2c8bf9cc2b06b20b20d62aa7b57f4bf99121cd5c54f4255f7b7e19b38ac9e49d"
"""SHA-256 of the schema that diskcache 5.6 makes; a test holds it against the real one."""

_MAX_ENTRY = 8 * 1024 * 1024
_SQLITE_HEADER = b"SQLite format 3\x00"
_ROLLBACK_JOURNAL = b"\x01\x01"
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


def _why_foreign(path: Path, *, thorough: bool) -> str | None:
    """Say why a database is not one that this module made, or None if it is, or is not there.

    Raises StoreError where that cannot be told now: then nothing may open the database.
    """
    try:
        # The journal first: with none, what stands beside the database was left there by others.
        journal = _lstat(path.with_name(DATABASE + "-journal"))
        database = _lstat(path)
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
        if header[18:20] != _ROLLBACK_JOURNAL or _lstat(path.with_name(DATABASE + "-wal")):
            return "it needs a write-ahead log"
        if _journal_names_files(path.with_name(DATABASE + "-journal")):
            return "its journal names other files"
        with closing(_connect(path)) as connection:
            if _schema_sha256(connection) != _SCHEMA_SHA256:
                return "its schema is not the one of diskcache"
            settings = dict(connection.execute("SELECT key, value FROM Settings LIMIT 100"))
            counters = {name: settings.pop(name, None) for name in _COUNTERS}
            if settings != _SETTINGS or not all(type(n) is int for n in counters.values()):
                return "its settings are not the ones of this plugin"
            # It reads the whole file, so it is for those who are about to pay for a text.
            if thorough and list(connection.execute("PRAGMA integrity_check(1)")) != [("ok",)]:
                return "it is damaged"
    except (OSError, sqlite3.OperationalError) as error:
        if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_ERROR:
            raise StoreError(f"the cache {path} cannot be read ({_reason(error)})") from error
        return _reason(error)
    except sqlite3.DatabaseError as error:
        return _reason(error)
    return None


def _lstat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"the cache {path} cannot be read ({_reason(error)})") from error


def _journal_names_files(journal: Path) -> bool:
    """Tell whether recovery from this journal would make SQLite delete a file that it names."""
    try:
        with journal.open("rb") as file:
            file.seek(max(0, journal.stat().st_size - len(_JOURNAL_MAGIC)))
            return file.read() == _JOURNAL_MAGIC
    except FileNotFoundError:
        return False


def _reason(error: OSError | sqlite3.Error) -> str:
    """Say what went wrong, on one line, whatever the database holds that SQLite quotes."""
    reason = getattr(error, "strerror", None) or str(error)
    return reason if reason.isprintable() else "it is damaged"


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=LOCK_TIMEOUT
    )
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_ENTRY)
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


def _select(connection: sqlite3.Connection, key: str) -> str | None:
    row = connection.execute("SELECT value FROM Cache WHERE key = ? AND raw = 1", (key,)).fetchone()
    if row is None:
        return None
    return row[0] if isinstance(row[0], str) else ""


def _create(directory: Path) -> None:
    """Make an empty database; another process never sees it half made."""
    directory.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=directory, prefix=".new-") as temporary:
        _open_diskcache(Path(temporary)).close()
        database = Path(temporary, DATABASE)
        try:
            # A link, since a rename would replace what another process has made meanwhile.
            (directory / DATABASE).hardlink_to(database)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            database.rename(directory / DATABASE)


def _open_diskcache(directory: Path) -> diskcache.Cache:
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
            return diskcache.Cache(str(directory), timeout=LOCK_TIMEOUT, disk=TextDisk, **_SETTINGS)
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
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"the cache {path} cannot be written ({_reason(error)})") from error
    except diskcache.Timeout as error:
        raise StoreError(f"the cache {path} is locked by another program") from error
