"""The entries of a cache, and the protocol that every cache implements."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeVar, get_args

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
