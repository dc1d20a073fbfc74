"""What the cache knows of a request without a text: why it failed, and what is written so far."""

from __future__ import annotations

import base64
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from ..display import escape_controls, model_name
from ..errors import FailedTextError
from ..requests import Request
from .store import Cache

MAX_ANSWER = 64 * 1024
"""How many characters are kept of an answer without a text."""

_MAX_REASON = 2000


class _Failure(msgspec.Struct):
    reason: str
    answer: str
    model: str
    cost: Annotated[float, msgspec.Meta(ge=0)] | None
    failed_at: Annotated[datetime, msgspec.Meta(tz=True)]
    request: dict[str, object]


def save_failure(store: Cache, key: str, request: Request, error: FailedTextError) -> None:
    """Remember a failed text, and forget the parts of it. Raises StoreError."""
    # Escaped here, since an answer may have characters that no file can have.
    lines = error.answer[:MAX_ANSWER].splitlines()
    answer = "\n".join(map(escape_controls, lines))[:MAX_ANSWER]
    reason = escape_controls(str(error))[:_MAX_REASON]
    failure = _Failure(reason, answer, error.model, error.cost, datetime.now(UTC), request.record())
    store.save_note("failed", key, msgspec.json.encode(failure).decode())
    store.save_note("parts", key, "")


def load_failures(
    keys: Collection[str], store: Cache, *, since: datetime | None = None
) -> tuple[dict[str, FailedTextError], list[str]]:
    """Return the remembered failures by key, and the problems of the store.

    With `since`, only those after it.
    """
    notes, problems = store.notes("failed", keys)
    decoded = {key: _decode(note) for key, note in notes.items()}
    return {
        key: FailedTextError(
            f"{failure.reason[:_MAX_REASON]} (on {failure.failed_at.date()})",
            failure.answer,
            model=model_name(failure.model),
            cost=failure.cost,
            failed_at=failure.failed_at,
        )
        for key, failure in decoded.items()
        if failure and (since is None or failure.failed_at > since)
    }, problems


def failed_requests(store: Cache) -> tuple[dict[str, dict[str, object]], list[str]]:
    """Return the requests of all failures on this machine by key, and the problems of the store."""
    notes, problems = store.notes("failed")
    decoded = {key: _decode(note) for key, note in notes.items()}
    return {
        key: {**failure.request} if failure else {} for key, failure in decoded.items()
    }, problems


def _decode(note: str) -> _Failure | None:
    try:
        return msgspec.json.decode(note, type=_Failure)
    except (ValueError, RecursionError):
        return None


def save_parts(store: Cache, key: str, parts: bytes) -> None:
    """Save the parts that are written of a text. Raises StoreError."""
    store.save_note("parts", key, base64.b64encode(parts).decode())


def load_parts(store: Cache, key: str) -> tuple[bytes, list[str]]:
    """Return the parts that are written of a text, and the problems of the store."""
    notes, problems = store.notes("parts", [key])
    try:
        return base64.b64decode(notes.get(key, ""), validate=True), problems
    except ValueError:
        return b"", problems
