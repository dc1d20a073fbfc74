"""The cache in a local directory: a SQLite database, which works for several builds at once."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from ...display import escape_controls
from ...errors import StoreError
from ...files import cure_of
from ...text import Text
from ..human_edits import HumanEdit, lost_confirmations, lost_edits, named_edits
from .entries import (
    Failure,
    Note,
    NoteKind,
    Parts,
    Record,
    damaged_entry,
    decode_entry,
    decode_text,
    encode_entry,
    row_key,
    row_keys,
)

if TYPE_CHECKING:
    import diskcache

DATABASE = "cache.db"

LEASE = 10.0
"""Seconds after which a claim expires unless its owner renews it."""

LOCK_TIMEOUT = 5.0
"""Seconds to wait for the lock of another program."""

_CLAIM = "claim:"
"""Before the key of a request, this is the key of the row with its claim."""

_IDEMPOTENCY = "idempotency:"
"""Before the key of a request, this is the key of the row with its Idempotency-Keys."""

_KEPT = "kept:"
"""Before the key of a request, this is the key of the row with what was replaced of its texts."""

_PROBE = "probe:"
"""The key of a row that is never kept."""

REFRESH = "refresh"
"""The operation that asks for another text in place of one."""

_MAX_KEPT = 100
"""How many of the texts that were replaced are kept for a request."""

_MAX_KEPT_LENGTH = 4_000_000
"""How many characters of JSON they have together, since each act writes all of them."""

_KEYS_PER_QUERY = 500
_MAX_REASON = 300
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""The errors of SQLite for which only a copy of the database helps."""

_NO_ACCESS = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_READONLY_DIRECTORY, sqlite3.SQLITE_CANTOPEN)
"""The errors of SQLite in a folder, or with a file, that may not be written or read."""

_Item = TypeVar("_Item")
_Note = TypeVar("_Note", Failure, Parts)
_Result = TypeVar("_Result")


class ChangedError(StoreError):
    """Somebody else has saved another text meanwhile, so nothing was saved.

    `now` is that text, or None if it was deleted.
    """

    def __init__(self, now: Text | None) -> None:
        super().__init__("somebody else has changed this text meanwhile")
        self.now = now


class EditsAtRiskError(StoreError):
    """A text would lose human edits, and no person has agreed to that. Nothing was saved.

    `now` is the text that the cache has, and `lost` are the edits that the new one does not have.
    """

    def __init__(self, now: Text, lost: Sequence[HumanEdit]) -> None:
        super().__init__(f"the new text does not have what people wrote: {named_edits(lost)}")
        self.now = now
        self.lost = lost


def batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """Yield lists of at most `size` items."""
    left = iter(items)
    batch = list(islice(left, size))
    while batch:
        yield batch
        batch = list(islice(left, size))


Act = str
"""What was done with a text: an action of the desk, `ask` for a new text of a service or a command,
or `other` for the text of another machine, which nobody has to undo here."""


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was there before a text, or its approved file, was replaced."""

    after: str
    """What has replaced it: the `version` of a text, or the SHA-256 of the content of a file."""

    text: Text | None = None
    """The text before. Beside a file, it is the draft at that time, if there was one."""

    file: str | None = None
    """The content of the approved file before, empty if there was none, or None for a text."""

    page: str = ""
    """The page of the file, since files of two pages with one request can be the same."""

    made_over: str = ""
    """The SHA-256 of the approved file on which a person has based the new text, if any."""

    act: Act = "ask"
    by: str = ""
    """Who did it, or an empty string if that is not known."""


_kept_decoder = msgspec.json.Decoder(Kept)


class DiskStore:
    """Stores texts by the key of their request, and coordinates the runs that generate them.

    Waits `lock_timeout` seconds for another program.

    Reading creates no files. `unreadable` is set once the database could not be read: nothing may
    be sent then, since its texts would be paid for again.
    """

    def __init__(self, directory: Path, *, lock_timeout: float = LOCK_TIMEOUT) -> None:
        self.directory = directory
        self._path = directory / DATABASE
        self._rescued = directory.parent / f"{directory.name}-unsaved"
        self._lock_timeout = lock_timeout
        self._cache: diskcache.Cache | None = None
        self._identity_of_cache: tuple[int, int] | None = None
        self._problems: list[str] = []
        self.unreadable: StoreError | None = None

    def load(
        self, keys: Collection[str], *, newest: bool = False
    ) -> tuple[dict[str, Text], list[str]]:
        """Return the stored texts by key, and the problems of the store.

        With `newest`, also those that another machine has changed since this one got them.
        """
        texts: dict[str, Text] = {}
        for key, record in self._load_records(keys).items():
            if isinstance(record, Text):
                texts[key] = record
        if self._rescued.is_dir():
            for key in keys:
                text = self._read_rescued(key)
                if text:
                    texts.setdefault(key, text)
        return texts, self._take_problems()

    def load_notes(
        self, kind: NoteKind, type_: type[_Note], keys: Collection[str]
    ) -> tuple[dict[str, _Note], list[str]]:
        """Return the notes of a kind by the keys of their requests, and the problems of the store.

        `type_` is that of the notes of this kind.
        """
        names = {}
        for key in keys:
            names[row_key(kind, key)] = key
        notes = {}
        for name, record in self._load_records(names).items():
            if isinstance(record, type_):
                notes[names[name]] = record
        return notes, self._take_problems()

    def save_notes(self, key: str, notes: Mapping[NoteKind, Note | None]) -> None:
        """Keep notes about a request in place of those of the same kinds; None deletes one.

        Raises UnreadableTextError if it cannot keep one of these, and StoreError. In both cases,
        nothing is written.
        """
        self._write_notes({row_key(kind, key): note for kind, note in notes.items()})

    def _write_notes(self, notes: Mapping[str, Note | None]) -> None:
        """Write notes by the keys of their rows."""
        entries = encode_notes(notes)

        def change(cache: diskcache.Cache) -> None:
            for name, entry in entries.items():
                if entry:
                    cache.set(name, entry)
                else:
                    cache.delete(name)

        self._write(change)

    def _load_records(self, names: Collection[str]) -> dict[str, Record]:
        """Return what rows have, by their keys. Adds a problem for each that is damaged."""
        records: dict[str, Record] = {}
        for batch in batches(names, _KEYS_PER_QUERY):
            parameters = ", ".join("?" * len(batch))
            for name, entry in self._rows(f"key IN ({parameters})", batch):
                record = decode_entry(name, entry)
                if record is None:
                    self._problems.append(damaged_entry(name, str(self._path)))
                else:
                    records[name] = record
        return records

    def prepare(self) -> list[str]:
        """Make sure that texts can be saved, and return problems. Raises StoreError."""

        def change(cache: diskcache.Cache) -> None:
            # Only what is written shows whether SQLite can make its journal beside the database.
            cache.set(_PROBE, "")
            cache.delete(_PROBE)

        self._write(change)
        return self._take_problems()

    def save(
        self,
        texts: Mapping[str, Text],
        *,
        replacing: Mapping[str, Text | None] | None = None,
        operation: str = "",
        agreed: bool = False,
        kept: Mapping[str, Sequence[Kept]] | None = None,
        undone: Mapping[str, Kept] | None = None,
    ) -> None:
        """Write texts synchronously, and delete their Idempotency-Keys and notes.

        `replacing` has the texts that the cache has to have before, by their keys, None for no
        text. With `agreed`, a person has seen those texts, and has agreed that what people wrote
        there is lost. `operation` is the one that has made the texts. Unless that is a refresh, the
        Idempotency-Key of a refresh stays: its answer may still be waiting.

        What is replaced is kept in the same transaction, see `load_kept()`: as `kept`, or else the
        text that the cache has. `undone` is taken from it again, with all that was kept later.

        Raises ChangedError if the cache has other texts, EditsAtRiskError if human edits would be
        lost and nobody has agreed, UnreadableTextError if it cannot keep one of these, and
        StoreError. In each case, nothing is written.
        """
        entries = {}
        for key, text in texts.items():
            entries[key] = encode_entry(key, text)

        def change(cache: diskcache.Cache) -> None:
            for key, before in (replacing or {}).items():
                now = self._current(cache, key)
                if now != before:
                    raise ChangedError(now)
            for key, text in texts.items():
                if not agreed:
                    self._check_edits(cache, key, text)
                self._keep_replaced(cache, key, text, (kept or {}).get(key), "ask")
            for key, last in (undone or {}).items():
                _forget(cache, key, last)
            _write_entries(cache, entries, operation)

        self._write(change)
        self._unlink_rescued(entries)

    def _save_copies(self, texts: Mapping[str, Text]) -> None:
        """Write texts of another machine, where it was decided what they replace."""
        entries = {key: encode_entry(key, text) for key, text in texts.items()}

        def change(cache: diskcache.Cache) -> None:
            for key, text in texts.items():
                self._keep_replaced(cache, key, text, None, "other")
            _write_entries(cache, entries, "")

        self._write(change)
        self._unlink_rescued(entries)

    def _current(self, cache: diskcache.Cache, key: str) -> Text | None:
        """Return the text that the cache has within a transaction, or None."""
        entry = cache.get(key)
        if entry:
            return decode_text(key, entry)
        return self._read_rescued(key)

    def _check_edits(self, cache: diskcache.Cache, key: str, text: Text) -> None:
        """Raise EditsAtRiskError if a text would lose human edits of the one in its place."""
        if not is_beside_text(key):
            check_edits(self._current(cache, key), text)

    def _keep_replaced(
        self,
        cache: diskcache.Cache,
        key: str,
        text: Text,
        kept: Sequence[Kept] | None,
        act: Act,
    ) -> None:
        """Keep the text that another one replaces, in the transaction that replaces it."""
        if is_beside_text(key):
            return
        if kept is None:
            kept = []
            now = self._current(cache, key)
            if now is not None and now.version != text.version:
                kept = [Kept(text.version, now, act=act)]
        if kept:
            _add_kept(cache, key, kept)

    def _unlink_rescued(self, keys: Iterable[str]) -> None:
        for key in keys:
            with suppress(OSError):
                (self._rescued / key).unlink()

    def load_kept(self, key: str) -> list[bytes]:
        """Return what was replaced of the texts of a request, in JSON, the last at the end.

        decode_kept() reads each. They are many, and mostly, nobody needs more than the last.
        """
        return self._load_own_kept(key) or []

    def _load_own_kept(self, key: str) -> list[bytes] | None:
        """Return what this machine has kept, or None if it never did.

        It is empty if all of it was taken back.
        """
        found: list[bytes] | None = None
        for _, lines in self._rows("key = ?", [_KEPT + key]):
            found = [line for line in lines.split(b"\n") if line]
        return found

    def keep(self, key: str, kept: Kept) -> None:
        """Keep what is about to be replaced of a request. Raises StoreError."""
        self._write(lambda cache: _add_kept(cache, key, [kept]))

    def forget(self, key: str, kept: Kept) -> None:
        """Take what was kept of a request away again, with all that was kept later.

        Raises StoreError.
        """
        self._write(lambda cache: _forget(cache, key, kept))

    def keys_with_kept(self) -> set[str]:
        """Return the keys of the requests of which something was kept on this machine."""
        return {name.removeprefix(_KEPT) for name, _ in self._rows(f"key GLOB '{_KEPT}*'")}

    def rescue(self, key: str, text: Text) -> Path:
        """Write a text that save() cannot keep to a file of its own, from which load() reads it.

        Returns the path. Raises OSError and UnreadableTextError.
        """
        self._rescued.mkdir(exist_ok=True)
        path = self._rescued / key
        path.write_text(encode_entry(key, text), encoding="utf-8")
        return path

    def _read_rescued(self, key: str) -> Text | None:
        try:
            return decode_text(key, (self._rescued / key).read_bytes())
        except OSError:  # most texts are not there
            return None

    def claim(self, operations: Mapping[str, str], owner: str) -> dict[str, str]:
        """Claim requests, or renew claims, and return those that `owner` holds now.

        `operations` says for each request what is asked of the service. Each operation has an
        Idempotency-Key of its own, which is returned by request. It is stored until a text is
        saved or the operation was answered, so that a later run repeats it with the same key if its
        outcome is unknown. A claim expires LEASE seconds after the last renewal. Raises StoreError.
        """

        def change(cache: diskcache.Cache) -> dict[str, str]:
            claimed = {}
            for key, operation in operations.items():
                # There is no holder once the claim has expired.
                holder, expires = cache.get(_CLAIM + key, expire_time=True)
                is_held_by_other = holder not in (None, owner)
                # A claim with a longer lease was made before the clock was set back.
                if is_held_by_other and expires <= time.time() + LEASE:
                    continue
                cache.set(_CLAIM + key, owner, expire=LEASE)
                keys = _load_idempotency_keys(cache, key)
                claimed[key] = keys.setdefault(operation, uuid.uuid4().hex)
                _save_idempotency_keys(cache, key, keys)
            return claimed

        return self._write(change)

    def release(self, operations: Mapping[str, str], owner: str, *, answered: bool = False) -> None:
        """Release claims of `owner`.

        With `answered`, delete the Idempotency-Keys of these operations as well, and no others.
        Raises StoreError.
        """

        def change(cache: diskcache.Cache) -> None:
            for key, operation in operations.items():
                if cache.get(_CLAIM + key) != owner:
                    continue
                cache.delete(_CLAIM + key)
                if answered:
                    keys = _load_idempotency_keys(cache, key)
                    keys.pop(operation, None)
                    _save_idempotency_keys(cache, key, keys)

        self._write(change)

    def requests(
        self, kind: NoteKind | None = None
    ) -> tuple[dict[str, dict[str, object]], list[str]]:
        """Return the requests of all texts on this machine by key, and the problems of the store.

        With `kind`, those of all notes of this kind. A request is empty if its entry was changed or
        damaged.
        """
        condition = f"key GLOB '{kind}:*'" if kind else "key NOT GLOB '*:*'"
        requests = {}
        for name, entry in self._rows(condition):
            record = decode_entry(name, entry)
            key = name.rpartition(":")[2]
            requests[key] = record.request if record else {}
        return requests, self._take_problems()

    def delete(self, keys: Collection[str]) -> None:
        """Delete texts, their notes and what was kept on this machine. Raises StoreError."""

        def change(cache: diskcache.Cache) -> None:
            for key in keys:
                for row in (key, _KEPT + key, *_extra_rows(key)):
                    cache.delete(row)

        self._write(change)

    def close(self) -> list[str]:
        """Close files and connections, and return problems not returned before."""
        self._close()
        return self._take_problems()

    def _take_problems(self) -> list[str]:
        problems = self._problems
        self._problems = []
        return problems

    def _rows(self, condition: str, values: Sequence[str] = ()) -> Iterator[tuple[str, bytes]]:
        """Yield keys and entries. Adds a problem where they cannot be read."""
        try:
            if self._identity() is None:
                return
            address = f"{self._path.resolve().as_uri()}?mode=rw"  # this creates no file
            with closing(sqlite3.connect(address, uri=True, timeout=self._lock_timeout)) as found:
                query = (
                    "SELECT key, CAST(coalesce(value, '') AS BLOB) FROM Cache "
                    "WHERE raw = 1 AND typeof(key) = 'text' AND "
                )
                yield from found.execute(query + condition, values)
        except (OSError, sqlite3.Error) as error:
            if self.unreadable is None:
                self.unreadable = self._error(error, "read")
                self._problems.append(str(self.unreadable))

    def _write(self, change: Callable[[diskcache.Cache], _Result]) -> _Result:
        """Return what `change` returns in a transaction. Raises StoreError."""
        from diskcache import Timeout

        try:
            cache = self._open()
            with cache.transact():
                return change(cache)
        except Timeout as error:
            raise StoreError(f"the cache {self._path} is locked by another program") from error
        except (OSError, sqlite3.Error) as error:
            self._close()  # it could still be in the transaction
            # Rolling back a transaction that SQLite has ended raises another error.
            context = error.__context__
            cause = context if isinstance(context, sqlite3.Error) else error
            raise self._error(cause, "written") from error

    def _open(self) -> diskcache.Cache:
        """Return the database, opened again if it was removed or replaced."""
        from .database import open_database

        if self._cache is None or self._identity_of_cache != self._identity():
            self._close()
            self._cache = open_database(self._path, self._lock_timeout)
            self._identity_of_cache = self._identity()
        return self._cache

    def _close(self) -> None:
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _identity(self) -> tuple[int, int] | None:
        """Return what tells the database from another at its path, or None if there is none."""
        try:
            found = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return found.st_dev, found.st_ino

    def _error(
        self, error: OSError | sqlite3.Error, action: Literal["read", "written"]
    ) -> StoreError:
        """Return the error for a database that cannot be read, or written."""
        reason = escape_controls(getattr(error, "strerror", None) or str(error))
        message = f"the cache {self._path} cannot be {action} ({reason})"
        if getattr(error, "sqlite_errorcode", 0) in _DAMAGE or reason.startswith("no such table"):
            message += "; restore a copy of it, or delete it to pay for its texts again"
        elif getattr(error, "sqlite_errorcode", 0) in _NO_ACCESS:
            message += "; give yourself the right to write there, or choose another cache_dir"
        else:
            message += cure_of(error)
        return StoreError(message)


def _load_idempotency_keys(cache: diskcache.Cache, key: str) -> dict[str, str]:
    """Return the Idempotency-Keys that are kept for a request, by operation."""
    try:
        return msgspec.json.decode(cache.get(_IDEMPOTENCY + key) or "{}", type=dict[str, str])
    except ValueError:  # a damaged row
        return {}


def _save_idempotency_keys(cache: diskcache.Cache, key: str, keys: Mapping[str, str]) -> None:
    if keys:
        cache.set(_IDEMPOTENCY + key, msgspec.json.encode(keys).decode())
    else:
        cache.delete(_IDEMPOTENCY + key)


def decode_kept(line: bytes) -> Kept | None:
    """Return what load_kept() has in JSON, or None if that was changed or damaged."""
    try:
        return _kept_decoder.decode(line)
    except (ValueError, RecursionError):
        return None


def encode_kept(kept: Kept) -> bytes:
    """Return what was replaced as load_kept() has it, on one line."""
    return msgspec.json.encode(kept)


def encode_notes(notes: Mapping[str, Note | None]) -> dict[str, str]:
    """Return the entries of notes by the keys of their rows, empty for those that are deleted."""
    entries = {}
    for name, note in notes.items():
        entries[name] = encode_entry(name, note) if note else ""
    return entries


def is_beside_text(key: str) -> bool:
    """Tell whether a key is that of a row beside a text, and not of the text itself."""
    return ":" in key


def check_edits(now: Text | None, text: Text) -> None:
    """Raise EditsAtRiskError if a text would lose human edits of the one that is there now."""
    if now is None:
        return
    lost = lost_edits(now, text) + lost_confirmations(now, text)
    if lost:
        raise EditsAtRiskError(now, lost)


def _kept_lines(cache: diskcache.Cache, key: str) -> list[str]:
    """Return what was kept of a request within a transaction, in JSON."""
    # Not splitlines(), since JSON can have other line breaks than "\n".
    return [line for line in (cache.get(_KEPT + key) or "").split("\n") if line]


def _add_kept(cache: diskcache.Cache, key: str, kept: Sequence[Kept]) -> None:
    lines = _kept_lines(cache, key)
    lines += [encode_kept(each).decode() for each in kept]
    lines = lines[-_MAX_KEPT:]
    length = sum(map(len, lines))
    while length > _MAX_KEPT_LENGTH and len(lines) > 1:
        length -= len(lines.pop(0))
    cache.set(_KEPT + key, "\n".join(lines))


def _forget(cache: diskcache.Cache, key: str, kept: Kept) -> None:
    lines = _kept_lines(cache, key)
    line = encode_kept(kept).decode()
    while line in lines:
        lines.pop()
    cache.set(_KEPT + key, "\n".join(lines))


def _write_entries(cache: diskcache.Cache, entries: Mapping[str, str], operation: str) -> None:
    """Write the entries of texts that an operation has made, in a transaction."""
    for key, entry in entries.items():
        refresh_key = _load_idempotency_keys(cache, key).get(REFRESH)
        cache.set(key, entry)
        for row in (_CLAIM + key, *_extra_rows(key)):  # also that of refresh_key
            cache.delete(row)
        if refresh_key and operation != REFRESH:
            _save_idempotency_keys(cache, key, {REFRESH: refresh_key})


def _extra_rows(key: str) -> list[str]:
    """Return the keys of the rows that are only needed as long as there is no text."""
    return [_IDEMPOTENCY + key, *row_keys(key)]
