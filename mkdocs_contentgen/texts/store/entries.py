"""What the cache has for a request: its text, and notes about it, each as a row with a checksum.

A note says why a request has failed, or has the parts that are written of its text. The text as it
was generated, before a person changed it, stands beside the text in a row of its own.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from ...display import CONTROL_CHARACTERS, escape_controls
from ...errors import StoreError
from ...files import sha256
from ...text import MAX_EDITION, MAX_HTML, MAX_MODEL, Text, is_storable, within_limits

NoteKind = Literal["failed", "unfinished", "parts"]
"""Why a request failed, what a program had written before it failed, and parts of a text."""

RowKind = Literal[NoteKind, "generated"]
"""The kinds of rows beside that of the text, which are deleted when a text is saved."""

MAX_KEPT_ANSWER = 64 * 1024
"""How many characters are kept of an answer without a text."""

MAX_KEPT_REASON = 2000
"""How many characters are kept of why a text has failed."""

MAX_PARTS = 192 * 1024
"""How many bytes are kept of the parts of a text."""

_MAX_REASON = 300
_Time = Annotated[datetime, Meta(tz=True)]
_PLAIN = rf"^[^{CONTROL_CHARACTERS}]*\Z"


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why there is no text for a request, or no newer one."""

    request: dict[str, object]
    written_at: _Time
    reason: Annotated[str, Meta(max_length=MAX_KEPT_REASON, pattern=_PLAIN)]
    answer: Annotated[str, Meta(max_length=MAX_KEPT_ANSWER, pattern=_PLAIN)] = ""
    """What was answered in place of a text."""

    model: Annotated[str, Meta(max_length=MAX_MODEL, pattern=_PLAIN)] = ""
    cost: float | None = None
    edition: Annotated[int, Meta(ge=0, le=MAX_EDITION)] = 0
    """That of the newest text that there was at that time, 0 for none."""


class Parts(msgspec.Struct, frozen=True):
    """The parts that are written of an unfinished text."""

    request: dict[str, object]
    written_at: _Time
    parts: Annotated[bytes, Meta(max_length=MAX_PARTS)]


Note = Failure | Parts
Record = Text | Note


class UnreadableTextError(StoreError):
    """A text would not come back from the cache as it is, so nothing was saved."""


class _Entry(msgspec.Struct, frozen=True, gc=False):
    sha256: str
    """That of the key and the record, so that an entry cannot stand for another request."""

    record: msgspec.Raw


_entry_decoder = msgspec.json.Decoder(_Entry)
_text_decoder = msgspec.json.Decoder(Text)
_failure_decoder = msgspec.json.Decoder(Failure)
_parts_decoder = msgspec.json.Decoder(Parts)


def row_key(kind: RowKind, key: str) -> str:
    """Return the key of a row beside the text of the request with this key."""
    return f"{kind}:{key}"


def row_keys(key: str) -> list[str]:
    """Return the keys of all such rows of the request with this key."""
    keys = []
    for kind in get_args(RowKind):
        keys.append(row_key(kind, key))
    return keys


def encode_entry(key: str, record: Record) -> str:
    """Return the entry for the row of a key, as JSON. All of them are written with this function.

    Raises UnreadableTextError unless decode_entry() returns the same record.
    """
    moment = _time_of(record)
    if not is_storable(moment):
        raise _unreadable(f"it is of the year {moment.year}")
    if isinstance(record, Text):
        if len(record.html) > MAX_HTML:
            raise _unreadable(f"its HTML has {len(record.html):,} characters, {MAX_HTML:,} at most")
        record = within_limits(record)
    try:
        encoded = msgspec.json.encode(record)
        read_again = _decode(key, encoded)
        is_same = msgspec.to_builtins(read_again) == msgspec.to_builtins(record)
    except (ValueError, TypeError, RecursionError) as error:
        raise _unreadable(escape_controls(str(error))[:_MAX_REASON]) from error
    if not is_same:
        raise _unreadable("it would be another text when it is read again")
    entry = _Entry(_checksum(key, encoded), msgspec.Raw(encoded))
    return msgspec.json.encode(entry).decode()


def decode_entry(key: str, entry: str | bytes) -> Record | None:
    """Return the record of an entry, or None if the entry was changed or damaged.

    Which kind of record it is depends on the key.
    """
    try:
        outer = _entry_decoder.decode(entry)
        encoded = bytes(outer.record)
        if outer.sha256 != _checksum(key, encoded):
            return None
        record = _decode(key, encoded)
        return record if is_storable(_time_of(record)) else None
    except (ValueError, RecursionError):
        return None


def decode_text(key: str, entry: str | bytes) -> Text | None:
    """Return the text of an entry, or None if the entry was changed, damaged or is a note."""
    record = decode_entry(key, entry)
    return record if isinstance(record, Text) else None


def damaged_entry(key: str, cache: str) -> str:
    """Return the message about an entry that cannot be decoded."""
    start = key.rpartition(":")[2][:12]
    return f"the entry {start}… in {cache} was changed or damaged, and is ignored"


def _decode(key: str, encoded: bytes) -> Record:
    match key.rpartition(":")[0]:
        case "failed" | "unfinished":
            return _failure_decoder.decode(encoded)
        case "parts":
            return _parts_decoder.decode(encoded)
    return _text_decoder.decode(encoded)


def _time_of(record: Record) -> datetime:
    return record.generated_at if isinstance(record, Text) else record.written_at


def _unreadable(reason: str) -> UnreadableTextError:
    return UnreadableTextError(f"the cache cannot keep this text, and nothing is changed: {reason}")


def _checksum(key: str, record: bytes) -> str:
    return sha256(key.encode() + b"\n" + record)
