"""The entries of a cache, and the protocol that every cache implements."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal, Protocol, get_args

from ...digest import sha256
from ...display import hidden_character, model_name, valid_passages, valid_remarks, valid_sources
from ...text import MAX_EDIT, Edits, Text

LEASE = 10.0
"""Seconds after which a claim expires unless its owner renews it."""

MAX_HTML = 256 * 1024
"""The maximum size of a text in characters, which is that of the sanitizer."""

MAX_REQUEST = 256 * 1024
"""The maximum size of the request of a text in bytes."""

MAX_ENTRY = 2 * 1024 * 1024
"""The maximum size of an entry in bytes. A character in JSON takes up to six bytes."""

MAX_KEY = 64
"""The maximum length of a key in characters."""

NoteKind = Literal["failed", "parts", "generated"]
"""A note says why a request failed, has the parts that are written of its text, or the text as it
was generated, before a person changed it."""

_MAX_EDITS = 2_000
_MAX_FIELDS, _MAX_STRING = 32, 64


class Cache(Protocol):
    """Stores texts by the key of their request, and coordinates the runs that generate them.

    The default methods are those of a cache that machines do not share.
    """

    def load(
        self, keys: Collection[str], *, since: datetime | None = None
    ) -> tuple[dict[str, Text], list[str]]:
        """Return the stored texts by key, and the problems of the store.

        With `since`, only texts that were generated after it.
        """

    def prepare(self) -> list[str]:
        """Make sure that texts can be saved, and return problems. Raises StoreError."""

    def save(self, texts: Mapping[str, Text]) -> None:
        """Write texts synchronously, and delete their Idempotency-Keys and notes.

        Raises StoreError.
        """

    def shared(self, keys: Collection[str]) -> set[str]:
        """Return the keys of the texts that other machines can read too."""
        return set()

    def requests(
        self, kind: NoteKind | None = None
    ) -> tuple[dict[str, dict[str, object]], list[str]]:
        """Return the requests of all texts on this machine by key, and the problems of the store.

        With `kind`, those of all notes of this kind.

        A request is empty if its entry was changed or damaged, or if the total size of the requests
        before it exceeds a limit, which takes hundreds of thousands of texts.
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

    def pause(self, seconds: float) -> None:
        """Make other machines pause for so many seconds, since the service asked for it."""
        return

    def paused(self) -> float:
        """Return the remaining seconds of the current pause, or 0."""
        return 0.0


def new_idempotency_key() -> str:
    """Return a random Idempotency-Key."""
    return uuid.uuid4().hex


def is_idempotency_key(value: object) -> bool:
    """Tell whether a value from a cache, which is not trusted, is an Idempotency-Key."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None


def encode(key: str, text: Text) -> str:
    """Return the entry for a text as JSON."""
    fields: dict[str, object] = {
        "key": key,
        "sha256": sha256(text.html),
        "generated_at": text.generated_at.isoformat(),
        "request": text.request,
    }
    remarks = valid_remarks([*text.remarks])
    edits = asdict(text.edits) if text.edits else None
    more = {
        "model": text.model,
        "sources": valid_sources(dict(text.sources)),
        "remarks": remarks,
        "edits": edits,
        "passages": valid_passages(dict(text.passages)),
        "updates": valid_remarks([*text.updates]),
    }
    fields |= {name: value for name, value in more.items() if value}
    entry = {**fields, "entry_sha256": _entry_sha256(fields.values()), "html": text.html}
    return json.dumps(entry, ensure_ascii=False)


def decode(key: str, entry: str | bytes) -> Text | None:
    """Return the text of an entry, or None if the entry was changed or damaged.

    Entries of earlier versions have no `entry_sha256`.
    """
    decode_entry, decode_request = _decoders()
    try:
        fields = decode_entry.decode(entry)
        html = fields.html
        if fields.key != key or len(html) > MAX_HTML or len(bytes(fields.request)) > MAX_REQUEST:
            return None
        if fields.sha256 != sha256(html):
            return None
        request = decode_request.decode(fields.request)
        sources, remarks = valid_sources(fields.sources), valid_remarks(fields.remarks)
        passages, updates = valid_passages(fields.passages), valid_remarks(fields.updates)
        own = (fields.model, sources, remarks, fields.edits, passages, updates)
        more = filter(None, own)
        expected = _entry_sha256([key, fields.sha256, fields.generated_at, request, *more])
        if fields.entry_sha256 not in (None, expected):
            return None
        generated_at = datetime.fromisoformat(fields.generated_at).astimezone(UTC)
    except (ValueError, OverflowError, RecursionError):
        return None
    model, edits = model_name(fields.model), valid_edits(fields.edits)
    return Text(html, generated_at, request, model, sources, remarks, edits, passages, updates)


def valid_edits(value: object) -> Edits | None:
    """Return edits from a cache or a file, which are not trusted, or None if they are not valid."""
    import msgspec

    if value is None:
        return None
    try:
        edits = msgspec.convert(value, Edits, from_attributes=True)
    except ValueError:
        return None
    texts = [*edits.confirmed, *edits.removed, *edits.changed_by, *edits.changed_by.values()]
    is_valid = len(texts) <= _MAX_EDITS and all(
        len(it) <= MAX_EDIT for it in [*texts, edits.reason]
    )
    return edits if is_valid and not any(map(hidden_character, [*texts, edits.reason])) else None


@cache
def _decoders() -> tuple[Any, Any]:
    import msgspec

    name = Annotated[str, msgspec.Meta(max_length=_MAX_STRING)]
    names = Annotated[list[str], msgspec.Meta(max_length=_MAX_FIELDS)]
    request = Annotated[
        dict[name, str | int | bool | names | None], msgspec.Meta(max_length=_MAX_FIELDS)
    ]
    fields: list[Any] = [(name, str) for name in ("key", "sha256", "generated_at", "html")]
    fields += [("request", msgspec.Raw), ("entry_sha256", str | None, None), ("model", str, "")]
    fields += [("sources", Any, None), ("remarks", Any, None), ("edits", Any, None)]
    fields += [("passages", Any, None), ("updates", Any, None)]
    entry = msgspec.defstruct("Entry", fields, kw_only=True, gc=False)
    return msgspec.json.Decoder(entry), msgspec.json.Decoder(request)


def _entry_sha256(fields: Iterable[object]) -> str:
    """Return the SHA-256 of the fields of an entry without its text, which has its own."""
    import msgspec

    return sha256(msgspec.json.encode(list(fields), order="sorted"))


def note_key(kind: NoteKind, key: str) -> str:
    """Return the key of a note about the request with this key."""
    return f"{kind}:{key}"


def note_keys(key: str) -> list[str]:
    """Return the keys of all notes about the request with this key."""
    return [note_key(kind, key) for kind in get_args(NoteKind)]
