"""What the cache knows of a request without a text: why it failed, and what is written so far."""

from __future__ import annotations

import base64
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from ..display import escape_controls
from ..errors import FailedTextError, StoreError
from ..requests import Request
from ..text import MAX_HTML, Text
from .store import Cache, NoteKind, note_key

MAX_ANSWER = 64 * 1024
"""How many characters are kept of an answer without a text."""

_MAX_REASON = 2000


class _Failure(msgspec.Struct):
    reason: str
    answer: str
    cost: Annotated[float, msgspec.Meta(ge=0)] | None


def save_failure(store: Cache, key: str, request: Request, error: FailedTextError) -> None:
    """Remember a failed text, and forget the parts of it. Raises StoreError."""
    # Escaped here, since an answer may have characters that no file can have.
    lines = error.answer[:MAX_ANSWER].splitlines()
    answer = "\n".join(map(escape_controls, lines))[:MAX_ANSWER]
    failure = _Failure(escape_controls(str(error))[:_MAX_REASON], answer, error.cost)
    note = msgspec.json.encode(failure).decode()
    _save(store, key, request, {"failed": note, "parts": ""}, error.model)


def load_failures(
    keys: Collection[str], store: Cache, *, since: datetime | None = None
) -> tuple[dict[str, FailedTextError], list[str]]:
    """Return the remembered failures by key, and the problems of the store.

    With `since`, only those after it.
    """
    notes, problems = store.load([note_key("failed", key) for key in keys], since=since)
    failures: dict[str, FailedTextError] = {}
    for name, note in notes.items():
        try:
            failure = msgspec.json.decode(note.html, type=_Failure)
        except (ValueError, RecursionError):
            continue
        failures[name.removeprefix(note_key("failed", ""))] = FailedTextError(
            f"{failure.reason[:_MAX_REASON]} (on {note.generated_at.date()})",
            failure.answer,
            model=note.model,
            cost=failure.cost,
            failed_at=note.generated_at,
        )
    return failures, problems


def save_parts(store: Cache, key: str, request: Request, parts: bytes) -> None:
    """Save the parts that are written of a text. Raises StoreError."""
    _save(store, key, request, {"parts": base64.b64encode(parts).decode()})


def load_parts(store: Cache, key: str) -> tuple[bytes, list[str]]:
    """Return the parts that are written of a text, and the problems of the store."""
    notes, problems = store.load([note_key("parts", key)])
    try:
        return b"".join(base64.b64decode(it.html, validate=True) for it in notes.values()), problems
    except ValueError:
        return b"", problems


def _save(
    store: Cache, key: str, request: Request, notes: dict[NoteKind, str], model: str = ""
) -> None:
    now, record = datetime.now(UTC), request.record()
    for note in notes.values():
        if len(note) > MAX_HTML:
            raise StoreError(f"a note of {len(note)} characters is not kept, {MAX_HTML} at most")
    store.save({note_key(kind, key): Text(it, now, record, model) for kind, it in notes.items()})
