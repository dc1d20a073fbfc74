"""What the cache has for requests: texts, remembered failures, and parts of unfinished texts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from msgspec import structs

from ..display import escape_controls
from ..errors import (
    ContentgenError,
    FailedTextError,
    MissingReason,
    ProgramError,
    ServiceError,
    StoreError,
    failure_behind,
)
from ..requests import Request
from ..text import MAX_MODEL, Text
from .store import DiskStore, Failure, Parts
from .store.entries import MAX_KEPT_ANSWER, MAX_KEPT_REASON, MAX_PARTS

NEVER_GENERATED_REASON = "never generated"


@dataclass(frozen=True)
class Outcome:
    """The result of one request: a text and where it is from, or an error.

    With both a text and an error, the text is an old one that could not be replaced.
    """

    origin: Literal["approved", "proposed", "cache", "service"] | None = None
    text: Text | None = None
    error: ContentgenError | MissingReason | None = None

    is_saved: bool = True
    """False for a text that the cache could not save."""

    @property
    def stopped_by(self) -> ServiceError | None:
        """The failure of another request for which this one was not sent, or None."""
        return failure_behind(self.error)

    def __str__(self) -> str:
        parts = [str(part) for part in (self.origin, self.error) if part]
        return ", ".join(parts)


def look_up(
    requests: Mapping[str, Request],
    store: DiskStore,
    *,
    max_age: timedelta | None = None,
    with_updates: bool = False,
) -> tuple[dict[str, Outcome], list[str]]:
    """Return the cached text or an error for each request, by key, and the problems with the store.

    Requests with an error have to be sent, unless it is a remembered FailedTextError. With
    `with_updates`, a text whose update has failed comes with that error. The store is closed
    afterwards.
    """
    texts, problems = _load_texts(requests, store, max_age)
    outcomes = {}
    missing = []
    for key in requests:
        outcomes[key] = _to_outcome(texts.get(key), max_age)
        if key not in texts:
            missing.append(key)
    if missing:
        unfinished, more = _load_unfinished(missing, store)
        problems += more
        for key, reason in unfinished.items():
            outcomes[key] = Outcome(error=reason)

    may_have_failed = []
    for key, outcome in outcomes.items():
        if outcome.error or with_updates:
            may_have_failed.append(key)
    if may_have_failed:
        failures, more = load_failures(may_have_failed, store)
        problems += more
        for key, failure in failures.items():
            if _still_counts(failure, texts.get(key), max_age):
                outcomes[key] = replace(outcomes[key], error=failure)
    return outcomes, problems + store.close()


def _load_texts(
    keys: Collection[str], store: DiskStore, max_age: timedelta | None
) -> tuple[dict[str, Text], list[str]]:
    """Return the cached texts by key, and the problems of the store.

    In place of those that are too old, it returns what another machine may have put into a shared
    cache.
    """
    texts, problems = store.load(keys)
    old = []
    for key, text in texts.items():
        if _is_old(text, max_age):
            old.append(key)
    if old:
        newest, more = store.load(old, newest=True)
        texts |= newest
        problems += more
    return texts, problems


def _still_counts(failure: FailedTextError, text: Text | None, max_age: timedelta | None) -> bool:
    """Tell whether a failure is the reason that there is no text, or no newer text than `text`."""
    # Saving a text deletes the failures before it, so this one came after the text.
    if text is None or failure.failed_at is None or not max_age:
        return True
    # A refresh that failed before the text was too old says nothing about a later one.
    age_at_failure = failure.failed_at - text.generated_at
    return age_at_failure > max_age


@dataclass(frozen=True)
class Replaced:
    """What the cache had for a request when another text was asked for."""

    text: Text | None
    failure: FailedTextError | None


NOTHING_REPLACED = Replaced(None, None)


def load_replaced(keys: Collection[str], store: DiskStore) -> tuple[dict[str, Replaced], list[str]]:
    """Return what is there for requests whose texts are to be replaced, and the problems."""
    texts, problems = store.load(keys, newest=True)
    failures, more = load_failures(keys, store)
    return {key: Replaced(texts.get(key), failures.get(key)) for key in keys}, problems + more


def load_saved(
    keys: Collection[str],
    store: DiskStore,
    *,
    with_failures: Collection[str],
    replaced: Mapping[str, Replaced],
) -> tuple[dict[str, Outcome], list[str]]:
    """Return what other runs have saved for requests, by key, and the problems of the store.

    These are texts, and for the keys in `with_failures` also failures. For those in `replaced`,
    only what was not there before is returned.
    """
    outcomes: dict[str, Outcome] = {}
    texts, problems = store.load(keys, newest=bool(replaced))
    for key, text in texts.items():
        old_text = replaced.get(key, NOTHING_REPLACED).text
        # The same text has the same time, even if a person has changed its words meanwhile.
        if old_text is None or text.generated_at != old_text.generated_at:
            outcomes[key] = Outcome("cache", text)
    missing = []
    for key in keys:
        if key in with_failures and key not in outcomes:
            missing.append(key)
    failures, more = load_failures(missing, store)
    for key, failure in failures.items():
        old_failure = replaced.get(key, NOTHING_REPLACED).failure
        if old_failure is None or failure.failed_at != old_failure.failed_at:
            outcomes[key] = Outcome(error=failure)
    return outcomes, problems + more


def _is_old(text: Text, max_age: timedelta | None) -> bool:
    """Tell whether a text is older than `max_age`. Words of a person never are."""
    if max_age is None or text.edits is not None:
        return False
    return datetime.now(UTC) - text.generated_at >= max_age


def _to_outcome(text: Text | None, max_age: timedelta | None) -> Outcome:
    if text is None:
        return Outcome(error=MissingReason("missing", NEVER_GENERATED_REASON))
    if not _is_old(text, max_age):
        return Outcome("cache", text)
    reason = f"the text of {text.generated_at:%Y-%m-%d %H:%M} UTC is older than max_age"
    return Outcome("cache", text, MissingReason("missing", reason))


def _failure_of(request: Request, reason: str, answer: str) -> Failure:
    """Return the note about a request that has failed just now."""
    # Escaped here, since an answer may have characters that no file can have.
    lines = answer[:MAX_KEPT_ANSWER].splitlines()
    return Failure(
        request.record(),
        datetime.now(UTC),
        escape_controls(reason)[:MAX_KEPT_REASON],
        "\n".join(map(escape_controls, lines))[:MAX_KEPT_ANSWER],
    )


def save_failure(
    store: DiskStore, key: str, request: Request, error: FailedTextError, *, edition: int = 0
) -> None:
    """Remember a failed text, and forget the parts of it. Raises StoreError.

    `edition` is that of the approved text, if there is one.
    """
    texts, _ = store.load([key])
    newest = max([edition, *(text.edition for text in texts.values())])
    failure = structs.replace(
        _failure_of(request, str(error), error.answer),
        model=escape_controls(error.model)[:MAX_MODEL],
        cost=error.cost,
        edition=newest,
    )
    store.save_notes(key, {"failed": failure, "parts": None})


def load_failures(
    keys: Collection[str], store: DiskStore
) -> tuple[dict[str, FailedTextError], list[str]]:
    """Return the remembered failures by key, and the problems of the store."""
    notes, problems = store.load_notes("failed", Failure, keys)
    failures = {}
    for key, note in notes.items():
        failures[key] = FailedTextError(
            _dated_reason(note),
            note.answer,
            model=note.model,
            cost=note.cost,
            failed_at=note.written_at,
            edition=note.edition,
        )
    return failures, problems


def save_unfinished(store: DiskStore, key: str, request: Request, error: ProgramError) -> None:
    """Remember what a program had written before it failed. Raises StoreError."""
    store.save_notes(key, {"unfinished": _failure_of(request, str(error), error.answer)})


def _load_unfinished(
    keys: Collection[str], store: DiskStore
) -> tuple[dict[str, MissingReason], list[str]]:
    """Return why texts are missing that a program had begun, and the problems of the store."""
    notes, problems = store.load_notes("unfinished", Failure, keys)
    reasons = {}
    for key, note in notes.items():
        reasons[key] = MissingReason("missing", _dated_reason(note), note.answer)
    return reasons, problems


def _dated_reason(failure: Failure) -> str:
    """Return why a request has failed, and when."""
    return f"{failure.reason} (on {failure.written_at.date()})"


def save_parts(store: DiskStore, key: str, request: Request, parts: bytes) -> None:
    """Save the parts that are written of a text. Raises StoreError."""
    if len(parts) > MAX_PARTS:
        raise StoreError(f"parts of {len(parts):,} bytes are not kept, {MAX_PARTS:,} at most")
    store.save_notes(key, {"parts": Parts(request.record(), datetime.now(UTC), parts)})


def load_parts(store: DiskStore, key: str) -> tuple[bytes, list[str]]:
    """Return the parts that are written of a text, and the problems of the store."""
    notes, problems = store.load_notes("parts", Parts, [key])
    return notes[key].parts if notes else b"", problems
