"""What a cache keeps of a text, and what every cache can do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Protocol

LEASE = 10.0
"""Seconds that a claim lasts when its owner does not renew it, since it was killed."""

MAX_HTML = 256 * 1024
"""Characters of a text; the sanitizer refuses a longer one."""

MAX_REQUEST = 256 * 1024
"""Bytes of what asked for a text."""

MAX_ENTRY = 2 * 1024 * 1024
"""Bytes that are read of one entry: a character in JSON takes up to six."""

MAX_KEY = 64
"""Characters of the key of a request."""

_MAX_FIELDS, _MAX_NAME = 32, 64


@dataclass(frozen=True)
class StoredText:
    """A text as the service sent it (interface section 2.2), with what asked for it and when."""

    html: str
    generated_at: datetime
    request: dict[str, object]


class Store(Protocol):
    """Keeps texts by the key of their request."""

    def load(
        self, keys: Collection[str], *, since: datetime | None = None
    ) -> tuple[dict[str, StoredText], list[str]]:
        """Return those of the texts that are there, and what is wrong with the store.

        With `since`, only texts that were generated after it.
        """

    def prepare(self) -> list[str]:
        """Make sure that texts can be saved; raises StoreError, otherwise says what is wrong."""

    def save(self, texts: Mapping[str, StoredText]) -> None:
        """Keep texts, in safety before this returns. Raises StoreError."""

    def shared(self, keys: Collection[str]) -> set[str]:
        """Return those of the texts that other machines can get too."""

    def requests(self) -> tuple[dict[str, dict[str, object]], list[str]]:
        """Return what each text of this machine was asked for with, by key, and what is wrong.

        Of a text that was changed or damaged, what it was asked for with is empty, and where there
        are hundreds of thousands, that of the last ones.
        """

    def delete(self, keys: Collection[str]) -> None:
        """Drop texts of this machine. Raises StoreError."""

    def close(self) -> list[str]:
        """Let go of files and connections; say what went wrong that was not said yet."""


class Coordinator(Protocol):
    """Keeps runs, also on other machines, from sending the same request or too many at once."""

    def claim(self, keys: Collection[str], owner: str) -> set[str]:
        """Return those of `keys` that `owner` alone may ask the service for now, or still may.

        A claim that is not renewed within LEASE seconds is anybody's. Raises StoreError.
        """

    def release(self, keys: Collection[str], owner: str) -> None:
        """Give up claims of `owner`. Raises StoreError."""

    def pause(self, seconds: float) -> None:
        """Tell other machines that the service asked for a pause of so many seconds."""

    def paused(self) -> float:
        """Return the remaining seconds of the pause that other machines were asked for, or 0."""


class Cache(Store, Coordinator, Protocol):
    """Keeps texts, and coordinates the runs that generate them."""


def encode(key: str, text: StoredText) -> str:
    """Return the entry for a text."""
    sha256, generated_at = _sha256(text.html.encode()), text.generated_at.isoformat()
    return json.dumps(
        {
            "key": key,
            "sha256": sha256,
            "entry_sha256": _entry_sha256(key, sha256, generated_at, text.request),
            "generated_at": generated_at,
            "request": text.request,
            "html": text.html,
        },
        ensure_ascii=False,
    )


def decode(key: str, entry: str | bytes) -> StoredText | None:
    """Return the text of an entry, or None for one that was changed or damaged.

    Entries of earlier versions have no `entry_sha256`.
    """
    decode_entry, decode_request = _decoders()
    try:
        fields = decode_entry.decode(entry)
        html = fields.html
        if fields.key != key or len(html) > MAX_HTML or len(bytes(fields.request)) > MAX_REQUEST:
            return None
        if fields.sha256 != _sha256(html.encode()):
            return None
        request = decode_request.decode(fields.request)
        expected = _entry_sha256(key, fields.sha256, fields.generated_at, request)
        if fields.entry_sha256 not in (None, expected):
            return None
        generated_at = datetime.fromisoformat(fields.generated_at).astimezone(UTC)
    except (ValueError, OverflowError, RecursionError):
        return None
    return StoredText(html, generated_at, request)


@cache
def _decoders() -> tuple[Any, Any]:
    """Return the decoders of an entry and of the request in it, which is flat."""
    import msgspec  # builds without requests do not need it

    name = Annotated[str, msgspec.Meta(max_length=_MAX_NAME)]
    request = Annotated[dict[name, str | int | bool | None], msgspec.Meta(max_length=_MAX_FIELDS)]
    fields: list[Any] = [(name, str) for name in ("key", "sha256", "generated_at", "html")]
    fields += [("request", msgspec.Raw), ("entry_sha256", str | None, None)]
    entry = msgspec.defstruct("Entry", fields, kw_only=True, gc=False)
    return msgspec.json.Decoder(entry), msgspec.json.Decoder(request)


def _entry_sha256(key: str, sha256: str, generated_at: str, request: Mapping[str, object]) -> str:
    """Return the SHA-256 of all of an entry but its text, which has one of its own."""
    import msgspec

    return _sha256(msgspec.json.encode((key, sha256, generated_at, request), order="sorted"))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
