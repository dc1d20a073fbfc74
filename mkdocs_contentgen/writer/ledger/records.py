"""The arguments and results of a ledger."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from ..usage import Usage


@dataclass(frozen=True)
class KeyedRequest:
    """A request of a user with its Idempotency-Key.

    `key` is the SHA-256 of the Idempotency-Key, `fingerprint` that of the operation and body.
    """

    user: str
    key: str
    fingerprint: str


@dataclass(frozen=True)
class Limited:
    """A limit is reached, so nothing is written.

    `limit` is the name of the option, and `retry_after` the seconds until it allows another
    request, or None where that is not known.
    """

    limit: str
    retry_after: float | None = None


@dataclass(frozen=True)
class Begun:
    """The caller has to write the text.

    In this minute, the user has `left` further requests. The minute ends in `reset` seconds.
    `parts` is what save_parts() has saved for the request, or empty.
    """

    left: int
    reset: float
    parts: bytes = b""


Beginning = Literal["running", "other body"] | bytes | Limited | Begun
"""The result of begin().

It is `running` if another process writes the text, `other body` if the key was used for another
request, and the body of the answer if the text is there.
"""


@dataclass(frozen=True)
class Costs:
    """What the texts of this month have cost: those of a user, and all of them."""

    user: float
    all: float
    kept: bytes = b""
    """The answer that is kept, if another process was first."""


@dataclass(frozen=True)
class MonthlyUsage:
    """The usage of a user in a month. `texts` and `failed` are numbers of texts."""

    user: str
    month: str
    """Such as `2026-11`, in UTC."""

    texts: int
    failed: int
    usage: Usage
    """Its cost is None for a month with a call whose price is not known."""


def exceeds(cost: float, limit: float) -> bool:
    """Tell whether a cost reaches a limit, but for the rounding of sums."""
    return cost >= limit - 1e-9


def month_of(now: float) -> str:
    """Return the month of a time in seconds since 1970, such as `2026-11`, in UTC."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m")


def rest_of_month(now: float) -> float:
    """Return the seconds until the next month begins, in UTC."""
    today = datetime.fromtimestamp(now, UTC)
    years, index = divmod(today.month, 12)
    return datetime(today.year + years, index + 1, 1, tzinfo=UTC).timestamp() - now
