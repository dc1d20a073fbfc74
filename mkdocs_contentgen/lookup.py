"""What is there already for the requests of a build, and what is left to ask the service for.

A build that finds all its texts needs no more than this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from .errors import BudgetError, ContentgenError, MissingError
from .request import Request
from .store import Store, StoredText


@dataclass(frozen=True)
class Outcome:
    """What became of one request.

    Without a text, `error` says why. With a text and an error, the text is an old one that could
    not be replaced.
    """

    source: Literal["approved", "cache", "service"] | None = None
    text: StoredText | None = None
    error: ContentgenError | None = None


def look_up(
    requests: Mapping[str, Request], store: Store, *, max_age: timedelta | None = None
) -> tuple[dict[str, Outcome], list[str]]:
    """Return an outcome for each request, by key, from what is in the store; and its problems.

    An outcome with an error is one to ask the service for. The store is closed afterwards.
    """
    texts, problems = store.load(requests)
    if max_age is not None:
        # Another machine may have asked anew for what is too old here.
        limit = datetime.now(UTC) - max_age
        if old := [key for key, text in texts.items() if text.generated_at <= limit]:
            newer, more = store.load(old, since=limit)
            texts |= newer
            problems += more
    problems += store.close()
    return {key: _found(texts.get(key), max_age) for key in requests}, problems


def _found(text: StoredText | None, max_age: timedelta | None) -> Outcome:
    if text is None:
        return Outcome(error=MissingError("the text was never generated"))
    age = datetime.now(UTC) - text.generated_at
    if max_age is not None and age > max_age:
        return Outcome("cache", text, MissingError(f"the text is {_in_words(age)} old"))
    return Outcome("cache", text)


def check_budget(requests: Mapping[str, Request], max_requests: int) -> None:
    """Raise BudgetError if so many requests are more than the option `max_requests` allows."""
    if len(requests) > max_requests:
        raise BudgetError(
            f"{len(requests)} requests would be sent, and max_requests allows {max_requests}; "
            "nothing was sent: raise max_requests if that is what you want to pay for"
        )


def _in_words(age: timedelta) -> str:
    return f"{age.days} days" if age.days > 1 else f"{age.total_seconds() / 3600:.0f} hours"
