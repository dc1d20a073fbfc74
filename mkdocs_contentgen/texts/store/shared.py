"""A cache in Redis or Valkey that several machines share, behind the local cache of each.

Texts from the shared cache are also stored locally, so a build without missing texts opens no
connection. If the shared cache is unavailable or full, the build continues with the local one and
reports that once. Only this module imports redis.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from ...errors import ConfigurationError, StoreError
from ...text import Text
from .disk import (
    LEASE,
    REFRESH,
    ChangedError,
    DiskStore,
    EditsAtRiskError,
    Kept,
    batches,
    check_edits,
    encode_kept,
    encode_notes,
    is_beside_text,
)
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
    from redis import Redis
    from redis.client import Pipeline

_Note = TypeVar("_Note", Failure, Parts)

SCHEMES = {"redis": "redis", "rediss": "rediss", "valkey": "redis", "valkeys": "rediss"}
"""The schemes of addresses, and those of redis-py for them. A final `s` means TLS."""

CONNECT_TIMEOUT = 3.0
"""Seconds after which a server that does not accept a connection counts as unavailable."""

ANSWER_TIMEOUT = LEASE / 2
"""Seconds after which the server counts as unavailable. A claim must not expire meanwhile."""

_ENTRIES_PER_BATCH = 100
"""How many entries are sent in one round trip."""

_MAX_KEPT = 20
"""How many of the texts that were replaced are kept for a request. Each machine keeps more."""

_TEXT = "contentgen:text:"
_CLAIM = "contentgen:claim:"
_IDEMPOTENCY = "contentgen:idempotency:"
_KEPT = "contentgen:kept:"

# Each script gets two keys: that of the claim of a request, and that of its Idempotency-Keys, which
# are a hash by operation.

_CLAIM_SCRIPT = """
local claim, idempotency_keys = KEYS[1], KEYS[2]
local owner, lease, new_key, operation = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local other = redis.call('GET', claim)
if other and other ~= owner then return '' end
redis.call('SET', claim, owner, 'PX', lease)
redis.call('HSETNX', idempotency_keys, operation, new_key)
return redis.call('HGET', idempotency_keys, operation)
"""
"""Claims a request for `lease` milliseconds. Returns its Idempotency-Key, or an empty string if
another run has the claim."""

_RELEASE_SCRIPT = """
local claim, idempotency_keys = KEYS[1], KEYS[2]
local owner, is_answered, operation = ARGV[1], ARGV[2] == '1', ARGV[3]
if redis.call('GET', claim) ~= owner then return 0 end
if is_answered then redis.call('HDEL', idempotency_keys, operation) end
return redis.call('DEL', claim)
"""
"""Ends the claim of an owner, and drops the Idempotency-Key of what is answered."""

_SAVED_SCRIPT = """
local claim, idempotency_keys = KEYS[1], KEYS[2]
local operation, refresh = ARGV[1], ARGV[2]
local refresh_key = redis.call('HGET', idempotency_keys, refresh)
redis.call('DEL', claim, idempotency_keys)
if refresh_key and operation ~= refresh then
  redis.call('HSET', idempotency_keys, refresh, refresh_key)
end
return 0
"""
"""Ends a claim, and drops all Idempotency-Keys, since `operation` has made the text. That of a
refresh stays if the text is from another operation: its answer may still be waiting."""


def shown_address(url: str) -> str | None:
    """Return the address in a URL without user and password, or None if it is invalid."""
    try:
        parts = urlsplit(url)
        port = parts.port or 6379
    except ValueError:
        return None
    # urlsplit() drops spaces and line breaks, redis-py does not.
    if url.partition("://")[0].lower() not in SCHEMES or not parts.hostname:
        return None
    return f"{parts.scheme}://{parts.hostname}:{port}"


class _ConcurrentWriteError(Exception):
    """Another machine has written what a transaction watches, so it was not executed."""


class SharedStore(DiskStore):
    """A cache in Redis or Valkey at `url`, behind the one in a directory of this machine.

    The stores of a run share `outage`, which is set when the cache has failed, so that no other
    store waits for it. Texts are deleted on this machine only, since others may need them. Claims
    that cannot be released expire.

    All methods raise ConfigurationError if `url` is invalid or the package redis is missing.
    """

    def __init__(self, directory: Path, url: str, outage: Event | None = None) -> None:
        super().__init__(directory)
        self._unshared = directory.parent / f"{directory.name}-unshared"
        self._url = url
        self._name = f"the shared cache {shown_address(url)}"
        self._client: Redis | None = None
        self._outage = outage or Event()

    def load(
        self, keys: Collection[str], *, newest: bool = False
    ) -> tuple[dict[str, Text], list[str]]:
        self._share_again()
        texts, problems = super().load(keys)
        # Another machine may have changed what stands beside a text.
        wanted = []
        for key in keys:
            if newest or key not in texts or ":" in key:
                wanted.append(key)
        for batch in batches(wanted, _ENTRIES_PER_BATCH):
            new = {}
            for key, record in self._fetch(batch).items():
                if isinstance(record, Text) and record != texts.get(key):
                    new[key] = record
            if new:
                self._write_locally(partial(self._save_copies, new))
            texts |= new
        return texts, problems + self._take_problems()

    def load_notes(
        self, kind: NoteKind, type_: type[_Note], keys: Collection[str]
    ) -> tuple[dict[str, _Note], list[str]]:
        self._share_again()
        notes, problems = super().load_notes(kind, type_, keys)
        # Another machine may have newer ones.
        for batch in batches(keys, _ENTRIES_PER_BATCH):
            names = {row_key(kind, key): key for key in batch}
            new = {}
            for name, record in self._fetch(names).items():
                key = names[name]
                if isinstance(record, type_) and record != notes.get(key):
                    new[name] = record
                    notes[key] = record
            if new:
                self._write_locally(partial(self._write_notes, new))
        return notes, problems + self._take_problems()

    def _share_again(self) -> None:
        """Save what was written while the shared cache was away, unless it has other texts."""
        if self._outage.is_set():
            return
        try:
            keys = self._unshared.read_text("utf-8").split()
        except OSError:  # most of the time, there are none
            return
        texts, problems = super().load([key for key in keys if ":" not in key])
        records: dict[str, Record] = {**texts}
        records |= self._load_records([key for key in keys if ":" in key])

        def add(pipeline: Pipeline, key: str) -> None:
            pipeline.set(_TEXT + key, encode_entry(key, records[key]), nx=True)

        self._send_each(records, add)
        if self._outage.is_set():
            self._forget_outage()
        else:
            self._unshared.unlink(missing_ok=True)
        self._problems += problems

    def _forget_outage(self) -> None:
        """Take back an outage that nobody has noticed, and its message.

        A build that needs the shared cache tries it again, and reports an outage then.
        """
        self._outage.clear()
        self._problems = []

    def prepare(self) -> list[str]:
        self._send(lambda pipeline: pipeline.ping())
        # Nothing is written, but the database is opened, and locked for a moment.
        failure = self._write_locally(partial(self._write, lambda cache: None))
        if failure and self._outage.is_set():
            raise failure
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
        entries = {key: encode_entry(key, text) for key, text in texts.items()}
        failure = self._write_locally(
            partial(
                super().save,
                texts,
                replacing=replacing,
                operation=operation,
                agreed=agreed,
                kept=kept,
                undone=undone,
            )
        )
        beside_texts = []
        for key, text in texts.items():
            if is_beside_text(key):
                beside_texts.append(key)
                continue
            if replacing is not None and key in replacing:
                before = replacing[key]
            else:
                found = self._fetch([key]).get(key)
                before = found if isinstance(found, Text) else None
            is_undo = undone is not None and key in undone
            self._replace(key, before, text, operation, agreed=agreed, is_undo=is_undo)

        def add(pipeline: Pipeline, key: str) -> None:
            _add_text(pipeline, key, entries[key], operation)

        self._send_each(beside_texts, add)
        self._share_later(texts, failure)

    def _share_later(self, keys: Iterable[str], failure: StoreError | None) -> None:
        """After an outage, note what was saved on this machine. Raises `failure` if it was not."""
        if not self._outage.is_set():
            return
        if failure:
            raise failure
        with suppress(OSError), self._unshared.open("a", encoding="utf-8") as file:
            file.writelines(f"{key}\n" for key in keys)

    def save_notes(self, key: str, notes: Mapping[NoteKind, Note | None]) -> None:
        rows = {row_key(kind, key): note for kind, note in notes.items()}
        entries = encode_notes(rows)
        failure = self._write_locally(partial(self._write_notes, rows))

        def add(pipeline: Pipeline, name: str) -> None:
            if entries[name]:
                pipeline.set(_TEXT + name, entries[name])
            else:
                pipeline.delete(_TEXT + name)

        self._send_each(entries, add)
        self._share_later([name for name, entry in entries.items() if entry], failure)

    def _replace(
        self,
        key: str,
        before: Text | None,
        text: Text,
        operation: str,
        *,
        agreed: bool,
        is_undo: bool,
    ) -> None:
        """Save a text, if the shared cache has the text `before`, or none, and keep that.

        What an Undo takes back is not kept: it would be what the next Undo brings back.

        If it has another one, that is stored on this machine. Raises ChangedError, and
        EditsAtRiskError: the local cache asks that, too, but may not have been written.
        """
        if not agreed:
            check_edits(before, text)
        name = _TEXT + key
        entry = encode_entry(key, text)

        def replace(pipeline: Pipeline) -> None:
            pipeline.watch(name)  # type: ignore[no-untyped-call]  # redis-py has no type for it
            found = pipeline.get(name)
            is_as_before = found is None or decode_text(key, found) == before
            pipeline.multi()
            if is_as_before:
                _add_text(pipeline, key, entry, operation)
                is_other = before is not None and before.version != text.version
                if is_other and not is_undo:
                    # Beside what this machine keeps, since another one may need it.
                    kept = encode_kept(Kept(text.version, before))
                    pipeline.rpush(_KEPT + key, kept)
                    pipeline.ltrim(_KEPT + key, -_MAX_KEPT, -1)
            pipeline.get(name)  # the last reply is what the shared cache has then

        replies: list[Any] | None = None
        while replies is None:
            with suppress(_ConcurrentWriteError):  # just after it was read here: look again
                replies = self._send(replace)
        if not replies:  # the shared cache is unavailable
            return
        kept = replies[-1]
        if kept != entry.encode():
            now = decode_text(key, kept)
            if now:
                self._write_locally(partial(self._save_copies, {key: now}))
            raise ChangedError(now)

    def load_kept(self, key: str) -> list[bytes]:
        # What was done on this machine comes first: it says who did it.
        own = self._load_own_kept(key)
        if own is not None:
            return own
        replies = self._send(lambda pipeline: pipeline.lrange(_KEPT + key, 0, -1))
        return replies[0] if replies else []

    def claim(self, operations: Mapping[str, str], owner: str) -> dict[str, str]:
        lease = round(LEASE * 1000)

        def add(pipeline: Pipeline, key: str) -> None:
            arguments = owner, lease, uuid.uuid4().hex, operations[key]
            pipeline.eval(_CLAIM_SCRIPT, 2, *_claim_rows(key), *arguments)

        replies = self._send_each(operations, add)
        if self._outage.is_set():
            return super().claim(operations, owner)
        found = {}
        for key, reply in replies.items():
            if reply:
                found[key] = reply.decode()
        return found

    def release(self, operations: Mapping[str, str], owner: str, *, answered: bool = False) -> None:
        def add(pipeline: Pipeline, key: str) -> None:
            arguments = owner, int(answered), operations[key]
            pipeline.eval(_RELEASE_SCRIPT, 2, *_claim_rows(key), *arguments)

        self._send_each(operations, add)
        if self._outage.is_set():
            super().release(operations, owner, answered=answered)

    def close(self) -> list[str]:
        if self._client is not None:
            self._client.close()
            self._client = None
        return super().close()

    def _write_locally(self, write: Callable[[], None]) -> StoreError | None:
        """Write to the cache of this machine. An error is reported and returned, or None.

        Raises ChangedError and EditsAtRiskError.
        """
        try:
            write()
        except (ChangedError, EditsAtRiskError):
            raise
        except StoreError as error:
            self._problems.append(f"{error}; texts are kept in {self._name} only")
            return error
        return None

    def _fetch(self, keys: Collection[str]) -> dict[str, Record]:
        """Return what is shared by key, without damaged entries, which are reported."""
        replies = self._send(lambda pipeline: pipeline.mget([_TEXT + key for key in keys]))
        if not replies:
            return {}
        records = {}
        for key, entry in zip(keys, replies[0], strict=True):
            if entry is None:
                continue
            record = decode_entry(key, entry)
            if record is None:
                self._problems.append(damaged_entry(key, self._name))
            else:
                records[key] = record
        return records

    def _send_each(
        self, keys: Collection[str], add: Callable[[Pipeline, str], object]
    ) -> dict[str, Any]:
        """Return the reply to a command for each key; empty if the cache is unavailable."""

        def add_all(batch: list[str], pipeline: Pipeline) -> None:
            for key in batch:
                add(pipeline, key)

        replies: dict[str, Any] = {}
        for batch in batches(keys, _ENTRIES_PER_BATCH):
            replies_to_batch = self._send(partial(add_all, batch))  # none if it is unavailable
            replies |= zip(batch, replies_to_batch, strict=False)
        return replies

    def _send(self, add: Callable[[Pipeline], object]) -> list[Any]:
        """Send commands as one transaction, and return the replies.

        There are none if the cache is unavailable, which `outage` says then. Raises
        _ConcurrentWriteError if another machine has written what the commands watch.
        """
        if self._outage.is_set():
            return []
        if self._client is None:
            self._client = _connect(self._url)
        from redis import WatchError

        pipeline = self._client.pipeline()
        try:
            with pipeline:
                add(pipeline)
                return pipeline.execute()
        except WatchError as error:
            raise _ConcurrentWriteError from error
        except Exception as error:  # noqa: BLE001  redis-py raises anything for other servers
            self._outage.set()
            # The server's own message could repeat a password.
            cause = error.__cause__ or error.__context__
            reason = getattr(cause, "strerror", None) or type(error).__name__
            self._problems.append(
                f"{self._name} cannot be used ({reason}); this build continues with "
                "the local cache, and another machine may pay for the same texts"
            )
            return []


def _connect(url: str) -> Redis:
    """Return a client, which connects when it is used. Raises ConfigurationError."""
    try:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError as error:
        raise ConfigurationError(
            "cache_url: needs the package redis; "
            'install it with: pip install "mkdocs-contentgen[redis]"'
        ) from error
    scheme, _, rest = url.partition("://")
    try:
        client = Redis.from_url(
            f"{SCHEMES[scheme.lower()]}://{rest}",
            socket_connect_timeout=CONNECT_TIMEOUT,
            socket_timeout=ANSWER_TIMEOUT,
            retry=Retry(NoBackoff(), 1),  # servers close idle connections
            protocol=2,  # the one that all servers have
        )
        client.connection_pool.make_connection()
    except Exception:  # noqa: BLE001  redis-py raises anything for unexpected values
        # Its message could quote a password.
        raise ConfigurationError(
            "cache_url: the package redis refuses what follows '?'; correct the name or the value "
            "of the option there"
        ) from None
    return client


def _add_text(pipeline: Pipeline, key: str, entry: str, operation: str) -> None:
    """Add the commands that save a text of an operation, and delete what only a request needs."""
    rows = [_TEXT + row for row in row_keys(key)]
    pipeline.set(_TEXT + key, entry)
    pipeline.eval(_SAVED_SCRIPT, 2, *_claim_rows(key), operation, REFRESH)
    pipeline.delete(*rows)


def _claim_rows(key: str) -> tuple[str, str]:
    return _CLAIM + key, _IDEMPOTENCY + key
