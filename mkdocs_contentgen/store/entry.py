"""What a cache keeps of a text, and what every cache can do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

LEASE = 10.0
"""Seconds that a claim lasts when its owner does not renew it, since it was killed."""

MAX_ENTRY = 8 * 1024 * 1024
"""Bytes that are read of one entry."""


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

    def claim(self, keys: Collection[str], owner: str) -> set[str]:
        """Return those of `keys` that `owner` alone may ask the service for now, or still may.

        A claim that is not renewed within LEASE seconds is anybody's. Raises StoreError.
        """

    def release(self, keys: Collection[str], owner: str) -> None:
        """Give up claims of `owner`. Raises StoreError."""

    def pause(self, seconds: float) -> None:
        """Tell other machines that the service wants to be left alone for so long."""

    def paused(self) -> float:
        """Return the seconds for which the service wants to be left alone, as others were told."""

    def shared(self, keys: Collection[str]) -> set[str]:
        """Return those of the texts that other machines can get too."""

    def requests(self) -> tuple[dict[str, dict[str, object]], list[str]]:
        """Return what each text of this machine was asked for with, by key, and what is wrong.

        Of a text that was changed or damaged, what it was asked for with is empty.
        """

    def delete(self, keys: Collection[str]) -> None:
        """Drop texts of this machine. Raises StoreError."""

    def close(self) -> list[str]:
        """Let go of files and connections; say what went wrong that was not said yet."""


def encode(key: str, text: StoredText) -> str:
    """Return the entry for a text."""
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


def decode(key: str, entry: str | bytes) -> StoredText | None:
    """Return the text of an entry, or None for one that was changed or damaged."""
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
