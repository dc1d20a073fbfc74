"""A cache in Redis or Valkey that several machines share, behind the local cache of each.

Texts from the shared cache are also stored locally, so a build without missing texts opens no
connection. If the shared cache is unavailable or full, the build continues with the local one and
reports that once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from typing import TypeVar, cast

from ...errors import StoreError
from ...redis_connection import (
    MAX_REPLY,
    Command,
    RedisConnection,
    UnavailableError,
    eviction_problems,
    script_call,
    shown_address,
)
from ...text import Text
from .entry import (
    LEASE,
    MAX_ENTRY,
    Cache,
    NoteKind,
    decode,
    encode,
    is_idempotency_key,
    new_idempotency_key,
    note_keys,
)

ROUND_TRIP_TIMEOUT = LEASE / 2
"""Seconds for a whole round trip. A longer one could outlast the claims of this run."""

MAX_PAUSE = 600.0
"""The maximum pause in seconds. Pauses are not longer than the option `timeout`, by default 120."""

_ENTRIES_PER_BATCH, _KEYS_PER_BATCH = 50, 1000
"""How many entries, and how many other commands, are sent in one round trip."""

_FIRST_READ = 32 * 1024
"""How many bytes of an entry are read at first. Longer entries are then read one by one."""

_Item = TypeVar("_Item")

_TEXT, _CLAIM, _PAUSE = "contentgen:text:", "contentgen:claim:", "contentgen:pause"
_IDEMPOTENCY = "contentgen:idempotency:"


@dataclass
class Outage:
    """Whether the shared cache has failed, so that no other store of the run waits for it."""

    began: bool = False


class SharedStore(Cache):
    """A Cache in Redis or Valkey at `url`, behind the `local` cache of this machine.

    The stores of a run share `outage`. `timeout` is the time in seconds for a whole round trip.
    Texts are deleted on this machine only, since others may need them. Claims that cannot be
    released expire.

    All methods raise ConfigurationError if `url` is invalid or the package redis is missing.
    """

    def __init__(
        self,
        local: Cache,
        url: str,
        outage: Outage | None = None,
        *,
        timeout: float = ROUND_TRIP_TIMEOUT,
    ) -> None:
        self._local = local
        self._name = f"the shared cache {shown_address(url)}"
        self._redis = RedisConnection(url, "cache_url", timeout)
        self._outage = outage or Outage()
        self._local_is_writable = True
        self._problems: list[str] = []

    def load(
        self, keys: Collection[str], *, since: datetime | None = None
    ) -> tuple[dict[str, Text], list[str]]:
        texts, problems = self._local.load(keys, since=since)
        # Another machine may have a newer note.
        wanted = [key for key in keys if key not in texts or ":" in key]
        for batch in _batches(wanted, _ENTRIES_PER_BATCH):
            found = self._fetch(batch, since)
            if new := {key: text for key, text in found.items() if text != texts.get(key)}:
                self._write_locally(partial(self._local.save, new))
            texts |= found
        return texts, problems + self._take_problems()

    def prepare(self) -> list[str]:
        replies = self._send([("INFO", "memory")], dict)
        try:
            problems = self._local.prepare()
        except StoreError as error:
            if self._outage.began:
                raise
            problems = []
            self._report_local_failure(error)
        for memory in replies:
            self._problems += eviction_problems(self._name, memory)
        return problems + self._take_problems()

    def save(self, texts: Mapping[str, Text]) -> None:
        failure = self._write_locally(lambda: self._local.save(texts))
        for batch in _batches(texts.items(), _ENTRIES_PER_BATCH):
            commands: list[Command] = []
            for key, text in batch:
                commands.append(("SET", _TEXT + key, encode(key, text)))
                notes = (_TEXT + note for note in note_keys(key))
                commands.append(("DEL", *_claim_rows(key), *notes))
            self._send(commands, int, transaction=True)
        if failure and self._outage.began:
            raise failure

    def claim(self, keys: Collection[str], owner: str, *, refresh: bool = False) -> dict[str, str]:
        new = {key: new_idempotency_key() for key in keys}
        replies = self._send_each(
            keys,
            lambda key: script_call(
                __package__,
                "claim",
                _claim_rows(key),
                owner=owner,
                lease=round(LEASE * 1000),
                new_key=new[key],
                refresh=refresh,
            ),
            bytes,
        )
        if self._outage.began:
            return self._local.claim(keys, owner, refresh=refresh)
        claimed = {k: cast(bytes, v).decode(errors="replace") for k, v in replies.items() if v}
        return {k: v if is_idempotency_key(v) else new[k] for k, v in claimed.items()}

    def release(self, keys: Collection[str], owner: str, *, answered: bool = False) -> None:
        self._send_each(
            keys,
            lambda key: script_call(
                __package__, "release", _claim_rows(key), owner=owner, answered=answered
            ),
            int,
        )
        if self._outage.began and self._local_is_writable:
            self._local.release(keys, owner, answered=answered)

    def pause(self, seconds: float) -> None:
        seconds = min(seconds, MAX_PAUSE)
        if seconds > self.paused():
            milliseconds = max(1, round(seconds * 1000))
            self._send([("SET", _PAUSE, "1", "PX", milliseconds)], int)

    def paused(self) -> float:
        replies = self._send([("PTTL", _PAUSE)], int)
        left = cast(int, replies[0]) / 1000 if replies else 0.0
        # A pause without an end, or a longer one, was not set by this package.
        return left if 0 < left <= MAX_PAUSE else 0.0

    def shared(self, keys: Collection[str]) -> set[str]:
        replies = self._send_each(keys, lambda key: ("EXISTS", _TEXT + key), int)
        return {key for key, reply in replies.items() if reply == 1}

    def requests(
        self, kind: NoteKind | None = None
    ) -> tuple[dict[str, dict[str, object]], list[str]]:
        return self._local.requests(kind)

    def delete(self, keys: Collection[str]) -> None:
        self._local.delete(keys)

    def close(self) -> list[str]:
        self._redis.close()
        return self._local.close() + self._take_problems()

    def _take_problems(self) -> list[str]:
        problems, self._problems = self._problems, []
        return problems

    def _write_locally(self, write: Callable[[], None]) -> StoreError | None:
        try:
            write()
        except StoreError as error:
            self._report_local_failure(error)
            return error
        return None

    def _report_local_failure(self, error: StoreError) -> None:
        if self._local_is_writable:
            self._problems.append(f"{error}; texts are kept in {self._name} only")
        self._local_is_writable = False

    def _fetch(self, keys: Collection[str], since: datetime | None) -> dict[str, Text]:
        texts = {}
        entries = self._read_starts(keys, _FIRST_READ)
        for key in [key for key, entry in entries.items() if len(entry) == _FIRST_READ]:
            del entries[key]
            entries |= self._read_starts([key], MAX_ENTRY)
        for key, entry in entries.items():
            text = decode(key, entry)
            if text is None:
                start = key.rpartition(":")[2][:12]
                self._problems.append(
                    f"the entry {start}… in {self._name} was changed or damaged, and is ignored"
                )
            elif since is None or text.generated_at > since:
                texts[key] = text
        return texts

    def _read_starts(self, keys: Collection[str], size: int) -> dict[str, bytes]:
        """Return up to `size` bytes of each entry. Values of other types become invalid entries."""
        commands: list[Command] = [("GETRANGE", _TEXT + key, 0, size - 1) for key in keys]
        replies = self._send(commands, bytes, size=size, allow_wrong_type=True)
        entries = zip(keys, replies, strict=bool(replies))
        return {
            key: reply if isinstance(reply, bytes) else b"wrong"
            for key, reply in entries
            if reply != b""
        }

    def _send_each(
        self, keys: Collection[str], command: Callable[[str], Command], expected: type
    ) -> dict[str, object]:
        replies: list[object] = []
        for batch in _batches(keys, _KEYS_PER_BATCH):
            replies += self._send([command(key) for key in batch], expected)
        return {} if self._outage.began else dict(zip(keys, replies, strict=True))

    def _send(
        self,
        commands: Sequence[Command],
        expected: type,
        *,
        size: int = MAX_REPLY,
        allow_wrong_type: bool = False,
        transaction: bool = False,
    ) -> list[object]:
        """Send commands as RedisConnection does; without replies if the cache is unavailable."""
        if self._outage.began:
            return []
        try:
            return self._redis.send(
                commands,
                expected,
                size=size,
                allow_wrong_type=allow_wrong_type,
                transaction=transaction,
            )
        except UnavailableError as error:
            self._outage.began = True
            self._problems.append(
                f"{self._name} cannot be used ({error}); this build continues with "
                "the local cache, and another machine may pay for the same texts"
            )
            return []


def _batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


def _claim_rows(key: str) -> tuple[str, str]:
    return _CLAIM + key, _IDEMPOTENCY + key
