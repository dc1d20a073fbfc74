"""The entries of a cache, and the protocol that every cache implements."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol, TypeVar, get_args

import msgspec

from ...errors import StoreError
from ...files import sha256
from ...text import Text, mended

LEASE = 10.0
"""Seconds after which a claim expires unless its owner renews it."""

NoteKind = Literal["failed", "parts", "generated"]
"""A note says why a request failed, has the parts that are written of its text, or the text as it
was generated, before a person changed it."""


_Item = TypeVar("_Item")


class ChangedError(StoreError):
    """Somebody else has saved another text meanwhile, so nothing was saved.

    `now` is that text, or None if it was deleted.
    """

    def __init__(self, now: Text | None) -> None:
        super().__init__("somebody else has changed this text meanwhile")
        self.now = now


class Cache(Protocol):
    """Stores texts by the key of their request, and coordinates the runs that generate them."""

    def load(
        self, keys: Collection[str], *, since: datetime | None = None, newest: bool = False
    ) -> tuple[dict[str, Text], list[str]]:
        """Return the stored texts by key, and the problems of the store.

        With `since`, only texts that were generated after it. With `newest`, also those that
        another machine has changed since this one got them.
        """

    def prepare(self) -> list[str]:
        """Make sure that texts can be saved, and return problems. Raises StoreError."""

    def save(
        self, texts: Mapping[str, Text], *, replacing: Mapping[str, Text | None] | None = None
    ) -> None:
        """Write texts synchronously, and delete their Idempotency-Keys and notes.

        With `replacing`, only if the cache still has these texts by their keys, None for no text;
        otherwise raises ChangedError. Raises StoreError.
        """

    def rescue(self, key: str, text: Text) -> Path:
        """Write a text that save() cannot keep to a file of its own, from which load() reads it.

        Returns the path. Raises OSError.
        """

    def requests(
        self, kind: NoteKind | None = None
    ) -> tuple[dict[str, dict[str, object]], list[str]]:
        """Return the requests of all texts on this machine by key, and the problems of the store.

        With `kind`, those of all notes of this kind. A request is empty if its entry was changed or
        damaged.
        """

    def delete(self, keys: Collection[str]) -> None:
        """Delete texts and their notes on this machine. Raises StoreError."""

    def close(self) -> list[str]:
        """Close files and connections, and return problems not returned before."""

    def claim(self, keys: Collection[str], owner: str, *, refresh: bool = False) -> dict[str, str]:
        """Claim requests, or renew claims, and return those that `owner` holds now.

        The values are their Idempotency-Keys. They are stored until a text is saved, so that a
        later run repeats a request with the same one if its outcome is unknown; `refresh` replaces
        them. A claim expires LEASE seconds after the last renewal. Raises StoreError.
        """

    def release(self, keys: Collection[str], owner: str, *, answered: bool = False) -> None:
        """Release claims of `owner`. With `answered`, delete the Idempotency-Keys as well.

        Raises StoreError.
        """


@dataclass
class Outage:
    """Whether the shared cache has failed, so that no other store of the run waits for it."""

    began: bool = False


def new_idempotency_key() -> str:
    """Return a random Idempotency-Key."""
    return uuid.uuid4().hex


def batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """Yield lists of at most `size` items."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


class _Entry(msgspec.Struct, frozen=True, gc=False):
    sha256: str
    """That of the key and the text, so that an entry cannot stand for another request."""

    text: msgspec.Raw


_entry_decoder, _text_decoder = msgspec.json.Decoder(_Entry), msgspec.json.Decoder(Text)


def encode(key: str, text: Text) -> str:
    """Return the entry for a text as JSON."""
    encoded = msgspec.json.encode(mended(text))
    entry = _Entry(_checksum(key, encoded), msgspec.Raw(encoded))
    return msgspec.json.encode(entry).decode()


def decode(key: str, entry: str | bytes) -> Text | None:
    """Return the text of an entry, or None if the entry was changed or damaged."""
    try:
        outer = _entry_decoder.decode(entry)
        if outer.sha256 != _checksum(key, bytes(outer.text)):
            return None
        return _text_decoder.decode(outer.text)
    except (ValueError, RecursionError):
        return None


def damaged_entry(key: str, cache: str) -> str:
    """Return the message about an entry that cannot be decoded."""
    start = key.rpartition(":")[2][:12]
    return f"the entry {start}… in {cache} was changed or damaged, and is ignored"


def _checksum(key: str, text: bytes) -> str:
    return sha256(key.encode() + b"\n" + text)


def note_key(kind: NoteKind, key: str) -> str:
    """Return the key of a note about the request with this key."""
    return f"{kind}:{key}"


def note_keys(key: str) -> list[str]:
    """Return the keys of all notes about the request with this key."""
    return [note_key(kind, key) for kind in get_args(NoteKind)]
